package event

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Create makes an event that p owns, and adds the submitted elements (contract 4.2). Forbidden without can_add_events, and for a privileged
// category without privileged; InvalidError when the fields are not right. Category and elements are asked for at the same time; the event
// and all that is added are one write. See watch for what minding clashes costs besides. A request with a ticket makes one event however often it
// comes, at the cost of one read; Conflict when the ticket is another request's, or another replica is at it.
func (s *Service) Create(ctx context.Context, p principal.Principal, f Fields, submission Submission) (View, []Failure, error) {
	if !p.Permissions.CanAddEvents {
		return View{}, nil, forbidden()
	}
	if v, failures, found, err := s.made(ctx, submission); found || err != nil {
		return v, failures, err
	}
	k := newKnown()
	refs, err := s.resolve(ctx, p, k, f, elementsOf(submission.Elements))
	if err != nil {
		return View{}, nil, err
	}
	e := Event{OwnerID: p.UserID, Actor: p.UserID}
	if faults := f.apply(&e, s.zone, refs, true); len(faults) > 0 {
		return View{}, nil, record.Invalid(e, faults)
	}
	for {
		v, failures, err := s.insert(ctx, p, e, refs.category, k, submission)
		if !errors.Is(err, ErrShutOut) {
			return v, failures, err
		}
	}
}

// insert stores a new event, under a new id, with the submitted elements. ErrShutOut when it took so long that another booked instead.
func (s *Service) insert(ctx context.Context, p principal.Principal, e Event, of *category.Category, k *known, submission Submission) (_ View, failures []Failure, err error) {
	new, err := s.newIDs(ctx, k, submission.Elements)
	if err != nil {
		return View{}, nil, err
	}
	numbers, err := s.store.NewEvents(ctx, 1)
	if err != nil {
		return View{}, nil, err
	}
	e.ID = numbers[0]
	w, err := s.watch(ctx, &e, of, k, submission)
	if err != nil {
		return View{}, nil, err
	}
	failures = e.add(p, submission.Elements, k.elements, new, w.booked)
	e.sign(submission.IdempotencyKey, failures)
	taken, err := s.store.Insert(ctx, []Event{e})
	w.settle(ctx, err)
	if err == nil && len(taken) > 0 { // by its ticket: it has no import key
		err = idempotency.InProgress()
	}
	if err != nil {
		return View{}, nil, err
	}
	v, err := s.view(e, k)
	if err == nil {
		v.Clashes, err = s.report(ctx, w, v, e.Commitments)
	}
	return v, failures, err
}

// Add adds the submitted elements to an event; Forbidden without edit rights on it, PreconditionFailed at another version. It reads the event, asks for all its elements and those
// submitted in one call, then reads and replaces it. Minding clashes takes the event's category besides, and what watch says.
// A request with a ticket adds once however often it comes; Conflict when the ticket is another request's.
func (s *Service) Add(ctx context.Context, p principal.Principal, id int64, submission Submission) (View, []Failure, error) {
	for {
		v, failures, err := s.extend(ctx, p, id, submission)
		if !errors.Is(err, errOutdated) {
			return v, failures, err
		}
	}
}

// extend is Add. errOutdated when what it found out about clashes no longer serves, or when the same request was done meanwhile.
func (s *Service) extend(ctx context.Context, p principal.Principal, id int64, submission Submission) (_ View, failures []Failure, err error) {
	e, err := s.store.Event(ctx, id)
	if err != nil {
		return View{}, nil, err
	}
	if !mayEdit(p, &e) {
		return View{}, nil, forbidden()
	}
	failures, done, err := e.done(submission)
	if err != nil {
		return View{}, nil, err
	}
	if done {
		v, err := s.replay(ctx, e, submission, failures)
		return v, failures, err
	}
	if err := submission.Match.Check(e.Version); err != nil {
		return View{}, nil, err
	}
	k := newKnown()
	if err := s.learn(ctx, k, append(e.elementIDs(), elementsOf(submission.Elements)...)); err != nil {
		return View{}, nil, err
	}
	new, err := s.newIDs(ctx, k, submission.Elements)
	if err != nil {
		return View{}, nil, err
	}
	w, err := s.watch(ctx, &e, nil, k, submission)
	if err != nil {
		return View{}, nil, err
	}
	before := 0
	e, err = s.change(ctx, id, k, func(e *Event) (bool, error) {
		if !mayEdit(p, e) {
			return false, forbidden()
		}
		if w.outdated(e) || e.receipt(submission.IdempotencyKey) != nil {
			return false, errOutdated
		}
		if err := submission.Match.Check(e.Version); err != nil {
			return false, err
		}
		before = len(e.Commitments)
		failures = e.add(p, submission.Elements, k.elements, new, w.booked)
		e.sign(submission.IdempotencyKey, failures)
		return len(failures) < len(submission.Elements), nil
	})
	w.settle(ctx, err)
	if err != nil {
		return View{}, nil, err
	}
	v, err := s.view(e, k)
	if err == nil {
		v.Clashes, err = s.report(ctx, w, v, e.Commitments[before:])
	}
	return v, failures, err
}

// newIDs takes as many ids as the submitted elements can need.
func (s *Service) newIDs(ctx context.Context, k *known, submitted []Submitted) (new ids, err error) {
	commitments, requests := 0, 0
	for _, id := range elementsOf(submitted) {
		switch fact, exists := k.elements[id]; {
		case !exists:
		case fact.Resource:
			requests++
		default:
			commitments++
		}
	}
	if new.commitments, err = s.store.NewCommitments(ctx, commitments); err != nil {
		return ids{}, err
	}
	new.requests, err = s.store.NewRequests(ctx, requests)
	return new, err
}

// resolve finds the records that the fields name, and learns of the elements and users besides, all at the same time. A privileged category
// is Forbidden to those who are not.
func (s *Service) resolve(ctx context.Context, p principal.Principal, k *known, f Fields, elements []int64, users ...int64) (references, error) {
	var refs references
	g, gctx := errgroup.WithContext(ctx)
	if f.CategoryID != nil {
		g.Go(func() error {
			c, err := s.categories.Get(gctx, p, *f.CategoryID)
			if problem.Is(err, problem.NotFound) {
				return nil
			}
			refs.category = &c
			return err
		})
	}
	g.Go(func() error {
		if f.OrganiserID != nil && *f.OrganiserID != 0 {
			elements = append(elements, *f.OrganiserID)
		}
		return s.learn(gctx, k, elements, users...)
	})
	if err := g.Wait(); err != nil {
		return references{}, err
	}
	if f.OrganiserID != nil {
		refs.organiser = factOf(k, *f.OrganiserID)
	}
	return refs, nil
}

// factOf returns what is known of an element, nil when there is no such.
func factOf(k *known, id int64) *fact.Element {
	if fact, exists := k.elements[id]; exists {
		return &fact
	}
	return nil
}
