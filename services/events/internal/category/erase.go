package category

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Erase is the part of an erasure that goes through the names and keys of categories.
func (s *Service) Erase(p erasure.Person) erasure.Part {
	texts := erasure.NewTexts(p.Names, p.Instead)
	find := func(ctx context.Context, _ string) (all []Category, next string, err error) {
		all, err = s.o.Store.List(ctx, 0, 0)
		return all, "", err
	}
	return erasure.Each(find, func(ctx context.Context, c Category) (int, error) {
		if !c.forget(texts, 0) {
			return 0, nil
		}
		return 1, s.eraseFrom(ctx, c.ID, texts)
	})
}

// eraseFrom takes a person out of one category. Two that differed only in the person's names keep different names.
func (s *Service) eraseFrom(ctx context.Context, id int64, texts *erasure.Texts) error {
	for taken := 0; ; taken++ {
		_, err := s.o.Store.Change(ctx, id, func(c *Category) error {
			if !c.forget(texts, taken) {
				return record.ErrUnchanged
			}
			return nil
		})
		if !errors.Is(err, ErrNameTaken) {
			return err
		}
	}
}

// forget replaces the texts in which an erased person is found, and says whether there was any. Taken counts the new
// names that already belonged to another category.
func (c *Category) forget(texts *erasure.Texts, taken int) (found bool) {
	if name, is := texts.Replace(c.Name); is {
		c.Name, found = name+strings.Repeat(fmt.Sprintf(" (%d)", c.ID), taken), true
	}
	if key, is := texts.ReplaceKey(c.Key, c.ID); is {
		c.Key, found = key, true
	}
	return found
}
