package element

import (
	"context"
	"errors"
	"reflect"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Create makes an element by hand, as a member of a school from today on, which must be p's unless p is an admin; 0:
// the one that p administers, or none for an admin. If an earlier call with the same draft was interrupted before the
// membership, it completes that. record.InvalidError when the draft is invalid or another element has the uuid;
// Forbidden when p may not make it.
func (s *Service) Create(ctx context.Context, p principal.Principal, d Draft, schoolID int64) (Element, error) {
	if err := d.mayMake(p); err != nil {
		return Element{}, err
	}
	e := newElement(form.OrZero(d.EntityType))
	faults := d.Apply(&e)
	school, err := s.schoolOfNew(ctx, p, schoolID, faults)
	if err != nil {
		return Element{}, err
	}
	if err := record.Invalid(e, faults); err != nil {
		return Element{}, err
	}
	e.FirstSchool = school
	created := []Element{e}
	duplicates, err := s.Store.Insert(ctx, created)
	if err != nil {
		return Element{}, err
	}
	if len(duplicates) > 0 { // the uuid is the only unique key that a client may choose
		return s.finish(ctx, e, school)
	}
	if school != 0 {
		err = s.enroll(ctx, school, created[0])
	}
	return created[0], err
}

// finish enrolls the existing element with the uuid of e if an interrupted call made it from the same draft for the
// school. Otherwise the uuid is taken.
func (s *Service) finish(ctx context.Context, e Element, school int64) (Element, error) {
	made, err := s.Store.GetByUUID(ctx, e.UUID)
	if errors.Is(err, record.ErrNotFound) || err == nil && !made.isMadeOf(e) {
		return Element{}, uuidTaken(e)
	}
	if err != nil {
		return Element{}, err
	}
	waiting, err := s.waiting(ctx, school, map[string]Element{made.UUID: made})
	switch {
	case err != nil:
		return Element{}, err
	case len(waiting) == 0:
		return Element{}, uuidTaken(e)
	}
	return made, s.enroll(ctx, school, made)
}

// isMadeOf says whether e, which is stored, is what a call by hand makes of the other.
func (e Element) isMadeOf(other Element) bool {
	return e.Key == "" && e.EntityType == other.EntityType && e.Name == other.Name && e.Current == other.Current &&
		reflect.DeepEqual(e.Details, other.Details)
}

func uuidTaken(e Element) error { return record.Invalid(e, problem.Fields{"uuid": {problem.Taken}}) }
