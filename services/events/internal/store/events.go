package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/outbox"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// The names of the id counters.
const (
	eventIDs      = "events"
	commitmentIDs = "commitments"
	requestIDs    = "requests"
	categoryIDs   = "event_categories"
)

// fewIDs is up to how many ids are taken one by one from the process's block, which costs a round trip only now and then.
const fewIDs = 20

// Events is the collection of events. It implements event.Store.
type Events struct {
	collection *mongo.Collection
	ids        *mongostore.IDs
	turns      *mongostore.Turns
	zone       wiretime.Zone
	wrote      func()
}

// EventsCollection is where events are: the outbox's relay reads it too.
func EventsCollection(db *mongo.Database) *mongo.Collection { return db.Collection("events") }

// NewEvents returns the store. zone is the one that the periods are made for. wrote is called after each write of a message for other
// services; it must not block.
func NewEvents(db *mongo.Database, ids *mongostore.IDs, zone wiretime.Zone, wrote func()) *Events {
	return &Events{EventsCollection(db), ids, mongostore.NewTurns(), zone, wrote}
}

// Event returns the event of that id. One document by its id.
func (s *Events) Event(ctx context.Context, id int64) (event.Event, error) {
	d, err := mongostore.Load[eventDocument](ctx, s.collection, id)
	if err == nil && d.Deleted {
		err = mongostore.ErrNotFound
	}
	if err != nil {
		return event.Event{}, missing(err, "Event", id)
	}
	return d.event(), nil
}

// OfCommitment returns the event that has the commitment of that id. One document by an index.
func (s *Events) OfCommitment(ctx context.Context, id int64) (event.Event, error) {
	return s.holding(ctx, commitmentFilter(id), "Commitment", id)
}

// OfRequest returns the event that has the request of that id. One document by an index.
func (s *Events) OfRequest(ctx context.Context, id int64) (event.Event, error) {
	return s.holding(ctx, requestFilter(id), "Request", id)
}

func commitmentFilter(id int64) bson.D { return bson.D{{Key: "commitments.id", Value: id}} }

func requestFilter(id int64) bson.D { return bson.D{{Key: "requests.id", Value: id}} }

func (s *Events) holding(ctx context.Context, filter bson.D, record string, id int64) (event.Event, error) {
	var d eventDocument
	err := s.collection.FindOne(ctx, filter).Decode(&d)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return event.Event{}, problem.Missing(record, id)
	}
	if err != nil {
		return event.Event{}, fmt.Errorf("find the event of a %s: %w", strings.ToLower(record), err)
	}
	return d.event(), nil
}

// Find returns those of the events asked for that exist, by id and by import key. As many documents as it returns, by an index each.
func (s *Events) Find(ctx context.Context, ids []int64, keys []string) ([]event.Event, error) {
	var found []event.Event
	if len(ids) > 0 {
		byID, err := s.find(ctx, idsFilter(ids))
		if err != nil {
			return nil, err
		}
		found = byID
	}
	if len(keys) > 0 {
		byKey, err := s.find(ctx, keysFilter(keys))
		if err != nil {
			return nil, err
		}
		found = append(found, byKey...)
	}
	return found, nil
}

func idsFilter(ids []int64) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
}

func keysFilter(keys []string) bson.D {
	return bson.D{{Key: "key", Value: bson.D{{Key: "$in", Value: keys}}}}
}

// Touching returns the events that carry a period of the reaches for a commitment. One read of one index.
func (s *Events) Touching(ctx context.Context, reaches []fact.Reach) ([]event.Event, error) {
	keys := reachKeys(reaches)
	if len(keys) == 0 {
		return nil, nil
	}
	return s.find(ctx, touchingFilter(keys))
}

// Requesting is Touching for requests for one element.
func (s *Events) Requesting(ctx context.Context, elementID int64, days wiretime.Days) ([]event.Event, error) {
	keys := keysOf([]int64{elementID}, covering(days))
	if len(keys) == 0 {
		return nil, nil
	}
	return s.find(ctx, requestingFilter(keys))
}

func touchingFilter(keys []int64) bson.D {
	return bson.D{{Key: "commitment_periods", Value: bson.D{{Key: "$in", Value: keys}}}}
}

func requestingFilter(keys []int64) bson.D {
	return bson.D{{Key: "request_periods", Value: bson.D{{Key: "$in", Value: keys}}}}
}

// unused is what only the store uses of an event.
var unused = bson.D{
	{Key: "commitment_periods", Value: 0}, {Key: "request_periods", Value: 0}, {Key: "commitment_states", Value: 0},
	{Key: "outstanding_groups", Value: 0}, {Key: outbox.Field, Value: 0}, {Key: "audit", Value: 0}, {Key: "receipts", Value: 0},
}

// find reads events without that.
func (s *Events) find(ctx context.Context, filter bson.D) ([]event.Event, error) {
	return s.findSome(ctx, filter, options.Find())
}

// findSome is find with an order and a limit.
func (s *Events) findSome(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) ([]event.Event, error) {
	documents, err := mongostore.Find[eventDocument](ctx, s.collection, filter, o.SetProjection(unused))
	if err != nil {
		return nil, err
	}
	events := make([]event.Event, 0, len(documents))
	for _, d := range documents {
		if !d.Deleted {
			events = append(events, d.event())
		}
	}
	return events, nil
}

// NewEvents returns n new ids for events.
func (s *Events) NewEvents(ctx context.Context, n int) ([]int64, error) {
	return s.take(ctx, eventIDs, n)
}

// NewCommitments returns n new ids for commitments.
func (s *Events) NewCommitments(ctx context.Context, n int) ([]int64, error) {
	return s.take(ctx, commitmentIDs, n)
}

// NewRequests returns n new ids for requests.
func (s *Events) NewRequests(ctx context.Context, n int) ([]int64, error) {
	return s.take(ctx, requestIDs, n)
}

func (s *Events) take(ctx context.Context, name string, n int) ([]int64, error) {
	taken := make([]int64, 0, n)
	if n > fewIDs {
		first, err := s.ids.Take(ctx, name, n)
		for i := range n {
			taken = append(taken, first+int64(i))
		}
		return taken, err
	}
	for range n {
		id, err := s.ids.Next(ctx, name)
		if err != nil {
			return nil, err
		}
		taken = append(taken, id)
	}
	return taken, nil
}

// Insert stores new events in one round trip, each as a whole; those that the server gives up are tried again.
func (s *Events) Insert(ctx context.Context, events []event.Event) (taken []int, err error) {
	if err := audit.Begin(ctx); err != nil {
		return nil, err
	}
	told := false
	documents := make([]*eventDocument, len(events))
	for i, e := range events {
		d := &eventDocument{Head: mongostore.Head{Version: 1}}
		told = tell(ctx, d, d.Version, event.Notices(event.Event{}, e)) || told
		d.Audit = eventEntry(ctx, event.Event{}, e)
		d.set(e, s.zone)
		d.Modified = now()
		documents[i] = d
	}
	refused, err := mongostore.InsertAll(ctx, s.collection, documents)
	if err != nil {
		return nil, err
	}
	for _, w := range refused {
		if !strings.Contains(w.Message, importKey) && !strings.Contains(w.Message, receiptKey) { // the only other unique field is the id
			return nil, event.ErrShutOut
		}
		taken = append(taken, w.Index)
	}
	if told {
		s.wrote()
	}
	return taken, nil
}

// Change is event.Store's: two round trips when no other writer comes between.
func (s *Events) Change(ctx context.Context, id int64, change func(*event.Event) (bool, error)) (event.Event, error) {
	if err := audit.Begin(ctx); err != nil {
		return event.Event{}, err
	}
	done, err := s.turns.Take(ctx, id)
	if err != nil {
		return event.Event{}, err
	}
	defer done()
	told := false
	d, err := mongostore.Update(ctx, s.collection, id, func(d *eventDocument) error {
		if d.Deleted {
			return mongostore.ErrNotFound
		}
		e := d.event()
		told = false
		changed, err := change(&e)
		if err != nil {
			return err
		}
		if !changed {
			return mongostore.ErrUnchanged
		}
		told = tell(ctx, d, d.Version+1, event.Notices(d.event(), e))
		d.Audit = append(d.Audit, eventEntry(ctx, d.event(), e)...)
		d.set(e, s.zone)
		d.Modified = now()
		return nil
	})
	if err != nil {
		return event.Event{}, missing(err, "Event", id)
	}
	if told {
		s.wrote()
	}
	return d.event(), nil
}

// now is the time, as finely as it is stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// ShutOut is event.Store's: two round trips when no other writer comes between. It leaves a tombstone without a message where there is no event,
// so that its id stays taken.
func (s *Events) ShutOut(ctx context.Context, id int64) error {
	for {
		_, err := mongostore.Update(ctx, s.collection, id, func(d *eventDocument) error {
			if d.Deleted {
				return mongostore.ErrUnchanged
			}
			d.ShutOuts++
			return nil
		})
		if !errors.Is(err, mongostore.ErrNotFound) {
			return err
		}
		err = mongostore.Insert(ctx, s.collection, &eventDocument{Head: mongostore.Head{ID: id, Schema: eventSchema}, Deleted: true})
		if !mongostore.IsDuplicateKey(err) { // otherwise it has been stored meanwhile
			return err
		}
	}
}

// Delete replaces the event by a tombstone that tells the other services; the relay removes it once they are told. Two round trips.
func (s *Events) Delete(ctx context.Context, id int64, may func(*event.Event) error) error {
	_, err := mongostore.Update(ctx, s.collection, id, func(d *eventDocument) error {
		if d.Deleted {
			return mongostore.ErrNotFound
		}
		e := d.event()
		if err := may(&e); err != nil {
			return err
		}
		message := outbox.NewMessage(ctx, fact.EventDeleted, id)
		if lost := event.Deletion(e); len(lost.Entries) > 0 {
			message.Detail = detail(d.Version+1, 0, lost)
		}
		*d = eventDocument{
			Head: d.Head, Deleted: true, Outbox: append(d.Outbox, message),
			Audit: append(d.Audit, eventEntry(ctx, e, event.Event{})...),
		}
		return nil
	})
	if err != nil {
		return missing(err, "Event", id)
	}
	s.wrote()
	return nil
}

// missing makes the store's word for a document that is not there the client's.
func missing(err error, record string, id int64) error {
	if errors.Is(err, mongostore.ErrNotFound) {
		return problem.Missing(record, id)
	}
	return err
}
