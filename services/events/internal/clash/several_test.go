package clash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// shelf is a world with any number of stored events.
type shelf struct {
	world

	stored []event.Event
}

func (s shelf) FindTouching(context.Context, []fact.Reach, bool) ([]event.Event, error) {
	return s.stored, nil
}

func serviceOn(t *testing.T, stored ...event.Event) *Service {
	w := shelf{stored: stored}
	return New(Options{Events: w, Reservations: w, Categories: w, Elements: w, Zone: timetest.Zone(t, "Europe/London")})
}

// pairs are the clashes as "event:other", by the places of the events in the list.
func pairs(clashes [][]event.Clash) string {
	var all []string
	for i, found := range clashes {
		for _, c := range found {
			all = append(all, fmt.Sprintf("%d:%d", i+1, c.Event.Place))
		}
	}
	return strings.Join(all, " ")
}

// planned are events of a series that book the hall at these hours, with ids from 1, or without.
func planned(t *testing.T, withIDs bool, hours ...string) []event.Event {
	var events []event.Event
	for i, of := range hours {
		starts, ends, _ := strings.Cut(of, "-")
		e := booked(t, int64(i+1), starts+":00:00", ends+":00:00")
		if e.Place = i + 1; !withIDs {
			e.ID = 0
		}
		events = append(events, e)
	}
	return events
}

func TestClashes_EventsOfASeriesClashAsIfTheyWereWrittenOneAfterTheOther(t *testing.T) {
	room, property := elementOf(form.Location), elementOf(form.Property)
	for name, c := range map[string]struct {
		element fact.Element
		change  func(events []event.Event)
		all     string // the clashes
		skipped string // those where what clashes is left out
	}{
		"a room":     {room, nil, "2:1 3:2 5:4", "2:1 5:4"},
		"a property": {property, nil, "", ""},
		"an allocated property": {property, func(events []event.Event) {
			for i := range events {
				events[i].Commitments[0].RequestID = int64(20 + i)
			}
		}, "2:1 3:2 5:4", "2:1 5:4"},
		"rejected": {room, func(events []event.Event) {
			events[1].Commitments[0].Status = event.Rejected
		}, "5:4", "5:4"},
	} {
		for _, withIDs := range []bool{true, false} { // a trial has none
			events := planned(t, withIDs, "08-10", "09-11", "10-12", "13-15", "13-15")
			if c.change != nil {
				c.change(events)
			}
			v := event.Several{Events: events, Elements: []fact.Element{c.element}}
			clashes, err := serviceOn(t).Each(t.Context(), v)
			errortest.None(t, err)
			valuetest.Same(t, pairs(clashes), c.all, name)
			v.Skips = true
			clashes, err = serviceOn(t).Each(t.Context(), v)
			errortest.None(t, err)
			valuetest.Same(t, pairs(clashes), c.skipped, name+", where they are skipped")
		}
	}
}

// What an earlier event of a category that is not busy allocates kept a later one's room, as no stored event does.
func TestClashes_AnAllocationOfASeriesThatIsNotBusyClashesWithAllocationsAlone(t *testing.T) {
	for request, want := range map[int64]string{0: "", 22: "2:1"} { // what the later one allocates
		events := planned(t, true, "08-10", "09-11")
		events[0].CategoryID, events[0].Commitments[0].RequestID = mark, 21
		events[1].Commitments[0].RequestID = request
		clashes, err := serviceOn(t).Each(t.Context(), event.Several{
			Events: events, Elements: []fact.Element{elementOf(form.Location)}, Moving: true,
		})
		errortest.None(t, err)
		valuetest.Same(t, pairs(clashes), want, "with request %d", request)
	}
}

// TestClashes_NothingStaysBecauseOfAnEventThatStaysToo: the third can't move, so the first can't, and the second may.
func TestClashes_NothingStaysBecauseOfAnEventThatStaysToo(t *testing.T) {
	stored := append(planned(t, true, "08-09", "09-10", "10-11"), booked(t, 9, "15:00:00", "16:00:00"))
	stored[3].Place = 9
	clashes, err := serviceOn(t, stored...).Each(t.Context(), event.Several{
		Events: planned(t, true, "10-13", "12-13", "15-16"), Moving: true,
		Elements: []fact.Element{elementOf(form.Location)},
	})
	errortest.None(t, err)
	valuetest.Same(t, pairs(clashes), "1:3 3:9", "the clashes of those that stay")
}

// TestClashes_AfterAMoveOfASeriesNoElementIsBookedTwice: whichever events of a series are left where they are.
func TestClashes_AfterAMoveOfASeriesNoElementIsBookedTwice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		at := func(name string, hours, most int) wiretime.Span {
			starts := day.Add(time.Duration(rapid.IntRange(0, hours).Draw(r, name)) * time.Hour)
			lasts := time.Duration(rapid.IntRange(1, most).Draw(r, name+" lasts"))
			return wiretime.Span{Starts: starts, Ends: starts.Add(lasts * time.Hour)}
		}
		of := func(id int64, span wiretime.Span) event.Event {
			return event.Event{ID: id, Place: int(id), CategoryID: lesson, Span: span, Commitments: []event.Commitment{
				{ID: id, ElementID: hall, Status: event.Uncontrolled},
			}}
		}
		var stored, moved []event.Event
		for id := range int64(rapid.IntRange(1, 7).Draw(r, "events")) {
			e := of(id+1, at("from", 20, 2))
			if slices.ContainsFunc(stored, func(o event.Event) bool { return overlaps(e, o) }) {
				continue
			}
			stored = append(stored, e)
			if rapid.IntRange(0, 4).Draw(r, "moves") > 0 {
				moved = append(moved, of(e.ID, at("to", 20, 4)))
			}
		}
		clashes, err := serviceOn(t, stored...).Each(t.Context(), event.Several{
			Events: moved, Elements: []fact.Element{elementOf(form.Location)}, Moving: true,
		})
		if err != nil {
			r.Fatal(err)
		}
		after := slices.Clone(stored)
		for i, e := range moved {
			if len(clashes[i]) == 0 {
				after[slices.IndexFunc(after, func(o event.Event) bool { return o.ID == e.ID })] = e
			}
		}
		for i, e := range after {
			for _, o := range after[:i] {
				if overlaps(e, o) {
					r.Fatalf("%v and %v are both at %v, %v", e.ID, o.ID, e.Span, o.Span)
				}
			}
		}
	})
}

func overlaps(a, b event.Event) bool {
	return wiretime.Overlaps(a.Span.Starts, a.Span.Ends, b.Span.Starts, b.Span.Ends)
}
