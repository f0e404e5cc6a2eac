package event

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Placed is a commitment or a request with its event, which several may share.
type Placed[T Item] struct {
	Event *Event
	Item  *T
}

// comparePlaced is the order of event start, event end and id.
func comparePlaced[T Item](a, b Placed[T]) int {
	return cmp.Or(a.Event.CompareSpan(b.Event), byID(*a.Item, *b.Item))
}

// EventsOf are the events of placed items.
func EventsOf[T Item](all []Placed[T]) iter.Seq[*Event] {
	return EachOf(all, func(p *Placed[T]) *Event { return p.Event })
}

// CommitmentsIn returns the commitments to any of the reached elements of events that touch one of their days, as
// CommitmentsTo does, as far as the viewer sees them; nil sees everything. With decisions they say who asked and what
// was decided. A Malformed problem when they are too many for one answer.
func (s *Service) CommitmentsIn(
	ctx context.Context, reaches []fact.Reach, who *fact.Sight, decisions bool,
) ([]Placed[Commitment], error) {
	events, err := s.o.Store.FindTouching(ctx, reaches, decisions)
	if err != nil {
		return nil, err
	}
	events, v, err := s.showTo(ctx, who, events)
	if v.firmAlone() {
		for i := range events {
			events[i].Commitments = filter(events[i].Commitments, func(c Commitment) bool { return c.Status.firm() })
		}
	}
	return CommitmentsTo(reaches, events, s.o.Zone), err
}

// CommitmentsTo returns the events' commitments to any of the reached elements whose days they touch, in order of
// event start, event end and commitment id (decisions, part 3).
func CommitmentsTo(reaches []fact.Reach, events []Event, zone wiretime.Zone) []Placed[Commitment] {
	days := daysOf(reaches)
	found := make([]Placed[Commitment], 0, len(events)) // most have one
	for i := range events {
		e := &events[i]
		touched := e.Days(zone)
		for j := range e.Commitments {
			c := &e.Commitments[j]
			if slices.ContainsFunc(days[c.ElementID], touched.Overlaps) {
				found = append(found, Placed[Commitment]{e, c})
			}
		}
	}
	slices.SortFunc(found, comparePlaced)
	return found
}

// daysOf returns the days of the reaches by element.
func daysOf(reaches []fact.Reach) map[int64][]wiretime.Days {
	days := make(map[int64][]wiretime.Days, len(reaches))
	for _, r := range reaches {
		days[r.ElementID] = append(days[r.ElementID], r.Days...)
	}
	return days
}

// RequestsIn returns the requests for an element of events that touch the days and are seen by the viewer, in the order
// of commitments.
func (s *Service) RequestsIn(
	ctx context.Context, elementID int64, days wiretime.Days, who *fact.Sight,
) ([]Placed[Request], error) {
	events, err := s.o.Store.FindRequesting(ctx, elementID, days)
	if err != nil {
		return nil, err
	}
	if events, _, err = s.showTo(ctx, who, events); err != nil {
		return nil, err
	}
	var found []Placed[Request]
	for i := range events {
		e := &events[i]
		touches := e.Days(s.o.Zone).Overlaps(days)
		for j := range e.Requests {
			if r := &e.Requests[j]; touches && r.ElementID == elementID {
				found = append(found, Placed[Request]{e, r})
			}
		}
	}
	slices.SortFunc(found, comparePlaced)
	return found, nil
}

// Page returns events for administrators, in order of id: at most limit with an id above after, fewer when they are
// large, and the id after which the next page begins, 0 after the last page.
func (s *Service) Page(ctx context.Context, after int64, limit int) (page []Event, next int64, err error) {
	page, more, err := s.o.Store.List(ctx, after, limit+1)
	page, next = sequence.Page(page, limit, more, func(e Event) int64 { return e.ID })
	return page, next, err
}

// firm says whether no decision on the commitment is pending or negative.
func (s Status) firm() bool { return s == Uncontrolled || s == Confirmed }

// FirmStatuses are the statuses of commitments on which no decision is pending or negative.
func FirmStatuses() []Status { return filter(Statuses(), Status.firm) }

// Calendar returns the events that touch a day of a reach with a firm commitment to its element and that the viewer
// sees, each once, in order of start, end and id.
func (s *Service) Calendar(ctx context.Context, q fact.CalendarQuestion) ([]fact.CalendarEvent, error) {
	days := daysOf(q.Reaches)
	found, err := s.o.Store.FindTouching(ctx, q.Reaches, false)
	if err != nil {
		return nil, err
	}
	if found, _, err = s.showTo(ctx, q.Sight, found); err != nil {
		return nil, err
	}
	busy, err := s.o.Categories.Busy(ctx, sequence.Map(found, func(e Event) int64 { return e.CategoryID }))
	if err != nil {
		return nil, err
	}
	found = filter(found, func(e Event) bool {
		touched := e.Days(s.o.Zone)
		return slices.ContainsFunc(e.Commitments, func(c Commitment) bool {
			return c.Status.firm() && slices.ContainsFunc(days[c.ElementID], touched.Overlaps)
		})
	})
	slices.SortFunc(found, func(a, b Event) int { return a.Compare(&b) })
	return sequence.Map(found, func(e Event) fact.CalendarEvent {
		return fact.CalendarEvent{
			ID: e.ID, Version: e.Version, Modified: e.Modified, Body: e.Body, Starts: e.Span.Starts, Ends: e.Span.Ends,
			AllDay: e.Span.AllDay, Busy: busy[e.CategoryID], Firm: e.firm(),
		}
	}), nil
}

// firm are the elements with a firm commitment, in order of commitment id.
func (e *Event) firm() []int64 {
	sure := Event{Commitments: filter(e.Commitments, func(c Commitment) bool { return c.Status.firm() })}
	return sure.Involved()
}
