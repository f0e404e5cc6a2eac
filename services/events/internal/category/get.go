package category

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Get returns a category. Missing; Forbidden when it is privileged and p is not.
func (s *Service) Get(ctx context.Context, p principal.Principal, id int64) (Category, error) {
	c, err := s.store.Get(ctx, id)
	if err != nil {
		return Category{}, record.Missing(err, Record, id)
	}
	if !c.UsableBy(p) {
		return Category{}, problem.New(problem.Forbidden, "")
	}
	return c, nil
}

// Find returns those of the categories that exist, by id and by import key, in no order.
func (s *Service) Find(ctx context.Context, ids []int64, keys []string) ([]Category, error) {
	return s.store.Find(ctx, ids, keys)
}

// Busy says which of the categories are busy: their events take up the elements committed. An id may be given more than
// once.
func (s *Service) Busy(ctx context.Context, ids []int64) (map[int64]bool, error) {
	slices.Sort(ids)
	categories, err := s.store.Find(ctx, slices.Compact(ids), nil)
	if err != nil {
		return nil, err
	}
	busy := make(map[int64]bool, len(categories))
	for _, c := range categories {
		busy[c.ID] = c.Busy
	}
	return busy, nil
}
