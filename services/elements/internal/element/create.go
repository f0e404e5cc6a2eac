package element

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Create makes an element by hand, as a member of a school from today on, which has to be p's unless p is an admin; 0:
// the one that p administers, none for an admin. record.InvalidError when the draft is invalid or another element has
// the uuid; Forbidden when it is not p's to make.
func (s *Service) Create(ctx context.Context, p principal.Principal, d Draft, schoolID int64) (Element, error) {
	if err := d.mayMake(p); err != nil {
		return Element{}, err
	}
	e := newElement("")
	if d.EntityType != nil {
		e.EntityType = *d.EntityType
	}
	faults := d.Apply(&e)
	school, err := s.schoolOfNew(ctx, p, schoolID, faults)
	if err != nil {
		return Element{}, err
	}
	if err := record.Invalid(e, faults); err != nil {
		return Element{}, err
	}
	created := []Element{e}
	duplicates, err := s.store.Insert(ctx, created)
	if err != nil {
		return Element{}, err
	}
	if len(duplicates) > 0 { // the uuid is the only unique key that a client may choose
		return Element{}, uuidTaken(e)
	}
	if school != 0 {
		err = s.enroll(ctx, school, created[0])
	}
	return created[0], err
}

func uuidTaken(e Element) error { return record.Invalid(e, problem.Fields{"uuid": {problem.Taken}}) }
