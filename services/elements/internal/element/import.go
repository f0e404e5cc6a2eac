package element

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// writer is Store or MembershipStore.
type writer[T any] interface {
	Insert(ctx context.Context, records []T) (duplicates []int, err error)
	Replace(ctx context.Context, records []T) (all bool, err error)
}

// insertRows stores new records of an import. Those with a duplicate unique key are refused.
func insertRows[T any](w writer[T]) func(context.Context, []T) ([]problem.Fields, error) {
	return func(ctx context.Context, records []T) ([]problem.Fields, error) {
		duplicates, err := w.Insert(ctx, records)
		refused := make([]problem.Fields, len(records))
		for _, i := range duplicates {
			refused[i] = problem.Fields{"key": {problem.Taken}}
		}
		return refused, err
	}
}

// replaceRows stores changed records of an import.
func replaceRows[T any](w writer[T]) func(context.Context, []T) error {
	return func(ctx context.Context, records []T) error {
		all, err := w.Replace(ctx, records)
		if err == nil && !all {
			err = record.ErrOutdated
		}
		return err
	}
}

func distinctKeys(keys []string) []string { return slices.Compact(slices.Sorted(slices.Values(keys))) }

// findByKeys returns those of the elements that exist, by key.
func (s *Service) findByKeys(ctx context.Context, keys []string) (map[string]Element, error) {
	found, err := s.Store.FindByKeys(ctx, distinctKeys(keys))
	return byKeys(found), err
}

func byKeys(elements []Element) map[string]Element {
	return sequence.By(elements, func(e Element) string { return e.Key })
}

// erased returns those of the keys, which have their types, whose persons have been erased. It does not ask the store
// in a dry run, or when every key of a person is among the elements found.
func (s *Service) erased(ctx context.Context, keys []string, found map[string]Element) (map[string]bool, error) {
	var missing []string
	for _, key := range distinctKeys(keys) {
		entity, _, _ := strings.Cut(key, ":")
		if _, exists := found[key]; !exists && (entity == form.Staff || entity == form.Pupil) {
			missing = append(missing, key)
		}
	}
	if missing == nil || record.IsDryRun(ctx) {
		return nil, nil
	}
	salt, err := s.Erasures.Salt(ctx)
	if err != nil {
		return nil, err
	}
	hidden := map[string]string{}
	for _, key := range missing {
		entity, _, _ := strings.Cut(key, ":")
		hidden[Type{Name: entity}.Key(erasure.Key(salt, key))] = key
	}
	of, err := s.Store.FindByKeys(ctx, slices.Collect(maps.Keys(hidden)))
	erased := map[string]bool{}
	for _, e := range of {
		erased[hidden[e.Key]] = true
	}
	return erased, err
}
