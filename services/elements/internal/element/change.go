package element

import (
	"context"
	"errors"
	"reflect"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// ErrUUIDTaken says that another element has the uuid.
var ErrUUIDTaken = errors.New("another element has the uuid")

// Change changes the fields that the draft gives. record.InvalidError when the result is invalid or another element has
// the uuid; PreconditionFailed at another version; a Missing problem when there is no such element, Forbidden when it
// is not p's to change, Conflict when it has been erased.
func (s *Service) Change(
	ctx context.Context, p principal.Principal, id int64, d Draft, match record.Match,
) (Element, error) {
	if err := s.mustKeep(ctx, p, id); err != nil {
		return Element{}, err
	}
	if err := d.mayMake(p); err != nil {
		return Element{}, err
	}
	e, err := s.change(ctx, id, func(e *Element) error {
		if err := match.Check(e.Version); err != nil {
			return err
		}
		if e.Erased {
			return problem.New(problem.Conflict, "the person has been erased")
		}
		before := *e
		faults := d.Apply(e)
		if err := record.Invalid(*e, faults); err != nil || !reflect.DeepEqual(*e, before) {
			return err
		}
		return record.ErrUnchanged
	})
	if errors.Is(err, ErrUUIDTaken) {
		err = uuidTaken(e)
	}
	if err == nil { // it is shown whole, whatever changed
		s.recordRead(ctx, s.viewer(p).ElementID, audit.ReadDetail, e)
	}
	return e, err
}

// Retire makes an element no longer current; its history stays. A later import of the same row makes it current again.
// PreconditionFailed at another version; a Missing problem when there is no such element, Forbidden when it is not
// p's to retire.
func (s *Service) Retire(ctx context.Context, p principal.Principal, id int64, match record.Match) error {
	if err := s.mustKeep(ctx, p, id); err != nil {
		return err
	}
	_, err := s.change(ctx, id, func(e *Element) error {
		if err := match.Check(e.Version); err != nil {
			return err
		}
		if !e.Current && e.ImportHash == "" {
			return record.ErrUnchanged
		}
		e.Current, e.ImportHash = false, ""
		return nil
	})
	return err
}

// change is Store.Change with a Missing problem when there is no such element.
func (s *Service) change(ctx context.Context, id int64, decide func(*Element) error) (Element, error) {
	e, err := s.Store.Change(ctx, id, decide)
	return e, missing(err, id)
}
