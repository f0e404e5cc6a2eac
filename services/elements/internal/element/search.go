package element

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/needle"
)

// maxHits bounds a search by a part of the name (contract part 8).
const maxHits = 100

// SearchByName returns the current elements of exactly that name, in order of id.
func (s *Service) SearchByName(ctx context.Context, name string) ([]Element, error) {
	return s.store.ListByName(ctx, name)
}

// SearchByPart returns the first 100 current elements whose name contains the part, in order of name, then id. Letter
// case and accents do not count; nothing but accents is in no name.
func (s *Service) SearchByPart(ctx context.Context, part string) ([]Element, error) {
	n := needle.New(part)
	if n.Length() == 0 {
		return nil, nil
	}
	return s.store.ListByNeedle(ctx, n, maxHits)
}
