package element

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Result is what became of a record of an import.
type Result string

// The results.
const (
	Created   Result = "created"
	Updated   Result = "updated"
	Unchanged Result = "unchanged" // its content is the one imported last, whatever was changed by hand since
	Failed    Result = "failed"
)

// Outcome of one record.
type Outcome struct {
	Result Result
	ID     int64          // of the element or membership; 0 when it failed, or would be created
	Faults problem.Fields // of a failed record
}

func (o *Outcome) fail(faults problem.Fields) { *o = Outcome{Result: Failed, Faults: faults} }

// settled says whether the record needs no further try.
func (o Outcome) settled() bool { return o.Result == Failed || o.Result == Unchanged }

// same is the outcome of a record whose content is the stored one: of this import's own doing when an earlier try wrote it.
func (o *Outcome) same(id int64) {
	if o.Result == "" {
		o.Result = Unchanged
	}
	o.ID = id
}

// Row is a record of an element: its whole truth.
type Row struct {
	Key   string // without the type
	Hash  string // of its content
	Draft Draft
}

// ImportElements writes a batch of elements of one type, each record by itself, and returns their outcomes in order. A batch costs one
// read, two blocks of ids and one insert for what is new, one bulk write for what changed; as much again for those that lost a race to
// another writer. Dry writes nothing.
func (s *Service) ImportElements(ctx context.Context, t Type, rows []Row, dry bool) ([]Outcome, error) {
	outcomes := make([]Outcome, len(rows))
	err := s.settle(ctx, func(ctx context.Context) (bool, error) { return s.importElements(ctx, t, rows, outcomes, dry) })
	return outcomes, err
}

func (s *Service) importElements(ctx context.Context, t Type, rows []Row, outcomes []Outcome, dry bool) (bool, error) {
	var keys []string
	for i, r := range rows {
		if !outcomes[i].settled() {
			keys = append(keys, t.Key(r.Key))
		}
	}
	existing, err := s.byKey(ctx, keys)
	if err != nil {
		return false, err
	}
	var fresh, changed []Element
	var freshRows []int
	for i, r := range rows {
		if outcomes[i].settled() {
			continue
		}
		e, exists := existing[t.Key(r.Key)]
		if exists && e.ImportHash == r.Hash {
			outcomes[i].same(e.ID)
			continue
		}
		e = r.element(t, e)
		if faults := r.apply(&e); len(faults) > 0 {
			outcomes[i].fail(faults)
			continue
		}
		if exists {
			outcomes[i] = Outcome{Result: Updated, ID: e.ID}
			changed = append(changed, e)
			continue
		}
		outcomes[i] = Outcome{Result: Created}
		fresh, freshRows = append(fresh, e), append(freshRows, i)
	}
	if dry {
		return true, nil
	}
	return s.writeElements(ctx, fresh, freshRows, changed, outcomes)
}

// element is what the record starts from: the element as it is, or a new one, without any details.
func (r Row) element(t Type, existing Element) Element {
	e := fresh(t.Name)
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
		faults.Add("key", "is too long")
	}
	return faults
}

func (s *Service) writeElements(ctx context.Context, fresh []Element, freshRows []int, changed []Element, outcomes []Outcome) (bool, error) {
	taken, err := s.Store.Add(ctx, fresh)
	if err != nil {
		return false, err
	}
	for i, row := range freshRows {
		outcomes[row].ID = fresh[i].ID
	}
	for _, i := range taken { // another import was first: what it made is compared in the next try
		outcomes[freshRows[i]] = Outcome{}
	}
	all, err := s.Store.Replace(ctx, changed)
	return all && len(taken) == 0, err
}

func (s *Service) byKey(ctx context.Context, keys []string) (map[string]Element, error) {
	slices.Sort(keys)
	found, err := s.Store.ElementsByKey(ctx, slices.Compact(keys))
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]Element, len(found))
	for _, e := range found {
		byKey[e.Key] = e
	}
	return byKey, nil
}
