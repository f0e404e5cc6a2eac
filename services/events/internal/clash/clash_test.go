package clash

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	hall         = 7 // an element
	day          = "2026-12-01T"
	lesson, mark = 1, 2 // categories, of which one is busy
)

// world is what the service asks: one stored event, and reservations that all stand.
type world struct{ stored event.Event }

func (w world) FindTouching(_ context.Context, _ []fact.Reach, whole bool) ([]event.Event, error) {
	if whole {
		return []event.Event{w.stored}, nil
	}
	brief := w.stored // does not tell what is an allocation
	brief.Commitments = slices.Clone(brief.Commitments)
	for i := range brief.Commitments {
		brief.Commitments[i].RequestID = 0
	}
	return []event.Event{brief}, nil
}

func (world) Fence(context.Context, int64) error { return nil }

func (world) Busy(_ context.Context, ids []int64) (map[int64]bool, error) {
	busy := map[int64]bool{}
	for _, id := range ids {
		busy[id] = id == lesson
	}
	return busy, nil
}

func (world) Reaches(_ context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error) {
	return sequence.Map(q.IDs, func(id int64) fact.ElementReaches {
		return fact.ElementReaches{
			ElementID: id, Reaches: []fact.Reach{{ElementID: id, Days: []wiretime.Days{q.Days}}},
		}
	}), nil
}

func (world) Insert(context.Context, int64, ...Reservation) (*Reservation, error) { return nil, nil }

func (world) Delete(context.Context, int64, string, ...int64) error { return nil }

// booked returns an event that books the hall.
func booked(t *testing.T, id int64, starts, ends string) event.Event {
	t.Helper()
	at := func(clock string) time.Time {
		instant, err := time.Parse(time.RFC3339, day+clock+"Z")
		errortest.None(t, err)
		return instant
	}
	return event.Event{
		ID: id, CategoryID: lesson, Span: wiretime.Span{Starts: at(starts), Ends: at(ends)},
		Commitments: []event.Commitment{{ID: id, ElementID: hall, Status: event.Uncontrolled}},
	}
}

// serviceWith returns a service that knows one stored event.
func serviceWith(t *testing.T, stored event.Event) *Service {
	w := world{stored}
	return New(Options{Events: w, Reservations: w, Categories: w, Elements: w, Zone: timetest.Zone(t, "Europe/London")})
}

// refuses books an element for an event's time with clashes refused, and says whether it is booked already.
func (s *Service) refuses(t *testing.T, element fact.Element, e event.Event, allocates bool) (is bool) {
	t.Helper()
	e.Commitments = nil
	a := event.Addition{
		Mode: event.SkipClashes, Event: e, Elements: []fact.Element{element}, Allocates: allocates,
	}
	write := func(booked event.Booked) (event.Event, []event.Commitment, error) {
		is = booked.Has(element.ID)
		return e, nil, nil
	}
	_, _, err := s.Book(t.Context(), a, write)
	errortest.None(t, err)
	return is
}

func elementOf(entityType string) fact.Element {
	return fact.Element{Element: form.Element{ID: hall, EntityType: entityType}}
}

func TestDecisionsPart4_AnEventOfZeroLengthClashesWithABusyEventAroundIt(t *testing.T) {
	room := elementOf(form.Location)
	for _, c := range []struct {
		name, starts, ends string
		at                 string // where the event of zero length is
		clash              bool
	}{
		{"inside", "16:00:00", "18:00:00", "16:30:00", true},
		{"as it starts", "16:00:00", "18:00:00", "16:00:00", true},
		{"as it ends", "16:00:00", "18:00:00", "18:00:00", false},
		{"before", "16:00:00", "18:00:00", "15:59:59", false},
		{"both of zero length", "16:00:00", "16:00:00", "16:00:00", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			long, short := booked(t, 1, c.starts, c.ends), booked(t, 2, c.at, c.at)
			for _, pair := range [][2]event.Event{{long, short}, {short, long}} {
				s := serviceWith(t, pair[0])
				if got := s.refuses(t, room, pair[1], false); got != c.clash {
					t.Errorf("%v beside %v: refused %v, want %v", pair[1].Span, pair[0].Span, got, c.clash)
				}
				clashes, err := s.Each(t.Context(), event.Several{
					Events: []event.Event{pair[1]}, Elements: []fact.Element{room},
				})
				valuetest.Holds(t, err == nil && len(clashes[0]) > 0 == c.clash, "in a series: %+v, %v", clashes, err)
				one, other := reservation(pair[0]), reservation(pair[1])
				if one.Overlaps(other) != c.clash || other.Overlaps(one) != c.clash {
					t.Errorf("reservations of %v and %v", pair[0].Span, pair[1].Span)
				}
			}
		})
	}
}

func reservation(e event.Event) Reservation {
	return Reservation{EventID: e.ID, Starts: e.Span.Starts, Ends: e.Span.Ends}
}

func TestDecisionsPart5_WhatIsAllocatedIsExclusiveWhateverItsType(t *testing.T) {
	for _, entityType := range []string{form.Location, form.Service, form.Property, form.Subject} {
		marks := entityType == form.Property || entityType == form.Subject
		for _, c := range []struct {
			name      string
			category  int64 // of both events
			request   int64 // to which the one that is stored has its commitment allocated
			allocates bool
			clash     bool
		}{
			{"both allocated", lesson, 21, true, true},
			{"both allocated, in a category that is not busy", mark, 21, true, true},
			{"allocated, beside a busy event's own", lesson, 0, true, true},
			{"allocated, beside that of an event that is not busy", mark, 0, true, false},
			{"committed, beside what is allocated", lesson, 21, false, !marks},
			{"both committed", lesson, 0, false, !marks},
		} {
			t.Run(entityType+" "+c.name, func(t *testing.T) {
				stored, e := booked(t, 1, "09:00:00", "10:00:00"), booked(t, 2, "09:30:00", "11:00:00")
				stored.CategoryID, e.CategoryID = c.category, c.category
				stored.Commitments[0].RequestID = c.request
				valuetest.Same(t, serviceWith(t, stored).refuses(t, elementOf(entityType), e, c.allocates), c.clash,
					"refused")
			})
		}
	}
}

// A move or a new category with clashes refused put one item into two allocations at one time, since in a category that
// is not busy, nothing of an event was compared.
func TestDecisionsPart5_AMovedAllocationClashesWhateverItsCategory(t *testing.T) {
	for name, c := range map[string]struct {
		before, after, beside int64 // categories: of the event, and of the other one
		request, other        int64 // their allocations; 0: a commitment alone
		stays                 bool  // at its time
		clash                 bool
	}{
		"two allocations":                   {mark, mark, mark, 22, 21, false, true},
		"an allocation and a lesson":        {mark, mark, lesson, 22, 0, false, true},
		"a lesson's allocation and another": {lesson, lesson, mark, 22, 21, false, true},
		"a lesson and its allocation":       {lesson, lesson, lesson, 22, 0, false, true},
		"a commitment and an allocation":    {mark, mark, mark, 0, 21, false, false},
		"a lesson becomes idle":             {lesson, mark, mark, 22, 21, true, false},
		"what is idle becomes a lesson":     {mark, lesson, mark, 22, 21, true, true},
		"what is idle stays":                {mark, mark, mark, 22, 21, true, false},
	} {
		for _, entityType := range []string{form.Location, form.Service, form.Property, form.Subject} {
			stored, after := booked(t, 1, "09:00:00", "10:00:00"), booked(t, 2, "09:30:00", "11:00:00")
			stored.CategoryID, stored.Commitments[0].RequestID = c.beside, c.other
			after.CategoryID, after.Commitments[0].RequestID = c.after, c.request
			before := booked(t, 2, "12:00:00", "13:00:00")
			if before.CategoryID = c.before; c.stays {
				before.Span = after.Span
			}
			s := serviceWith(t, stored)
			moving, err := s.Moving(t.Context(), []event.Event{before}, []event.Event{after}, event.RefuseClashes)
			errortest.None(t, err)
			clashes, err := s.Each(t.Context(), event.Several{
				Events: moving, Elements: []fact.Element{elementOf(entityType)}, Moving: true,
			})
			errortest.None(t, err)
			valuetest.Same(t, len(slices.Concat(clashes...)) > 0, c.clash, name+", of a "+entityType)
		}
	}
}

// Whether a move of a room clashed with an allocation in a category that is not busy depended on what else its event
// had, or the events that were moved with it.
func TestDecisionsPart5_WhatIsNotAllocatedClashesAlikeBesideAnotherAllocation(t *testing.T) {
	const van = hall + 1
	room, other := elementOf(form.Location), elementOf(form.Service)
	other.ID = van
	stored := booked(t, 1, "09:00:00", "10:00:00")
	stored.CategoryID, stored.Commitments[0].RequestID = mark, 21
	of := func(id int64, requests map[int64]int64) event.Event { // by element
		e := booked(t, id, "09:00:00", "10:00:00")
		e.Commitments = nil
		for element, request := range requests {
			e.Commitments = append(e.Commitments, event.Commitment{
				ID: id*10 + element, ElementID: element, RequestID: request, Status: event.Uncontrolled,
			})
		}
		return e
	}
	for name, c := range map[string]struct {
		first, second map[int64]int64 // the events; nil: there is one
		clash         bool            // of the first; the second is later
	}{
		"a room":                          {map[int64]int64{hall: 0}, nil, false},
		"a room and an allocated van":     {map[int64]int64{hall: 0, van: 22}, nil, false},
		"a room before an allocated van":  {map[int64]int64{hall: 0}, map[int64]int64{van: 22}, false},
		"a room before it is allocated":   {map[int64]int64{hall: 0}, map[int64]int64{hall: 22}, false},
		"an allocated room":               {map[int64]int64{hall: 22}, nil, true},
		"an allocated room and a van":     {map[int64]int64{hall: 22, van: 0}, nil, true},
		"an allocated room before a room": {map[int64]int64{hall: 22}, map[int64]int64{hall: 0}, true},
	} {
		events := []event.Event{of(2, c.first)}
		if c.second != nil {
			e := of(3, c.second)
			e.Span.Starts, e.Span.Ends = e.Span.Starts.Add(5*time.Hour), e.Span.Ends.Add(5*time.Hour)
			events = append(events, e)
		}
		clashes, err := serviceWith(t, stored).Each(t.Context(), event.Several{
			Events: events, Elements: []fact.Element{room, other}, Moving: true,
		})
		errortest.None(t, err)
		valuetest.Same(t, len(clashes[0]) > 0, c.clash, name)
		valuetest.Holds(t, len(slices.Concat(clashes[1:]...)) == 0, "%s: %+v", name, clashes)
	}
}
