package store

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// TestElements_APageIsAskedForUpToItsKnownEnd: the second time a page is asked for up to where it ended, and once more
// without an end when some of it have gone since.
func TestElements_APageIsAskedForUpToItsKnownEnd(t *testing.T) {
	const size = 3
	stored := make([]element.Element, 7)
	for i := range stored {
		stored[i] = element.Element{ID: int64(10 * (i + 1)), EntityType: form.Pupil, Current: true}
	}
	var asked []int64 // the ends
	ask := func(_ context.Context, f element.Filter) (found []element.Element, err error) {
		asked = append(asked, f.UpTo)
		for _, e := range stored {
			if e.ID > f.After && (f.UpTo == 0 || e.ID <= f.UpTo) && (f.Current == nil || *f.Current == e.Current) &&
				len(found) < f.Limit {
				found = append(found, e)
			}
		}
		return found, nil
	}
	known, yes, no := newEnds(), true, false
	pupils := element.Filter{EntityType: form.Pupil, Current: &yes, Limit: size}
	list := func(f element.Filter, ids, ends []int64) {
		t.Helper()
		asked = nil
		found, err := known.list(t.Context(), f, ask)
		var got []int64
		for _, e := range found {
			got = append(got, e.ID)
		}
		if err != nil || !slices.Equal(got, ids) || !slices.Equal(asked, ends) {
			t.Errorf("%v, asked up to %v; want %v, %v (%v)", got, asked, ids, ends, err)
		}
	}
	list(pupils, []int64{10, 20, 30}, []int64{0})
	list(pupils, []int64{10, 20, 30}, []int64{30})
	stored[1].Current = false
	list(pupils, []int64{10, 30, 40}, []int64{30, 0})
	list(pupils, []int64{10, 30, 40}, []int64{40})
	stored[1].Current = true // again: the page has become shorter, and is right
	list(pupils, []int64{10, 20, 30}, []int64{40})

	last := pupils
	last.After = 40
	list(last, []int64{50, 60, 70}, []int64{0})
	stored = stored[:6]
	list(last, []int64{50, 60}, []int64{70, 0})
	list(last, []int64{50, 60}, []int64{0}) // no end is known of the last page

	retired, all, other := pupils, pupils, pupils
	retired.Current, all.Current, other.IDs = &no, nil, []int64{10}
	list(retired, nil, []int64{0})
	list(all, []int64{10, 20, 30}, []int64{0})
	list(other, []int64{10, 20, 30}, []int64{0})
	list(other, []int64{10, 20, 30}, []int64{0})
}

// TestElements_PagesOfATypeAreWholeWhateverIsWritten walks through pupils again and again, while pupils come, go and
// come back, and compares with a list of all.
func TestElements_PagesOfATypeAreWholeWhateverIsWritten(t *testing.T) {
	s, _ := open(t)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var pupils []element.Element
	for range 6 {
		for range 1 + random.IntN(8) {
			pupils = append(pupils, add(t, s, elementNamed(form.Subject, "between"), elementNamed(form.Pupil, "P"))[1])
		}
		for range random.IntN(6) {
			i := random.IntN(len(pupils))
			changed, err := s.Elements.Change(t.Context(), pupils[i].ID, func(e *element.Element) error {
				e.Current = !e.Current
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			pupils[i] = changed
		}
		var want []int64
		for _, e := range pupils {
			if e.Current {
				want = append(want, e.ID)
			}
		}
		for limit := 1; limit < 6; limit++ {
			if got := walk(t, s, limit); !slices.Equal(got, want) {
				t.Fatalf("%d a page: %v, not %v", limit, got, want)
			}
		}
	}
}

// walk returns the ids of all current pupils, page by page.
func walk(t *testing.T, s *Store, limit int) (ids []int64) {
	t.Helper()
	yes := true
	f := element.Filter{EntityType: form.Pupil, Current: &yes, Limit: limit}
	for {
		found, err := s.Elements.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			ids = append(ids, e.ID)
			f.After = e.ID
		}
		if len(found) < limit {
			return ids
		}
	}
}

// TestElements_TheStoreListsWhatAFilterMatches compares the store's query with Filter.Matches, which chooses among
// elements in memory, over each combination of type and currency.
func TestElements_TheStoreListsWhatAFilterMatches(t *testing.T) {
	s, _ := open(t)
	types := []string{form.Pupil, form.Subject, form.Property}
	var stored []element.Element
	for range 30 {
		e := elementNamed(types[rand.IntN(len(types))], "E")
		e.Current = rand.IntN(2) == 0
		stored = append(stored, e)
	}
	stored = add(t, s, stored...)
	for _, entityType := range append(types, "") {
		for _, current := range []*bool{nil, new(true), new(false)} {
			f := element.Filter{EntityType: entityType, Current: current, Limit: len(stored)}
			var want, got []int64
			for _, e := range stored {
				if f.Matches(e) {
					want = append(want, e.ID)
				}
			}
			found, err := s.Elements.List(t.Context(), f)
			for _, e := range found {
				got = append(got, e.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %v: the store lists %v, the filter matches %v (%v)", entityType, current, got, want, err)
			}
		}
	}
}
