package mongostore_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// older is a document as one release knows it, and newer as the next one does.
type older struct {
	mongostore.Head `bson:",inline"`

	Name     string            `bson:"name,omitempty"`
	Place    *olderPlace       `bson:"place,omitempty"`
	Items    []olderItem       `bson:"items"`
	Runs     []olderRun        `bson:"runs,omitempty"`
	Tags     []string          `bson:"tags,omitempty"`
	Labels   map[string]string `bson:"labels,omitempty"`
	At       time.Time         `bson:"at,omitempty"`
	Deleted  bool              `bson:"deleted,omitempty"`
	Unstored int               `bson:"-"`

	_ mongostore.Gone `bson:"retired"`
}

type olderPlace struct {
	Room string `bson:"room"`
}

type olderItem struct {
	ID    int64  `bson:"id"`
	State string `bson:"state,omitempty"`
}

// olderRun is known by no field of its own alone: several have the same source.
type olderRun struct {
	Source string `bson:"source"`
	Last   int64  `bson:"last"`
}

type newer struct {
	mongostore.Head `bson:",inline"`

	Name  string      `bson:"name,omitempty"`
	Count int         `bson:"count"`
	Items []newerItem `bson:"items"`
}

type newerItem struct {
	ID    int64  `bson:"id"`
	State string `bson:"state,omitempty"`
	Count int    `bson:"count"`
}

// replacement is what is stored in place of a document that an older release changes.
func replacement(t *testing.T, stored bson.D, change func(*older)) bson.D {
	t.Helper()
	data, err := bson.Marshal(stored)
	errortest.None(t, err)
	var s mongostore.Stored[older]
	errortest.None(t, bson.Unmarshal(data, &s))
	change(&s.Document)
	raw, err := s.Replacement()
	errortest.None(t, err)
	errortest.None(t, raw.Validate())
	var d bson.D
	errortest.None(t, bson.Unmarshal(raw, &d))
	return d
}

// document makes a stored document of the fields, each list a name and a value in turn.
func document(fields ...any) bson.D {
	d := bson.D{{Key: "_id", Value: int64(1)}, {Key: "version", Value: int64(1)}, {Key: "schema", Value: int32(1)}}
	return append(d, part(fields...)...)
}

func part(fields ...any) bson.D {
	d := bson.D{}
	for i := 0; i < len(fields); i += 2 {
		d = append(d, bson.E{Key: fields[i].(string), Value: fields[i+1]})
	}
	return d
}

func TestHardToBreak_Row09_WhatAReleaseDoesNotKnowStaysWhereItWas(t *testing.T) {
	items := func(list ...bson.D) bson.A {
		a := bson.A{}
		for _, item := range list {
			a = append(a, item)
		}
		return a
	}
	a := part("id", int64(1), "state", "a", "new", "A")
	b := part("id", int64(2), "state", "b", "new", part("x", int32(1)))
	for name, c := range map[string]struct {
		stored bson.D
		change func(*older)
		want   bson.D
	}{
		"beside what it changes": {
			document("name", "a", "items", bson.A{}, "new", "x"), func(d *older) { d.Name = "b" },
			document("name", "b", "items", bson.A{}, "new", "x"),
		},
		"beside what it empties": {
			document("name", "a", "items", bson.A{}, "new", bson.A{int32(1), part("y", "z")}),
			func(d *older) { d.Name = "" },
			document("items", bson.A{}, "new", bson.A{int32(1), part("y", "z")}),
		},
		"in a document inside": {
			document("place", part("room", "a", "floor", int32(3)), "items", bson.A{}),
			func(d *older) { d.Place = &olderPlace{Room: "b"} },
			document("place", part("room", "b", "floor", int32(3)), "items", bson.A{}),
		},
		"but not in one that it removes": {
			document("place", part("room", "a", "floor", int32(3)), "items", bson.A{}),
			func(d *older) { d.Place = nil },
			document("items", bson.A{}),
		},
		"in items that change and move": {
			document("items", items(a, b)),
			func(d *older) {
				d.Items = []olderItem{{ID: 3}, {ID: 2, State: "c"}, {ID: 1, State: "a"}}
			},
			document("items", items(part("id", int64(3)),
				part("id", int64(2), "state", "c", "new", part("x", int32(1))), a)),
		},
		"in the items that are left": {
			document("items", items(a, b)), func(d *older) { d.Items = d.Items[1:] }, document("items", items(b)),
		},
		"in items that are alike but for a value": {
			document("items", bson.A{}, "runs", items(part("source", "s", "last", int64(1), "new", "1"),
				part("source", "s", "last", int64(2), "new", "2"), part("source", "s", "last", int64(3), "new", "3"))),
			func(d *older) { d.Runs = []olderRun{{"s", 2}, {"s", 4}} },
			document("items", bson.A{}, "runs", items(part("source", "s", "last", int64(2), "new", "2"),
				part("source", "s", "last", int64(4), "new", "1"))),
		},
		"but not what this release retires": {
			document("items", bson.A{}, "retired", "x", "new", "y"), func(*older) {},
			document("items", bson.A{}, "new", "y"),
		},
		"but no values of what it knows": {
			document("items", bson.A{}, "tags", bson.A{"a", "b"}, "labels", part("a", "x", "b", "y"), "new", "z"),
			func(d *older) { d.Tags, d.Labels = []string{"b"}, map[string]string{"b": "y"} },
			document("items", bson.A{}, "tags", bson.A{"b"}, "labels", part("b", "y"), "new", "z"),
		},
		"but not of a record that is deleted, only in the items of its tombstone": {
			document("items", items(a), "new", "x"),
			func(d *older) { d.Deleted = true },
			document("items", items(a), "deleted", true),
		},
	} {
		t.Run(name, func(t *testing.T) {
			valuetest.Same(t, fmt.Sprint(replacement(t, c.stored, c.change)), fmt.Sprint(c.want))
		})
	}
}

// Whatever an older release does to the items of an array, those that stay keep what it does not know.
func TestHardToBreak_Row09_ItemsAgreeWithASlowModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.Int64Range(1, 30), 0, 12, rapid.ID).Draw(rt, "stored")
		list, secret := bson.A{}, map[int64]int32{}
		for _, id := range ids {
			item := part("id", id, "state", rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "state"))
			if rapid.Bool().Draw(rt, "has an unknown field") {
				secret[id] = rapid.Int32().Draw(rt, "unknown")
				item = append(item, bson.E{Key: "new", Value: secret[id]})
			}
			list = append(list, item)
		}
		after := rapid.SliceOfNDistinct(rapid.Int64Range(1, 30), 0, 12, rapid.ID).Draw(rt, "changed")
		got := replacement(t, document("items", list), func(d *older) {
			d.Items = nil
			for _, id := range after {
				state := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "new state")
				d.Items = append(d.Items, olderItem{id, state})
			}
		})
		var seen []int64
		for _, item := range got[3].Value.(bson.A) {
			fields := map[string]any{}
			for _, f := range item.(bson.D) {
				fields[f.Key] = f.Value
			}
			id := fields["id"].(int64)
			seen = append(seen, id)
			want, had := secret[id]
			if value, has := fields["new"]; has != had || has && value != want {
				rt.Fatalf("item %d has %v, %v; the model has %v, %v", id, value, has, want, had)
			}
		}
		if !slices.Equal(seen, after) {
			rt.Fatalf("items %v, want %v", seen, after)
		}
	})
}

// Two releases write one document at once, as they do while a deployment is upgraded.
func TestHardToBreak_Row09_TwoReleasesAtOnceLoseNothingOfEachOther(t *testing.T) {
	collection := storetest.Mongo(t).Collection("documents")
	start := &newer{Head: mongostore.Head{ID: 1}, Items: []newerItem{{ID: 1}, {ID: 2}, {ID: 3}}}
	errortest.None(t, mongostore.Insert(t.Context(), collection, start))
	const writers, rounds = 3, 15
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range rounds {
				_, err := mongostore.Update(t.Context(), collection, 1, func(d *newer) error {
					d.Count++
					for i := range d.Items {
						d.Items[i].Count++
					}
					return nil
				})
				errortest.Report(t, err)
			}
		})
		all.Go(func() {
			for n := range rounds {
				_, err := mongostore.Update(t.Context(), collection, 1, func(d *older) error {
					d.Name = fmt.Sprint(n)
					slices.Reverse(d.Items)
					d.Items[0].State = fmt.Sprint(n)
					return nil
				})
				errortest.Report(t, err)
			}
		})
	}
	all.Wait()
	d, err := mongostore.Load[newer](t.Context(), collection, 1)
	errortest.None(t, err)
	const want = writers * rounds
	if d.Count != want || len(d.Items) != 3 || d.Version != 1+2*want {
		t.Errorf("%d of %d changes of the newer release are there, in version %d", d.Count, want, d.Version)
	}
	for _, item := range d.Items {
		valuetest.Same(t, item.Count, want, "item %d has %d of %d", item.ID, item.Count, want)
	}
}

// BenchmarkReplacement compares what it costs to replace a document of 1,000 items with encoding it alone.
func BenchmarkReplacement(b *testing.B) {
	d := newer{Items: make([]newerItem, 1000)}
	for i := range d.Items {
		d.Items[i] = newerItem{ID: int64(i), State: "uncontrolled"}
	}
	data, err := bson.Marshal(d)
	errortest.None(b, err)
	var known mongostore.Stored[newer]
	var unknown mongostore.Stored[older]
	errortest.None(b, bson.Unmarshal(data, &known))
	errortest.None(b, bson.Unmarshal(data, &unknown))
	for name, replace := range map[string]func() (any, error){
		"encoding alone":          func() (any, error) { return bson.Marshal(known.Document) },
		"nothing unknown":         func() (any, error) { return known.Replacement() },
		"an unknown field in all": func() (any, error) { return unknown.Replacement() },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				errortest.None(b, errortest.Of(replace()))
			}
		})
	}
}
