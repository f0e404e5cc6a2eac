package element

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/needle"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// maxHits bounds a search by a part of the name (contract part 8).
const maxHits = 100

// SearchByName returns the current elements of exactly that name that p sees today, in order of id.
func (s *Service) SearchByName(ctx context.Context, p principal.Principal, name string) ([]Element, error) {
	v, err := s.sightOf(ctx, s.viewer(p), s.onToday())
	if err != nil {
		return nil, err
	}
	return s.store.ListByName(ctx, name, v.seen())
}

// SearchByPart returns the first 100 current elements whose name contains the part and that p sees today, in order of
// name, then id. Letter case and accents do not count; nothing but accents is in no name.
func (s *Service) SearchByPart(ctx context.Context, p principal.Principal, part string) ([]Element, error) {
	n := needle.New(part)
	if n.Length() == 0 {
		return nil, nil
	}
	v, err := s.sightOf(ctx, s.viewer(p), s.onToday())
	if err != nil {
		return nil, err
	}
	return s.store.ListByNeedle(ctx, n, v.seen(), maxHits)
}
