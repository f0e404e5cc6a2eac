package category

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal"
)

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

// Page returns categories for administrators, in order of id: at most limit with an id above after, and whether there
// are more. Administrators of schools see their schools' own and, though they can't change them, the unprivileged ones
// of no school.
func (s *Service) Page(
	ctx context.Context, p principal.Principal, after int64, limit int,
) (page []Category, more bool, err error) {
	if p.Permissions.Admin {
		page, err = s.o.Store.List(ctx, after, limit+1)
	} else {
		page, err = s.listAdministered(ctx, p, after)
	}
	if len(page) > limit {
		return page[:limit], true, err
	}
	return page, false, err
}
