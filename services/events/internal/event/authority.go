package event

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/authority"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Administers returns the id of the event that a question about the audit is for, such as Event:12, when it is p's, who
// administers schools: when it has elements, and all of them belong to its schools today. Of an event that was deleted
// those count that it had then. It returns none for a question about anything else.
func (s *Service) Administers(ctx context.Context, p principal.Principal, asked string) ([]int64, error) {
	id := idOf(asked)
	if id == 0 {
		return nil, nil
	}
	elements, err := s.elementsEver(ctx, id)
	if err != nil || len(elements) == 0 {
		return nil, err
	}
	own, err := authority.AskOwn(ctx, p, elements, s.elements.Belonging)
	if err != nil || slices.ContainsFunc(elements, func(id int64) bool { return !own.Has(id) }) {
		return nil, err
	}
	return []int64{id}, nil
}

// idOf returns the id of an event by its record in the audit, 0 of anything else.
func idOf(asked string) int64 {
	if text, is := strings.CutPrefix(asked, Record+":"); is {
		id, _ := strconv.ParseInt(text, 10, 64) // what is no number is no event's
		return id
	}
	return 0
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
