package record

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

const (
	// importWriters is how many changed records of a batch are written at a time.
	importWriters = 8
	// importTries bounds how often a batch starts over because other writers changed its records.
	importTries = 5
)

// ErrOutdated says that others changed records since an import read them.
var ErrOutdated = errors.New("the records have changed since they were read")

// Row is what every row of an import has. Rows embed it.
type Row struct {
	Key  string // the source's id of the row, never empty
	Hash string // of the row's content
}

func (r Row) row() Row { return r }

type imported interface{ row() Row }

// Import makes records T agree with rows R, matched by key (administration: import). A row that equals the one imported
// last leaves its record alone with all that was changed by hand since. A row with faults fails alone. A dry run writes
// nothing. A zero T stands for a record that does not exist. Check, Refuse and Resolve may be nil.
type Import[R imported, T any] struct {
	DryRun bool

	// Check returns the faults of a row by itself. Rows with faults are not looked up.
	Check func(r R) problem.Fields
	// Find returns the records of the rows, by the rows' keys.
	Find func(ctx context.Context, rows []R) (map[string]T, error)
	// Imported returns the id of a record, 0 when it does not exist, and the hash of the row that it was last imported
	// from.
	Imported func(T) (id int64, hash string)
	// Refuse returns the faults with which a row fails even when it is unchanged.
	Refuse func(r R, stored T) problem.Fields
	// Resolve looks up the references of the new and the changed rows.
	Resolve func(ctx context.Context, rows []R) error
	// Apply returns the record that a row asks for: an InvalidError of T when the row has faults, ErrUnchanged when the
	// record is like that already.
	Apply func(r R, stored T) (T, error)
	// Insert stores new records, of which there may be none, and sets their ids. It returns the faults of each that it
	// did not store. Their rows run once more, since another import may have stored the record first.
	Insert func(ctx context.Context, records []T) (refused []problem.Fields, err error)
	// Change stores the record of a changed row; several run at once. An InvalidError of T, ErrUnchanged or ErrNotFound
	// concerns this row alone. ErrOutdated, as from Insert, makes all rows that were to be written start over.
	Change func(ctx context.Context, r R, stored, wanted T) error
	// Last says which of the changed rows Change stores one by one, in their order, after all others, on which they
	// depend. A dry run calls Change for them too. Nil: none.
	Last func(stored, wanted T) bool
	// Replace, where it is set, stores all changed records in place of Change. ErrOutdated is as from Change.
	Replace func(ctx context.Context, records []T) error
}

// item is a row on its way.
type item[R imported, T any] struct {
	row            R
	stored, wanted T
	outcome        *Outcome
	earlier        Result // of a try that was outdated, which may have stored the record
}

// fail sets the outcome when there are faults, and says whether there are.
func (it *item[R, T]) fail(faults problem.Fields) bool {
	if len(faults) > 0 {
		*it.outcome = Fail(faults)
	}
	return len(faults) > 0
}

// take sets the outcome for an error that concerns the row alone, and returns any other.
func (it *item[R, T]) take(err error) error {
	invalid, isInvalid := errors.AsType[*InvalidError[T]](err)
	switch {
	case isInvalid:
		it.fail(invalid.Faults)
	case errors.Is(err, ErrNotFound): // the next import makes it again
		it.fail(problem.Fields{"key": {"was deleted meanwhile"}})
	case errors.Is(err, ErrUnchanged):
		it.outcome.Result = cmp.Or(it.earlier, Unchanged)
	default:
		return err
	}
	return nil
}

// Run returns the outcomes of the rows in their order. Conflict when others kept changing the same records.
func (k Import[R, T]) Run(ctx context.Context, rows []R) ([]Outcome, error) {
	outcomes := make([]Outcome, len(rows))
	var open []*item[R, T]
	for i, r := range rows {
		it := &item[R, T]{row: r, outcome: &outcomes[i]}
		if k.Check == nil || !it.fail(k.Check(r)) {
			open = append(open, it)
		}
	}
	repeated := false
	for range importTries {
		if len(open) == 0 {
			return outcomes, nil
		}
		again, err := k.try(ctx, open)
		switch {
		case errors.Is(err, ErrOutdated):
			for _, it := range again {
				if it.outcome.Result != Failed {
					it.earlier = it.outcome.Result
				}
			}
		case err != nil:
			return nil, err
		case repeated:
			return outcomes, nil
		default:
			repeated = true
		}
		open = again
	}
	return nil, problem.New(problem.Conflict, "other writers kept changing the record")
}

// try sets the outcomes of the rows, and returns those that have to run again.
func (k Import[R, T]) try(ctx context.Context, open []*item[R, T]) (again []*item[R, T], err error) {
	differ, err := k.compare(ctx, open)
	if err != nil {
		return nil, err
	}
	if k.Resolve != nil && len(differ) > 0 {
		if err := k.Resolve(ctx, rowsOf(differ)); err != nil {
			return nil, err
		}
	}
	var added, changed []*item[R, T]
	for _, it := range differ {
		id, _ := k.Imported(it.stored)
		*it.outcome = Outcome{Result: Created, ID: id}
		if id != 0 {
			it.outcome.Result = Updated
		}
		it.wanted, err = k.Apply(it.row, it.stored)
		switch {
		case err != nil:
			if err := it.take(err); err != nil {
				return nil, err
			}
		case id == 0:
			added = append(added, it)
		default:
			changed = append(changed, it)
		}
	}
	if k.DryRun {
		return nil, k.changeLast(ctx, changed)
	}
	if again, err = k.insert(ctx, added); err == nil {
		err = k.change(ctx, changed)
	}
	if errors.Is(err, ErrOutdated) {
		again = slices.Concat(added, changed)
	}
	return again, err
}

// compare finds the records of the rows, and returns the rows that are new or changed. It sets the outcomes of others.
func (k Import[R, T]) compare(ctx context.Context, open []*item[R, T]) (differ []*item[R, T], err error) {
	stored, err := k.Find(ctx, rowsOf(open))
	if err != nil {
		return nil, err
	}
	for _, it := range open {
		row := it.row.row()
		it.stored = stored[row.Key]
		switch id, hash := k.Imported(it.stored); {
		case k.Refuse != nil && it.fail(k.Refuse(it.row, it.stored)):
		case id != 0 && hash == row.Hash:
			*it.outcome = Outcome{Result: cmp.Or(it.earlier, Unchanged), ID: id}
		default:
			differ = append(differ, it)
		}
	}
	return differ, nil
}

// insert stores new records, and returns the rows of those that it did not store.
func (k Import[R, T]) insert(ctx context.Context, added []*item[R, T]) (again []*item[R, T], err error) {
	records := wantedBy(added)
	refused, err := k.Insert(ctx, records)
	for i, it := range added {
		if i < len(refused) && it.fail(refused[i]) {
			again = append(again, it)
		} else {
			it.outcome.ID, _ = k.Imported(records[i])
		}
	}
	return again, err
}

// change stores changed records.
func (k Import[R, T]) change(ctx context.Context, changed []*item[R, T]) error {
	if k.Replace != nil {
		return k.Replace(ctx, wantedBy(changed))
	}
	group, inGroup := errgroup.WithContext(ctx)
	group.SetLimit(importWriters)
	for _, it := range changed {
		if !k.isLast(it) {
			group.Go(func() error { return it.take(k.Change(inGroup, it.row, it.stored, it.wanted)) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return k.changeLast(ctx, changed)
}

// changeLast stores those of the changed records that Last names.
func (k Import[R, T]) changeLast(ctx context.Context, changed []*item[R, T]) error {
	for _, it := range changed {
		if !k.isLast(it) {
			continue
		}
		if err := it.take(k.Change(ctx, it.row, it.stored, it.wanted)); err != nil {
			return err
		}
	}
	return nil
}

func (k Import[R, T]) isLast(it *item[R, T]) bool {
	return k.Last != nil && k.Last(it.stored, it.wanted)
}

func rowsOf[R imported, T any](items []*item[R, T]) []R {
	return sequence.Map(items, func(it *item[R, T]) R { return it.row })
}

func wantedBy[R imported, T any](items []*item[R, T]) []T {
	return sequence.Map(items, func(it *item[R, T]) T { return it.wanted })
}

// Result is what an import did with a record (administration: import).
type Result string

// The results. Unchanged means that the row equals the one that was imported last, even when the record was changed
// by hand since.
const (
	Created   Result = "created"
	Updated   Result = "updated"
	Unchanged Result = "unchanged"
	Failed    Result = "failed"
)

// Outcome is the outcome of one row of an import. The tags name its fields in answers.
type Outcome struct {
	Result Result         `json:"result"`
	ID     int64          `json:"id,omitempty"`     // of the record; 0 when it failed, or would be created by a dry run
	Faults problem.Fields `json:"errors,omitempty"` // of a failed row, by column
}

// Fail returns the outcome of an invalid row.
func Fail(faults problem.Fields) Outcome { return Outcome{Result: Failed, Faults: faults} }
