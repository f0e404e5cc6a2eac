package store

import (
	"github.com/maypok86/otter/v2"

	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// Only DocumentDB, the engine of the tests, needs this file: it sorts everything that it finds, and would sort all
// pupils of a district for each page of them. With the id at which the page ended last time as a bound, it finds only
// the page. MongoDB reads the index in order, and is asked as often as without this.

// maxEnds bounds the pages whose ends a process remembers, at a hundred bytes each.
const maxEnds = 1000

// pageOfType is a page of a list of the elements of a type.
type pageOfType struct {
	entityType       string
	current, retired bool // which of them are listed
	after            int64
	limit            int
}

// ends are the ids at which pages ended when they were last listed.
type ends struct {
	ids *otter.Cache[pageOfType, int64]
}

func newEnds() ends {
	return ends{otter.Must(&otter.Options[pageOfType, int64]{MaximumSize: maxEnds})}
}

// list returns the result of ask without an end, 0. If an end is known, it first asks up to there: if that finds enough
// elements, they are the page, whatever has been written since.
func (k ends) list(
	f element.Filter, after int64, limit int, ask func(upTo int64) ([]element.Element, error),
) ([]element.Element, error) {
	if f.EntityType == "" || f.IDs != nil || f.Seen != nil || !f.OnlyListed() {
		return ask(0)
	}
	p := pageOfType{f.EntityType, f.Current == nil || *f.Current, f.Current == nil || !*f.Current, after, limit}
	if end, known := k.ids.GetIfPresent(p); known {
		found, err := ask(end)
		if err != nil || len(found) == limit {
			return found, err
		}
	}
	found, err := ask(0)
	switch {
	case err == nil && len(found) == limit:
		k.ids.Set(p, found[len(found)-1].ID)
	case err == nil:
		k.ids.Invalidate(p) // the last page ends where the list does
	}
	return found, err
}
