package storetest

import (
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// unknown is the name of a field that no release knows.
const unknown = "of_a_later_release"

// Unknown says which collections AddUnknown fills and checks.
type Unknown struct {
	// Filled are the collections whose documents get an unknown field; each has one.
	Filled []string
	// Unchanged are those of which this release changes no document by replacing it.
	Unchanged []string
	// Maps are the names of fields whose documents are maps: their keys are not fields, so they are left alone.
	Maps []string
}

// AddUnknown puts a field that this release does not know into all documents of collections, as a later release would:
// into each document, each document inside it, and each inside one of its arrays. It fails the test when the database
// has a collection that is not named. The function that it returns fails the test when any of the fields is lost since,
// or is in another place than it was: an item of an array may have moved, but not lost its own.
func AddUnknown(t testing.TB, db *mongo.Database, u Unknown) (kept func()) {
	t.Helper()
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	errortest.None(t, err)
	for _, name := range names {
		if !slices.Contains(u.Filled, name) && !slices.Contains(u.Unchanged, name) {
			t.Errorf("collection %s is not in this test", name)
		}
	}
	var checks []func()
	for _, name := range u.Filled {
		checks = append(checks, addUnknown(t, db.Collection(name), u.Maps))
	}
	return func() {
		t.Helper()
		for _, check := range checks {
			check()
		}
	}
}

func addUnknown(t testing.TB, collection *mongo.Collection, maps []string) (kept func()) {
	t.Helper()
	before := places{}
	for _, d := range allOf(t, collection) {
		id := d[0].Value
		added := before.fill(d, fmt.Sprint(collection.Name(), " ", id), maps)
		if _, err := collection.ReplaceOne(t.Context(), bson.D{{Key: "_id", Value: id}}, added); err != nil {
			t.Fatal(err)
		}
	}
	if len(before) == 0 {
		t.Fatalf("%s has no document to put an unknown field into", collection.Name())
	}
	return func() {
		t.Helper()
		after := places{}
		for _, d := range allOf(t, collection) {
			after.find(d, fmt.Sprint(collection.Name(), " ", d[0].Value))
		}
		for place := range before {
			if !after[place] {
				t.Errorf("lost: %s", place)
			}
		}
	}
}

func allOf(t testing.TB, collection *mongo.Collection) (documents []bson.D) {
	t.Helper()
	cursor, err := collection.Find(t.Context(), bson.D{})
	if err == nil {
		err = cursor.All(t.Context(), &documents)
	}
	errortest.None(t, err)
	return documents
}

// places are where the field is.
type places map[string]bool

// fill adds the field to a document and to all in it, with its place as its value.
func (p places) fill(d bson.D, place string, maps []string) bson.D {
	marked := bson.D{}
	for _, field := range d {
		switch v := field.Value.(type) {
		case bson.D:
			if !slices.Contains(maps, field.Key) {
				field.Value = p.fill(v, place+" "+field.Key, maps)
			}
		case bson.A:
			list := slices.Clone(v)
			for i, item := range list {
				if inner, ok := item.(bson.D); ok {
					list[i] = p.fill(inner, itemPlace(place, field.Key, inner), maps)
				}
			}
			field.Value = list
		}
		marked = append(marked, field)
	}
	p[place] = true
	return append(marked, bson.E{Key: unknown, Value: bson.D{{Key: "place", Value: place}}})
}

// find adds the places where the field still is what it was.
func (p places) find(d bson.D, place string) {
	for _, field := range d {
		switch v := field.Value.(type) {
		case bson.D:
			if field.Key == unknown {
				p[place] = len(v) == 1 && v[0].Value == place
				continue
			}
			p.find(v, place+" "+field.Key)
		case bson.A:
			for _, item := range v {
				if inner, ok := item.(bson.D); ok {
					p.find(inner, itemPlace(place, field.Key, inner))
				}
			}
		}
	}
}

// itemPlace names an item of an array by its first field.
func itemPlace(place, array string, item bson.D) string {
	if len(item) == 0 {
		return place + " " + array
	}
	return fmt.Sprint(place, " ", array, " ", item[0].Value)
}
