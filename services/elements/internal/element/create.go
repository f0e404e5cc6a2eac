package element

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Create makes an element by hand. record.InvalidError when the draft is invalid or another element has the uuid.
func (s *Service) Create(ctx context.Context, d Draft) (Element, error) {
	e := newElement("")
	if d.EntityType != nil {
		e.EntityType = *d.EntityType
	}
	faults := d.Apply(&e)
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
	return created[0], nil
}

func uuidTaken(e Element) error { return record.Invalid(e, problem.Fields{"uuid": {problem.Taken}}) }
