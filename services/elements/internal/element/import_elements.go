package element

import (
	"context"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/erasure"
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
// fails, fails alone: that of a person who has been erased does. A dry run writes nothing. Conflict when others keep
// changing the same elements.
func (s *Service) ImportElements(ctx context.Context, t Type, rows []Row, dry bool) ([]record.Outcome, error) {
	outcomes := make([]record.Outcome, len(rows))
	err := retry(ctx, func(ctx context.Context) (bool, error) { return s.importElements(ctx, t, rows, outcomes, dry) })
	return outcomes, err
}

func (s *Service) importElements(
	ctx context.Context, t Type, rows []Row, outcomes []record.Outcome, dry bool,
) (done bool, err error) {
	salt, err := s.erasures.Salt(ctx)
	if err != nil {
		return false, err
	}
	var keys []string
	for _, r := range open(rows, outcomes) {
		keys = append(keys, t.Key(r.Key), t.hiddenKey(salt, r.Key))
	}
	existing, err := s.findByKeys(ctx, keys)
	if err != nil {
		return false, err
	}
	changes := importChanges[Element]{id: func(e Element) int64 { return e.ID }}
	decideAll(rows, outcomes, func(i int, r Row) record.Outcome {
		e, exists := existing[t.Key(r.Key)]
		if _, erased := existing[t.hiddenKey(salt, r.Key)]; erased {
			return record.Fail(problem.Fields{"key": {erasure.Refused}})
		}
		if exists && (e.ImportHash == r.Hash || e.Erased) {
			return record.Outcome{Result: record.Unchanged, ID: e.ID}
		}
		e = r.blank(t, e)
		if faults := r.apply(&e); len(faults) > 0 {
			return record.Fail(faults)
		}
		return changes.put(i, e)
	})
	return changes.write(ctx, s.store, outcomes, dry)
}

// hiddenKey is what an erased element has in place of an import's key.
func (t Type) hiddenKey(salt, key string) string { return t.Key(erasure.Key(salt, t.Key(key))) }

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
