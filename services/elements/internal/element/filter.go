package element

import "slices"

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
