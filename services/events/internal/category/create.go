package category

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Create makes a category. Invalid when the fields are not right or the name is taken.
func (s *Service) Create(ctx context.Context, f Fields) (Category, error) {
	var c Category
	if faults := f.apply(&c); len(faults) > 0 {
		return Category{}, record.Invalid(c, faults)
	}
	id, err := s.store.Insert(ctx, c)
	if errors.Is(err, ErrNameTaken) {
		return Category{}, record.Invalid(c, nameTaken())
	}
	c.ID = id
	return c, err
}

// nameTaken are the faults of a category whose name another one has.
func nameTaken() problem.Fields { return problem.Fields{"name": {problem.Taken}} }
