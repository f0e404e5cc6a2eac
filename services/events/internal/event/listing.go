package event

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Placed is a commitment or a request with its event.
type Placed[T any] struct {
	Event Event
	Item  T
}

// CommitmentsIn returns the commitments to any of the reached elements of events that touch one of their days, in order of event start, event
// end and commitment id (decisions, part 3). One read of about as many events as it returns.
func (s *Service) CommitmentsIn(ctx context.Context, reaches []fact.Reach) ([]Placed[Commitment], error) {
	days := make(map[int64][]wiretime.Days, len(reaches))
	for _, r := range reaches {
		days[r.ElementID] = append(days[r.ElementID], r.Days...)
	}
	events, err := s.store.Touching(ctx, reaches)
	if err != nil {
		return nil, err
	}
	var found []Placed[Commitment]
	for _, e := range events {
		for _, c := range e.Commitments {
			if s.touches(e, days[c.ElementID]) {
				found = append(found, Placed[Commitment]{e, c})
			}
		}
	}
	slices.SortFunc(found, func(a, b Placed[Commitment]) int {
		return cmp.Or(a.Event.CompareSpan(b.Event), cmp.Compare(a.Item.ID, b.Item.ID))
	})
	return found, nil
}

// RequestsIn returns the requests for an element of events that touch the days, in the order of commitments.
func (s *Service) RequestsIn(ctx context.Context, elementID int64, days wiretime.Days) ([]Placed[Request], error) {
	events, err := s.store.Requesting(ctx, elementID, days)
	if err != nil {
		return nil, err
	}
	var found []Placed[Request]
	for _, e := range events {
		for _, r := range e.Requests {
			if r.ElementID == elementID && s.touches(e, []wiretime.Days{days}) {
				found = append(found, Placed[Request]{e, r})
			}
		}
	}
	slices.SortFunc(found, func(a, b Placed[Request]) int {
		return cmp.Or(a.Event.CompareSpan(b.Event), cmp.Compare(a.Item.ID, b.Item.ID))
	})
	return found, nil
}

// Find returns those of the events asked for, by id and by import key, that exist.
func (s *Service) Find(ctx context.Context, ids []int64, keys []string) ([]Event, error) {
	return s.store.Find(ctx, ids, keys)
}

// Involved returns the directly committed elements in order of commitment id.
func (e *Event) Involved() []int64 {
	ordered := slices.SortedFunc(slices.Values(e.Commitments), func(a, b Commitment) int { return cmp.Compare(a.ID, b.ID) })
	elements := make([]int64, len(ordered))
	for i, c := range ordered {
		elements[i] = c.ElementID
	}
	return elements
}

// touches says whether the event touches one of the days.
func (s *Service) touches(e Event, days []wiretime.Days) bool {
	return slices.ContainsFunc(days, s.Days(e).Overlaps)
}

// Days are those that the event touches.
func (s *Service) Days(e Event) wiretime.Days {
	return s.zone.Days(e.Span.Starts, e.Span.Ends)
}

// CompareSpan is the order of start, then end.
func (e *Event) CompareSpan(other Event) int {
	return cmp.Or(e.Span.Starts.Compare(other.Span.Starts), e.Span.Ends.Compare(other.Span.Ends))
}
