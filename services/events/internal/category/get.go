package category

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Get returns a category. Missing; Forbidden when it is privileged and p is not, or of a school that is not p's.
func (s *Service) Get(ctx context.Context, p principal.Principal, id int64) (Category, error) {
	c, err := s.GetToAvoid(ctx, p, id)
	if err == nil && !c.UsableBy(p) {
		err = forbidden()
	}
	return c, err
}

// GetToAvoid is Get for a series that avoids the category's events: p need not be privileged.
func (s *Service) GetToAvoid(ctx context.Context, p principal.Principal, id int64) (Category, error) {
	c, err := s.o.Store.Get(ctx, id)
	if err != nil {
		return Category{}, record.Missing(err, Record, id)
	}
	if c.School == 0 || p.Permissions.Admin {
		return c, nil
	}
	seen, err := s.ofViewer(ctx, p, []Category{c})
	if err == nil && len(seen) == 0 {
		err = forbidden()
	}
	return c, err
}

// GetKept is Get for an event that is in the category already: whose school it is does not matter.
func (s *Service) GetKept(ctx context.Context, p principal.Principal, id int64) (Category, error) {
	c, err := s.o.Store.Get(ctx, id)
	if err == nil && !c.UsableBy(p) {
		err = forbidden()
	}
	return c, record.Missing(err, Record, id)
}

// GetToUse is Get for an event that is about to get the category. A category of a group that is no longer a school is
// Missing, even for an admin, who sees it.
func (s *Service) GetToUse(ctx context.Context, p principal.Principal, id int64) (Category, error) {
	c, err := s.Get(ctx, p, id)
	if err != nil || c.School == 0 || !p.Permissions.Admin {
		return c, err
	}
	schools, err := authority.Schools(ctx, []int64{c.School}, s.o.Elements.Facts)
	if err == nil && len(schools) == 0 {
		err = problem.Missing(Record, id)
	}
	return c, err
}

// Find returns those of the categories that exist, by id and by import key, in no order.
func (s *Service) Find(ctx context.Context, ids []int64, keys []string) ([]Category, error) {
	return s.o.Store.Find(ctx, ids, keys)
}

// Busy says which of the categories are busy: their events make the committed elements busy. Ids may be repeated.
func (s *Service) Busy(ctx context.Context, ids []int64) (map[int64]bool, error) {
	categories, err := s.o.Store.Find(ctx, sequence.Distinct(ids), nil)
	if err != nil {
		return nil, err
	}
	busy := make(map[int64]bool, len(categories))
	for _, c := range categories {
		busy[c.ID] = c.Busy
	}
	return busy, nil
}

// List returns the categories that p may use, by id (contract 4.4, decisions part 7). With toAvoid it adds school-wide
// ones, such as holidays, that series may avoid.
func (s *Service) List(ctx context.Context, p principal.Principal, toAvoid bool) ([]Category, error) {
	all, err := s.o.Store.List(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	return s.ofViewer(ctx, p, slices.DeleteFunc(all, func(c Category) bool {
		return !c.UsableBy(p) && !(toAvoid && c.Schoolwide && !c.Confidential)
	}))
}

// All returns the categories, in order of id.
func (s *Service) All(ctx context.Context) ([]Category, error) { return s.o.Store.List(ctx, 0, 0) }

// Page returns categories for administrators, in order of id: at most limit with an id above after, and the id after
// which the next page begins, 0 after the last page. Administrators of schools see their schools' own and, though they
// can't change them, the unprivileged ones of no school.
func (s *Service) Page(
	ctx context.Context, p principal.Principal, after int64, limit int,
) (page []Category, next int64, err error) {
	if p.Permissions.Admin {
		page, err = s.o.Store.List(ctx, after, limit+1)
	} else {
		page, err = s.listAdministered(ctx, p, after)
	}
	page, next = sequence.Page(page, limit, false, func(c Category) int64 { return c.ID })
	return page, next, err
}
