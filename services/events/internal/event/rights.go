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
