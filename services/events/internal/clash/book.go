package clash

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Book calls write for an addition, and treats clashes as the addition asks. Where clashes are skipped or refused,
// write gets the booked elements. It returns the stored event and the commitments that were added.
//
// When clashes are skipped or refused, the elements are reserved until write has returned. The reservations stay while
// the event may still be stored; another booking that meets one of them fences the event. When clashes are reported,
// they are found after the write, so that of two concurrent additions at least one reports the other. A report leaves
// out persons who are hidden from its reader.
//
// Unless it allocates, an event of a category that is not busy clashes with nothing. The category is read unless it is
// given.
func (s *Service) Book(
	ctx context.Context, a event.Addition, write event.WriteAddition,
) (event.Event, []event.Clash, error) {
	elements, err := s.candidates(ctx, a)
	if err != nil {
		return event.Event{}, nil, err
	}
	var b *booking
	var booked event.Booked
	if a.Mode.Exact() {
		if b, booked, err = s.reserve(ctx, a, elements); err != nil {
			return event.Event{}, nil, err
		}
	}
	e, added, err := write(booked)
	if b != nil && (err == nil || refusedWrite(err)) {
		b.release(ctx)
	}
	if err != nil {
		return event.Event{}, nil, err
	}
	clashes, err := s.report(ctx, a, e, added, elements)
	return e, clashes, err
}

// refusedWrite says whether an error of a write means that the event was not stored and never will be.
func refusedWrite(err error) bool {
	_, invalid := errors.AsType[*record.InvalidError[event.Event]](err)
	kinds := []problem.Kind{
		problem.Conflict, problem.Invalid, problem.PreconditionFailed, problem.Forbidden, problem.NotFound,
	}
	return invalid || errors.Is(err, event.ErrFenced) || errors.Is(err, event.ErrOutdated) ||
		errors.Is(err, record.ErrNotFound) ||
		slices.ContainsFunc(kinds, func(k problem.Kind) bool { return problem.Is(err, k) })
}

// Moving returns the changed events that may clash; see event.Clashes.
func (s *Service) Moving(
	ctx context.Context, before, after []event.Event, mode event.Clashing,
) (moving []event.Event, err error) {
	var categories []int64
	for i := range after {
		categories = append(categories, before[i].CategoryID, after[i].CategoryID)
	}
	busy, err := s.o.Categories.Busy(ctx, categories)
	for i, e := range after {
		were, are := busy[before[i].CategoryID], busy[e.CategoryID]
		if !are {
			e.Commitments = slices.DeleteFunc(slices.Clone(e.Commitments), ordinary)
		}
		same := mode.Exact() && e.Span.Equal(before[i].Span) && (were || !are)
		if len(e.Commitments) > 0 && !same {
			moving = append(moving, e)
		}
	}
	return moving, err
}

// ordinary says whether a commitment is no allocation.
func ordinary(c event.Commitment) bool { return c.RequestID == 0 }

// Report returns the current clashes of elements that were added to an event before, if the addition asks for them.
func (s *Service) Report(
	ctx context.Context, a event.Addition, e event.Event, added []event.Commitment,
) ([]event.Clash, error) {
	elements, err := s.candidates(ctx, a)
	if err != nil {
		return nil, err
	}
	return s.report(ctx, a, e, added, elements)
}

// candidates returns the elements of an addition that can clash and are not on the event yet, in order of id, with
// their reaches.
func (s *Service) candidates(ctx context.Context, a event.Addition) ([]fact.ElementReaches, error) {
	if a.Mode == event.AllowClashes {
		return nil, nil
	}
	switch of := a.Event.CategoryID; {
	case a.Allocates:
	case a.Category != nil:
		if !a.Category.Busy {
			return nil, nil
		}
	default:
		if busy, err := s.o.Categories.Busy(ctx, []int64{of}); err != nil || !busy[of] {
			return nil, err
		}
	}
	absent := slices.DeleteFunc(slices.Clone(a.Elements), func(element fact.Element) bool {
		return !a.Allocates && !canClash(element) || slices.ContainsFunc(
			a.Event.Commitments,
			func(c event.Commitment) bool { return c.ElementID == element.ID },
		)
	})
	var reader *fact.Sight // refusals are exact, whatever the caller sees
	if a.Mode == event.ReportClashes {
		reader = &a.Reader
	}
	return s.reaches(ctx, absent, a.Event.Days(s.o.Zone), reader)
}

// reaches returns the reaches of the elements on these days, in order of id. With a reader, elements that are hidden
// from it have none, and the elements service records that it reads the others.
func (s *Service) reaches(
	ctx context.Context, elements []fact.Element, days wiretime.Days, reader *fact.Sight,
) ([]fact.ElementReaches, error) {
	ids := sequence.Map(elements, func(element fact.Element) int64 { return element.ID })
	slices.Sort(ids) // each booking reserves in this order, so that no two wait for each other
	q := fact.ReachesQuestion{IDs: ids, Days: days}
	if reader != nil {
		q = q.By(*reader)
	}
	return s.o.Elements.Reaches(ctx, q)
}

// report returns the clashes of the elements that were added: empty when there are none, nil when they were not asked
// for.
func (s *Service) report(
	ctx context.Context, a event.Addition, e event.Event, added []event.Commitment, elements []fact.ElementReaches,
) ([]event.Clash, error) {
	if a.Mode != event.ReportClashes {
		return nil, nil
	}
	elements = slices.DeleteFunc(elements, func(r fact.ElementReaches) bool {
		return !slices.ContainsFunc(added, func(c event.Commitment) bool { return c.ElementID == r.ElementID })
	})
	a.Event = e
	found, err := s.find(ctx, a, elements)
	if err != nil {
		return nil, err
	}
	return append([]event.Clash{}, found.Clashes(a.Elements)...), nil
}
