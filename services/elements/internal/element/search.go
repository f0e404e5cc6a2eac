package element

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/needle"
)

// maxHits bounds a search without a limit of its own, unless it is by the whole name (contract part 8).
const maxHits = 100

// Search says which current elements are searched for. All conditions must hold; a zero field chooses all.
type Search struct {
	Name       string // the whole name
	Part       string // a part of it, where there is no Name; letter case and accents do not count
	EntityType string
	School     SchoolFilter
	After      int64 // only elements that come after this one
	Limit      int   // 0: a hundred, and by the whole name all
}

// Filter chooses elements; all conditions must hold, and a zero field chooses all. The store makes a query of it;
// Matches does the same in memory.
type Filter struct {
	EntityType string
	Current    *bool
	Key        string
	Controlled bool    // only those with administrators
	IDs        []int64 // only these, in order; nil: all
	Seen       *Seen   // only those; nil: all
}

// Matches says whether an element matches the filter.
func (f Filter) Matches(e *Element) bool {
	return (f.EntityType == "" || e.EntityType == f.EntityType) &&
		(f.Current == nil || e.Current == *f.Current) &&
		(f.Key == "" || e.Key == f.Key) &&
		(!f.Controlled || len(e.Administrators) > 0) &&
		(f.IDs == nil || has(f.IDs, e.ID)) && f.Seen.Has(e)
}

// OnlyListed says whether the filter depends only on the fields of the list form and on whether an element is public.
func (f Filter) OnlyListed() bool {
	return f.Key == "" && !f.Controlled
}

// Among are the elements among which a search finds the current ones of a name.
type Among struct {
	Filter
	// School is set when the IDs are all elements of one school.
	School int64
	After  *Place // only what comes after it
}

// Place is a place in the order of name, then id.
type Place struct {
	Name string
	ID   int64
}

// Seen are the elements that a viewer sees: those with one of the ids, which are in order, those of one of the types,
// and the public ones. Nil are all elements.
type Seen struct {
	IDs   []int64
	Types []string
}

// Has says whether an element is seen.
func (s *Seen) Has(e *Element) bool {
	return s == nil || e.IsPublic() || slices.Contains(s.Types, e.EntityType) || has(s.IDs, e.ID)
}

// has says whether the ids, which are in order, have this one.
func has(ids []int64, id int64) bool {
	_, found := slices.BinarySearch(ids, id)
	return found
}

// Search returns the first of the current elements that match and that p sees today, in order of name, then
// id, and whether there are more. A term of only combining marks matches nothing.
// A Malformed problem when p sees no element After, or for a page with School.First; others are those of narrow.
func (s *Service) Search(ctx context.Context, p principal.Principal, q Search) (found []Element, more bool, err error) {
	n := needle.New(q.Part)
	if q.Name == "" && q.Part != "" && n.Length() == 0 {
		return nil, false, nil
	}
	v, err := s.sightOf(ctx, s.viewer(p), s.onToday())
	if err != nil {
		return nil, false, err
	}
	if q.School.First && (q.After != 0 || q.Limit != 0) {
		return nil, false, problem.New(problem.Malformed, "a list with school=first has no pages")
	}
	among := Among{Filter: Filter{EntityType: q.EntityType, Seen: v.seen()}}
	if among.After, err = s.placeOf(ctx, v, q.After); err != nil {
		return nil, false, err
	}
	most := q.Limit
	if most == 0 && q.Name == "" {
		most = maxHits
	}
	ask := most
	if most > 0 {
		ask++
	}
	found, err = s.search(ctx, p, q.School, among, ask, func(among Among, limit int) ([]Element, error) {
		switch {
		case q.Name != "":
			return s.Store.ListByName(ctx, q.Name, among, limit)
		case q.Part != "":
			return s.Store.ListByNeedle(ctx, n, among, limit)
		}
		return s.Store.ListByType(ctx, among, limit)
	})
	if most > 0 && len(found) > most {
		return found[:most], true, err
	}
	return found, false, err
}

// placeOf returns the place of an element, nil for id 0. A hidden element is treated as missing, since the elements
// after it would reveal its name.
func (s *Service) placeOf(ctx context.Context, v sight, id int64) (*Place, error) {
	if id == 0 {
		return nil, nil
	}
	e, err := s.Store.Get(ctx, id)
	if err == nil && !v.sees(e) || errors.Is(err, record.ErrNotFound) {
		return nil, problem.New(problem.Malformed, "after is an invalid cursor")
	}
	return &Place{e.Name, e.ID}, err
}
