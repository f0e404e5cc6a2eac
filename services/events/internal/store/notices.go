package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// spreadEvents is how many notices are read to find events to spread.
const spreadEvents = 100

// Notices are the collections notices, notice_mails, webhooks and webhook_deliveries. It implements notice.Store.
type Notices struct {
	notices, mails, deliveries *mongo.Collection // not audited: they follow from what is
	events                     *mongo.Collection // read alone
	leases                     *mongo.Collection
	webhooks                   *journal.Collection[webhookDocument, notice.Webhook]
	ids                        *mongostore.IDs
}

// NewNotices returns the store.
func NewNotices(db *mongo.Database, ids *mongostore.IDs) *Notices {
	return &Notices{
		notices:    db.Collection("notices"),
		mails:      db.Collection("notice_mails"),
		deliveries: db.Collection("webhook_deliveries"),
		events:     EventsCollection(db),
		leases:     db.Collection("notice_leases"),
		ids:        ids,
		webhooks: journal.New(journal.Options[webhookDocument, notice.Webhook]{
			Collection: webhooksCollection(db), Record: (*webhookDocument).webhook, Set: (*webhookDocument).set,
			Entry: webhookEntry,
		}),
	}
}

// CategoriesOf implements notice.Store, by the index of ids.
func (s *Notices) CategoriesOf(ctx context.Context, eventIDs []int64) (map[int64]int64, error) {
	found, err := mongostore.Find[eventDocument](ctx, s.events, idsFilter(eventIDs),
		options.Find().SetProjection(bson.D{{Key: "category_id", Value: 1}}))
	of := make(map[int64]int64, len(found))
	for _, d := range found {
		if d.Event.CategoryID != 0 { // else it is deleted
			of[d.ID] = d.Event.CategoryID
		}
	}
	return of, err
}

// Lead implements notice.Store.
func (s *Notices) Lead(ctx context.Context, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, s.leases, "lead", work)
}

// noticeDocument is a notice as it is stored. Once it is spread, waiting and its contents are removed; the rest stays
// so that repeats are recognised.
type noticeDocument struct {
	ID       string    `bson:"_id"`
	EventID  int64     `bson:"event_id"`
	Position int64     `bson:"position"`
	At       time.Time `bson:"at"`
	Waiting  bool      `bson:"waiting,omitempty"`
	Detail   string    `bson:"detail,omitempty"` // as in the outbox
}

// itemDocument is an item of mail as it is stored. Once its mail has ended, waiting is gone.
type itemDocument struct {
	Item notice.Item `bson:",inline"`

	Waiting bool   `bson:"waiting,omitempty"`
	Fault   string `bson:"fault,omitempty"` // why it was never sent
}

func waiting() bson.E { return bson.E{Key: "waiting", Value: true} }

// Prepare makes the indexes. Any number of pods may call it at once.
func (s *Notices) Prepare(ctx context.Context) error {
	return ensure(ctx, map[*mongo.Collection][]mongostore.Index{
		s.notices: {
			{Name: "to_spread", Keys: mongostore.By("event_id", "position"), Where: bson.D{waiting()}},
			{Name: "at", Keys: mongostore.By("at")},
		},
		s.mails: {
			{Name: "due", Keys: mongostore.By("due_at"), Where: bson.D{waiting()}},
			{Name: "user", Keys: mongostore.By("user_id", "at"), Where: bson.D{waiting()}},
			{Name: "at", Keys: mongostore.By("at")},
		},
		s.deliveries: {
			{Name: "once", Keys: mongostore.By("webhook_id", "notice_id"), Unique: true},
			{Name: "due", Keys: mongostore.By("webhook_id", "due_at"), Where: bson.D{stateWaiting()}},
			{
				Name:  "tests", // of an inactive webhook, for which many others may wait
				Keys:  mongostore.By("webhook_id", "due_at"),
				Where: bson.D{stateWaiting(), isTest()},
			},
			{
				Name: "event", Keys: mongostore.By("webhook_id", "event_id", "position"),
				Where: bson.D{stateWaiting()},
			},
			{Name: "log", Keys: mongostore.By("webhook_id", "-_id")},
			{Name: "at", Keys: mongostore.By("at")},
		},
		webhooksCollection(s.notices.Database()): {auditlog.Index()},
	})
}

// addNew inserts a document unless another has one of its keys.
func addNew(ctx context.Context, collection *mongo.Collection, document any) error {
	_, err := collection.InsertOne(ctx, document)
	if mongostore.IsDuplicateKey(err) {
		return nil
	}
	return failed(err, "insert into "+collection.Name())
}

// AddNotice implements notice.Store.
func (s *Notices) AddNotice(ctx context.Context, n notice.Notice) error {
	return addNew(ctx, s.notices, noticeDocument{
		ID: n.ID, EventID: n.Event.ID, Position: n.Position, At: n.At, Waiting: true, Detail: encodeNotice(n.Notice),
	})
}

// toSpreadFilter bounds the event from below by a number that all ids exceed, since the index begins with it.
func toSpreadFilter() bson.D {
	return bson.D{waiting(), {Key: "event_id", Value: bson.D{{Key: "$gt", Value: int64(0)}}}}
}

// EventsToSpread implements notice.Store, by an index of waiting notices only.
func (s *Notices) EventsToSpread(ctx context.Context) ([]int64, error) {
	documents, err := mongostore.Find[noticeDocument](
		ctx, s.notices, toSpreadFilter(),
		options.Find().SetLimit(spreadEvents).SetProjection(bson.D{{Key: "event_id", Value: 1}}),
	)
	if err != nil {
		return nil, err
	}
	return distinct(documents, func(d noticeDocument) int64 { return d.EventID }), nil
}

// distinct returns the ids of documents, each where it comes first.
func distinct[D any](documents []D, id func(D) int64) []int64 {
	var ids []int64
	for _, d := range documents {
		if !slices.Contains(ids, id(d)) {
			ids = append(ids, id(d))
		}
	}
	return ids
}

func ofEventFilter(eventID int64) bson.D {
	return bson.D{waiting(), {Key: "event_id", Value: eventID}}
}

// ToSpread implements notice.Store: as many documents as it returns.
func (s *Notices) ToSpread(ctx context.Context, eventID int64) ([]notice.Notice, error) {
	documents, err := mongostore.Find[noticeDocument](
		ctx, s.notices, ofEventFilter(eventID), options.Find().SetSort(mongostore.By("position")),
	)
	if err != nil {
		return nil, err
	}
	notices := make([]notice.Notice, len(documents))
	for i, d := range documents {
		n, err := decodeNotice(d.Detail)
		if err != nil {
			return nil, fmt.Errorf("decode notice %s: %w", d.ID, err)
		}
		notices[i] = notice.Notice{ID: d.ID, At: d.At, Notice: n}
	}
	return notices, nil
}

// Spread implements notice.Store.
func (s *Notices) Spread(ctx context.Context, id string) error {
	spread := bson.D{{Key: "$unset", Value: bson.D{{Key: "waiting", Value: ""}, {Key: "detail", Value: ""}}}}
	_, err := s.notices.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, spread)
	return failed(err, "end a notice")
}

// Forget implements notice.Store.
func (s *Notices) Forget(ctx context.Context, before time.Time) error {
	for _, collection := range []*mongo.Collection{s.notices, s.mails, s.deliveries} {
		if _, err := collection.DeleteMany(ctx, beforeFilter(before)); err != nil {
			return fmt.Errorf("forget old %s: %w", collection.Name(), err)
		}
	}
	return nil
}

func beforeFilter(t time.Time) bson.D {
	return bson.D{{Key: "at", Value: bson.D{{Key: "$lt", Value: t}}}}
}

// changeNotices exceeds the number of notices that a change can have. The notices of one event are numbered by the
// version that its document gets with the change, and within that.
const changeNotices = 8

// messages are the outbox messages of a change of an event: its deletion, for other services, and notices of changed
// entries. The message of a deletion contains its notice.
func messages(ctx context.Context, version int64, before, after event.Event) []outbox.Message {
	if after.ID == 0 {
		m := outbox.NewMessage(ctx, fact.EventDeleted, before.ID)
		if lost := event.Deletion(before); len(lost.Entries) > 0 {
			m.Detail = noticeText(version, 0, lost)
		}
		return []outbox.Message{m}
	}
	var messages []outbox.Message
	for i, n := range event.Notices(before, after) {
		m := outbox.NewMessage(ctx, string(n.Kind), n.Event.ID)
		m.Detail = noticeText(version, i, n)
		messages = append(messages, m)
	}
	return messages
}

// noticeText is the text of a notice; i is its place among those of the change that gave the document its version.
func noticeText(version int64, i int, n event.Notice) string {
	n.Position = version*changeNotices + int64(i)
	return encodeNotice(n)
}

// encodeNotice returns a notice as it is stored in the Detail of an outbox message, and until it is spread.
func encodeNotice(n event.Notice) string {
	text, _ := json.Marshal(n) // numbers, texts and times always encode
	return string(text)
}

func decodeNotice(text string) (n event.Notice, err error) {
	err = json.Unmarshal([]byte(text), &n)
	return n, err
}

// NoticesOf returns the notices among the messages of an event's outbox, in their order. Unreadable ones are logged and
// left out.
func NoticesOf(ctx context.Context, log *slog.Logger, messages []outbox.Message) []notice.Notice {
	var notices []notice.Notice
	for _, m := range messages {
		if m.Detail == "" {
			continue
		}
		n, err := decodeNotice(m.Detail)
		if err != nil {
			log.ErrorContext(ctx, "a notice is not readable and is skipped", "notice", m.ID, "error", err)
			continue
		}
		notices = append(notices, notice.Notice{ID: m.ID, At: m.At, Notice: n})
	}
	return notices
}

// AddItems implements notice.Store.
func (s *Notices) AddItems(ctx context.Context, items []notice.Item) error {
	for _, i := range items {
		if err := addNew(ctx, s.mails, itemDocument{Item: i, Waiting: true}); err != nil {
			return err
		}
	}
	return nil
}

func dueItemsFilter(now time.Time) bson.D {
	return bson.D{waiting(), {Key: "due_at", Value: bson.D{{Key: "$lte", Value: now}}}}
}

// Readers implements notice.Store, by an index of waiting items only.
func (s *Notices) Readers(ctx context.Context, now time.Time, limit int) ([]int64, error) {
	due, err := mongostore.Find[notice.Item](
		ctx,
		s.mails,
		dueItemsFilter(now),
		options.Find().
			SetSort(mongostore.By("due_at")).
			SetLimit(int64(limit)).
			SetProjection(bson.D{{Key: "user_id", Value: 1}}),
	)
	if err != nil {
		return nil, err
	}
	return distinct(due, func(i notice.Item) int64 { return i.UserID }), nil
}

func itemsFilter(userID int64) bson.D {
	return bson.D{waiting(), {Key: "user_id", Value: userID}}
}

// begun narrows a filter to items that are in a mail, fresh to those that are in none.
func begun(filter bson.D) bson.D {
	return append(filter, mongostore.Exists("mail")...)
}

func fresh(filter bson.D) bson.D {
	return append(filter, bson.E{Key: "mail", Value: bson.D{{Key: "$exists", Value: false}}})
}

// NextMail implements notice.Store. A mail that was begun comes first; the id of a new one is that of its first item.
func (s *Notices) NextMail(ctx context.Context, userID int64, limit int) ([]notice.Item, error) {
	items, err := s.items(ctx, begun(itemsFilter(userID)), limit)
	if err != nil || len(items) > 0 {
		return items, err
	}
	if items, err = s.items(ctx, fresh(itemsFilter(userID)), limit); err != nil || len(items) == 0 {
		return nil, err
	}
	ids := make([]string, len(items))
	for i := range items {
		ids[i], items[i].Mail = items[i].ID, items[0].ID
	}
	_, err = s.mails.UpdateMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "mail", Value: items[0].ID}}}})
	return items, failed(err, "begin a mail")
}

func (s *Notices) items(ctx context.Context, filter bson.D, limit int) ([]notice.Item, error) {
	return mongostore.Find[notice.Item](ctx, s.mails, filter,
		options.Find().SetSort(mongostore.By("at", "_id")).SetLimit(int64(limit)))
}

// Postpone implements notice.Store. It postpones everything that waits for the user, since later mails follow earlier
// ones.
func (s *Notices) Postpone(ctx context.Context, userID int64, until time.Time) error {
	filter := append(itemsFilter(userID), bson.E{Key: "due_at", Value: bson.D{{Key: "$lt", Value: until}}})
	_, err := s.mails.UpdateMany(ctx, filter, bson.D{{Key: "$set", Value: bson.D{{Key: "due_at", Value: until}}}})
	return failed(err, "postpone a mail")
}

// EndMail implements notice.Store.
func (s *Notices) EndMail(ctx context.Context, userID int64, mail, fault string) error {
	change := bson.D{{Key: "$unset", Value: bson.D{{Key: "waiting", Value: ""}}}}
	if fault != "" {
		change = append(change, bson.E{Key: "$set", Value: bson.D{{Key: "fault", Value: fault}}})
	}
	_, err := s.mails.UpdateMany(ctx, append(itemsFilter(userID), bson.E{Key: "mail", Value: mail}), change)
	return failed(err, "end a mail")
}
