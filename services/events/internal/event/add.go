package event

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Add adds the submitted elements to an event. Missing; Forbidden without edit rights on it, PreconditionFailed at
// another version, Invalid when an element clashes and nothing is to be added then. A request with an idempotency key
// adds once however often it comes; Conflict when the key is another request's.
func (s *Service) Add(
	ctx context.Context, p principal.Principal, id int64, submission Submission,
) (View, []Failure, error) {
	v, failures, err := untilCurrent(func() (View, []Failure, error) { return s.addOnce(ctx, p, id, submission) })
	if err != nil {
		return View{}, nil, record.Missing(err, Record, id)
	}
	v, err = s.trimmed(ctx, p, v)
	return v, failures, err
}

// untilCurrent tries until what was found out about an event still holds when the event is written.
func untilCurrent(try func() (View, []Failure, error)) (View, []Failure, error) {
	for {
		v, failures, err := try()
		if !errors.Is(err, ErrOutdated) {
			return v, failures, err
		}
	}
}

// addOnce tries to add. ErrOutdated when what it found out about clashes no longer holds, or when the same request
// was done meanwhile.
func (s *Service) addOnce(
	ctx context.Context, p principal.Principal, id int64, submission Submission,
) (_ View, failures []Failure, err error) {
	e, err := s.store.Get(ctx, id)
	if err != nil {
		return View{}, nil, err
	}
	if err := s.mustEdit(ctx, p, &e); err != nil {
		return View{}, nil, err
	}
	if failures, done, err := e.repeated(submission); err != nil {
		return View{}, nil, err
	} else if done {
		v, err := s.replay(ctx, p, e, submission, failures)
		return v, failures, err
	}
	if err := submission.Match.Check(e.Version); err != nil {
		return View{}, nil, err
	}
	l := newLookupBy(p)
	if err := s.fetch(ctx, l, append(e.elementIDs(), elementsOf(submission.Elements)...)); err != nil {
		return View{}, nil, err
	}
	if err := s.forget(ctx, p, l, e.elementIDs(), elementsOf(submission.Elements)); err != nil {
		return View{}, nil, err
	}
	new, err := s.newIDs(ctx, l, submission.Elements)
	if err != nil {
		return View{}, nil, err
	}
	addition := submission.addition(e, nil, l, fact.SightOf(s.sights, p))
	write := func(refused map[int64]bool) (Event, []Commitment, error) {
		if faults := submission.refusedWhole(refused, l); faults != nil {
			return Event{}, nil, problem.InvalidFields(faults)
		}
		before := 0
		e, err := s.change(ctx, id, l, func(e *Event) error {
			if !mayEdit(p, e) {
				return forbidden()
			}
			if addition.outdated(e) || e.recordOf(submission.IdempotencyKey) != nil {
				return ErrOutdated
			}
			if err := submission.Match.Check(e.Version); err != nil {
				return err
			}
			before = len(e.Commitments)
			failures = e.addElements(p, submission.Elements, l.elements, new, refused)
			e.remember(submission.IdempotencyKey, failures)
			return unchangedIf(len(failures) == len(submission.Elements))
		})
		if err != nil {
			return Event{}, nil, err
		}
		return e, e.Commitments[before:], nil
	}
	e, clashes, err := s.clashes.Book(ctx, addition, write)
	if err != nil {
		return View{}, nil, err
	}
	v, err := s.view(e, l)
	v.Clashes = clashes
	return v, failures, err
}

// unchangedIf ends a decision on an event.
func unchangedIf(same bool) error {
	if same {
		return record.ErrUnchanged
	}
	return nil
}
