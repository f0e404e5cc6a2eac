package event

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/ifmatch"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Get returns an event for showing. One read, then elements and owner asked for at the same time.
func (s *Service) Get(ctx context.Context, id int64) (View, error) {
	e, err := s.store.Event(ctx, id)
	if err != nil {
		return View{}, err
	}
	k := newKnown()
	if err := s.learn(ctx, k, e.elementIDs(), e.OwnerID); err != nil {
		return View{}, err
	}
	return s.view(e, k)
}

// Change changes the basic fields given (contract 4.2 rule 10). Forbidden without edit rights, and for a privileged category without
// privileged; PreconditionFailed at another version; InvalidError when the fields are not right. A re-timed event's decided commitments to controlled elements return to
// requested. It reads the event, asks for elements, owner and category at the same time, then reads and replaces the event.
func (s *Service) Change(ctx context.Context, p principal.Principal, id int64, f Fields, match ifmatch.Match) (View, error) {
	e, err := s.store.Event(ctx, id)
	if err != nil {
		return View{}, err
	}
	if !mayEdit(p, &e) {
		return View{}, forbidden()
	}
	k := newKnown()
	refs, err := s.resolve(ctx, p, k, f, e.elementIDs(), e.OwnerID)
	if err != nil {
		return View{}, err
	}
	e, err = s.change(ctx, id, k, func(e *Event) (bool, error) {
		if !mayEdit(p, e) {
			return false, forbidden()
		}
		if err := match.Check(e.Version); err != nil {
			return false, err
		}
		before := *e
		if faults := f.apply(e, s.zone, refs, false); len(faults) > 0 {
			return false, record.Invalid(*e, faults)
		}
		retimed := !e.Span.Equal(before.Span)
		if retimed {
			e.reconsider(p, k.elements)
		}
		return retimed || e.Body != before.Body || e.CategoryID != before.CategoryID || e.OrganiserID != before.OrganiserID, nil
	})
	if err != nil {
		return View{}, err
	}
	return s.view(e, k)
}
