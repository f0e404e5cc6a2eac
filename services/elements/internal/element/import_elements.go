package element

import (
	"context"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Row is an imported element as a whole: a field that it does not give is empty.
type Row struct {
	Key   string // without the type
	Hash  string // of the row's content
	Draft Draft
}

// ImportElements writes a batch of elements of one type and returns the rows' outcomes in their order; a row that
// fails, fails alone. A dry run writes nothing. Conflict when others keep changing the same elements.
func (s *Service) ImportElements(ctx context.Context, t Type, rows []Row, dry bool) ([]record.Outcome, error) {
	outcomes := make([]record.Outcome, len(rows))
	err := retry(ctx, func(ctx context.Context) (bool, error) { return s.importElements(ctx, t, rows, outcomes, dry) })
	return outcomes, err
}

func (s *Service) importElements(
	ctx context.Context, t Type, rows []Row, outcomes []record.Outcome, dry bool,
) (done bool, err error) {
	var keys []string
	for i, r := range rows {
		if !final(outcomes[i]) {
			keys = append(keys, t.Key(r.Key))
		}
	}
	existing, err := s.findByKeys(ctx, keys)
	if err != nil {
		return false, err
	}
	var changes importChanges[Element]
	for i, r := range rows {
		if final(outcomes[i]) {
			continue
		}
		e, exists := existing[t.Key(r.Key)]
		if exists && e.ImportHash == r.Hash {
			outcomes[i] = unchanged(outcomes[i], e.ID)
			continue
		}
		e = r.blank(t, e)
		if faults := r.apply(&e); len(faults) > 0 {
			outcomes[i] = record.Fail(faults)
			continue
		}
		if exists {
			outcomes[i] = record.Outcome{Result: record.Updated, ID: e.ID}
			changes.update(e)
			continue
		}
		outcomes[i] = record.Outcome{Result: record.Created}
		changes.create(i, e)
	}
	if dry {
		return true, nil
	}
	return changes.write(ctx, s.store, outcomes, func(e Element) int64 { return e.ID })
}

// blank returns the element without any details, a new one when it does not exist.
func (r Row) blank(t Type, existing Element) Element {
	e := newElement(t.Name)
	if existing.ID != 0 {
		e = existing
		e.Name, e.Details, e.Current = "", Details{}, true
	}
	e.Key, e.ImportHash = t.Key(r.Key), r.Hash
	return e
}

func (r Row) apply(e *Element) problem.Fields {
	d := r.Draft
	d.EntityType, d.UUID = nil, nil // no columns of the bundle
	faults := d.Apply(e)
	if utf8.RuneCountInString(r.Key) > maxText {
		faults.Add("key", problem.TooLong(maxText))
	}
	return faults
}
