package event

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Submission is a request to add elements to an event.
type Submission struct {
	Elements       []Submitted
	IDs            []int64 // of these, each once
	Clashes        Clashing
	IdempotencyKey idempotency.Key
	Match          record.Match   // the versions of the event that may be added to
	People         bool           // show the event's owner too
	Faults         problem.Fields // of what could not be read
	allocates      bool
}

// NewSubmission returns a submission of the elements, which allows clashes.
func NewSubmission(elements []Submitted) Submission {
	s := Submission{Elements: elements, Clashes: AllowClashes}
	seen := map[int64]bool{}
	for _, e := range elements {
		if e.ID != 0 && !seen[e.ID] {
			seen[e.ID] = true
			s.IDs = append(s.IDs, e.ID)
		}
	}
	return s
}

// Submitted is one entry of the elements that a client sends.
type Submitted struct {
	Text string // the value as submitted
	ID   int64  // 0: the value is not an id
}

// people are the users to fetch beside an event's elements.
func (s Submission) people(e *Event) []int64 {
	if !s.People {
		return nil
	}
	return []int64{e.OwnerID}
}

// Add adds the submitted elements to an event. Missing; Forbidden without edit rights on it, PreconditionFailed at
// another version; Invalid for a fault; a ClashError. A request with an idempotency key adds once, however often it is
// sent; Conflict when the key belongs to another request.
func (s *Service) Add(ctx context.Context, p principal.Principal, id int64, submission Submission) (View, error) {
	v, err := untilCurrent(func() (View, error) {
		return s.extendOnce(ctx, p, id, submission,
			func(e *Event, l *lookup, new IDs, booked Booked) ([]Failure, error) {
				return e.addElements(p, submission.Elements, l.given(), new, booked), nil
			})
	})
	return v, record.Missing(s.Refusal(ctx, p, err), Record, id)
}

// untilCurrent retries while the event changes between reading and writing.
func untilCurrent(try func() (View, error)) (View, error) {
	for {
		v, err := try()
		if !errors.Is(err, ErrOutdated) {
			return v, err
		}
	}
}

// extendOnce tries to write what add does with an event that p may edit. Add gets the elements' facts, ids for those
// that it adds, and the bookings; it returns the failures. ErrOutdated when the clashes found are out of date, or the
// same request has been done meanwhile.
func (s *Service) extendOnce(
	ctx context.Context, p principal.Principal, id int64, submission Submission,
	add func(e *Event, l *lookup, new IDs, booked Booked) ([]Failure, error),
) (View, error) {
	e, err := s.o.Store.Get(ctx, id)
	if err != nil {
		return View{}, err
	}
	if err := s.mustEdit(ctx, p, &e); err != nil {
		return View{}, err
	}
	if v, done, err := s.replay(ctx, p, newLookupFor(s.Reader(p)), e, submission); done || err != nil {
		return v, err
	}
	if err := submission.Match.Check(e.Version); err != nil {
		return View{}, err
	}
	if err := problem.InvalidFields(submission.Faults); err != nil {
		return View{}, err
	}
	l := newLookupBy(p)
	if err := s.fetch(ctx, l, append(e.elementIDs(), submission.IDs...), submission.people(&e)...); err != nil {
		return View{}, err
	}
	if err := s.hide(ctx, p, l, &e, submission.IDs); err != nil {
		return View{}, err
	}
	new, err := s.newIDs(ctx, l, submission, 0)
	if err != nil {
		return View{}, err
	}
	addition := submission.addition(e, l, s.Reader(p))
	return s.extend(ctx, p, l, addition, submission, func(e *Event, booked Booked) ([]Failure, error) {
		if !mayEdit(p, e) {
			return nil, forbidden()
		}
		if err := submission.Match.Check(e.Version); err != nil {
			return nil, err
		}
		if err := s.hide(ctx, p, l, e, submission.IDs); err != nil {
			return nil, err
		}
		return add(e, l, new, booked)
	})
}

// extend writes an addition to a stored event. Add adds the elements that are not booked, and returns the failures.
// ErrOutdated when the event has changed since it was read, or the same request has been done meanwhile.
func (s *Service) extend(
	ctx context.Context, p principal.Principal, l *lookup, a Addition, submission Submission,
	add func(e *Event, booked Booked) ([]Failure, error),
) (View, error) {
	var failures []Failure
	write := func(booked Booked) (Event, []Commitment, error) {
		if err := a.refused(booked); err != nil {
			e := a.Event // what is wrong with the request comes first
			e.Commitments, e.Requests = slices.Clone(e.Commitments), slices.Clone(e.Requests)
			_, invalid := add(&e, nil)
			return Event{}, nil, cmp.Or(invalid, err)
		}
		var before map[int64]bool
		e, err := s.change(ctx, a.Event.ID, l, func(e *Event) (err error) {
			if a.outdated(e) || e.recordOf(submission.IdempotencyKey) != nil {
				return ErrOutdated
			}
			before = e.committed()
			if failures, err = add(e, booked); err != nil {
				return err
			}
			e.remember(submission.IdempotencyKey, failures)
			return unchangedIf(len(failures) == len(submission.Elements))
		})
		if err != nil {
			return Event{}, nil, err
		}
		return e, filter(e.Commitments, func(c Commitment) bool { return !before[c.ElementID] }), nil
	}
	e, clashes, err := s.o.Clashes.Book(ctx, a, write)
	if err != nil {
		return View{}, err
	}
	return s.shown(ctx, p, l, e, failures, clashes)
}

// unchangedIf ends a decision on an event.
func unchangedIf(same bool) error {
	if same {
		return record.ErrUnchanged
	}
	return nil
}
