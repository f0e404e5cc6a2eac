package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
)

const (
	// stranger is the name of a field that no release knows.
	stranger = "of_a_later_release"
	// beds is in how many documents of a collection it is planted, the newest ones.
	beds = 400
)

// garden plants fields that no release knows into records while others write them, and counts those that are left.
type garden struct {
	db      *mongo.Database
	planted []bed
}

// bed is a document with planted fields.
type bed struct {
	collection string
	id         any
	version    int64
	items      map[string]int // how many items of arrays have one, by array and first field
}

func newGarden(db *mongo.Database) *garden { return &garden{db: db} }

// plant puts the field into the newest documents of each collection, and into the items of their arrays, as a writer
// of a later release would: where the version is still the one that was read, and with the next one.
func (g *garden) plant(ctx context.Context) error {
	for _, name := range records {
		cursor, err := g.db.Collection(name).Find(ctx,
			bson.D{{Key: "deleted", Value: bson.D{{Key: "$ne", Value: true}}}},
			options.Find().SetSort(mongostore.By("-_id")).SetLimit(beds))
		if err != nil {
			return err
		}
		var documents []bson.D
		if err := cursor.All(ctx, &documents); err != nil {
			return err
		}
		for _, d := range documents {
			if err := g.plantOne(ctx, name, d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *garden) plantOne(ctx context.Context, collection string, d bson.D) error {
	b := bed{collection: collection, id: valueOf(d, "_id"), items: map[string]int{}}
	for name, item := range items(d) {
		*item = mark(*item, "item")
		b.items[name]++
	}
	for i, field := range d {
		if version, ok := field.Value.(int64); ok && field.Key == "version" {
			b.version = version + 1
			d[i].Value = b.version
		}
	}
	if b.version == 0 {
		return fmt.Errorf("%s %v has no version", collection, b.id)
	}
	done, err := g.db.Collection(collection).ReplaceOne(ctx,
		bson.D{{Key: "_id", Value: b.id}, {Key: "version", Value: b.version - 1}}, mark(d, "document"))
	if err == nil && done.MatchedCount == 1 { // else another writer was first
		g.planted = append(g.planted, b)
	}
	return err
}

// harvested counts the fields that are left. Deleted documents and removed items do not count.
type harvested struct {
	kept, lost         int
	documents, written int
	first              string // of what was lost
}

func (g *garden) harvest(ctx context.Context) (harvested, error) {
	var h harvested
	for _, b := range g.planted {
		var d bson.D
		err := g.db.Collection(b.collection).FindOne(ctx, bson.D{{Key: "_id", Value: b.id}}).Decode(&d)
		if errors.Is(err, mongo.ErrNoDocuments) {
			continue
		}
		if err != nil {
			return h, err
		}
		h.add(b, d)
	}
	return h, nil
}

// add compares a document with what was planted in it.
func (h *harvested) add(b bed, d bson.D) {
	if deleted, _ := valueOf(d, "deleted").(bool); deleted {
		return
	}
	there, marked := map[string]int{}, map[string]int{}
	for name, item := range items(d) {
		there[name]++
		if valueOf(*item, stranger) != nil {
			marked[name]++
		}
	}
	own := 0
	if valueOf(d, stranger) != nil {
		own = 1
	}
	h.documents++
	if valueOf(d, "version") != b.version {
		h.written++
	}
	h.count(fmt.Sprintf("%s %v", b.collection, b.id), own, 1)
	for key, n := range b.items {
		n = min(n, there[key])
		h.count(fmt.Sprintf("%s %v, %s", b.collection, b.id, key), min(n, marked[key]), n)
	}
}

func (h *harvested) count(place string, kept, of int) {
	h.kept += kept
	h.lost += of - kept
	if kept < of && h.first == "" {
		h.first = place
	}
}

// valueOf returns the value of a field, nil when there is none.
func valueOf(d bson.D, name string) any {
	for _, field := range d {
		if field.Key == name {
			return field.Value
		}
	}
	return nil
}

// mark returns a document with the field that no release knows.
func mark(d bson.D, value string) bson.D {
	d = slices.DeleteFunc(d, func(f bson.E) bool { return f.Key == stranger })
	return append(d, bson.E{Key: stranger, Value: value})
}

// items yields the documents in a document's arrays, by the name of the array and their first field, which identifies
// them.
func items(d bson.D) iter.Seq2[string, *bson.D] {
	return func(yield func(string, *bson.D) bool) {
		for _, field := range d {
			list, _ := field.Value.(bson.A)
			for n, value := range list {
				item, ok := value.(bson.D)
				if !ok || len(item) == 0 {
					continue
				}
				if !yield(fmt.Sprint(field.Key, " ", item[0].Value), &item) {
					return
				}
				list[n] = item
			}
		}
	}
}
