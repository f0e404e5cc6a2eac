package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Each import writes a batch in attempts (see retry), which share the outcomes of the rows. An attempt deals with the
// rows whose outcome is not final.

// final says whether a row needs no further attempt.
func final(o record.Outcome) bool { return o.Result == record.Failed || o.Result == record.Unchanged }

// unchanged returns the outcome of a row that is the one stored. When an earlier attempt stored it, the outcome of that
// attempt stays.
func unchanged(o record.Outcome, id int64) record.Outcome {
	if o.Result == "" {
		o.Result = record.Unchanged
	}
	o.ID = id
	return o
}

// importChanges are the changes of one attempt.
type importChanges[T any] struct {
	changes[T]
	rows []int // of the created records
}

func (c *importChanges[T]) create(row int, r T) {
	c.created, c.rows = append(c.created, r), append(c.rows, row)
}

func (c *importChanges[T]) update(r T) { c.updated = append(c.updated, r) }

// write stores the changes and sets the ids of the outcomes. It returns false when another writer interfered.
func (c *importChanges[T]) write(
	ctx context.Context, w writer[T], outcomes []record.Outcome, id func(T) int64,
) (done bool, err error) {
	duplicates, all, err := c.changes.write(ctx, w)
	if err != nil {
		return false, err
	}
	for i, row := range c.rows {
		outcomes[row].ID = id(c.created[i])
	}
	for _, i := range duplicates { // another import was first: the next attempt compares with what that one stored
		outcomes[c.rows[i]] = record.Outcome{}
	}
	return all && len(duplicates) == 0, nil
}

// findByKeys returns those of the elements that exist, by key.
func (s *Service) findByKeys(ctx context.Context, keys []string) (map[string]Element, error) {
	found, err := s.store.FindByKeys(ctx, distinct(keys))
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]Element, len(found))
	for _, e := range found {
		byKey[e.Key] = e
	}
	return byKey, nil
}

// copyFaults returns a copy to which a check may add.
func copyFaults(faults problem.Fields) problem.Fields {
	copied := make(problem.Fields, len(faults))
	for field, messages := range faults {
		copied[field] = slices.Clone(messages)
	}
	return copied
}
