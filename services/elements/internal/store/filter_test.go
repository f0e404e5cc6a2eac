package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// TestElements_TheStoreListsWhatAFilterMatches compares the store's query with Filter.Matches, which chooses among
// elements in memory, over each combination of type and currency, and each other field of a filter beside these.
func TestElements_TheStoreListsWhatAFilterMatches(t *testing.T) {
	s, _ := open(t)
	types := []string{form.Pupil, form.Subject, form.Property}
	var stored []element.Element
	for i := range 60 {
		e := elementNamed(types[rand.IntN(len(types))], "E")
		e.Current, e.Key = rand.IntN(2) == 0, fmt.Sprint("key ", i)
		e.MakePublic = []*bool{nil, new(false), new(true)}[rand.IntN(3)]
		if rand.IntN(2) == 0 {
			e.Administrators = []int64{7}
		}
		stored = append(stored, e)
	}
	stored = add(t, s, stored...)
	some := idsOf(stored[10:40])
	filters := []element.Filter{
		{}, {Key: "key 5"}, {Controlled: true}, {IDs: some}, {IDs: []int64{}},
		{Seen: &element.Seen{}}, {Seen: &element.Seen{IDs: some, Types: []string{form.Subject}}},
	}
	for _, f := range filters {
		for _, f.EntityType = range append(types, "") {
			for _, f.Current = range []*bool{nil, new(true), new(false)} {
				var want []int64
				for _, e := range stored {
					if f.Matches(&e) {
						want = append(want, e.ID)
					}
				}
				found, err := s.Elements.List(t.Context(), f, 0, len(stored))
				if got := idsOf(found); err != nil || !slices.Equal(got, want) {
					t.Errorf("%+v: the store lists %v, the filter matches %v (%v)", f, got, want, err)
				}
			}
		}
	}
}
