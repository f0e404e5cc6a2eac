package element

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Each import writes a batch in attempts (see retry), which share the outcomes of the rows. An attempt deals with the
// rows whose outcome is not final.

// final says whether a row needs no further attempt.
func final(o record.Outcome) bool { return o.Result == record.Failed || o.Result == record.Unchanged }

// open goes through the rows that need an attempt, with their indexes.
func open[R any](rows []R, outcomes []record.Outcome) iter.Seq2[int, R] {
	return func(yield func(int, R) bool) {
		for i, r := range rows {
			if !final(outcomes[i]) && !yield(i, r) {
				return
			}
		}
	}
}

// checked returns the outcomes at the beginning of an import: those of rows with faults are final.
func checked[R interface{ check() problem.Fields }](rows []R) []record.Outcome {
	outcomes := make([]record.Outcome, len(rows))
	for i, r := range rows {
		if faults := r.check(); len(faults) > 0 {
			outcomes[i] = record.Fail(faults)
		}
	}
	return outcomes
}

// decideAll sets the outcome of each row that needs an attempt. A row that an earlier attempt has stored is unchanged
// now, and keeps the result of that attempt.
func decideAll[R any](rows []R, outcomes []record.Outcome, decide func(i int, r R) record.Outcome) {
	for i, r := range open(rows, outcomes) {
		o := decide(i, r)
		if o.Result == record.Unchanged && outcomes[i].Result != "" {
			o.Result = outcomes[i].Result
		}
		outcomes[i] = o
	}
}

// importChanges are the changes of one attempt.
type importChanges[T any] struct {
	changes[T]
	rows []int         // of the created records
	id   func(T) int64 // 0: of a record that is to be created
}

// put adds the record that a row asks for, and returns the row's outcome.
func (c *importChanges[T]) put(row int, r T) record.Outcome {
	if id := c.id(r); id != 0 {
		c.updated = append(c.updated, r)
		return record.Outcome{Result: record.Updated, ID: id}
	}
	c.created, c.rows = append(c.created, r), append(c.rows, row)
	return record.Outcome{Result: record.Created}
}

// write stores the changes, unless the run is dry, and sets the ids of the outcomes. It returns false when another
// writer interfered.
func (c *importChanges[T]) write(
	ctx context.Context, w writer[T], outcomes []record.Outcome, dry bool,
) (done bool, err error) {
	if dry {
		return true, nil
	}
	duplicates, all, err := c.changes.write(ctx, w)
	if err != nil {
		return false, err
	}
	for i, row := range c.rows {
		outcomes[row].ID = c.id(c.created[i])
	}
	for _, i := range duplicates { // another import was first: the next attempt compares with what that one stored
		outcomes[c.rows[i]] = record.Outcome{}
	}
	return all && len(duplicates) == 0, nil
}

func distinctKeys(keys []string) []string { return slices.Compact(slices.Sorted(slices.Values(keys))) }

// findByKeys returns those of the elements that exist, by key.
func (s *Service) findByKeys(ctx context.Context, keys []string) (map[string]Element, error) {
	found, err := s.store.FindByKeys(ctx, distinctKeys(keys))
	if err != nil {
		return nil, err
	}
	return byKeys(found), nil
}

func byKeys(elements []Element) map[string]Element {
	all := make(map[string]Element, len(elements))
	for _, e := range elements {
		all[e.Key] = e
	}
	return all
}

// erased returns those of the keys, which have their types, that are of no element since their persons have been
// erased. It asks nothing where each key of a person is among the elements found.
func (s *Service) erased(ctx context.Context, keys []string, found map[string]Element) (map[string]bool, error) {
	var missing []string
	for _, key := range distinctKeys(keys) {
		entity, _, _ := strings.Cut(key, ":")
		if _, exists := found[key]; !exists && (entity == form.Staff || entity == form.Pupil) {
			missing = append(missing, key)
		}
	}
	if missing == nil {
		return nil, nil
	}
	salt, err := s.erasures.Salt(ctx)
	if err != nil {
		return nil, err
	}
	hidden := map[string]string{}
	for _, key := range missing {
		entity, _, _ := strings.Cut(key, ":")
		hidden[Type{Name: entity}.Key(erasure.Key(salt, key))] = key
	}
	of, err := s.store.FindByKeys(ctx, slices.Collect(maps.Keys(hidden)))
	erased := map[string]bool{}
	for _, e := range of {
		erased[hidden[e.Key]] = true
	}
	return erased, err
}

// copyFaults returns a copy to which a check may add.
func copyFaults(faults problem.Fields) problem.Fields {
	copied := make(problem.Fields, len(faults))
	for field, messages := range faults {
		copied[field] = slices.Clone(messages)
	}
	return copied
}
