package category

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Erase is the part of an erasure that goes through the names of categories. A name that another category has already
// stays as it is.
func (s *Service) Erase(p erasure.Person) erasure.Part {
	texts := erasure.NewTexts(p.Names, p.Instead)
	return func(ctx context.Context, _ string) (next string, changed int, err error) {
		all, err := s.store.List(ctx, 0, 0)
		if err != nil {
			return "", 0, err
		}
		for _, c := range all {
			if _, found := texts.Replace(c.Name); !found {
				continue
			}
			_, err := s.store.Change(ctx, c.ID, func(c *Category) error {
				name, found := texts.Replace(c.Name)
				if !found {
					return record.ErrUnchanged
				}
				c.Name = name
				return nil
			})
			switch {
			case err == nil:
				changed++
			case !errors.Is(err, ErrNameTaken) && !errors.Is(err, record.ErrNotFound):
				return "", changed, err
			}
		}
		return "", changed, nil
	}
}
