// Package clash finds the events that book an element at the same time, and keeps exact bookings exact: when an
// addition refuses clashes, its elements are reserved while it is decided and written (decisions part 5;
// docs/decisions/0010). It implements event.Clashes.
package clash

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Events is what is asked of the store of events; see event.Store.
type Events interface {
	FindTouching(ctx context.Context, reaches []fact.Reach, whole bool) ([]event.Event, error)
	Fence(ctx context.Context, id int64) error
}

// Categories is what is asked of the use cases of categories.
type Categories interface {
	Busy(ctx context.Context, ids []int64) (map[int64]bool, error)
}

// Elements is what is asked of the elements service.
type Elements interface {
	Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error)
}

// Options of a Service; all are needed.
type Options struct {
	Events       Events
	Reservations Reservations
	Categories   Categories
	Elements     Elements
	Zone         wiretime.Zone
}

// Service finds and refuses clashes. It is safe for concurrent use.
type Service struct{ o Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// canClash says whether an element that is committed directly can be in only one event at a time. Properties and
// subjects are labels that any number of events may share, and a resource group gets requests. An allocated element can
// clash whatever its type.
func canClash(element fact.Element) bool {
	return !element.Resource && element.EntityType != form.Property && element.EntityType != form.Subject
}

// Common returns the days on which two events go on at the same time, and false when they never do, as of
// wiretime.Overlaps.
func Common(zone wiretime.Zone, a, b *event.Event) (wiretime.Days, bool) {
	if !wiretime.Overlaps(a.Span.Starts, a.Span.Ends, b.Span.Starts, b.Span.Ends) {
		return wiretime.Days{}, false
	}
	starts, ends := a.Span.Starts, a.Span.Ends
	if b.Span.Starts.After(starts) {
		starts = b.Span.Starts
	}
	if b.Span.Ends.Before(ends) {
		ends = b.Span.Ends
	}
	return zone.Days(starts, ends), true
}

// overlap says whether two events overlap on one of the days.
func (s *Service) overlap(a, b *event.Event, days []wiretime.Days) bool {
	common, ok := Common(s.o.Zone, a, b)
	return ok && slices.ContainsFunc(days, common.Overlaps)
}

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
