package store

import (
	"context"

	"github.com/maypok86/otter/v2"

	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// maxEnds is of how many pages a process remembers where they end: a hundred bytes each.
const maxEnds = 1000

// page is one of a list of the elements of a type.
type page struct {
	entityType       string
	current, retired bool // which of them are listed
	after            int64
	limit            int
}

// ends are the ids at which pages ended when they were last listed. A database that sorts what it finds would sort all
// pupils of a district for each page; up to there it finds no more than the page. One that takes them in order from an
// index is asked as often as before.
type ends struct{ ids *otter.Cache[page, int64] }

func newEnds() ends {
	return ends{otter.Must(&otter.Options[page, int64]{MaximumSize: maxEnds})}
}

// list returns what ask returns for f, in order of id. It asks for elements up to the end that is known first: when
// there are enough of them, they are the page, whatever has been written since. Else it asks again, without an end.
func (k ends) list(
	ctx context.Context, f element.Filter, ask func(context.Context, element.Filter) ([]element.Element, error),
) ([]element.Element, error) {
	if f.EntityType == "" || f.IDs != nil || f.Key != "" || f.Seen != nil || f.Unattended {
		return ask(ctx, f)
	}
	p := page{f.EntityType, f.Current == nil || *f.Current, f.Current == nil || !*f.Current, f.After, f.Limit}
	if end, known := k.ids.GetIfPresent(p); known {
		near := f
		near.UpTo = end
		found, err := ask(ctx, near)
		if err != nil || len(found) == f.Limit {
			return found, err
		}
	}
	found, err := ask(ctx, f)
	switch {
	case err == nil && len(found) == f.Limit:
		k.ids.Set(p, found[len(found)-1].ID)
	case err == nil:
		k.ids.Invalidate(p) // the last page ends where the list does
	}
	return found, err
}
