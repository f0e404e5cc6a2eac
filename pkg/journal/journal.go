// Package journal writes the records of one collection together with all that a change of them requires: the entry
// for the audit, the messages for other services, the change for clients that follow, the start of an import's batch,
// and the nudge for the relay. So no store method can leave one out. All of these are in the same atomic write as the
// change.
//
// A [Collection] is the only way to write such records: it keeps the MongoDB collection to itself and exposes it for
// reading only. The writes that need no entry and no message have names of their own: [Collection.Rewrite],
// [Collection.Fence], [Collection.Forget], [Collection.Purge].
//
// Records of the directory (package directory) are also kept in the services' memory: a write opens an intent before it
// is stored and closes it before it is acknowledged, and a document whose intent may be open is resolved before it is
// shown.
//
// In a dry run (record.DryRun) Insert, Change, Delete and Replace decide as usual and store nothing.
//
// A deleted record leaves a tombstone, which carries its last entry and messages. The methods that read records leave
// tombstones out. mongostore.Pending says when a tombstone is deleted.
package journal

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Tail is the journal's part of a document. Embed it with the tag `bson:",inline"`, as the last field.
type Tail struct {
	Deleted bool              `bson:"deleted,omitempty"` // a tombstone
	Outbox  []outbox.Message  `bson:"outbox,omitempty"`
	Audit   []audit.Entry     `bson:"audit,omitempty"`
	Changes []change.Item     `bson:"changes,omitempty"` // for those who follow
	Intent  *directory.Intent `bson:"intent,omitempty"`  // of the last write
}

func (t *Tail) tail() *Tail { return t } //nolint:unused // it makes a document of what embeds a Tail

// document is a pointer to a struct that embeds mongostore.Head and Tail.
type document[D any] interface {
	mongostore.Document[D]
	tail() *Tail
}

// Options say how the documents D of a collection become records R and back, and what a change of a record requires.
//
// Entry and Messages compare the record before a change with the one after it. The zero R stands for a record that
// does not exist: before it is created, or after it is deleted. They may run more than once for one change.
type Options[D, R any] struct {
	Collection *mongo.Collection

	// Record returns the record in a document. It shares nothing with the document that a change of the record may
	// change in place.
	Record func(*D) R
	// Set stores a record in a document. Of the head it sets the schema, and the id in a new document; the journal
	// sets the rest of the head, and the tail.
	Set func(*D, R)
	// Entry returns the audit's entries for a change, none when the audit ignores the change. See audit.New.
	Entry func(ctx context.Context, before, after R) []audit.Entry
	// Messages returns the messages for other services. Nil: there are never any. Version is the document's after the
	// change.
	Messages func(ctx context.Context, version int64, before, after R) []outbox.Message
	// Follow returns the change for clients that follow, without the record's id and version: its kind at
	// least. Nil: these records can't be followed.
	Follow func(before, after R) change.Item
	// Batches keep the changes of records that are created together. Nil: their documents keep them.
	Batches *changelog.Batches
	// Nudge is called after each write with a message; it must not block. Nil: there is no nudge, and the relay finds
	// the message at its next poll.
	Nudge func()
	// InTurn makes this process's writers to one document write one after another, for documents with many concurrent
	// writers. See mongostore.WriterQueues.
	InTurn bool
	// Unique returns a record's text in a unique index, for records that several writers may make at once, such as the
	// key of an import. Records that are inserted together are written in its order, see Insert. Nil or "": there is
	// none.
	Unique func(R) string
	// Directory is set when services keep the records in memory; the collection then reads with read concern majority.
	// Keys returns the keys of a record; a change invalidates those of the old and of the new record. A record that is
	// changed by its id alone has the keys of the zero R with that id in the document.
	Directory Directory
	Keys      func(id int64, r R) []directory.Key
}

// Directory is implemented by *directory.Versions.
type Directory interface {
	Open(ctx context.Context, keys []directory.Key) (directory.Intent, error)
	Close(ctx context.Context, i directory.Intent, keys []directory.Key) error
	Cancel(ctx context.Context, i directory.Intent) error
	Closed(i *directory.Intent) bool
	Resolve(ctx context.Context, documents []directory.Document) error
}

// Collection has the records of one collection. It is safe for concurrent use, by any number of processes.
type Collection[D, R any] struct {
	o      Options[D, R]
	queues *mongostore.WriterQueues // nil: all at once
	head   func(*D) *mongostore.Head
	tail   func(*D) *Tail
	load   func(ctx context.Context, id int64) (D, error)
	update func(ctx context.Context, id int64, change func(*D) error) (D, error)
	insert func(ctx context.Context, d *D) error
}

// New returns the records of a collection, which has the indexes auditlog.Index, outbox.Index, if there may be
// messages, and changelog.Index, if clients follow the records.
func New[D, R any, P document[D]](o Options[D, R]) *Collection[D, R] {
	if o.Directory != nil {
		// A write that is not yet on the majority may be rolled back, and must not be kept in memory.
		o.Collection = o.Collection.Clone(options.Collection().SetReadConcern(readconcern.Majority()))
	}
	c := &Collection[D, R]{
		o:    o,
		head: func(d *D) *mongostore.Head { return mongostore.HeadOf[D](P(d)) },
		tail: func(d *D) *Tail { return P(d).tail() },
		load: func(ctx context.Context, id int64) (D, error) { return mongostore.Load[D, P](ctx, o.Collection, id) },
		update: func(ctx context.Context, id int64, change func(*D) error) (D, error) {
			return mongostore.Update(ctx, o.Collection, id, func(d P) error { return change(d) })
		},
		insert: func(ctx context.Context, d *D) error { return mongostore.Insert(ctx, o.Collection, P(d)) },
	}
	if o.InTurn {
		c.queues = mongostore.NewWriterQueues()
	}
	return c
}

// Reader is the collection, for reading only. It includes tombstones.
func (c *Collection[D, R]) Reader() mongostore.Reader { return reader{c.o.Collection} }

// reader hides the other methods of a *mongo.Collection.
type reader struct{ mongostore.Reader }

// Get returns the record with the id; record.ErrNotFound when there is none.
func (c *Collection[D, R]) Get(ctx context.Context, id int64) (r R, err error) {
	d, err := c.load(ctx, id)
	if err == nil {
		err = c.resolve(ctx, d)
	}
	if err == nil && c.tail(&d).Deleted {
		err = record.ErrNotFound
	}
	if err != nil {
		return r, err
	}
	return c.o.Record(&d), nil
}

// Find returns all records that match a filter; empty, not nil, when there is none. Callers that may match many pass
// a limit.
func (c *Collection[D, R]) Find(ctx context.Context, filter bson.D,
	opts ...options.Lister[options.FindOptions]) ([]R, error) {
	documents, err := mongostore.Find[D](ctx, c.o.Collection, filter, opts...)
	if err != nil {
		return nil, err
	}
	return c.records(ctx, documents)
}

// FindUpTo is Find that stops as mongostore.FindUpTo does, and says whether there are more.
func (c *Collection[D, R]) FindUpTo(ctx context.Context, most int, filter bson.D,
	opts ...options.Lister[options.FindOptions]) (records []R, more bool, err error) {
	documents, more, err := mongostore.FindUpTo[D](ctx, c.o.Collection, most, filter, opts...)
	if err != nil {
		return nil, false, err
	}
	records, err = c.records(ctx, documents)
	return records, more, err
}

// records are those of documents, without tombstones.
func (c *Collection[D, R]) records(ctx context.Context, documents []D) ([]R, error) {
	if err := c.resolve(ctx, documents...); err != nil {
		return nil, err
	}
	records := make([]R, 0, len(documents))
	for i := range documents {
		if !c.tail(&documents[i]).Deleted {
			records = append(records, c.o.Record(&documents[i]))
		}
	}
	return records, nil
}

// First returns the first record that matches a filter, record.ErrNotFound when there is none. The filter must match
// no tombstone: use a field that tombstones lack.
func (c *Collection[D, R]) First(ctx context.Context, filter bson.D,
	opts ...options.Lister[options.FindOneOptions]) (r R, err error) {
	d, err := mongostore.First[D](ctx, c.o.Collection, filter, opts...)
	if err == nil {
		err = c.resolve(ctx, d)
	}
	if err != nil {
		return r, err
	}
	return c.o.Record(&d), nil
}

// The writes of this file leave no entry and no message: nothing that a client can see changes with them.

// Rewrite changes a document, but not the record in it: its shape, or a field that only the store uses. Change is
// also called for tombstones; it returns record.ErrUnchanged when there is nothing to write. Otherwise as
// mongostore.Update.
func (c *Collection[D, R]) Rewrite(ctx context.Context, id int64, change func(*D) error) error {
	_, err := c.update(ctx, id, change)
	return err
}

// Fence stores a tombstone in which nothing is pending, so that the id stays taken for ever.
// mongostore.IsDuplicateKey holds for the error when it is taken already.
func (c *Collection[D, R]) Fence(ctx context.Context, id int64, schema int32) error {
	var d D
	*c.head(&d) = mongostore.Head{ID: id, Schema: schema}
	c.tail(&d).Deleted = true
	return c.insert(ctx, &d)
}

// Forget removes fields that the store no longer needs from documents, by an update such as $unset. The versions stay.
func (c *Collection[D, R]) Forget(ctx context.Context, filter, update bson.D) error {
	if _, err := c.o.Collection.UpdateMany(ctx, filter, update); err != nil {
		return fmt.Errorf("forget in %s: %w", c.o.Collection.Name(), err)
	}
	return nil
}

// Purge removes the documents that match a filter and in which nothing is pending, without a tombstone. It is for
// records whose end is in the audit as part of another record's. It says whether any are left.
func (c *Collection[D, R]) Purge(ctx context.Context, filter bson.D) (left bool, err error) {
	_, err = c.o.Collection.DeleteMany(ctx, append(filter[:len(filter):len(filter)], mongostore.NonePending()...))
	if err != nil {
		return false, fmt.Errorf("purge %s: %w", c.o.Collection.Name(), err)
	}
	n, err := c.o.Collection.CountDocuments(ctx, filter, options.Count().SetLimit(1))
	if err != nil {
		return false, fmt.Errorf("count what is left of %s: %w", c.o.Collection.Name(), err)
	}
	return n > 0, nil
}
