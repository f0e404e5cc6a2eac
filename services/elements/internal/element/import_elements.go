package element

import (
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Row is an imported element as a whole: a field that it does not give is empty.
type Row struct {
	Key   string // without the type
	Hash  string // of the row's content
	Draft Draft
}

// Import is a batch of elements of one type.
type Import struct {
	Type   Type
	Rows   []Row
	School int64 // new elements become members of it; 0: of the one that the caller administers, of none for an admin
	Dry    bool  // write nothing
}

// ImportElements writes a batch and returns the rows' outcomes in their order; a row that fails, fails alone: that of a
// person who has been erased does, and that of an element that is not p's. Malformed when p has to name a school;
// Missing or Forbidden when there is no such school or it is not p's; Conflict when others keep changing the same
// elements.
func (s *Service) ImportElements(
	ctx context.Context, p principal.Principal, batch Import,
) ([]record.Outcome, error) {
	var err error
	if batch.School, err = s.schoolOfImport(ctx, p, batch.School); err != nil {
		return nil, err
	}
	outcomes := make([]record.Outcome, len(batch.Rows))
	err = retry(ctx, func(ctx context.Context) (bool, error) { return s.importElements(ctx, p, batch, outcomes) })
	return outcomes, err
}

func (s *Service) importElements(
	ctx context.Context, p principal.Principal, batch Import, outcomes []record.Outcome,
) (done bool, err error) {
	t := batch.Type
	salt, err := s.erasures.Salt(ctx)
	if err != nil {
		return false, err
	}
	var keys []string
	for _, r := range open(batch.Rows, outcomes) {
		keys = append(keys, t.Key(r.Key), t.hiddenKey(salt, r.Key))
	}
	existing, err := s.findByKeys(ctx, keys)
	if err != nil {
		return false, err
	}
	waiting, err := s.waiting(ctx, batch.School, existing)
	if err != nil {
		return false, err
	}
	own, err := authority.AskOwn(ctx, p, idsOf(slices.Collect(maps.Values(existing))), s.Belonging)
	if err != nil {
		return false, err
	}
	changes := importChanges[Element]{id: func(e Element) int64 { return e.ID }}
	decideAll(batch.Rows, outcomes, func(i int, r Row) record.Outcome {
		e, exists := existing[t.Key(r.Key)]
		if _, erased := existing[t.hiddenKey(salt, r.Key)]; erased {
			return record.Fail(problem.Fields{"key": {erasure.Refused}})
		}
		if _, waits := waiting[e.ID]; exists && !own.Has(e.ID) && !waits {
			return record.Fail(problem.Fields{"key": {problem.NotAdministered}})
		}
		if exists && (e.ImportHash == r.Hash || e.Erased) {
			return record.Outcome{Result: record.Unchanged, ID: e.ID}
		}
		wasSchool := e.Details.School
		e = r.blank(t, e)
		faults := r.apply(&e)
		if !p.Permissions.Admin && (wasSchool || e.Details.School) {
			faults.Add("school", problem.ForAdmins)
		}
		if len(faults) > 0 {
			return record.Fail(faults)
		}
		if !exists {
			e.FirstSchool = batch.School
		}
		return changes.put(i, e)
	})
	done, err = changes.write(ctx, s.store, outcomes, batch.Dry)
	if err != nil || batch.Dry || batch.School == 0 {
		return done, err
	}
	for i, row := range changes.rows {
		if outcomes[row].ID != 0 { // else another import was first
			waiting[changes.created[i].ID] = changes.created[i]
		}
	}
	return done, s.enroll(ctx, batch.School, slices.Collect(maps.Values(waiting))...)
}

// schoolOfImport is schoolOfNew for an import.
func (s *Service) schoolOfImport(ctx context.Context, p principal.Principal, named int64) (int64, error) {
	faults := problem.Fields{}
	school, err := s.schoolOfNew(ctx, p, named, faults)
	for _, message := range faults["school_id"] {
		err = problem.New(problem.Malformed, "school %s", message)
	}
	return school, err
}

// waiting returns those of the elements that were made for the school and not enrolled in it: their call was cut off.
// One that has ever been enrolled is none of them.
func (s *Service) waiting(
	ctx context.Context, school int64, elements map[string]Element,
) (map[int64]Element, error) {
	waiting := map[int64]Element{}
	for _, e := range elements {
		if school != 0 && e.FirstSchool == school {
			waiting[e.ID] = e
		}
	}
	enrolled, err := s.memberships.Find(ctx, []int64{school}, slices.Sorted(maps.Keys(waiting)))
	for _, m := range enrolled {
		delete(waiting, m.Member)
	}
	return waiting, err
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
