package event

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-schools/belfry/pkg/authority"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Administers says whether an event is p's, who administers schools: whether it has elements, and all of them belong to
// its schools today. Of an event that was deleted those count that it had then.
func (s *Service) Administers(ctx context.Context, p principal.Principal, id int64) (bool, error) {
	elements, err := s.elementsEver(ctx, id)
	if err != nil || len(elements) == 0 {
		return false, err
	}
	own, err := authority.AskOwn(ctx, p, elements, s.elements.Belonging)
	return err == nil && !slices.ContainsFunc(elements, func(id int64) bool { return !own.Has(id) }), err
}

// elementsEver returns the elements of an event, or those that it had when it was deleted.
func (s *Service) elementsEver(ctx context.Context, id int64) ([]int64, error) {
	e, err := s.store.Get(ctx, id)
	if errors.Is(err, record.ErrNotFound) {
		return s.store.FindDeleted(ctx, id)
	}
	if len(e.Commitments)+len(e.Requests) == 0 {
		return nil, err
	}
	return e.elementIDs(), err
}
