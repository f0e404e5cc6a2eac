package store

import (
	"github.com/maypok86/otter/v2"

	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// Only DocumentDB, the engine of the tests, needs this file: it sorts what it finds, and would sort all pupils of a
// district for each page of them. Up to the id at which the page ended the last time it finds no more than the page.
// MongoDB takes elements in order from the index and is asked as often as without it.

// maxEnds bounds the pages of which a process remembers where they end, at a hundred bytes each.
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

// list returns what ask returns without an end, 0. If an end is known, it asks up to there first: when there are enough
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
