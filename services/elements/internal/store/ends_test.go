package store

import (
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
	known := newEnds()
	pupils := element.Filter{EntityType: form.Pupil, Current: new(true)}
	list := func(f element.Filter, after int64, ids, ends []int64) {
		t.Helper()
		var asked []int64
		found, err := known.list(f, after, size, func(upTo int64) (found []element.Element, err error) {
			asked = append(asked, upTo)
			for _, e := range stored {
				if e.ID > after && (upTo == 0 || e.ID <= upTo) && f.Matches(&e) && len(found) < size {
					found = append(found, e)
				}
			}
			return found, nil
		})
		if got := idsOf(found); err != nil || !slices.Equal(got, ids) || !slices.Equal(asked, ends) {
			t.Errorf("%v, asked up to %v; want %v, %v (%v)", got, asked, ids, ends, err)
		}
	}
	list(pupils, 0, []int64{10, 20, 30}, []int64{0})
	list(pupils, 0, []int64{10, 20, 30}, []int64{30})
	stored[1].Current = false
	list(pupils, 0, []int64{10, 30, 40}, []int64{30, 0})
	list(pupils, 0, []int64{10, 30, 40}, []int64{40})
	stored[1].Current = true // again: the page has become shorter, and is right
	list(pupils, 0, []int64{10, 20, 30}, []int64{40})

	list(pupils, 40, []int64{50, 60, 70}, []int64{0})
	stored = stored[:6]
	list(pupils, 40, []int64{50, 60}, []int64{70, 0})
	list(pupils, 40, []int64{50, 60}, []int64{0}) // no end is known of the last page

	retired, all, some := pupils, pupils, pupils
	retired.Current, all.Current, some.IDs = new(false), nil, []int64{10}
	list(retired, 0, nil, []int64{0})
	list(all, 0, []int64{10, 20, 30}, []int64{0})
	list(some, 0, []int64{10}, []int64{0})
	list(some, 0, []int64{10}, []int64{0})
}
