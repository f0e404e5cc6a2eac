package category

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Change changes the fields given. Missing; Forbidden when p may not administer the category before or after the
// change; Invalid as for Create.
func (s *Service) Change(ctx context.Context, p principal.Principal, id int64, f Fields) (Category, error) {
	var attempted Category
	c, err := s.o.Store.Change(ctx, id, func(c *Category) error {
		if err := s.mustAdminister(ctx, p, *c); err != nil {
			return err
		}
		before := *c
		faults := f.apply(c)
		if f.School != nil && *f.School != c.School {
			c.School = *f.School
			if err := s.mayOwn(ctx, *c, faults); err != nil {
				return err
			}
		}
		attempted = *c
		if err := s.mayBecome(ctx, p, before, *c, faults); err != nil {
			return err
		}
		if len(faults) > 0 {
			return record.Invalid(*c, faults)
		}
		if *c == before {
			return record.ErrUnchanged
		}
		return nil
	})
	if errors.Is(err, ErrNameTaken) {
		return Category{}, record.Invalid(attempted, nameTaken())
	}
	return c, record.Missing(err, Record, id)
}

// Create makes a category, of a school if p is an administrator of schools. Forbidden when p could not administer it;
// Invalid for a field with a fault, or when another category of the school has the name.
func (s *Service) Create(ctx context.Context, p principal.Principal, f Fields) (Category, error) {
	var c Category
	faults := f.apply(&c)
	if err := s.begin(ctx, p, &c, f.School, faults); err != nil {
		return Category{}, err
	}
	if err := s.mayBecome(ctx, p, Category{}, c, faults); err != nil {
		return Category{}, err
	}
	if len(faults) > 0 {
		return Category{}, record.Invalid(c, faults)
	}
	created := []Category{c}
	refused, err := s.o.Store.Insert(ctx, created)
	if err = errors.Join(append(refused, err)...); errors.Is(err, ErrNameTaken) {
		return Category{}, record.Invalid(c, nameTaken())
	}
	return created[0], err
}

// nameTaken are the faults of a category whose name another one has, of the same school or, like it, of none.
func nameTaken() problem.Fields { return problem.Fields{"name": {problem.Taken}} }
