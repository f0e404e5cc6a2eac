package clash

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// atOnce is how many events share a read of those that may clash with them.
const atOnce = 32

// Busy returns the commitments that make the reached elements busy: not rejected, in a busy category, in the order of
// commitments. For allocations it also returns the allocations of events in other categories. It leaves out those of
// the event except, unless that is 0.
func (s *Service) Busy(
	ctx context.Context, reaches []fact.Reach, except int64, allocates bool,
) ([]event.Placed[event.Commitment], error) {
	events, err := s.o.Events.FindTouching(ctx, reaches, allocates) // in brief, nothing tells allocations
	if err != nil {
		return nil, err
	}
	found := event.CommitmentsTo(reaches, events, s.o.Zone)
	ids := sequence.Map(found, func(p event.Placed[event.Commitment]) int64 { return p.Event.CategoryID })
	busy, err := s.o.Categories.Busy(ctx, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(p event.Placed[event.Commitment]) bool {
		return p.Event.ID == except || p.Item.Status == event.Rejected ||
			p.Item.RequestID == 0 && !busy[p.Event.CategoryID]
	}), nil
}

// find is findEach for an addition.
func (s *Service) find(ctx context.Context, a event.Addition, elements []fact.ElementReaches) (event.Booked, error) {
	found, err := s.findEach(ctx, []event.Event{a.Event}, elements, false, a.Allocates)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// findEach returns for each of the events, by element, the others that book the element during the event: directly, or
// through a group that it belongs to on a day of both. Each is listed once, in order of start, end and id. The given
// events are left out, unless among says that they are stored at other times: then they clash with each other as
// stored.
func (s *Service) findEach(
	ctx context.Context, events []event.Event, elements []fact.ElementReaches, among, allocates bool,
) ([]event.Booked, error) {
	given := map[int64]bool{}
	for i := range events {
		given[events[i].ID] = !among
	}
	found := make([]event.Booked, 0, len(events))
	for some := range slices.Chunk(events, atOnce) {
		busy, err := s.Busy(ctx, s.reachesDuring(some, elements), 0, allocates)
		if err != nil {
			return nil, err
		}
		others := map[int64][]event.Event{} // by the element committed
		for _, p := range busy {
			if !given[p.Event.ID] {
				others[p.Item.ElementID] = append(others[p.Item.ElementID], *p.Event)
			}
		}
		for i := range some {
			found = append(found, s.clashing(&some[i], elements, others))
		}
	}
	return found, nil
}

// reachesDuring are the reaches of the elements on the days of the events.
func (s *Service) reachesDuring(events []event.Event, elements []fact.ElementReaches) []fact.Reach {
	days := sequence.Map(events, func(e event.Event) wiretime.Days { return e.Days(s.o.Zone) })
	days = wiretime.MergeDays(days)
	var reaches []fact.Reach
	for _, element := range elements {
		for _, r := range element.Reaches {
			r.Days = wiretime.IntersectDays(wiretime.MergeDays(r.Days), days)
			reaches = append(reaches, r)
		}
	}
	return reaches
}

// clashing returns, by element, the others that book it during e.
func (s *Service) clashing(
	e *event.Event, elements []fact.ElementReaches, others map[int64][]event.Event,
) event.Booked {
	found := event.Booked{}
	for _, element := range elements {
		var clashing []event.Event
		for _, reach := range element.Reaches {
			for _, other := range others[reach.ElementID] {
				if other.ID != e.ID && s.overlap(e, &other, reach.Days) {
					clashing = append(clashing, other)
				}
			}
		}
		if len(clashing) > 0 {
			slices.SortFunc(clashing, func(a, b event.Event) int { return a.Compare(&b) })
			found[element.ElementID] = slices.CompactFunc(clashing, func(a, b event.Event) bool { return a.ID == b.ID })
		}
	}
	return found
}
