package clash

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Each returns the clashes of each of the events, event.MaxClashes in all.
func (s *Service) Each(ctx context.Context, several event.Several) ([][]event.Clash, error) {
	elements, err := s.candidatesOf(ctx, several)
	if err != nil {
		return nil, err
	}
	return s.each(ctx, several, elements)
}

// BookEach calls write with the clashes of each of the events. If some have none, the elements are reserved for the
// events until write has returned, as Book reserves those of one event; write stores no others. The reservations stay
// while it is not known whether events may still be stored.
func (s *Service) BookEach(
	ctx context.Context, several event.Several, write func(clashes [][]event.Clash) error,
) error {
	elements, err := s.candidatesOf(ctx, several)
	if err != nil {
		return err
	}
	clashes, err := s.each(ctx, several, elements) // so that booked elements need no reservation
	if err != nil {
		return err
	}
	free := slices.ContainsFunc(clashes, func(of []event.Clash) bool { return len(of) == 0 })
	if !free || len(elements) == 0 {
		return write(clashes)
	}
	b := s.booking(several.Events...) // all of them: one that clashes now may be free once it holds
	if err := b.hold(ctx, elements, func() error {
		clashes, err = s.each(ctx, several, elements)
		return err
	}); err != nil {
		return err
	}
	err = write(clashes)
	if err == nil || refusedWrite(err) {
		b.release(ctx)
	}
	return err
}

// candidatesOf is candidates for several events.
func (s *Service) candidatesOf(ctx context.Context, several event.Several) ([]fact.ElementReaches, error) {
	events := several.Events
	if len(events) == 0 || len(several.Elements) == 0 {
		return nil, nil
	}
	days := events[0].Days(s.o.Zone)
	for _, e := range events {
		of := e.Days(s.o.Zone)
		days.First, days.Last = min(days.First, of.First), max(days.Last, of.Last)
	}
	taken := slices.DeleteFunc(slices.Clone(several.Elements), func(element fact.Element) bool {
		return !slices.ContainsFunc(events, func(e event.Event) bool { return takes(e, element) })
	})
	return s.reaches(ctx, taken, days, several.Reader)
}

func (s *Service) each(
	ctx context.Context, several event.Several, elements []fact.ElementReaches,
) ([][]event.Clash, error) {
	clashes := make([][]event.Clash, len(several.Events))
	if len(elements) == 0 {
		return clashes, nil
	}
	found, err := s.findEach(ctx, several.Events, elements, several.Moving, false)
	if err != nil {
		return nil, err
	}
	if several.Moving {
		stay(several, found)
	}
	n := 0
	for i := range found {
		for _, element := range several.Elements {
			for _, other := range found[i][element.ID] {
				if takes(several.Events[i], element) && (n < event.MaxClashes || len(clashes[i]) == 0) {
					clashes[i] = append(clashes[i], event.Clash{Element: element, Event: other})
					n++
				}
			}
		}
	}
	return clashes, nil
}

// takes says whether an event takes up an element: one that it allocates, or one that can clash otherwise.
func takes(e event.Event, element fact.Element) bool {
	return slices.ContainsFunc(e.Commitments, func(c event.Commitment) bool {
		return c.ElementID == element.ID && c.Status != event.Rejected && (c.RequestID != 0 || canClash(element))
	})
}

// stay leaves out clashes with events that move away. One moves unless it clashes with one that does not.
func stay(v event.Several, found []event.Booked) {
	moving := map[int64]bool{}
	for _, e := range v.Events {
		moving[e.ID] = true
	}
	for changed := true; changed; {
		changed = false
		for i, e := range v.Events {
			if moving[e.ID] && blocked(v, i, found[i], moving) {
				moving[e.ID], changed = false, true
			}
		}
	}
	for i := range found {
		for element, others := range found[i] {
			found[i][element] = slices.DeleteFunc(others, func(e event.Event) bool { return moving[e.ID] })
		}
	}
}

// blocked says whether an event that does not move takes up an element of event i.
func blocked(v event.Several, i int, found event.Booked, moving map[int64]bool) bool {
	stays := func(e event.Event) bool { return !moving[e.ID] }
	for _, element := range v.Elements {
		if takes(v.Events[i], element) && slices.ContainsFunc(found[element.ID], stays) {
			return true
		}
	}
	return false
}
