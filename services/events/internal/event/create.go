package event

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Create makes an event that p owns, and adds the submitted elements (contract 4.2). Forbidden without can_add_events,
// and for a privileged category without privileged; Invalid for a field with a fault; a ClashError. The event and its
// elements are one write. A request with an idempotency key makes one event, however often it is sent; Conflict when
// the key belongs to another request, or another replica is creating the event.
func (s *Service) Create(ctx context.Context, p principal.Principal, f Fields, submission Submission) (View, error) {
	if !p.Permissions.CanAddEvents {
		return View{}, forbidden()
	}
	if v, found, err := s.findCreated(ctx, p, submission); err != nil || found {
		return v, err
	}
	e, l, err := s.checkNew(ctx, p, f, submission)
	if err != nil {
		return View{}, err
	}
	for {
		v, err := s.insert(ctx, p, e, l, submission)
		if !errors.Is(err, ErrFenced) {
			return v, s.Refusal(ctx, p, err)
		}
	}
}

// checkNew returns the event that p is about to make, without elements, and a lookup of its category and the submitted
// elements. Forbidden for a privileged category without privileged; Invalid for a field with a fault.
func (s *Service) checkNew(
	ctx context.Context, p principal.Principal, f Fields, submission Submission,
) (Event, *lookup, error) {
	l := newLookupBy(p)
	e := Event{OwnerID: p.UserID, Actor: p.UserID}
	if err := s.resolve(ctx, p, l, f, &e, nil, submission.IDs, submission.people(&e)...); err != nil {
		return Event{}, nil, err
	}
	if faults := f.apply(&e, s.o.Zone, l, true); len(faults) > 0 {
		return Event{}, nil, record.Invalid(e, faults)
	}
	return e, l, nil
}

// insert stores a new event, under a new id, with the submitted elements. ErrFenced when it took so long that another
// call has booked instead.
func (s *Service) insert(
	ctx context.Context, p principal.Principal, e Event, l *lookup, submission Submission,
) (View, error) {
	new, err := s.newIDs(ctx, l, submission, 1)
	if err != nil {
		return View{}, err
	}
	e.ID = new.Events[0]
	addition := submission.addition(e, l, s.Reader(p))
	var failures []Failure
	write := func(booked Booked) (Event, []Commitment, error) {
		if err := addition.refused(booked); err != nil {
			return Event{}, nil, err
		}
		failures = e.addElements(p, submission.Elements, l.given(), new, booked)
		e.remember(submission.IdempotencyKey, failures)
		taken, err := s.o.Store.Insert(ctx, []Event{e})
		if err == nil && len(taken) > 0 { // by its idempotency key: it has no import key
			err = idempotency.InProgress()
		}
		return e, e.Commitments, err
	}
	e, clashes, err := s.o.Clashes.Book(ctx, addition, write)
	if err != nil {
		return View{}, err
	}
	return s.shown(ctx, p, l, e, failures, clashes)
}

// newIDs takes ids for that many events, and for the commitments and requests that the submitted elements can need.
func (s *Service) newIDs(ctx context.Context, l *lookup, submission Submission, events int) (IDs, error) {
	commitments, requests := 0, 0
	given := l.given()
	for _, id := range submission.IDs {
		switch fact, exists := given[id]; {
		case !exists:
		case fact.Resource:
			requests++
		default:
			commitments++
		}
	}
	return s.o.Store.NewIDs(ctx, events, commitments, requests)
}

// resolve finds the records that the fields of an event name and, at the same time, fetches the submitted elements,
// other elements and users. Forbidden when p may not use the category, unless the event has it already. Submitted
// records that p does not see are not found.
func (s *Service) resolve(
	ctx context.Context, p principal.Principal, l *lookup, f Fields, e *Event, others, submitted []int64,
	users ...int64,
) error {
	l.category = nil
	if f.OrganiserID != nil && *f.OrganiserID != 0 {
		submitted = append(slices.Clip(submitted), *f.OrganiserID)
	}
	g, gctx := errgroup.WithContext(ctx)
	if f.CategoryID != nil {
		g.Go(func() error {
			get := s.o.Categories.GetToUse
			if *f.CategoryID == e.CategoryID {
				get = s.o.Categories.GetKept
			}
			c, err := get(gctx, p, *f.CategoryID)
			if problem.Is(err, problem.NotFound) {
				return nil
			}
			l.category = &c
			return err
		})
	}
	g.Go(func() error { return s.fetch(gctx, l, slices.Concat(others, submitted), users...) })
	if err := g.Wait(); err != nil {
		return err
	}
	return s.hide(ctx, p, l, e, submitted)
}
