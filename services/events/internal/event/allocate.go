package event

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Allocate adds the submitted elements to an event as allocations to a request (decisions, part 5). Missing; Forbidden
// to all but those who decide on its group; Invalid for a fault; a ClashError. Concurrent calls each decide on the
// event's current state; when the event has been moved to other days meanwhile, Allocate starts over. Where clashes are
// skipped or refused, the elements are reserved while that is decided; an element of any type clashes with another
// allocation and with a busy event at that time. A request with an idempotency key allocates once, however often it is
// sent; Conflict when the key belongs to another request.
func (s *Service) Allocate(ctx context.Context, p principal.Principal, id int64, submission Submission) (View, error) {
	submission.allocates = true
	v, err := untilCurrent(func() (View, error) { return s.allocateOnce(ctx, p, id, submission) })
	return v, record.Missing(s.Refusal(ctx, p, err), RequestRecord, id)
}

// allocateOnce tries to allocate. ErrOutdated when the event has been moved to other days, or the same request has been
// done meanwhile.
func (s *Service) allocateOnce(
	ctx context.Context, p principal.Principal, id int64, submission Submission,
) (View, error) {
	e, err := s.o.Store.GetByRequest(ctx, id)
	if err != nil {
		return View{}, err
	}
	l := newLookupBy(p)
	group, days := e.Request(id).ElementID, e.Days(s.o.Zone)
	members, err := s.members(ctx, l, &e, group, submission, days)
	if err != nil {
		return View{}, err
	}
	if !l.elements[group].DecidedBy(p) {
		return View{}, forbidden()
	}
	if v, done, err := s.replay(ctx, p, l, e, submission); done || err != nil {
		return v, err
	}
	if err := problem.InvalidFields(submission.Faults); err != nil {
		return View{}, err
	}
	others := filter(submission.IDs, func(id int64) bool { return !members[id] })
	if err := s.hide(ctx, p, l, &e, others); err != nil {
		return View{}, err
	}
	addition := submission.addition(e, l, s.Reader(p))
	addition.Elements = slices.DeleteFunc(addition.Elements, func(f fact.Element) bool {
		return !members[f.ID] || !f.Current || f.EntityType == form.Group // these fail whether they are booked or not
	})
	new, err := s.o.Store.NewIDs(ctx, 0, len(addition.Elements), 0) // as many as may be added
	if err != nil {
		return View{}, err
	}
	return s.extend(ctx, p, l, addition, submission, func(e *Event, booked Booked) ([]Failure, error) {
		switch {
		case e.Request(id) == nil:
			return nil, record.ErrNotFound
		case e.Days(s.o.Zone) != days:
			return nil, ErrOutdated
		}
		return e.allocate(id, submission.Elements, l.given(), members, new.Commitments, booked), nil
	})
}

// members asks which of the elements are in the group on all of the days, directly or through groups, and fetches their
// facts and those of the elements that the event names.
func (s *Service) members(
	ctx context.Context, l *lookup, e *Event, group int64, submission Submission, days wiretime.Days,
) (map[int64]bool, error) {
	members := map[int64]bool{}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return s.fetch(gctx, l, append(e.elementIDs(), submission.IDs...), submission.people(e)...)
	})
	g.Go(func() error {
		reached, err := s.o.Elements.Reaches(gctx, fact.ReachesQuestion{IDs: submission.IDs, Days: days})
		for _, r := range reached {
			members[r.ElementID] = r.ElementID != group && slices.ContainsFunc(r.Reaches, func(r fact.Reach) bool {
				return r.ElementID == group && slices.Equal(r.Days, []wiretime.Days{days})
			})
		}
		return err
	})
	return members, g.Wait()
}

// allocate adds the submitted elements, in their order, as commitments of the request. Members are those that are
// in its group on every day of the event; new has an id for each of them. Those that are booked are refused.
func (e *Event) allocate(
	requestID int64, submitted []Submitted, facts map[int64]fact.Element, members map[int64]bool, new []int64,
	booked Booked,
) (failures []Failure) {
	r := *e.Request(requestID)
	allocated := e.Allocated(r.ID)
	committed := e.committed()
	for i, s := range submitted {
		fact, exists := facts[s.ID]
		if !exists {
			failures = append(failures, Failure{Index: i, Submitted: s})
			continue
		}
		c := Commitment{ElementID: fact.ID, Status: Uncontrolled, RequestID: r.ID, AddedBy: e.Actor}
		faults := e.checkElement(committed[fact.ID], booked.Has(fact.ID))
		switch {
		case faults != nil:
		case !members[fact.ID] || fact.EntityType == form.Group: // a group inside the group is not an item but has some
			faults = problem.Fields{"element_id": {"is not a member of the group on every day of the event"}}
		case !fact.Current:
			faults = problem.Fields{"element_id": {problem.NotCurrent}}
		case allocated >= r.Quantity:
			faults = problem.Fields{"request_id": {fmt.Sprintf("already has its full quantity of %d", r.Quantity)}}
		}
		if faults != nil {
			failures = append(failures, Failure{Index: i, Submitted: s, Status: c.Status, Errors: faults})
			continue
		}
		c.ID, new = new[0], new[1:]
		e.Commitments = append(e.Commitments, c)
		committed[c.ElementID] = true
		allocated++
	}
	return failures
}
