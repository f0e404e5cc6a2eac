package element

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// pool has the elements of a question, each with its reaches on the days of the question.
type pool struct {
	elements []Element
	reaches  [][]fact.Reach
	items    bool // the choice's group is a resource group: they are what is allocated from it
}

// Whose chooses the elements of a question: those with the ids, or all current ones that the other fields choose.
type Whose struct {
	IDs        []int64 // each once
	Group      int64   // they are in it on any of the days, directly or through other groups; 0: in any or none
	EntityType string  // "": any
}

// poolOf returns the current elements of a choice without ids that are seen and not elsewhere, in order of name, then
// id. A Missing problem when there is no such group, Forbidden when it is not seen, a Malformed one when it is not a
// group or there are more than most.
func (s *Service) poolOf(ctx context.Context, v sight, w Whose, most int, days wiretime.Days) (pool, error) {
	elements, items, err := s.choose(ctx, v, w, most, days)
	if err != nil {
		return pool{}, err
	}
	if len(elements) > most {
		return pool{}, problem.New(problem.Malformed, "more than %d elements: ask for those of a group", most)
	}
	others, err := s.elsewhere(ctx, v.Sight, elements...)
	if err != nil {
		return pool{}, err
	}
	elements = slices.DeleteFunc(elements, func(e Element) bool { return others[e.ID] })
	slices.SortFunc(elements, byName)
	p, err := s.reach(ctx, v, elements, days)
	p.items = items
	if err != nil || w.Group == 0 {
		return p, err
	}
	return p.filter(func(_ Element, reaches []fact.Reach) bool { return daysIn(reaches, w.Group) != nil }), nil
}

// choose returns the elements of a choice in no order, perhaps one more than are allowed, and whether they are items of
// a resource group. It may include a few whose memberships of nested groups share no day.
func (s *Service) choose(
	ctx context.Context, v sight, w Whose, most int, days wiretime.Days,
) (chosen []Element, items bool, err error) {
	f := Filter{EntityType: w.EntityType, Seen: v.seen()}
	if w.Group == 0 {
		listed, err := s.Store.ListByType(ctx, Among{Filter: f}, most+1)
		if err != nil {
			return nil, false, err
		}
		chosen, err = s.findCurrent(ctx, idsOf(listed), f)
		return chosen, false, err
	}
	g, err := s.Get(ctx, w.Group)
	if err == nil && !v.sees(g) {
		err = problem.New(problem.Forbidden, "")
	}
	if err != nil {
		return nil, false, err
	}
	if !g.IsGroup() {
		return nil, false, problem.New(problem.Malformed, "element %d is not a group", w.Group)
	}
	ids, err := peopleAndThings(ctx, s.downward(days), []int64{w.Group}, days)
	if err != nil {
		return nil, false, err
	}
	chosen, err = s.findCurrent(ctx, ids, f)
	return chosen, g.IsResourceGroup(), err
}

// findCurrent returns the elements of the ids that are current and match the filter now.
func (s *Service) findCurrent(ctx context.Context, ids []int64, f Filter) ([]Element, error) {
	f.Current = new(true)
	found, err := s.Store.Find(ctx, ids)
	return slices.DeleteFunc(found, func(e Element) bool { return !f.Matches(&e) }), err
}

// reach returns the elements with their reaches, on the days on which they are seen.
func (s *Service) reach(ctx context.Context, v sight, elements []Element, days wiretime.Days) (pool, error) {
	reaches, err := s.reaches(ctx, idsOf(elements), days)
	if err != nil {
		return pool{}, err
	}
	for n, e := range elements {
		reaches[n] = v.within(e, reaches[n])
	}
	return pool{elements: elements, reaches: reaches}, nil
}

// filter returns the pool of those elements that are kept.
func (p pool) filter(keep func(e Element, reaches []fact.Reach) bool) pool {
	kept := pool{items: p.items}
	for n, e := range p.elements {
		if keep(e, p.reaches[n]) {
			kept.elements = append(kept.elements, e)
			kept.reaches = append(kept.reaches, p.reaches[n])
		}
	}
	return kept
}

// daysIn returns the days on which an element with these reaches is in a group; nil when there are none.
func daysIn(reaches []fact.Reach, group int64) []wiretime.Days {
	for _, r := range reaches[1:] {
		if r.ElementID == group {
			return r.Days
		}
	}
	return nil
}

// byName is the order of name, then id.
func byName(a, b Element) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) }
