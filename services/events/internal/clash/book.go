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

// Book calls write for an addition, and treats clashes as the addition asks. Write gets what is booked where clashes
// are skipped or refused, and returns the event as it is stored with the commitments that were added.
//
// When clashes are skipped or refused, the elements are reserved until write has returned. The reservations stay while
// it is not known whether the event may still be stored; a booking that finds one in its way fences the event. When
// clashes are reported, they are found after the write, so that of two concurrent additions at least one reports the
// other. A report leaves out persons who are hidden from its reader.
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
	switch {
	case !a.Mode.Exact():
	case record.IsDryRun(ctx): // nothing is written, so nothing is reserved either
		booked, err = s.find(ctx, a, elements)
	default:
		b, booked, err = s.reserve(ctx, a, elements)
	}
	if err != nil {
		return event.Event{}, nil, err
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
	return invalid || errors.Is(err, event.ErrFenced) || errors.Is(err, event.ErrOutdated) ||
		errors.Is(err, record.ErrNotFound) || problem.Is(err, problem.Conflict) ||
		problem.Is(err, problem.Invalid)
}

// Move calls write for a change of an event, and treats clashes as it asks; see event.Clashes. Where they are skipped
// or refused, only an event that takes up its elements at a time when it did not before can clash, and they are
// reserved as by Book.
func (s *Service) Move(
	ctx context.Context, m event.Move, write event.WriteMove,
) (e event.Event, found []event.Clash, err error) {
	several, err := s.moving(ctx, m)
	if err != nil {
		return e, nil, err
	}
	if m.Mode.Exact() && record.IsDryRun(ctx) {
		clashes, err := s.Each(ctx, several)
		if err == nil {
			e, err = write(clashes[0])
		}
		return e, nil, err
	}
	if m.Mode.Exact() {
		err = s.BookEach(ctx, several, func(clashes [][]event.Clash) (err error) {
			e, err = write(clashes[0])
			return err
		})
		return e, nil, err
	}
	if e, err = write(nil); err != nil {
		return e, nil, err
	}
	several.Events = []event.Event{e}
	clashes, err := s.Each(ctx, several)
	if err != nil {
		return e, nil, err
	}
	return e, append([]event.Clash{}, clashes[0]...), nil
}

// moving is the event of a change as one of several. It has no elements where nothing can clash.
func (s *Service) moving(ctx context.Context, m event.Move) (Several, error) {
	several := Several{Events: []event.Event{m.After}}
	if m.Mode == event.ReportClashes {
		several.Reader = &m.Reader
	}
	busy, err := s.o.Categories.Busy(ctx, []int64{m.Before.CategoryID, m.After.CategoryID})
	if err != nil {
		return several, err
	}
	same := m.Mode.Exact() && m.After.Span.Equal(m.Before.Span) && busy[m.Before.CategoryID]
	if busy[m.After.CategoryID] && !same {
		several.Elements = m.Elements
	}
	return several, nil
}

// Report returns the clashes of what was added to an event before, as the event is now, when the addition asks for
// them.
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
	if !a.Allocates {
		if busy, err := s.busy(ctx, a); err != nil || !busy {
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
// from it have none, and the elements service records that it reads of the others.
func (s *Service) reaches(
	ctx context.Context, elements []fact.Element, days wiretime.Days, reader *fact.Sight,
) ([]fact.ElementReaches, error) {
	ids := sequence.Map(elements, func(element fact.Element) int64 { return element.ID })
	slices.Sort(ids) // each booking reserves in this order, so that no two wait for each other
	q := fact.ReachesQuestion{IDs: ids, Days: days}
	if reader != nil {
		q.Onlooker, q.InSchool = &reader.ElementID, reader.InSchool
	}
	return s.o.Elements.Reaches(ctx, q)
}

// busy says whether the category of an addition's event is busy.
func (s *Service) busy(ctx context.Context, a event.Addition) (bool, error) {
	if a.Category != nil {
		return a.Category.Busy, nil
	}
	busy, err := s.o.Categories.Busy(ctx, []int64{a.Event.CategoryID})
	return busy[a.Event.CategoryID], err
}

// report returns the clashes of the elements that were added, empty when there are none, nil when none were asked for.
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
	clashes := found.Clashes(a.Elements)
	return append([]event.Clash{}, clashes[:min(len(clashes), event.MaxClashes)]...), nil
}
