package changelog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// awaited is how long an open batch is checked again: far longer than a request that writes one may take.
const awaited = 15 * time.Minute

// Batches keep the changes of records that are created together, until they are in the log. Their documents have none.
type Batches struct{ collection *mongo.Collection }

// NewBatches returns the batches of a service's log.
func NewBatches(db *mongo.Database, service string) *Batches {
	return &Batches{db.Collection(service + "_changes_batches")}
}

// batch is a stored batch. It is stored before the records, and has the changes of those that will exist. While it is
// open, its writer is creating them, or has died.
type batch struct {
	ID      string        `bson:"_id"`    // later ones have later ids, as far as clocks agree
	Source  string        `bson:"source"` // the collection of the records
	Begun   time.Time     `bson:"begun"`
	Open    bool          `bson:"open"`
	Changes []change.Item `bson:"changes"`
}

// Batch is a batch that this process writes.
type Batch struct {
	of     *Batches
	stored batch
}

// Begin stores the changes of records, before they are created in the collection of that name. No one else may
// create records of these ids, except another batch with the same changes.
func (b *Batches) Begin(ctx context.Context, source string, items []change.Item) (*Batch, error) {
	begun := &Batch{b, batch{
		ID:     uuid.Must(uuid.NewV7()).String(), // fails only where there is no randomness
		Source: source, Begun: time.Now().UTC(), Open: true, Changes: items,
	}}
	return begun, mongostore.InsertOne(ctx, b.collection, begun.stored)
}

// End says that the records are stored, except those whose positions are given. Only then may their creation be
// acknowledged: later readers of the log find all of it. If it is not called, or fails, the log finds out which of them
// exist.
func (b *Batch) End(ctx context.Context, refused []int) error {
	b.stored.Open = false
	update := bson.D{{Key: "$set", Value: bson.D{{Key: "open", Value: false}}}}
	if len(refused) > 0 {
		var gone, rest []change.Item
		for i, item := range b.stored.Changes {
			if slices.Contains(refused, i) {
				gone = append(gone, item)
			} else {
				rest = append(rest, item)
			}
		}
		b.stored.Changes = rest
		update = append(update, without(gone)...)
	}
	if len(b.stored.Changes) == 0 {
		return b.of.remove(ctx, byID(b.stored.ID))
	}
	for {
		result, err := b.of.collection.UpdateOne(ctx, byID(b.stored.ID), update)
		if mongostore.Conflicted(err) { // with a process that moves what is stored already
			continue
		}
		if err != nil {
			return fmt.Errorf("end a batch of %s: %w", b.of.collection.Name(), err)
		}
		if result.MatchedCount > 0 {
			return nil
		}
		// All records were found before, or the batch was given up. Changes in the log are not added again.
		return mongostore.InsertOne(ctx, b.of.collection, b.stored)
	}
}

// without is an update that takes changes out of a batch.
func without(items []change.Item) bson.D {
	ids := sequence.Map(items, func(item change.Item) string { return item.ID })
	those := bson.D{{Key: "id", Value: bson.D{{Key: "$in", Value: ids}}}}
	return bson.D{{Key: "$pull", Value: bson.D{{Key: "changes", Value: those}}}}
}

func byID(id string) bson.D { return bson.D{{Key: "_id", Value: id}} }

func (b *Batches) remove(ctx context.Context, filter bson.D) error {
	if _, err := b.collection.DeleteOne(ctx, filter); err != nil {
		return fmt.Errorf("remove a batch of %s: %w", b.collection.Name(), err)
	}
	return nil
}

// list returns the batches without their changes, oldest first.
func (b *Batches) list(ctx context.Context) ([]batch, error) {
	return mongostore.Find[batch](ctx, b.collection, bson.D{},
		options.Find().SetProjection(noChanges).SetSort(mongostore.By("_id")))
}

// moveBatch appends a batch's changes of records that exist, and removes it. An open batch keeps its other changes as
// long as its writer may be at work.
func (l *Log) moveBatch(ctx context.Context, id string) error {
	b, items, err := l.appendBatch(ctx, id)
	if errors.Is(err, record.ErrNotFound) { // another process has moved it
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case !b.Open:
		err = l.batches.remove(ctx, byID(id))
	case len(items) == len(b.Changes), time.Since(b.Begun) > awaited:
		// A batch that was ended meanwhile may have records that did not exist yet: it is moved the next time.
		err = l.batches.remove(ctx, append(byID(id), bson.E{Key: "open", Value: true}))
	case len(items) > 0:
		_, err = l.batches.collection.UpdateOne(ctx, byID(id), without(items))
	}
	if mongostore.Conflicted(err) { // the next reader finds the batch as it is, and its changes in the log
		return nil
	}
	return err
}

// appendBatch appends a batch's changes of records that exist, and returns them.
func (l *Log) appendBatch(ctx context.Context, id string) (b batch, items []change.Item, err error) {
	b, err = mongostore.First[batch](ctx, l.batches.collection, byID(id))
	if err != nil {
		return b, nil, err
	}
	items = b.Changes
	if b.Open {
		if items, err = l.created(ctx, b); err != nil {
			return b, nil, err
		}
	}
	for some := range slices.Chunk(items, pageSize) {
		if err := l.record(ctx, some); err != nil {
			return b, nil, err
		}
	}
	return b, items, nil
}

// created returns the changes of a batch whose records exist, or existed and are deleted. An id that was fenced, so
// that no record can ever have it, has a tombstone at version 1.
func (l *Log) created(ctx context.Context, b batch) ([]change.Item, error) {
	at := slices.IndexFunc(l.Sources, func(c *mongo.Collection) bool { return c.Name() == b.Source })
	if at < 0 {
		return nil, nil
	}
	ids := sequence.Map(b.Changes, func(item change.Item) int64 { return item.Record })
	found, err := mongostore.Find[struct {
		ID      int64 `bson:"_id"`
		Version int64 `bson:"version"`
		Deleted bool  `bson:"deleted"`
	}](ctx, l.Sources[at], bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}},
		options.Find().SetProjection(bson.D{{Key: "version", Value: 1}, {Key: "deleted", Value: 1}}))
	there := make(map[int64]bool, len(found))
	for _, f := range found {
		there[f.ID] = !f.Deleted || f.Version > 1
	}
	var items []change.Item
	for _, item := range b.Changes {
		if there[item.Record] {
			items = append(items, item)
		}
	}
	return items, err
}
