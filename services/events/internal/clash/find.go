package clash

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Busy returns those of the commitments to the reached elements in which they are taken up: not rejected, of an event
// that lasts, in a busy category; in the order of commitments.
func (s *Service) Busy(ctx context.Context, reaches []fact.Reach) ([]event.Placed[event.Commitment], error) {
	events, err := s.o.Events.FindTouching(ctx, reaches)
	if err != nil {
		return nil, err
	}
	found := event.CommitmentsTo(reaches, events, s.o.Zone)
	ids := make([]int64, len(found))
	for i, p := range found {
		ids[i] = p.Event.CategoryID
	}
	busy, err := s.o.Categories.Busy(ctx, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(p event.Placed[event.Commitment]) bool {
		return p.Item.Status == event.Rejected || !p.Event.Lasts() || !busy[p.Event.CategoryID]
	}), nil
}

// find returns, by element, the other events that take it up while e goes on: directly, or through a group that it
// belongs to on a day on which both do. Each event is there once, in order of start, end and id.
func (s *Service) find(
	ctx context.Context, e *event.Event, elements []fact.ElementReaches,
) (map[int64][]event.Event, error) {
	var reaches []fact.Reach
	for _, element := range elements {
		reaches = append(reaches, element.Reaches...)
	}
	busy, err := s.Busy(ctx, reaches)
	if err != nil {
		return nil, err
	}
	others := map[int64][]event.Event{} // by the element committed
	for _, p := range busy {
		if p.Event.ID != e.ID {
			others[p.Item.ElementID] = append(others[p.Item.ElementID], *p.Event)
		}
	}
	found := map[int64][]event.Event{}
	for _, element := range elements {
		var clashing []event.Event
		for _, reach := range element.Reaches {
			for _, other := range others[reach.ElementID] {
				if s.overlap(e, &other, reach.Days) {
					clashing = append(clashing, other)
				}
			}
		}
		if len(clashing) > 0 {
			slices.SortFunc(
				clashing,
				func(a, b event.Event) int { return cmp.Or(a.CompareSpan(b), cmp.Compare(a.ID, b.ID)) },
			)
			found[element.ElementID] = slices.CompactFunc(clashing, func(a, b event.Event) bool { return a.ID == b.ID })
		}
	}
	return found, nil
}
