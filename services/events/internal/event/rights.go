package event

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// forbidden is the answer to everything that is not allowed.
func forbidden() error { return problem.New(problem.Forbidden, "") }

// mayEdit says whether p has edit rights on the event (decisions, part 4): an admin, one who may edit all events,
// or its owner.
func mayEdit(p principal.Principal, e *Event) bool { return p.Permissions.EditAllEvents || owns(p, e) }

// owns says whether p sees, knows and may change all of the event, as its owner or an admin does.
func owns(p principal.Principal, e *Event) bool {
	return p.Permissions.Admin || (e.OwnerID != 0 && e.OwnerID == p.UserID)
}

// organises says whether p is the event's organiser: the user who is that staff element.
func organises(p principal.Principal, e *Event) bool {
	return e.OrganiserID != 0 && e.OrganiserID == p.ElementID
}

// mayRemove says whether p may delete a commitment or request of one of these elements, whatever p sees of the event:
// as its owner or organiser, or as an administrator of one of the elements (decisions, part 4). Others with edit rights
// are for mustEdit to decide.
func mayRemove(p principal.Principal, e *Event, elements ...fact.Element) bool {
	return owns(p, e) || organises(p, e) ||
		slices.ContainsFunc(elements, func(f fact.Element) bool { return f.DecidedBy(p) })
}

// mayChangeQuantity says whether p may change the quantity of a request for an element, whatever p sees of the event:
// as its owner, or as an administrator of the element, who allocates the items. Others with edit rights, which adding
// needs too, are for mustEdit to decide.
func mayChangeQuantity(p principal.Principal, e *Event, element fact.Element) bool {
	return owns(p, e) || element.DecidedBy(p)
}

// Administers returns those of the events, in no order, whose elements, of which there is at least one, all belong
// today to schools that p administers. Of a deleted event the elements that it had then count. Events that are
// confidential to p are left out.
func (s *Service) Administers(ctx context.Context, p principal.Principal, ids []int64) ([]int64, error) {
	events, err := s.findEver(ctx, ids)
	if err != nil {
		return nil, err
	}
	l, err := s.lensOf(ctx, Sight{Sight: s.Reader(p)}, EachOf(events, Itself))
	if err != nil {
		return nil, err
	}
	var elements []int64
	for i := range events {
		elements = append(elements, events[i].elementIDs()...)
	}
	own, err := authority.AskOwn(ctx, p, elements, s.o.Elements.Belonging)
	if err != nil {
		return nil, err
	}
	var found []int64
	for i := range events {
		e := &events[i]
		if len(e.Commitments)+len(e.Requests) > 0 && l.tells(e) &&
			!slices.ContainsFunc(e.elementIDs(), func(id int64) bool { return !own.Has(id) }) {
			found = append(found, e.ID)
		}
	}
	return found, nil
}

// findEver returns events as they are, or as they were when they were deleted, as far as the audit knows.
func (s *Service) findEver(ctx context.Context, ids []int64) ([]Event, error) {
	found, err := s.o.Store.Find(ctx, ids, nil)
	if err != nil {
		return nil, err
	}
	gone := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		return slices.ContainsFunc(found, func(e Event) bool { return e.ID == id })
	})
	deleted, err := s.o.Store.FindDeleted(ctx, gone)
	return append(found, deleted...), err
}

// mustSee returns Forbidden when an event is not seen.
func (s *Service) mustSee(ctx context.Context, v Sight, e *Event) error {
	if v.All() || v.owns(e) {
		return nil
	}
	seen, err := s.show(ctx, v, []Event{*e})
	if err == nil && len(seen) == 0 {
		err = forbidden()
	}
	return err
}

// mustKnow returns Forbidden unless the viewer may know what an event is.
func (s *Service) mustKnow(ctx context.Context, v Sight, e *Event) error {
	l, err := s.lensOf(ctx, v, slices.Values([]*Event{e}))
	if err == nil && !l.tells(e) {
		err = forbidden()
	}
	return err
}

// mustEdit returns Forbidden unless p has edit rights on an event, sees it and may know what it is.
func (s *Service) mustEdit(ctx context.Context, p principal.Principal, e *Event) error {
	if owns(p, e) {
		return nil
	}
	if !mayEdit(p, e) {
		return forbidden()
	}
	of, err := s.Access(ctx, p, []Event{*e})
	if err == nil && !of[0].Edits {
		err = forbidden()
	}
	return err
}

// Access is what a user may do with an event.
type Access struct {
	Owns  bool // may do all of it, whatever becomes of the event
	Sees  bool
	Edits bool // has edit rights on it, sees it and may know what it is
}

// Access returns what p may do with each of the events.
func (s *Service) Access(ctx context.Context, p principal.Principal, events []Event) ([]Access, error) {
	of := make([]Access, len(events))
	others := false
	for i := range events {
		own := owns(p, &events[i])
		of[i] = Access{own, own, own}
		others = others || !own
	}
	if !others {
		return of, nil
	}
	v, err := s.SightOf(ctx, p)
	if err != nil {
		return nil, err
	}
	l, err := s.lensOf(ctx, v, EachOf(events, Itself))
	if err != nil {
		return nil, err
	}
	for i := range events {
		e := &events[i]
		if of[i].Owns {
			continue
		}
		of[i].Sees = l.sees(e)
		of[i].Edits = mayEdit(p, e) && of[i].Sees && l.tells(e)
	}
	return of, nil
}

// mustFind returns Forbidden when an element is not seen, and a Missing problem when it does not exist. It does not
// check viewers who see everything.
func (s *Service) mustFind(ctx context.Context, v Sight, id int64) error {
	if v.All() {
		return nil
	}
	of, err := s.o.Elements.Facts(ctx, fact.ElementsQuestion{IDs: []int64{id}})
	switch {
	case err != nil:
		return err
	case len(of) == 0:
		return problem.Missing("Element", id)
	case !v.finds(of[0]):
		return forbidden()
	}
	return nil
}
