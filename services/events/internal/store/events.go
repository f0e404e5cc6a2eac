package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/semaphore"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
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

// fewIDs is the most ids that are taken one by one from the process's block; more are taken at once.
const fewIDs = 20

// Events is the collection of events. It implements event.Store.
type Events struct {
	events *journal.Collection[eventDocument, event.Event]
	titles *titles
	ids    *mongostore.IDs
	zone   wiretime.Zone
	audit  *auditlog.Log
	wide   *semaphore.Weighted // for reads that may return much
}

// EventsCollection is the collection of events, which the outbox's relay reads too.
func EventsCollection(db *mongo.Database) *mongo.Collection { return db.Collection("events") }

// NewEvents returns the store. zone is the zone of the periods. wrote, which may be nil, is called after each write of
// a message for other services; it must not block.
func NewEvents(db *mongo.Database, ids *mongostore.IDs, zone wiretime.Zone, wrote func()) *Events {
	shared := newTitles(db)
	return &Events{journal.New(journal.Options[eventDocument, event.Event]{
		Collection: EventsCollection(db),
		Record:     (*eventDocument).event,
		Entry:      eventEntry,
		Messages:   messages,
		Follow:     func(_, _ event.Event) change.Item { return change.Item{Kind: change.Event} },
		Batches:    changelog.NewBatches(db, service),
		Nudge:      wrote,
		Unique:     func(e event.Event) string { return e.Key },
		InTurn:     true,
		Set: func(d *eventDocument, e event.Event) {
			d.set(e, zone, shared)
			d.Event.Modified = now()
		},
	}), shared, ids, zone, Audit(db), semaphore.NewWeighted(wideAtOnce)}
}

// Get implements event.Store.
func (s *Events) Get(ctx context.Context, id int64) (event.Event, error) {
	return s.events.Get(ctx, id)
}

// GetByCommitment implements event.Store, by an index.
func (s *Events) GetByCommitment(ctx context.Context, id int64) (event.Event, error) {
	return s.events.First(ctx, commitmentFilter(id))
}

// GetByRequest implements event.Store, by an index.
func (s *Events) GetByRequest(ctx context.Context, id int64) (event.Event, error) {
	return s.events.First(ctx, requestFilter(id))
}

// Find implements event.Store, by the index of ids and by that of keys.
func (s *Events) Find(ctx context.Context, ids []int64, keys []string) ([]event.Event, error) {
	var found []event.Event
	if len(ids) > 0 {
		byID, err := s.find(ctx, idsFilter(ids), len(ids) > manyIDs)
		if err != nil {
			return nil, err
		}
		found = byID
	}
	if len(keys) > 0 {
		byKey, err := s.find(ctx, keysFilter(keys), len(keys) > manyIDs)
		if err != nil {
			return nil, err
		}
		found = append(found, byKey...)
	}
	return found, nil
}

// FindLiving implements event.Store.
func (s *Events) FindLiving(ctx context.Context, ids []int64) ([]int64, error) {
	fields := bson.D{{Key: "deleted", Value: 1}}
	found, err := s.events.Find(ctx, idsFilter(ids), options.Find().SetProjection(fields))
	return sequence.Map(found, func(e event.Event) int64 { return e.ID }), err
}

func idsFilter(ids []int64) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
}

func keysFilter(keys []string) bson.D {
	return bson.D{{Key: "key", Value: bson.D{{Key: "$in", Value: keys}}}}
}

// FindTouching implements event.Store: it returns the events that carry a period of the reaches for a commitment. An
// event with a status that has no number has no brief form, and is read again as a whole.
func (s *Events) FindTouching(ctx context.Context, reaches []fact.Reach, whole bool) ([]event.Event, error) {
	keys := reachKeys(reaches)
	if len(keys) == 0 {
		return nil, nil
	}
	if whole {
		return s.find(ctx, touchingFilter(keys), len(keys) > manyKeys)
	}
	read, more, err := s.findBrief(ctx, touchingFilter(keys), 0, len(keys) > manyKeys)
	if err = tooMany(more, err); err != nil {
		return nil, err
	}
	found := make([]event.Event, 0, len(read))
	var without []int64 // anything in brief, though they have commitments: else they were not found
	for _, e := range read {
		if len(e.Commitments) == 0 {
			without = append(without, e.ID)
			continue
		}
		found = append(found, e.event())
	}
	if len(without) == 0 {
		return found, nil
	}
	rest, err := s.find(ctx, idsFilter(without), len(without) > manyIDs)
	return append(found, rest...), err
}

// FindRequesting implements event.Store, as FindTouching does for commitments.
func (s *Events) FindRequesting(ctx context.Context, elementID int64, days wiretime.Days) ([]event.Event, error) {
	keys := keysOf([]int64{elementID}, covering(days))
	if len(keys) == 0 {
		return nil, nil
	}
	return s.find(ctx, requestingFilter(keys), len(keys) > manyKeys)
}

const (
	// mostRead bounds the events of one read, in bytes, stored form and memory together. A busy element has some
	// megabytes a year.
	mostRead = 32 << 20
	// manyKeys is the most keys of a read that is not wide. A pupil has some 40 for a day, and some hundreds for a
	// year: waiting for turns would cost a quarter more processor time.
	manyKeys = 1000
	// manyIDs is the most ids or import keys of a read that is not wide.
	manyIDs = 200
	// wideAtOnce is how many wide reads there are at a time.
	wideAtOnce = 2
)

// wait waits, for a wide read, until there are few enough others. It ends with leave.
func (s *Events) wait(ctx context.Context, wide bool) (leave func(), err error) {
	if !wide {
		return func() {}, nil
	}
	if err := s.wide.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for other reads of many events: %w", err)
	}
	return func() { s.wide.Release(1) }, nil
}

// find reads events without the unused fields. A Malformed problem when they exceed mostRead.
func (s *Events) find(
	ctx context.Context, filter bson.D, wide bool, opts ...options.Lister[options.FindOptions],
) ([]event.Event, error) {
	leave, err := s.wait(ctx, wide)
	if err != nil {
		return nil, err
	}
	defer leave()
	opts = append(opts, options.Find().SetProjection(unused))
	found, more, err := s.events.FindUpTo(ctx, mostRead, filter, opts...)
	return found, tooMany(more, err)
}

// findBrief reads events in brief, up to limit (0: any number) and mostRead. The filter matches no tombstone.
func (s *Events) findBrief(
	ctx context.Context, filter bson.D, limit int, wide bool,
) (found []briefEvent, more bool, err error) {
	leave, err := s.wait(ctx, wide)
	if err != nil {
		return nil, false, err
	}
	defer leave()
	return mongostore.FindUpTo[briefEvent](ctx, s.events.Reader(), mostRead, filter,
		options.Find().SetProjection(inBrief).SetLimit(int64(limit)))
}

func tooMany(more bool, err error) error {
	if err == nil && more {
		return problem.New(problem.Malformed, "more events than can be read at once: ask for less")
	}
	return err
}

func touchingFilter(keys []int64) bson.D {
	return bson.D{{Key: "commitment_periods", Value: bson.D{{Key: "$in", Value: keys}}}}
}

func requestingFilter(keys []int64) bson.D {
	return mongostore.WhereExists("request_periods", "$in", keys)
}

// unused are the fields of an event that only the store uses.
var unused = bson.D{
	{Key: "commitment_periods", Value: 0}, {Key: "request_periods", Value: 0}, {Key: "commitment_states", Value: 0},
	{Key: "outstanding_groups", Value: 0}, {Key: "search_keys", Value: 0}, {Key: "brief", Value: 0},
	{Key: string(mongostore.PendingOutbox), Value: 0}, {Key: string(mongostore.PendingAudit), Value: 0},
	{Key: string(mongostore.PendingChanges), Value: 0}, {Key: "receipts", Value: 0},
}

// NewIDs implements event.Store.
func (s *Events) NewIDs(ctx context.Context, events, commitments, requests int) (new event.IDs, err error) {
	if new.Events, err = s.take(ctx, eventIDs, events); err != nil {
		return event.IDs{}, err
	}
	if new.Commitments, err = s.take(ctx, commitmentIDs, commitments); err != nil {
		return event.IDs{}, err
	}
	new.Requests, err = s.take(ctx, requestIDs, requests)
	return new, err
}

func (s *Events) take(ctx context.Context, name string, n int) ([]int64, error) {
	if record.IsDryRun(ctx) {
		return make([]int64, n), nil
	}
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

// Insert implements event.Store. Documents that the server gave up on are tried again.
func (s *Events) Insert(ctx context.Context, events []event.Event) (taken []int, err error) {
	for i := range events {
		if err := checkIDs(ctx, &events[i]); err != nil {
			return nil, err
		}
	}
	if audit.InBatch(ctx) {
		if err := s.titles.share(ctx, events); err != nil {
			return nil, err
		}
	}
	refused, err := s.events.Insert(ctx, events)
	if err != nil {
		return nil, err
	}
	for _, w := range refused {
		switch mongostore.DuplicateIndex(w) {
		case commitmentIndex, requestIndex:
			return nil, fmt.Errorf("event %d: an id of its commitments or requests is taken", events[w.Index].ID)
		case importKey, idempotencyIndex:
			taken = append(taken, w.Index)
		default: // the only other unique field is the event's id
			return nil, event.ErrFenced
		}
	}
	return taken, nil
}

const (
	// heldPatience is how long a change waits for an event that is held.
	heldPatience = 3 * time.Second
	// heldPause is the longest pause before another try.
	heldPause = 50 * time.Millisecond
)

// errHeld says that an event is held.
var errHeld = problem.New(problem.Conflict, "the series is being changed")

// Change implements event.Store.
func (s *Events) Change(ctx context.Context, id int64, change func(*event.Event) error) (event.Event, error) {
	return backoff.Retry(ctx, func() (event.Event, error) {
		e, err := s.events.Change(ctx, id, func(e *event.Event) error {
			e.Actor = actor(ctx)
			held := e.Held
			if err := change(e); err != nil {
				return err
			}
			if held != 0 && e.Held == held { // only a change that ends the hold is stored
				return errHeld
			}
			return checkIDs(ctx, e)
		})
		if err != nil && !errors.Is(err, errHeld) {
			err = backoff.Permanent(err)
		}
		return e, err
	}, backoff.WithBackOff(mongostore.Pauses(heldPause)), backoff.WithMaxElapsedTime(heldPatience))
}

// Hold implements series.EventStore.
func (s *Events) Hold(ctx context.Context, id int64, hold func(*event.Event) error) error {
	return s.events.Rewrite(ctx, id, func(d *eventDocument) error {
		if d.Deleted {
			return record.ErrNotFound
		}
		e := d.event()
		err := hold(&e)
		d.Event.Held = e.Held
		return err
	})
}

// actor is the user who changes an event; 0 in an import.
func actor(ctx context.Context) int64 {
	if audit.InBatch(ctx) {
		return 0
	}
	return audit.ActorOf(ctx).User
}

// now is the time at the precision that is stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Fence implements event.Store. Where there is no event, a tombstone takes the id.
func (s *Events) Fence(ctx context.Context, id int64) error {
	for {
		err := s.events.Rewrite(ctx, id, func(d *eventDocument) error {
			switch {
			case d.Deleted:
				return record.ErrUnchanged
			case d.Event.Held != 0:
				return errHeld
			}
			d.Event.Fences++
			return nil
		})
		if !errors.Is(err, record.ErrNotFound) {
			return err
		}
		err = s.events.Fence(ctx, id, eventSchema)
		if !mongostore.IsDuplicateKey(err) { // otherwise it has been stored meanwhile
			return err
		}
	}
}

// Delete implements event.Store.
func (s *Events) Delete(ctx context.Context, id int64, may func(*event.Event) error) error {
	return s.events.Delete(ctx, id, func(e *event.Event) error {
		e.Actor = actor(ctx)
		return may(e)
	})
}

// List implements event.Store, by the index of ids.
func (s *Events) List(ctx context.Context, after int64, limit int) (found []event.Event, more bool, err error) {
	o := options.Find().SetSort(mongostore.By("_id")).SetLimit(int64(limit)).SetProjection(unused)
	living := bson.D{
		{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}},
		{Key: "deleted", Value: bson.D{{Key: "$ne", Value: true}}},
	}
	return s.events.FindUpTo(ctx, mostRead, living, o)
}

// idempotencyIndex is the name of the index that lets an idempotency key make one event.
const idempotencyIndex = "receipt_key"

// GetByIdempotencyKey implements event.Store, by an index.
func (s *Events) GetByIdempotencyKey(ctx context.Context, keyID string) (event.Event, error) {
	return s.events.First(ctx, idempotencyKeyFilter(keyID))
}

func idempotencyKeyFilter(key string) bson.D {
	return mongostore.WhereExists("receipts.key", "$eq", key)
}

func idempotencyRecordsFilter(before time.Time) bson.D {
	return mongostore.WhereExists("receipts.at", "$lt", before)
}

// ForgetIdempotencyRecords removes idempotency records from before a time from all events, whose versions stay. A
// concurrent change may bring some back until the next call.
func (s *Events) ForgetIdempotencyRecords(ctx context.Context, before time.Time) error {
	old := bson.D{{Key: "at", Value: bson.D{{Key: "$lt", Value: before}}}}
	return s.events.Forget(
		ctx, idempotencyRecordsFilter(before), bson.D{{Key: "$pull", Value: bson.D{{Key: "receipts", Value: old}}}},
	)
}
