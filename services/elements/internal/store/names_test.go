package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// TestNames_ASearchFindsInMemoryWhatTheStoreFinds: in a school or in all, whatever it is among, before and after
// elements change.
func TestNames_ASearchFindsInMemoryWhatTheStoreFinds(t *testing.T) {
	n := newNear(t)
	s, other := n.replicas[0], n.replicas[1]
	var elements []element.Element
	for i, name := range []string{"Zoë", "zoe", "ZOE", "Łoë", "ann-zoe", "10% Zoe", "Ångström zoe", "zoe", "Ann"} {
		elements = append(elements, elementNamed([]string{form.Subject, form.Staff}[i%2], name))
	}
	public, hidden, gone := elementNamed(form.Property, "Zoe public"), elementNamed(form.Property, "Zoe hidden"),
		elementNamed(form.Staff, "Zoe gone")
	yes, no := true, false
	public.Details.MakePublic, hidden.Details.MakePublic, gone.Current = &yes, &no, false
	elements = append(elements, public, hidden, gone)
	elements[1].Administrators = []int64{7}
	giveTexts(elements)
	elements = add(t, s, elements...)
	elsewhere, madePublic := elements[2].ID, elements[9].ID // the first is of another school
	ids := []int64{1 << 40}                                 // is not an element any more
	for _, e := range elements {
		if e.ID != elsewhere {
			ids = append(ids, e.ID)
		}
	}
	slices.Sort(ids)

	same := func(when string) {
		t.Helper()
		choices := []element.Among{
			{}, {Filter: element.Filter{Seen: &element.Seen{}}},
			{Filter: element.Filter{Seen: &element.Seen{IDs: ids[1:3]}}},
			{Filter: element.Filter{Seen: &element.Seen{IDs: ids[1:3], Types: []string{form.Subject}}}},
			{Filter: element.Filter{
				Seen: &element.Seen{IDs: ids[1:3], Types: []string{form.Subject}}, EntityType: form.Staff,
			}},
			{After: &element.Place{Name: "zoe", ID: elements[1].ID}}, {After: &element.Place{Name: "Zoe", ID: 1}},
		}
		for _, f := range filters(t, elements[1], elements) {
			choices = append(choices, element.Among{Filter: f})
		}
		for _, among := range slices.Clone(choices) {
			among.School, among.IDs = 7, ids
			choices = append(choices, among)
		}
		for _, among := range choices {
			for _, limit := range []int{1, 3, 100} {
				lists := map[string]func(context.Context) ([]element.Element, error){
					"of a type": func(ctx context.Context) ([]element.Element, error) {
						return s.Elements.ListByType(ctx, among, limit)
					},
				}
				for _, name := range []string{"zoe", "Zoë", "zoe the last", "missing"} {
					lists["named "+name] = func(ctx context.Context) ([]element.Element, error) {
						return s.Elements.ListByName(ctx, name, among, limit)
					}
					lists["all named "+name] = func(ctx context.Context) ([]element.Element, error) {
						return s.Elements.ListByName(ctx, name, among, 0)
					}
				}
				for _, part := range []string{"z", "zoe", "OE", "%", "missing"} {
					lists["like "+part] = func(ctx context.Context) ([]element.Element, error) {
						return s.Elements.ListByNeedle(ctx, needle.New(part), among, limit)
					}
				}
				for what, list := range lists {
					want, err := list(t.Context()) // not a request: from the store
					errortest.None(t, err)
					for range 2 {
						got, err := list(directory.Begin(t.Context()))
						if err != nil || !slices.Equal(shown(got), shown(want)) {
							t.Errorf("%s, %s, %+v, %d: %q, not %q (%v)",
								when, what, among, limit, shown(got), shown(want), err)
						}
					}
				}
			}
		}
	}
	same("at first")
	for id, change := range map[int64]func(*element.Element){
		ids[0]:     func(e *element.Element) { e.Name = "zoe the last" },
		ids[3]:     func(e *element.Element) { e.Current = false },
		madePublic: func(e *element.Element) { e.Details.MakePublic = nil },
		elsewhere:  func(e *element.Element) { e.Name = "zoe of another school" },
	} {
		_, err := other.Elements.Change(t.Context(), id, func(e *element.Element) error {
			change(e)
			return nil
		})
		errortest.None(t, err)
	}
	same("after changes by another replica")
	ids = append(slices.Clone(ids[2:]), 1<<41)
	same("after some have left the school")
	add(t, other, elementNamed(form.Staff, "Chloe"))
	same("after another replica added one")
}

// shown is what lists show of elements.
func shown(elements []element.Element) []string {
	return sequence.Map(elements, func(e element.Element) string {
		return fmt.Sprintf("%d %s %d %s %v", e.ID, e.EntityType, e.EntityID, e.Name, e.Current)
	})
}

// TestNames_OfTooManyElementsAreLookedUpInTheStore, of a school or of all.
func TestNames_OfTooManyElementsAreLookedUpInTheStore(t *testing.T) {
	n := newNear(t)
	inAll := func(want bool) {
		t.Helper()
		ctx := directory.Begin(t.Context())
		_, near, err := n.replicas[0].Elements.listNear(ctx, element.Among{}, 1, func(string) bool { return true })
		valuetest.Holds(t, err == nil && near == want, "a search in all: in memory %v, %v; want %v", near, err, want)
	}
	inAll(true)
	var many []elementDocument
	for i := range int64(maxNames) {
		d := elementDocument{Head: mongostore.Head{ID: n.id + 1 + i, Version: 1, Schema: elementSchema}}
		d.Element.UUID, d.Element.EntityID = strconv.FormatInt(i, 10), i
		many = append(many, d)
	}
	errortest.None(t, errortest.Of(n.db.Collection("elements").InsertMany(t.Context(), many)))
	n.replicas[0] = n.replica(t) // these were written without an intent
	inAll(false)
	for _, c := range []struct {
		ids    int
		school int64
		near   bool
	}{{maxNames, 7, true}, {maxNames + 1, 7, false}, {1, 0, false}} {
		ids := make([]int64, c.ids)
		for i := range ids {
			ids[i] = n.id + int64(i)
		}
		among := element.Among{School: c.school, Filter: element.Filter{IDs: ids}}
		ctx := directory.Begin(t.Context())
		_, near, err := n.replicas[0].Elements.listNear(ctx, among, 1, func(string) bool { return true })
		if err != nil || near != c.near {
			t.Errorf("%d ids of school %d: in memory %v, %v", c.ids, c.school, near, err)
		}
		found, err := n.replicas[0].Elements.ListByNeedle(ctx, needle.New("old"), among, 10)
		if err != nil || !slices.Equal(namesOf(found), []string{"old"}) {
			t.Errorf("%d ids of school %d: %q, %v", c.ids, c.school, namesOf(found), err)
		}
	}
}
