package element

import "slices"

// Filter chooses elements; all of it must hold, and a zero field chooses all. The store makes its query of Conditions
// and of the other fields; Matcher says the same of elements in memory.
type Filter struct {
	EntityType string
	Current    *bool
	Key        string
	Controlled bool    // only those with administrators
	IDs        []int64 // only these, in order; nil: all
	Seen       *Seen   // only those; nil: all
}

// Condition is that a field has the value; nil: that it is not empty.
type Condition struct {
	Field string // as it is stored
	Value any
}

// Conditions are those of the filter that are about one field each.
func (f Filter) Conditions() (all []Condition) {
	if f.EntityType != "" {
		all = append(all, Condition{"entity_type", f.EntityType})
	}
	if f.Current != nil {
		all = append(all, Condition{"current", *f.Current})
	}
	if f.Key != "" {
		all = append(all, Condition{"key", f.Key})
	}
	if f.Controlled {
		all = append(all, Condition{"administrators", nil})
	}
	return all
}

// holds says whether the condition holds for an element.
func (c Condition) holds(e *Element) bool {
	switch c.Field {
	case "entity_type":
		return e.EntityType == c.Value
	case "current":
		return e.Current == c.Value
	case "key":
		return e.Key == c.Value
	case "administrators":
		return len(e.Administrators) > 0
	}
	return false
}

// Matcher returns a function that says whether an element matches the filter.
func (f Filter) Matcher() func(*Element) bool {
	conditions := f.Conditions()
	return func(e *Element) bool {
		return !slices.ContainsFunc(conditions, func(c Condition) bool { return !c.holds(e) }) &&
			f.Seen.Has(e) && (f.IDs == nil || has(f.IDs, e.ID))
	}
}

// OnlyListed says whether the filter is about nothing but what the list form shows, and whether an element is public.
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
