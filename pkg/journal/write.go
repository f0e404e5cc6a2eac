package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Insert stores new records, with ids that the caller set, each by itself. It returns the write errors of those that
// a unique index refused; their Index is the record's. After any other failure some of the records may be stored.
//
// Records are written in the order of Unique, whatever the caller's: a server that writes a batch as one transaction
// makes a writer wait for another that has just written the same key, so two in opposite orders would wait for each
// other.
func (c *Collection[D, R]) Insert(ctx context.Context, records []R) ([]mongo.WriteError, error) {
	if len(records) == 0 {
		return nil, nil
	}
	_, refused, err := c.insertAll(ctx, records)
	return refused, err
}

// InsertOne stores a new record, with the id that the caller set, and returns it as stored. mongostore.IsDuplicateKey
// holds for the error when a unique index refuses it.
func (c *Collection[D, R]) InsertOne(ctx context.Context, r R) (stored R, err error) {
	documents, refused, err := c.insertAll(ctx, []R{r})
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("insert into %s: %w", c.o.Collection.Name(), mongo.WriteException{WriteErrors: refused})
	}
	if err != nil {
		return stored, err
	}
	return c.o.Record(&documents[0]), nil
}

// insertAll is Insert. It returns the documents in the order in which they were written.
func (c *Collection[D, R]) insertAll(ctx context.Context, records []R) ([]D, []mongo.WriteError, error) {
	if err := audit.Begin(ctx); err != nil {
		return nil, nil, err
	}
	documents, messages := make([]D, len(records)), false
	order := c.inOrder(records)
	var keys []directory.Key
	for i, n := range order {
		r := records[n]
		messages = c.create(ctx, &documents[i], r) || messages
		keys = append(keys, c.keys(c.head(&documents[i]).ID, r)...)
	}
	intent, err := c.intend(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	for i := range documents {
		intent.nameIn(c.tail(&documents[i]))
	}
	b, err := c.begin(ctx, documents)
	if err != nil {
		intent.cancel(ctx)
		return nil, nil, err
	}
	refused, err := mongostore.InsertAll(ctx, c.o.Collection, documents)
	if err != nil { // some may be stored, now or later: the intent stays open, and the batch too
		return nil, nil, err
	}
	if messages {
		c.nudge()
	}
	err = errors.Join(end(ctx, b, refused), intent.close(ctx, keys))
	for i := range refused {
		refused[i].Index = order[refused[i].Index]
	}
	return documents, refused, err
}

// inOrder returns the positions of the records in the order in which they are written.
func (c *Collection[D, R]) inOrder(records []R) []int {
	order := make([]int, len(records))
	for i := range order {
		order[i] = i
	}
	if c.o.Unique != nil {
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(c.o.Unique(records[a]), c.o.Unique(records[b]))
		})
	}
	return order
}

// together is the number of records from which on a batch keeps the changes of records that are created together. It
// costs three small writes, and saves a second write of each record and of its keys in the indexes.
const together = 4

// begin moves the changes out of new documents into a batch for all of them. It returns nil when they are few.
func (c *Collection[D, R]) begin(ctx context.Context, documents []D) (*changelog.Batch, error) {
	if c.o.Follow == nil || c.o.Batches == nil || len(documents) < together || record.IsDryRun(ctx) {
		return nil, nil
	}
	var items []change.Item
	for i := range documents {
		t := c.tail(&documents[i])
		items, t.Changes = append(items, t.Changes...), nil // of each one
	}
	return c.o.Batches.Begin(ctx, c.o.Collection.Name(), items)
}

// end ends a batch, without the records that a unique index refused.
func end(ctx context.Context, b *changelog.Batch, refused []mongo.WriteError) error {
	if b == nil {
		return nil
	}
	positions := sequence.Map(refused, func(r mongo.WriteError) int { return r.Index })
	return b.End(ctx, positions)
}

// create makes the document of a new record, and says whether it has a message.
func (c *Collection[D, R]) create(ctx context.Context, d *D, r R) bool {
	var none R
	c.o.Set(d, r)
	c.head(d).Version = 1
	return c.append(ctx, d, 1, none, r)
}

// Change changes a record and loses no concurrent change: decide gets the record and changes it in place. When another
// writer was first, decide runs again on the new record; it must write nothing else, and may keep what else it has read
// for the next run. The record returned is the one stored.
//
// When decide returns record.ErrUnchanged, nothing is written and the record is returned as read, without an error.
// Any other error of decide is returned as it is, with the record as decide left it. record.ErrNotFound when there is
// no record with the id. After an error for which mongostore.Unavailable holds, the change may or may not be stored.
func (c *Collection[D, R]) Change(ctx context.Context, id int64, decide func(*R) error) (R, error) {
	return c.write(ctx, id, func(d *D) (before, after R, err error) {
		before, after = c.o.Record(d), c.o.Record(d)
		if err = decide(&after); err == nil {
			c.set(d, after)
		}
		return before, after, err
	})
}

// Delete deletes a record if may returns no error; an error of may is returned as it is. Entry and Messages get the
// record, as may left it, as the old one. A tombstone stays until the last entry and messages are copied. Errors are
// those of Change.
func (c *Collection[D, R]) Delete(ctx context.Context, id int64, may func(*R) error) error {
	_, err := c.write(ctx, id, func(d *D) (before, none R, err error) {
		before = c.o.Record(d)
		if err := may(&before); err != nil {
			return before, none, err
		}
		var tombstone D
		*c.head(&tombstone), *c.tail(&tombstone) = *c.head(d), *c.tail(d)
		c.tail(&tombstone).Deleted = true
		*d = tombstone
		return before, none, nil
	})
	return err
}

// write is the common part of Change and Delete. Change, which may run many times, changes a document and returns the
// record before and after.
func (c *Collection[D, R]) write(ctx context.Context, id int64,
	change func(*D) (before, after R, err error)) (r R, err error) {
	if err := audit.Begin(ctx); err != nil {
		return r, err
	}
	if c.queues != nil {
		done, err := c.queues.Wait(ctx, id)
		if err != nil {
			return r, err
		}
		defer done()
	}
	var none R
	intent, err := c.intend(ctx, c.keys(id, none))
	if err != nil {
		return r, err
	}
	messages, written, keys := false, false, []directory.Key(nil)
	d, err := c.update(ctx, id, func(d *D) error {
		messages, written = false, false
		if c.tail(d).Deleted {
			return record.ErrNotFound
		}
		before, after, err := change(d)
		r = after
		if err != nil {
			return err
		}
		messages = c.append(ctx, d, c.head(d).Version+1, before, after)
		intent.nameIn(c.tail(d))
		written, keys = true, append(c.keys(id, before), c.keys(id, after)...)
		return nil
	})
	if !written || errors.Is(err, record.ErrNotFound) { // it is purged since another writer was first
		intent.cancel(ctx)
		if c.head(&d).ID != 0 { // the answer shows the document that was read
			err = cmp.Or(c.resolve(ctx, d), err)
		}
	}
	if err != nil {
		intent.fail(ctx, err)
		return r, err
	}
	if messages {
		c.nudge()
	}
	if written {
		err = intent.close(ctx, keys)
	}
	return c.o.Record(&d), err
}

// Revision is a record as it is to be stored, if the stored one is still at the version at which it was read.
type Revision[R any] struct {
	ID, Version int64
	Record      R
}

// Replace is Change for a batch: it stores the records that are still at the version at which they were read, and says
// whether all of them were. The ids must differ; it writes in their order.
func (c *Collection[D, R]) Replace(ctx context.Context, revisions []Revision[R]) (all bool, err error) {
	if len(revisions) == 0 {
		return true, nil
	}
	if err := audit.Begin(ctx); err != nil {
		return false, err
	}
	revisions = slices.SortedFunc(slices.Values(revisions), func(a, b Revision[R]) int {
		return cmp.Compare(a.ID, b.ID)
	})
	stored, err := c.documents(ctx, revisions)
	if err != nil {
		return false, err
	}
	var keys []directory.Key
	for _, r := range revisions {
		keys = append(keys, c.keys(r.ID, r.Record)...)
		if read, exists := stored[r.ID]; exists {
			keys = append(keys, c.keys(r.ID, c.o.Record(&read.Document))...)
		}
	}
	intent, err := c.intend(ctx, keys)
	if err != nil {
		return false, err
	}
	messages := false
	var models []mongo.WriteModel
	for _, r := range revisions {
		read, exists := stored[r.ID]
		if !exists {
			continue
		}
		d := &read.Document
		if c.head(d).Version != r.Version || c.tail(d).Deleted {
			continue
		}
		before := c.o.Record(d)
		c.set(d, r.Record)
		c.head(d).Version++
		messages = c.append(ctx, d, c.head(d).Version, before, r.Record) || messages
		intent.nameIn(c.tail(d))
		replacement, err := read.Replacement()
		if err != nil {
			intent.cancel(ctx)
			return false, err
		}
		asRead := bson.D{{Key: "_id", Value: r.ID}, {Key: "version", Value: r.Version}}
		models = append(models, mongo.NewReplaceOneModel().SetFilter(asRead).SetReplacement(replacement))
	}
	if len(models) == 0 {
		intent.cancel(ctx)
		return false, nil
	}
	if record.IsDryRun(ctx) {
		return len(models) == len(revisions), nil
	}
	result, err := c.o.Collection.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	if mongostore.Conflicted(err) { // with another writer, or a copier of pending items; some may be stored
		return false, intent.close(ctx, keys)
	}
	if err != nil {
		return false, fmt.Errorf("replace in %s: %w", c.o.Collection.Name(), err)
	}
	if messages {
		c.nudge()
	}
	return result.MatchedCount == int64(len(revisions)), intent.close(ctx, keys)
}

// documents reads the documents of the revisions, by id.
func (c *Collection[D, R]) documents(ctx context.Context,
	revisions []Revision[R]) (map[int64]*mongostore.Stored[D], error) {
	ids := sequence.Map(revisions, func(r Revision[R]) int64 { return r.ID })
	found, err := mongostore.Find[mongostore.Stored[D]](ctx, c.o.Collection,
		bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	byID := make(map[int64]*mongostore.Stored[D], len(found))
	for i := range found {
		byID[c.head(&found[i].Document).ID] = &found[i]
	}
	return byID, err
}

// set stores a record in a stored document; id, version and tail stay.
func (c *Collection[D, R]) set(d *D, r R) {
	head, tail := *c.head(d), *c.tail(d)
	c.o.Set(d, r)
	c.head(d).ID, c.head(d).Version = head.ID, head.Version
	*c.tail(d) = tail
}

// append adds what a change requires to its document, and says whether there are messages.
func (c *Collection[D, R]) append(ctx context.Context, d *D, version int64, before, after R) bool {
	if record.IsDryRun(ctx) {
		return false
	}
	tail := c.tail(d)
	tail.Audit = append(tail.Audit, c.o.Entry(ctx, before, after)...)
	if c.o.Follow != nil {
		tail.Changes = append(tail.Changes, c.o.Follow(before, after).Of(c.head(d).ID, version, what(tail, version)))
	}
	if c.o.Messages == nil || audit.Erasing(ctx) { // losing a name needs no mail
		return false
	}
	messages := c.o.Messages(ctx, version, before, after)
	tail.Outbox = append(tail.Outbox, messages...)
	return len(messages) > 0
}

// what returns what a write that makes that version does to its record.
func what(t *Tail, version int64) change.What {
	switch {
	case t.Deleted:
		return change.Deleted
	case version == 1:
		return change.Created
	}
	return change.Changed
}

func (c *Collection[D, R]) nudge() {
	if c.o.Nudge != nil {
		c.o.Nudge()
	}
}
