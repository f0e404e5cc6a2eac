package category

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/record"
)

// Change changes the fields given. Missing; Invalid as for Create.
func (s *Service) Change(ctx context.Context, id int64, f Fields) (Category, error) {
	var attempted Category
	c, err := s.store.Change(ctx, id, func(c *Category) error {
		before := *c
		faults := f.apply(c)
		attempted = *c
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
