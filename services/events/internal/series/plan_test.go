package series

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// shown are the spans as the zone's clock shows them, with the offset.
func shown(zone wiretime.Zone, all []Occurrence) string {
	var texts []string
	for _, o := range all {
		s := o.Span
		texts = append(texts, strings.ReplaceAll(zone.Format(s.Starts)+"/"+zone.Format(s.Ends), ":00.000", ""))
	}
	return strings.Join(texts, " ")
}

func TestClients_SeriesKeepsTheTimeOfTheClockOverBothClockChanges(t *testing.T) {
	zone := zoneOf(t, "Europe/London")
	timed := func(starts, ends string) wiretime.SpanFields {
		return wiretime.SpanFields{StartsAt: &starts, EndsAt: &ends}
	}
	whole, first, last := true, "2027-03-27", "2027-03-28"
	for name, c := range map[string]struct {
		fields wiretime.SpanFields
		rule   string
		want   string
	}{
		"spring": {timed("2027-03-22 09:00", "2027-03-22 10:00"), "FREQ=WEEKLY;COUNT=2",
			"2027-03-22T09:00+00:00/2027-03-22T10:00+00:00 2027-03-29T09:00+01:00/2027-03-29T10:00+01:00"},
		"autumn": {timed("2026-10-20 09:00", "2026-10-20 10:00"), "FREQ=WEEKLY;UNTIL=20261027",
			"2026-10-20T09:00+01:00/2026-10-20T10:00+01:00 2026-10-27T09:00+00:00/2026-10-27T10:00+00:00"},
		"the night of spring": {timed("2027-03-27 22:00", "2027-03-28 07:00"), "FREQ=DAILY;COUNT=2",
			"2027-03-27T22:00+00:00/2027-03-28T07:00+01:00 2027-03-28T22:00+01:00/2027-03-29T07:00+01:00"},
		"in the gap": {timed("2027-03-27 01:30", "2027-03-27 02:10"), "FREQ=DAILY;COUNT=2",
			"2027-03-27T01:30+00:00/2027-03-27T02:10+00:00 2027-03-28T02:30+01:00/2027-03-28T03:10+01:00"},
		"in the gap, its end after it": {timed("2027-03-27 01:30", "2027-03-27 02:45"), "FREQ=DAILY;COUNT=2",
			"2027-03-27T01:30+00:00/2027-03-27T02:45+00:00 2027-03-28T02:30+01:00/2027-03-28T03:45+01:00"},
		"its end in the gap": {timed("2027-03-27 00:30", "2027-03-27 01:30"), "FREQ=DAILY;COUNT=2",
			"2027-03-27T00:30+00:00/2027-03-27T01:30+00:00 2027-03-28T00:30+00:00/2027-03-28T02:30+01:00"},
		"an hour in the gap": {timed("2027-03-27 01:30", "2027-03-27 02:30"), "FREQ=DAILY;COUNT=3",
			"2027-03-27T01:30+00:00/2027-03-27T02:30+00:00 2027-03-28T02:30+01:00/2027-03-28T03:30+01:00 " +
				"2027-03-29T01:30+01:00/2027-03-29T02:30+01:00"},
		"in the hour that comes twice": {timed("2026-10-24 01:30", "2026-10-24 02:30"), "FREQ=DAILY;COUNT=2",
			"2026-10-24T01:30+01:00/2026-10-24T02:30+01:00 2026-10-25T01:30+01:00/2026-10-25T02:30+00:00"},
		"whole days": {wiretime.SpanFields{AllDayField: &whole, StartsAtText: &first, EndsAtText: &last},
			"FREQ=DAILY;INTERVAL=2;COUNT=2",
			"2027-03-27T00:00+00:00/2027-03-29T00:00+01:00 2027-03-29T00:00+01:00/2027-03-31T00:00+01:00"},
		"without a length": {timed("2026-10-24 09:00", "2026-10-24 09:00"), "FREQ=DAILY;COUNT=2",
			"2026-10-24T09:00+01:00/2026-10-24T09:00+01:00 2026-10-25T09:00+00:00/2026-10-25T09:00+00:00"},
		"an end in UTC": {timed("2026-10-24 09:00", "2026-10-24 09:00"), "FREQ=DAILY;UNTIL=20261025T085959Z",
			"2026-10-24T09:00+01:00/2026-10-24T09:00+01:00"},
	} {
		span, faults := zone.NewSpan(c.fields)
		rule, err := ParseRule(c.rule)
		if faults != nil || err != nil {
			t.Fatal(name, faults, err)
		}
		all, faults := spans(zone, rule, span)
		if got := shown(zone, all); faults != nil || got != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, faults, got, c.want)
		}
	}
}

func TestPart4_2_SetB_TheFirstOfASeriesIsAsGivenInTheHourThatComesTwice(t *testing.T) {
	zone := zoneOf(t, "Europe/London")
	for _, c := range []struct{ starts, ends, rule, want string }{
		{"2026-10-25 01:30+00:00", "2026-10-25 02:30+00:00", "FREQ=DAILY;COUNT=2",
			"2026-10-25T01:30+00:00/2026-10-25T02:30+00:00 2026-10-26T01:30+00:00/2026-10-26T02:30+00:00"},
		{"2026-10-25 00:45+01:00", "2026-10-25 01:15+00:00", "FREQ=DAILY;COUNT=2",
			"2026-10-25T00:45+01:00/2026-10-25T01:15+00:00 2026-10-26T00:45+00:00/2026-10-26T01:15+00:00"},
		{"2026-10-25 01:30+01:00", "2026-10-25 01:10+00:00", "FREQ=DAILY;COUNT=1",
			"2026-10-25T01:30+01:00/2026-10-25T01:10+00:00"},
		{"2026-10-25 01:15+00:00", "2026-10-25 01:15+00:00", "FREQ=DAILY;COUNT=3;BYHOUR=1;BYMINUTE=15,45",
			"2026-10-25T01:15+00:00/2026-10-25T01:15+00:00 2026-10-25T01:45+00:00/2026-10-25T01:45+00:00 " +
				"2026-10-26T01:15+00:00/2026-10-26T01:15+00:00"},
		{"2026-10-25 01:30+00:00", "2026-10-25 02:30+00:00", "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;COUNT=2",
			"2026-10-25T01:30+00:00/2026-10-25T02:30+00:00 2027-10-31T01:30+01:00/2027-10-31T02:30+00:00"},
	} {
		span, faults := zone.NewSpan(wiretime.SpanFields{StartsAt: &c.starts, EndsAt: &c.ends})
		rule, err := ParseRule(c.rule)
		if faults != nil || err != nil {
			t.Fatal(c.starts, faults, err)
		}
		all, _ := spans(zone, rule, span)
		valuetest.Same(t, shown(zone, all), c.want, c.starts+" to "+c.ends)
	}
}

func TestPart4_2_SetB_AChangeOfASeriesKeepsTheSecondOfTimesThatComeTwice(t *testing.T) {
	zone := zoneOf(t, "Europe/London")
	span := func(starts, ends string) wiretime.Span {
		span, faults := zone.NewSpan(wiretime.SpanFields{StartsAt: &starts, EndsAt: &ends})
		if faults != nil {
			t.Fatal(faults)
		}
		return span
	}
	for _, c := range []struct{ starts, ends, newFrom, newTo, want string }{
		{"01:30+00:00", "02:30+00:00", "01:30", "02:30", "01:30+00:00/02:30+00:00"},
		{"01:30+00:00", "02:30+00:00", "01:30", "03:00", "01:30+00:00/03:00+00:00"},
		{"01:30+00:00", "02:30+00:00", "01:30", "01:50", "01:30+00:00/01:50+00:00"},
		{"01:30+00:00", "02:30+00:00", "01:45", "02:30", "01:45+00:00/02:30+00:00"},
		{"01:30+00:00", "02:30+00:00", "00:30", "01:30", "00:30+01:00/01:30+01:00"},
		{"00:45+01:00", "01:15+00:00", "00:30", "01:15", "00:30+01:00/01:15+00:00"},
		{"00:45+01:00", "01:15+00:00", "09:00", "10:00", "09:00+00:00/10:00+00:00"},
	} {
		was := span("2026-10-25 "+c.starts, "2026-10-25 "+c.ends)
		x := transformation{
			zone: zone, common: event.Common{Times: true},
			named: event.Event{ID: 2, Span: span("2026-10-28 "+c.starts[:5], "2026-10-28 "+c.ends[:5])},
			after: event.Event{ID: 2, Span: span("2026-10-28 "+c.newFrom, "2026-10-28 "+c.newTo)},
			found: Series{Plan: []Occurrence{{EventID: 1, Span: was, Clock: clockOf(zone, was)}}},
		}
		got := x.altered(event.Event{ID: 1, Span: was})
		moved := strings.ReplaceAll(shown(zone, []Occurrence{{Span: got.Span}}), "2026-10-25T", "")
		valuetest.Same(t, moved, c.want, c.newFrom+" to "+c.newTo)
	}
}

// TestPart4_2_SetB_AChangeOfASeriesIsByTheClockOfTheZone: after a change of the deployment's zone, the others moved by
// the hours of the old zone, and all-day events to its midnights.
func TestPart4_2_SetB_AChangeOfASeriesIsByTheClockOfTheZone(t *testing.T) {
	london, berlin := zoneOf(t, "Europe/London"), zoneOf(t, "Europe/Berlin")
	span := func(zone wiretime.Zone, starts, ends string) wiretime.Span {
		span, faults := zone.NewSpan(wiretime.SpanFields{StartsAt: &starts, EndsAt: &ends})
		if faults != nil {
			t.Fatal(faults)
		}
		return span
	}
	day := func(zone wiretime.Zone, n wiretime.Day) (s wiretime.Span) {
		s.Starts, s.Ends = zone.Bounds(wiretime.Days{First: n, Last: n})
		s.AllDay = true
		return s
	}
	nine := span(berlin, "2026-11-03 09:00", "2026-11-03 10:00")
	ten := span(berlin, "2026-11-03 10:00", "2026-11-03 11:00")
	was, first, second := day(london, 20700), day(berlin, 20693), day(berlin, 20694)
	for name, c := range map[string]struct{ planned, stored, named, after, want wiretime.Span }{
		"by an hour": {
			span(london, "2026-11-10 08:00", "2026-11-10 09:00"), span(berlin, "2026-11-10 09:00", "2026-11-10 10:00"),
			nine, ten, span(berlin, "2026-11-10 10:00", "2026-11-10 11:00"),
		},
		"by a day":  {was, day(berlin, 20700), first, second, day(berlin, 20701)},
		"by no day": {was, day(berlin, 20700), first, first, day(berlin, 20700)},
	} {
		x := transformation{
			zone: berlin, common: event.Common{Times: true},
			named: event.Event{ID: 2, Span: c.named}, after: event.Event{ID: 2, Span: c.after},
			found: Series{Plan: []Occurrence{{EventID: 1, Span: c.planned, Clock: clockOf(london, c.planned)}}},
		}
		got := x.altered(event.Event{ID: 1, Span: c.stored}).Span
		valuetest.Same(t, berlin.Format(got.Starts)+" "+berlin.Format(got.Ends),
			berlin.Format(c.want.Starts)+" "+berlin.Format(c.want.Ends), name)
	}
}

// TestDecisionsPart4_OccurrencesOfADayThatTheZoneSkips: Samoa had no 2011-12-30. What would be on it is on the next
// day, once.
func TestDecisionsPart4_OccurrencesOfADayThatTheZoneSkips(t *testing.T) {
	zone, rule := zoneOf(t, "Pacific/Apia"), "FREQ=DAILY;COUNT=4"
	whole, day, starts, ends := true, "2011-12-29", "2011-12-29 09:00", "2011-12-29 10:00"
	for want, fields := range map[string]wiretime.SpanFields{
		"2011-12-29T00:00-10:00/2011-12-31T00:00+14:00 2011-12-31T00:00+14:00/2012-01-01T00:00+14:00 " +
			"2012-01-01T00:00+14:00/2012-01-02T00:00+14:00": {AllDayField: &whole, StartsAtText: &day},
		"2011-12-29T09:00-10:00/2011-12-29T10:00-10:00 2011-12-31T09:00+14:00/2011-12-31T10:00+14:00 " +
			"2012-01-01T09:00+14:00/2012-01-01T10:00+14:00": {StartsAt: &starts, EndsAt: &ends},
	} {
		span, faults := zone.NewSpan(fields)
		r, err := ParseRule(rule)
		if faults != nil || err != nil {
			t.Fatal(faults, err)
		}
		all, _ := spans(zone, r, span)
		valuetest.Same(t, shown(zone, all), want)
	}
}

func TestClients_SeriesNoOccurrenceIsBeyondTheYearsOfEvents(t *testing.T) {
	zone := zoneOf(t, "Europe/London")
	starts, ends := "2199-12-30 23:00", "2199-12-31 01:00"
	span, _ := zone.NewSpan(wiretime.SpanFields{StartsAt: &starts, EndsAt: &ends})
	for rule, want := range map[string]string{
		"FREQ=DAILY;COUNT=2":        "2199",
		"FREQ=DAILY;UNTIL=21991231": "2199",
		"FREQ=DAILY;COUNT=3":        "2199",
		"FREQ=DAILY;COUNT=1":        "",
	} {
		r, err := ParseRule(rule)
		errortest.None(t, err)
		_, faults := spans(zone, r, span)
		if got := strings.Join(faults[ruleField], " "); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", rule, got)
		}
	}
}

func TestClients_SeriesARuleOfTimesOfTheDayNeedsAnEventWithTimes(t *testing.T) {
	zone := zoneOf(t, "Europe/London")
	whole, first := true, "2027-03-27"
	span, _ := zone.NewSpan(wiretime.SpanFields{AllDayField: &whole, StartsAtText: &first})
	r, err := ParseRule("FREQ=DAILY;COUNT=2;BYHOUR=9")
	errortest.None(t, err)
	if _, faults := spans(zone, r, span); faults[ruleField] == nil {
		t.Error("is taken")
	}
}

// Where a series moves by a day, each event goes where the next one was. If that one were changed alone meanwhile, and
// stayed, both would be there, so it is held until all have moved.
func TestClients_SeriesMovedHoldTheEventsWhosePlacesOthersTake(t *testing.T) {
	day := func(n int) (s wiretime.Span) {
		s.Starts = time.Date(2027, 1, n, 9, 0, 0, 0, time.UTC)
		s.Ends = s.Starts.Add(time.Hour)
		return s
	}
	for want, change := range map[string]func(*transformation){
		"2 3 4": func(*transformation) {},
		"2 3":   func(x *transformation) { x.change.Events[3].Reason = Clashes },
		"":      func(x *transformation) { x.common.Times = false },
	} {
		x := transformation{exact: true, common: event.Common{Times: true}}
		for n := 1; n <= 4; n++ {
			id := int64(n)
			x.events = append(x.events, event.Event{ID: id, Span: day(n)})
			x.change.Events = append(x.change.Events, Altered{Kept: Kept{EventID: id}, Span: day(n + 1)})
		}
		change(&x)
		x.markHeld()
		var held []string
		for _, a := range x.change.Events {
			if a.Held {
				held = append(held, fmt.Sprint(a.EventID))
			}
		}
		valuetest.Same(t, strings.Join(held, " "), want, "held")
	}
}
