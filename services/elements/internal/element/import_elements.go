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
	record.Row // its key is without the type
	Draft      Draft
}

// Import is a batch of elements of one type.
type Import struct {
	Type   Type
	Rows   []Row
	School int64 // new elements become members of it; 0: of the one that the caller administers, of none for an admin
}

// ImportElements imports a batch, see record.Import; rows of people who have been erased and of elements that are not
// p's fail. Malformed when p has to name a school; Missing when it does not exist, Forbidden when it is not p's;
// Conflict when other writers keep changing the same elements.
func (s *Service) ImportElements(ctx context.Context, p principal.Principal, batch Import) ([]record.Outcome, error) {
	var err error
	if batch.School, err = s.schoolOfImport(ctx, p, batch.School); err != nil {
		return nil, err
	}
	b := &elementBatch{Import: batch, service: s, p: p}
	return record.Import[Row, Element]{
		DryRun: record.IsDryRun(ctx), Find: b.find,
		Imported: func(e Element) (int64, string) { return e.ID, e.ImportHash }, Refuse: b.refuse, Apply: b.elementOf,
		Insert: b.insert, Replace: replaceRows(s.Store),
	}.Run(ctx, batch.Rows)
}

// elementBatch is an import of elements under way.
type elementBatch struct {
	Import
	service *Service
	p       principal.Principal

	erased  map[string]bool   // the keys of rows whose persons have been erased
	waiting map[int64]Element // see Service.waiting
	own     authority.Own
}

func (b *elementBatch) find(ctx context.Context, rows []Row) (map[string]Element, error) {
	salt, err := b.service.Erasures.Salt(ctx)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, r := range rows {
		keys = append(keys, b.Type.Key(r.Key), b.Type.hiddenKey(salt, r.Key))
	}
	existing, err := b.service.findByKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	stored := make(map[string]Element, len(existing))
	b.erased = map[string]bool{}
	for _, r := range rows {
		_, b.erased[r.Key] = existing[b.Type.hiddenKey(salt, r.Key)]
		if e, exists := existing[b.Type.Key(r.Key)]; exists {
			stored[r.Key] = e
		}
	}
	if b.waiting, err = b.service.waiting(ctx, b.School, existing); err != nil {
		return nil, err
	}
	b.own, err = authority.AskOwn(ctx, b.p, idsOf(slices.Collect(maps.Values(existing))), b.service.Belonging)
	return stored, err
}

// refuse refuses the rows of people who have been erased, and those of elements that are not p's.
func (b *elementBatch) refuse(r Row, stored Element) problem.Fields {
	if b.erased[r.Key] {
		return problem.Fields{"key": {erasure.Refused}}
	}
	if _, waits := b.waiting[stored.ID]; stored.ID != 0 && !b.own.Has(stored.ID) && !waits {
		return problem.Fields{"key": {problem.NotAdministered}}
	}
	return nil
}

// elementOf returns the element that a row asks for.
func (b *elementBatch) elementOf(r Row, stored Element) (Element, error) {
	if stored.Erased {
		return stored, record.ErrUnchanged
	}
	e := r.blank(b.Type, stored)
	faults := r.apply(&e)
	if !b.p.Permissions.Admin && (stored.Details.School || e.Details.School) {
		faults.Add("school", problem.ForAdmins)
	}
	if stored.ID == 0 {
		e.FirstSchool = b.School
	}
	return e, record.Invalid(e, faults)
}

// insert stores new elements, and makes them and the waiting ones members of the school.
func (b *elementBatch) insert(ctx context.Context, created []Element) ([]problem.Fields, error) {
	refused, err := insertRows(b.service.Store)(ctx, created)
	if err != nil || b.School == 0 {
		return refused, err
	}
	for i, e := range created {
		if refused[i] == nil {
			b.waiting[e.ID] = e
		}
	}
	return refused, b.service.enroll(ctx, b.School, slices.Collect(maps.Values(b.waiting))...)
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

// waiting returns those of the elements that an interrupted call made for the school without enrolling them, unless
// they have ever been enrolled.
func (s *Service) waiting(ctx context.Context, school int64, elements map[string]Element) (map[int64]Element, error) {
	waiting := map[int64]Element{}
	for _, e := range elements {
		if school != 0 && e.FirstSchool == school {
			waiting[e.ID] = e
		}
	}
	enrolled, err := s.Memberships.Find(ctx, []int64{school}, slices.Sorted(maps.Keys(waiting)))
	for _, m := range enrolled {
		delete(waiting, m.Member)
	}
	return waiting, err
}

// hiddenKey replaces the import key of an erased element.
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
