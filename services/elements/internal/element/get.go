package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Get returns one element; a Missing problem when there is none.
func (s *Service) Get(ctx context.Context, id int64) (Element, error) {
	e, err := s.Store.Get(ctx, id)
	return e, missing(err, id)
}

// GetWhole is GetAdministered for showing all of the element to p.
func (s *Service) GetWhole(ctx context.Context, p principal.Principal, id int64) (Element, error) {
	e, err := s.GetAdministered(ctx, p, id)
	if err == nil {
		s.recordRead(ctx, s.viewer(p).ElementID, audit.ReadDetail, e)
	}
	return e, err
}

// getAllSeen returns the elements in the order of the ids, and p's sight. A Missing problem names the first that does
// not exist; Forbidden unless p sees each of them on one of the days.
func (s *Service) getAllSeen(
	ctx context.Context, p principal.Principal, ids []int64, days wiretime.Days,
) ([]Element, sight, error) {
	found, err := s.find(ctx, ids)
	if err != nil {
		return nil, sight{}, err
	}
	v, err := s.sightOf(ctx, s.viewer(p), days)
	if err != nil {
		return nil, v, err
	}
	all := make([]Element, len(ids))
	for n, id := range ids {
		e, exists := found[id]
		if !exists {
			return nil, v, problem.Missing("Element", id)
		}
		all[n] = *e
	}
	if slices.ContainsFunc(all, func(e Element) bool { return !v.sees(e) }) {
		return nil, v, problem.New(problem.Forbidden, "")
	}
	others, err := s.elsewhere(ctx, v.Sight, all...)
	if slices.ContainsFunc(all, func(e Element) bool { return others[e.ID] }) {
		err = problem.New(problem.Forbidden, "")
	}
	return all, v, err
}

// missing turns the store's record.ErrNotFound into the problem that clients see.
func missing(err error, id int64) error { return record.Missing(err, "Element", id) }

// GetWithCount returns an element and, for a group, how many current people and things are in it today, directly or
// through other groups. A Missing problem when there is none, Forbidden when p does not see it today.
func (s *Service) GetWithCount(
	ctx context.Context, p principal.Principal, id int64,
) (e Element, members int, err error) {
	e, v, err := s.getSeen(ctx, p, id, s.onToday())
	if err == nil {
		s.recordRead(ctx, v.ElementID, audit.ReadDetail, e)
	}
	if err != nil || !e.IsGroup() {
		return e, 0, err
	}
	all, err := s.nestedMembers(ctx, id, s.today())
	if err != nil {
		return e, 0, err
	}
	found, err := s.Store.Find(ctx, all)
	for _, m := range found {
		if m.Current {
			members++
		}
	}
	return e, members, err
}

// requireGroup returns a MethodNotAllowed problem when the element is not a group, a Missing problem when there is
// none, and Forbidden when it is not p's.
func (s *Service) requireGroup(ctx context.Context, p principal.Principal, id int64) error {
	e, err := s.GetAdministered(ctx, p, id)
	if err == nil && !e.IsGroup() {
		err = problem.New(problem.MethodNotAllowed, "only a group has members")
	}
	return err
}

// nestedMembers returns the ids of the people and things in a group on a day, directly or through other groups, in
// order.
func (s *Service) nestedMembers(ctx context.Context, group int64, on wiretime.Day) ([]int64, error) {
	day := wiretime.Days{First: on, Last: on}
	return peopleAndThings(ctx, s.downward(day), []int64{group}, day)
}

// downward looks up the members that groups have on any of the days.
func (s *Service) downward(days wiretime.Days) lookup {
	return func(ctx context.Context, groups []int64) ([]Membership, error) {
		return s.Memberships.FindByGroups(ctx, groups, days)
	}
}

// upward looks up the groups that elements are members of on any of the days.
func (s *Service) upward(days wiretime.Days) lookup {
	return func(ctx context.Context, members []int64) ([]Membership, error) {
		return s.Memberships.FindByMembers(ctx, members, days)
	}
}
