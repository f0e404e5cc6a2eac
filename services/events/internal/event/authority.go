package event

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
)

// Administers returns those of the events that are p's, who administers schools, in no order: those that have elements,
// all of which belong to its schools today. Of an event that was deleted those count that it had then. Events that are
// confidential to p are not among them.
func (s *Service) Administers(ctx context.Context, p principal.Principal, ids []int64) ([]int64, error) {
	events, err := s.findEver(ctx, ids)
	if err != nil {
		return nil, err
	}
	l, err := s.lensOf(ctx, Sight{Sight: s.Reader(p)}, EachOf(events, Itself))
	if err != nil {
		return nil, err
	}
	var elements []int64
	for i := range events {
		elements = append(elements, events[i].elementIDs()...)
	}
	own, err := authority.AskOwn(ctx, p, elements, s.elements.Belonging)
	if err != nil {
		return nil, err
	}
	var found []int64
	for i := range events {
		e := &events[i]
		if len(e.Commitments)+len(e.Requests) > 0 && l.tells(e) &&
			!slices.ContainsFunc(e.elementIDs(), func(id int64) bool { return !own.Has(id) }) {
			found = append(found, e.ID)
		}
	}
	return found, nil
}

// findEver returns events as they are, or as they were when they were deleted, as far as the audit knows.
func (s *Service) findEver(ctx context.Context, ids []int64) ([]Event, error) {
	found, err := s.store.Find(ctx, ids, nil)
	if err != nil {
		return nil, err
	}
	gone := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		return slices.ContainsFunc(found, func(e Event) bool { return e.ID == id })
	})
	deleted, err := s.store.FindDeleted(ctx, gone)
	return append(found, deleted...), err
}
