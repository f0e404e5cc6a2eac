package category

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal"
)

// List returns the categories that p may use, by id (contract 4.4, decisions part 7).
func (s *Service) List(ctx context.Context, p principal.Principal) ([]Category, error) {
	all, err := s.store.List(ctx, 0, 0)
	return slices.DeleteFunc(all, func(c Category) bool { return !c.UsableBy(p) }), err
}

// Schoolwide returns the ids of the school-wide categories, in order: everybody sees their events (decisions, part 9).
func (s *Service) Schoolwide(ctx context.Context) ([]int64, error) {
	all, err := s.store.List(ctx, 0, 0)
	var ids []int64
	for _, c := range all {
		if c.Schoolwide {
			ids = append(ids, c.ID)
		}
	}
	return ids, err
}

// Page returns categories for administrators: at most limit with an id above after, and whether there are more.
func (s *Service) Page(ctx context.Context, after int64, limit int) (page []Category, more bool, err error) {
	page, err = s.store.List(ctx, after, limit+1)
	if len(page) > limit {
		return page[:limit], true, err
	}
	return page, false, err
}
