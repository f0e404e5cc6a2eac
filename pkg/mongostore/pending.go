package mongostore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cenkalti/backoff/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Pending names an array of documents whose items wait to be copied elsewhere. Each item has an id of its own, a text
// in the field id. Copied items are removed with [RemovePending].
//
// A document with deleted: true is a tombstone: it stays until its last items are copied. A tombstone is removed when
// all of the arrays below are empty; this file alone decides that.
type Pending string

// The arrays.
const (
	PendingAudit   Pending = "audit"   // entries, until they are in the service's audit
	PendingOutbox  Pending = "outbox"  // messages for other services, until they are in their stream
	PendingChanges Pending = "changes" // changes, until they are in the service's log for those who follow
)

func pendingArrays() []Pending { return []Pending{PendingAudit, PendingOutbox, PendingChanges} }

// removeTries bounds how often RemovePending tries, as other writes may conflict with it.
const removeTries = 21

// Filter matches the documents with an item in the array. It is the condition of the index too: it must stay the same.
func (p Pending) Filter() bson.D {
	return bson.D{{Key: string(p) + ".id", Value: bson.D{{Key: "$gt", Value: ""}}}}
}

// Index is the index that a collection with the array needs. Only documents with an item are in it, so it is empty
// while nothing is pending.
func (p Pending) Index() Index {
	return Index{Name: string(p), Keys: By(string(p) + ".id"), Where: p.Filter()}
}

// NonePending is the condition that a document has no item in any of the arrays, except those given.
func NonePending(but ...Pending) bson.D {
	var filter bson.D
	for _, p := range pendingArrays() {
		if !slices.Contains(but, p) {
			filter = append(filter, bson.E{Key: string(p) + ".0", Value: bson.D{{Key: "$exists", Value: false}}})
		}
	}
	return filter
}

// Waiting is a document with the items of one of its arrays, as it was read.
type Waiting[Item any] struct {
	ID      any // a number, or of some collections a text
	Version int64
	Deleted bool
	Items   []Item

	document bson.Raw
}

// mostPending bounds what is read of waiting documents at a time, in bytes: no document is larger.
const mostPending = 16 << 20

// FindPending returns up to limit documents that have items in the array, in no order, of those that match a filter
// too, and says whether there may be more. Also names further arrays to read, see Waiting.Also.
func FindPending[Item any](
	ctx context.Context, collection *mongo.Collection, p Pending, filter bson.D, limit int, also ...Pending,
) (found []Waiting[Item], more bool, err error) {
	fields := bson.D{{Key: "version", Value: 1}, {Key: "deleted", Value: 1}, {Key: string(p), Value: 1}}
	for _, other := range also {
		fields = append(fields, bson.E{Key: string(other), Value: 1})
	}
	documents, more, err := FindUpTo[bson.Raw](ctx, collection, mostPending, append(p.Filter(), filter...),
		options.Find().SetLimit(int64(limit)).SetProjection(fields))
	found = make([]Waiting[Item], len(documents))
	for i, d := range documents {
		w := &found[i]
		var head struct {
			ID      any   `bson:"_id"`
			Version int64 `bson:"version"`
			Deleted bool  `bson:"deleted"`
		}
		if err := errors.Join(bson.Unmarshal(d, &head), itemsOf(d, p, &w.Items)); err != nil {
			return nil, false, fmt.Errorf("read %s of %s: %w", p, collection.Name(), err)
		}
		w.ID, w.Version, w.Deleted, w.document = head.ID, head.Version, head.Deleted, d
	}
	return found, more || len(found) == limit, err
}

// Also decodes the items of a further array that was read with the document; none when it has no such array.
func (w *Waiting[Item]) Also(p Pending, items any) error {
	if err := itemsOf(w.document, p, items); err != nil {
		return fmt.Errorf("read %s: %w", p, err)
	}
	return nil
}

func itemsOf(document bson.Raw, p Pending, items any) error {
	array := document.Lookup(string(p))
	if array.IsZero() {
		return nil
	}
	return array.Unmarshal(items)
}

// Copied returns the document with its first n items of the array as copied.
func (w *Waiting[Item]) Copied(p Pending, n int, id func(Item) string) Copied {
	c := Copied{ID: w.ID, Version: w.Version, Deleted: w.Deleted, Rest: n < len(w.Items), Items: map[Pending][]string{}}
	for _, item := range w.Items[:n] {
		c.Items[p] = append(c.Items[p], id(item))
	}
	return c
}

// Copied are the items of one document that were copied, by their ids, and the document as it was read with them.
type Copied struct {
	ID      any
	Version int64
	Deleted bool
	Rest    bool // one of the arrays has further items
	Items   map[Pending][]string
}

// RemovePending removes the copied items from their documents, and no others: an item that was added since stays. A
// tombstone is deleted with its last items; one that a document has become meanwhile keeps them, and they are copied
// again. The versions stay, so that no writer has to start over.
func RemovePending(ctx context.Context, collection *mongo.Collection, copied []Copied) error {
	// In one order, so that two processes that remove never wait for each other: a server that ends deadlocks may take
	// a second.
	order := func(a, b Copied) int { return cmp.Compare(fmt.Sprint(a.ID), fmt.Sprint(b.ID)) }
	copied = slices.SortedFunc(slices.Values(copied), order)
	models := removal(copied)
	// A conflict is with a writer or another remover; all of it may be repeated.
	err := Retry(ctx, func() (bool, error) {
		_, err := collection.BulkWrite(ctx, models)
		return err == nil, err
	}, backoff.WithMaxTries(removeTries))
	if err != nil {
		return fmt.Errorf("remove what was copied from %s: %w", collection.Name(), err)
	}
	return nil
}

// takenAtOnce bounds the documents out of which one update takes items.
const takenAtOnce = 100

// removal takes the items out of documents, but never the last ones out of a tombstone: it deletes the tombstone
// instead, in one write. As two writes, an interruption between them would leave a tombstone that no reader finds any
// more. Items that are therefore left are removed when they are copied the next time. Items are taken out of many
// documents at once: the ids of items are unique.
func removal(copied []Copied) []mongo.WriteModel {
	var models []mongo.WriteModel
	for _, c := range copied {
		if c.Deleted && !c.Rest { // at the same version the arrays hold nothing that was not copied
			stone := bson.D{{Key: "_id", Value: c.ID}, {Key: "deleted", Value: true},
				{Key: "version", Value: c.Version}}
			stone = append(stone, NonePending(slices.Collect(maps.Keys(c.Items))...)...)
			models = append(models, mongo.NewDeleteOneModel().SetFilter(stone))
		}
	}
	for some := range slices.Chunk(copied, takenAtOnce) {
		var ids bson.A
		items := map[Pending][]string{}
		for _, c := range some {
			ids = append(ids, c.ID)
			for p, of := range c.Items {
				items[p] = append(items[p], of...)
			}
		}
		var pulls bson.D
		for p, of := range items {
			item := bson.D{{Key: "id", Value: bson.D{{Key: "$in", Value: of}}}}
			pulls = append(pulls, bson.E{Key: string(p), Value: item})
		}
		from := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}, staysWithout(items)}
		models = append(models, mongo.NewUpdateManyModel().SetFilter(from).
			SetUpdate(bson.D{{Key: "$pull", Value: pulls}}))
	}
	return models
}

// staysWithout is the condition that a document stays when these items are removed: it is not a tombstone, or something
// else is pending in it.
func staysWithout(items map[Pending][]string) bson.E {
	reasons := bson.A{bson.D{{Key: "deleted", Value: bson.D{{Key: "$ne", Value: true}}}}}
	for _, p := range pendingArrays() {
		if of, taken := items[p]; taken {
			other := bson.D{{Key: "id", Value: bson.D{{Key: "$nin", Value: of}}}}
			reasons = append(reasons, bson.D{{Key: string(p), Value: bson.D{{Key: "$elemMatch", Value: other}}}})
		} else {
			reasons = append(reasons, Exists(string(p)+".0"))
		}
	}
	return bson.E{Key: "$or", Value: reasons}
}
