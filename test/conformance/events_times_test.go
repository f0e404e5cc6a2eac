package conformance_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// span returns the times in an event's answer.
func span(t *testing.T, a servicetest.Answer) string {
	t.Helper()
	return a.Text(t, "event.starts_at") + " to " + a.Text(t, "event.ends_at") +
		map[string]string{"true": ", all-day", "false": ""}[a.At(t, "event.all_day")]
}

// wire returns an instant in the format of the API, in the deployment's zone.
func (s *School) wire(at time.Time) string {
	return at.In(s.Zone).Format("2006-01-02T15:04:05.000-07:00")
}

// spans returns two local times in the form of span.
func (s *School) spans(t *testing.T, starts, ends string, allDay bool) string {
	t.Helper()
	return s.Wire(t, starts) + " to " + s.Wire(t, ends) + map[bool]string{true: ", all-day"}[allDay]
}

// spanCase has the time fields of an event and the expected result.
type spanCase struct {
	name         string
	fields       object
	starts, ends string // local
	allDay       bool
}

// wantSpans creates an event for each case, and compares the answer and a following GET with the expected result.
func (s *School) wantSpans(t *testing.T, cases []spanCase) {
	t.Helper()
	c := s.Booker(t)
	for _, wanted := range cases {
		a := s.TryEvent(t, c, only(wanted.fields))
		if a.Code != http.StatusOK {
			t.Errorf("%s: %d %s", wanted.name, a.Code, a.Body)
			continue
		}
		equal(t, wanted.name, span(t, a), s.spans(t, wanted.starts, wanted.ends, wanted.allDay))
		equal(t, wanted.name+", as get shows it", span(t, c.Get(t, pathIn(t, a))), span(t, a))
	}
}

// only returns the time fields, and removes the defaults of TryEvent for the others.
func only(fields object) object {
	all := object{"starts_at_text": nil, "ends_at_text": nil}
	maps.Copy(all, fields)
	return all
}

func TestPart4_2_SetA_Defaults(t *testing.T) {
	proves(t, "4.2 set A all_day_field: false by default",
		"4.2 set A starts_at_text: all-day: a date; timed: date and time",
		"4.2 set A ends_at_text timed: timed: the start by default",
		"4.2 set A ends_at_text all-day: all-day: one day by default; a given end is included",
		"decisions 4 set A timed: timed without end: zero length", "decisions 4 set A all-day")
	school.wantSpans(t, []spanCase{
		{"timed, no end", object{"starts_at_text": "2019-04-10 09:00"}, "2019-04-10 09:00", "2019-04-10 09:00", false},
		{"timed, a blank end", object{"starts_at_text": "2019-04-10 09:00", "ends_at_text": ""},
			"2019-04-10 09:00", "2019-04-10 09:00", false},
		{"timed, flag false", object{"starts_at_text": "2019-04-10 09:00", "all_day_field": false},
			"2019-04-10 09:00", "2019-04-10 09:00", false},
		{"timed, an end", object{"starts_at_text": "2019-04-10 09:00", "ends_at_text": "2019-04-11 08:15"},
			"2019-04-10 09:00", "2019-04-11 08:15", false},
		{"timed, a bare date", object{"starts_at_text": "2019-04-10"}, "2019-04-10 00:00", "2019-04-10 00:00", false},
		{"timed, bare dates", object{"starts_at_text": "2019-04-10", "ends_at_text": "2019-04-12"},
			"2019-04-10 00:00", "2019-04-12 00:00", false},
		{"all-day, no end", object{"starts_at_text": "2019-04-10", "all_day_field": true}, "2019-04-10 00:00",
			"2019-04-11 00:00", true},
		{"all-day, a blank end", object{"starts_at_text": "2019-04-10", "ends_at_text": "",
			"all_day_field": true}, "2019-04-10 00:00", "2019-04-11 00:00", true},
		{"all-day, the same end", object{"starts_at_text": "2019-04-10", "ends_at_text": "2019-04-10",
			"all_day_field": true}, "2019-04-10 00:00", "2019-04-11 00:00", true},
		{"all-day, an end included", object{"starts_at_text": "2019-04-10", "ends_at_text": "2019-04-12",
			"all_day_field": true}, "2019-04-10 00:00", "2019-04-13 00:00", true},
		{"all-day, clock times", object{"starts_at_text": "2019-04-10 13:00",
			"ends_at_text": "2019-04-11 08:00", "all_day_field": true}, "2019-04-10 00:00", "2019-04-12 00:00", true},
		{"all-day, a clock time, no end", object{"starts_at_text": "2019-04-10 13:00", "all_day_field": true},
			"2019-04-10 00:00", "2019-04-11 00:00", true},
		{"all-day, over a month and a year", object{"starts_at_text": "2018-12-31",
			"ends_at_text": "2019-02-28", "all_day_field": true}, "2018-12-31 00:00", "2019-03-01 00:00", true},
	})
}

func TestPart4_2_SetB_StoredAsGiven(t *testing.T) {
	proves(t, "4.2 set B all_day: false by default", "4.2 set B starts_at: the same formats; stored as given",
		"4.2 set B ends_at: required; excluded; stored as given", "decisions 4 set B all-day", "2.3 end")
	school.wantSpans(t, []spanCase{
		{"timed", object{"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00"}, "2019-04-10 09:00",
			"2019-04-10 10:00", false},
		{"timed, flag false", object{"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00",
			"all_day": false}, "2019-04-10 09:00", "2019-04-10 10:00", false},
		{"timed, no length", object{"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 09:00"},
			"2019-04-10 09:00", "2019-04-10 09:00", false},
		{"timed, midnight to midnight", object{"starts_at": "2019-04-10 00:00", "ends_at": "2019-04-11 00:00"},
			"2019-04-10 00:00", "2019-04-11 00:00", false},
		{"timed, bare dates", object{"starts_at": "2019-04-10", "ends_at": "2019-04-11"}, "2019-04-10 00:00",
			"2019-04-11 00:00", false},
		{"all-day, the end excluded", object{"starts_at": "2019-04-10", "ends_at": "2019-04-12",
			"all_day": true}, "2019-04-10 00:00", "2019-04-12 00:00", true},
		{"all-day, midnights", object{"starts_at": "2019-04-10 00:00", "ends_at": "2019-04-11T00:00:00",
			"all_day": true}, "2019-04-10 00:00", "2019-04-11 00:00", true},
		{"all-day, midnights with their offset",
			object{"starts_at": school.Wire(t, "2019-04-10 00:00"), "ends_at": school.Wire(t, "2019-04-11 00:00"),
				"all_day": true}, "2019-04-10 00:00", "2019-04-11 00:00", true},
	})
	c := school.Booker(t) // what was read can be written again
	a := school.Event(t, c, object{"starts_at": "2019-04-10 09:00:01", "ends_at": "2019-04-10 10:00:59"})
	again := school.Event(t, c, object{"starts_at": a.Text(t, "event.starts_at"),
		"ends_at": a.Text(t, "event.ends_at")})
	equal(t, "times as they were read", span(t, again), span(t, a))
}

func TestPart4_2_TheSetsAreNeverMixed(t *testing.T) {
	proves(t, "4.2 sets: the two sets of fields are never mixed", "decisions 4 mixed sets: fields of both sets: 422")
	c := school.Booker(t)
	path := pathIn(t, school.Event(t, c, nil))
	before := c.Get(t, path).Body
	setA := object{"starts_at_text": "2019-04-10 09:00", "ends_at_text": "2019-04-10 10:00", "all_day_field": false}
	setB := object{"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00", "all_day": false}
	for a, one := range setA {
		for b, other := range setB {
			mixed := object{a: one, b: other}
			answers := []servicetest.Answer{c.Patch(t, path, object{"event": mixed}),
				school.TryEvent(t, c, only(mixed))}
			for _, answer := range answers {
				answer.WantCode(t, http.StatusUnprocessableEntity)
			}
			equal(t, "the field that is wrong with "+a+" and "+b, answers[0].Keys(t, "event.errors"), "starts_at")
		}
	}
	c.Get(t, path).Want(t, http.StatusOK, before)
}

func TestDecisionsPart4_SetBNeedsAnEnd(t *testing.T) {
	proves(t, "decisions 4 set B end: set B without ends_at: 422", "4.2 set B ends_at")
	c := school.Booker(t)
	for _, end := range []any{nil, "", " "} {
		wantInvalid(t, school.TryEvent(t, c, only(object{"starts_at": "2019-04-10 09:00", "ends_at": end})),
			"null", `{"ends_at":["can't be blank"]}`)
		wantInvalid(t, school.TryEvent(t, c, only(object{"starts_at": "2019-04-10", "ends_at": end, "all_day": true})),
			"null", `{"ends_at":["can't be blank"]}`)
	}
}

func TestDecisionsPart4_NeitherStart(t *testing.T) {
	proves(t, "decisions 4 no start: neither start: 422")
	c := school.Booker(t)
	for _, fields := range []object{{}, {"ends_at_text": "2019-04-10"}, {"ends_at": "2019-04-10"},
		{"all_day_field": true}, {"starts_at_text": nil}, {"starts_at_text": "  "}} {
		a := school.TryEvent(t, c, only(fields))
		a.WantCode(t, http.StatusUnprocessableEntity)
		equal(t, jsonText(fields), a.At(t, "event.errors.starts_at"), `["can't be blank"]`)
	}
}

func TestDecisionsPart4_FormsOfDates(t *testing.T) {
	proves(t, "decisions 4 date forms: YYYY-MM-DD; date-times with T or a space, seconds, fractions, Z or an offset",
		"decisions 4 fractions: fractions of seconds are dropped",
		"decisions 4 local time: no offset: the configured zone",
		"decisions 4 output: the configured zone, 2019-04-10T09:00:00.000+01:00", "2.3 times")
	c := school.Booker(t)
	at := func(hour, minute, second int) string {
		return school.wire(time.Date(2019, 4, 10, hour, minute, second, 0, school.Zone))
	}
	utc := func(hour, minute int) string {
		return school.wire(time.Date(2019, 4, 10, hour, minute, 0, 0, time.UTC))
	}
	for text, want := range map[string]string{
		"2019-04-10": at(0, 0, 0), "2019-04-10 09:05": at(9, 5, 0), "2019-04-10T09:05": at(9, 5, 0),
		"2019-04-10 09:05:59": at(9, 5, 59), "2019-04-10T09:05:59": at(9, 5, 59),
		"2019-04-10 00:00:00": at(0, 0, 0), "2019-04-10 23:59:59": at(23, 59, 59),
		"2019-04-10 09:05:59.9": at(9, 5, 59), "2019-04-10T09:05:59.999": at(9, 5, 59),
		"2019-04-10T09:05:59.999999999": at(9, 5, 59), "2019-04-10 09:05:00.000": at(9, 5, 0),
		"2019-04-10T09:05Z": utc(9, 5), "2019-04-10 09:05Z": utc(9, 5), "2019-04-10T09:05:00.123Z": utc(9, 5),
		"2019-04-10 09:05+00:00": utc(9, 5), "2019-04-10 09:05-00:00": utc(9, 5),
		"2019-04-10T09:05:00+02:00": utc(7, 5), "2019-04-10 09:05-05:30": utc(14, 35),
		"2019-04-10T09:05:00.000+05:45": utc(3, 20), "2019-04-11T01:00+14:00": utc(11, 0),
	} {
		equal(t, "set A, "+text, school.TryEvent(t, c, only(object{"starts_at_text": text})).Must(t,
			http.StatusOK).Text(t, "event.starts_at"), want)
		a := school.TryEvent(t, c, object{"starts_at": text, "ends_at": text}).Must(t, http.StatusOK)
		equal(t, "set B, "+text, a.Text(t, "event.starts_at")+" "+a.Text(t, "event.ends_at"), want+" "+want)
	}
	for _, day := range []string{"1970-01-01", "2000-02-29", "2096-02-29", "2038-01-20", "2199-12-30"} {
		a := school.TryEvent(t, c, object{"starts_at": day + " 12:00", "ends_at": day + " 13:00"}).Must(t,
			http.StatusOK)
		equal(t, day, span(t, a), school.spans(t, day+" 12:00", day+" 13:00", false))
	}
}

func TestDecisionsPart4_DatesWithSlashesAndShortHours(t *testing.T) {
	proves(t, "decisions 4 slashes: 1/4/2019 and 9:05, as BELFRY_DATE_ORDER says: dmy, mdy, or iso for neither")
	c := school.Booker(t)
	april, january := "2019-04-01", "2019-01-04"
	for text, want := range map[string]map[string]string{ // local, by the deployment's order; "" is no date
		"1/4/2019":         {"dmy": april + " 00:00", "mdy": january + " 00:00"},
		"01/04/2019 09:05": {"dmy": april + " 09:05", "mdy": january + " 09:05"},
		"1/4/2019T9:05":    {"dmy": april + " 09:05", "mdy": january + " 09:05"},
		"1/4/2019 24:00":   {"dmy": "2019-04-02 00:00", "mdy": "2019-01-05 00:00"},
		"31/12/2019 9:05":  {"dmy": "2019-12-31 09:05"},
		"12/31/2019 9:05":  {"mdy": "2019-12-31 09:05"},
		"2019-04-10 9:05":  {"dmy": "2019-04-10 09:05", "mdy": "2019-04-10 09:05"},
	} {
		a := school.TryEvent(t, c, only(object{"starts_at_text": text}))
		b := school.TryEvent(t, c, only(object{"starts_at": text, "ends_at": text}))
		if want[school.DateOrder] == "" {
			wantInvalid(t, a, "null", `{"starts_at":["is not a date"]}`)
			wantInvalid(t, b, "null", `{"ends_at":["is not a date"],"starts_at":["is not a date"]}`)
			continue
		}
		at := want[school.DateOrder]
		equal(t, "set A, "+text, span(t, a.Must(t, http.StatusOK)), school.spans(t, at, at, false))
		equal(t, "set B, "+text, span(t, b.Must(t, http.StatusOK)), school.spans(t, at, at, false))
		made := school.Event(t, c, nil)
		changed := c.Patch(t, pathIn(t, made), object{"event": object{"starts_at": text, "ends_at": text}})
		equal(t, "changed, "+text, span(t, changed.Must(t, http.StatusOK)), school.spans(t, at, at, false))
	}
	// A query has ISO dates whatever the order is.
	a := c.Get(t, elementPath(school.Location(t))+"/commitments?start_date=1/4/2019")
	a.Want(t, http.StatusBadRequest, `{"status":"Bad request","message":"start_date is not a date (YYYY-MM-DD)"}`)
}

func TestDecisionsPart4_24HoursIsTheNextMidnight(t *testing.T) {
	proves(t, "decisions 4 24:00: 24:00 is the next midnight")
	school.wantSpans(t, []spanCase{
		{"an end", object{"starts_at": "2019-04-10 23:00", "ends_at": "2019-04-10 24:00"}, "2019-04-10 23:00",
			"2019-04-11 00:00", false},
		{"a start, at the end of a year", object{"starts_at_text": "2019-12-31 24:00:00"}, "2020-01-01 00:00",
			"2020-01-01 00:00", false},
		{"all-day, set B", object{"starts_at": "2019-04-10", "ends_at": "2019-04-10T24:00", "all_day": true},
			"2019-04-10 00:00", "2019-04-11 00:00", true},
	})
}

func TestDecisionsPart4_WhatIsNoDate(t *testing.T) {
	proves(t, "decisions 4 bad dates: anything else, and days that don't exist: 422 on the field",
		`decisions 4 errors starts_at: starts_at: "can't be blank", "is not a date"`)
	c := school.Booker(t)
	for _, value := range []any{
		"2019-02-30", "2019-02-29", "2019-04-31", "2019-13-01", "2019-00-10", "2019-04-00", "1900-02-29", "30/02/2019",
		"10.4.2019", "2019-4-10", "19-04-10", "20190410", "2019-W15", "tomorrow", "now",
		"2019-04-10 24:01", "2019-04-10 24:00:01", "2019-04-10 25:00", "4/2019", "1/4/19", "2019/04/10",
		"2019-04-10 9:0", "1/13/2019 09:60", "2019-04-10 09:60", "2019-04-10 09:00:60",
		"2019-04-10 09", "2019-04-10 09:00:", "2019-04-10 09:00:00.", "2019-04-10  09:00",
		"2019-04-10_09:00", "2019-04-10 09:00 Z", "2019-04-10 09:00z", "2019-04-10 09:00+1", "2019-04-10 09:00+0100",
		"2019-04-10 09:00+24:00", "2019-04-10 09:00 +01:00", "2019-04-10 09:00 UTC",
		"2019-04-10Z", "2019-04-10 09:00am", " 2019-04-10", "2019-04-10 ", "٢٠١٩-٠٤-١٠", "2019−04−10", "0", 20190410,
		1554883200, true, []any{"2019-04-10"}, object{"date": "2019-04-10"},
	} {
		text := jsonText(value)
		a := school.TryEvent(t, c, only(object{"starts_at_text": value}))
		equal(t, "set A, start "+text, fmt.Sprint(a.Code, " ", a.At(t, "event.errors")),
			`422 {"starts_at":["is not a date"]}`)
		a = school.TryEvent(t, c, only(object{"starts_at_text": "2019-04-10 09:00", "ends_at_text": value}))
		equal(t, "set A, end "+text, fmt.Sprint(a.Code, " ", a.At(t, "event.errors")),
			`422 {"ends_at":["is not a date"]}`)
		a = school.TryEvent(t, c, only(object{"starts_at": value, "ends_at": value}))
		equal(t, "set B, both "+text, fmt.Sprint(a.Code, " ", a.At(t, "event.errors")),
			`422 {"ends_at":["is not a date"],"starts_at":["is not a date"]}`)
	}
	// event days lie in 1970 to 2199 (api-decisions)
	for _, day := range []string{"1969-12-31", "2200-01-02", "9999-12-31", "0001-01-01"} {
		a := school.TryEvent(t, c, only(object{"starts_at_text": day}))
		a.WantCode(t, http.StatusUnprocessableEntity)
		equal(t, "the field of "+day, a.Keys(t, "event.errors"), "starts_at")
	}
}

func TestDecisionsPart4_EndBeforeStart(t *testing.T) {
	proves(t, "decisions 4 reversed: end before start: 422 on ends_at",
		`decisions 4 errors ends_at: ends_at: "is before the start"`)
	c := school.Booker(t)
	for _, fields := range []object{
		{"starts_at_text": "2019-04-10 09:00", "ends_at_text": "2019-04-10 08:59"},
		{"starts_at_text": "2019-04-10 09:00", "ends_at_text": "2019-04-10"},
		{"starts_at_text": "2019-04-10 09:00:01", "ends_at_text": "2019-04-10 09:00"},
		{"starts_at_text": "2019-04-10T09:00Z", "ends_at_text": "2019-04-10T10:00+02:00"},
		{"starts_at_text": "2019-04-10", "ends_at_text": "2019-04-09", "all_day_field": true},
		{"starts_at_text": "2019-04-10 09:00", "ends_at_text": "2019-04-09 23:00", "all_day_field": true},
		{"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 08:59"},
		{"starts_at": "2019-04-10", "ends_at": "2019-04-09", "all_day": true},
		{"starts_at": "2019-04-10", "ends_at": "2019-04-10", "all_day": true},
	} {
		wantInvalid(t, school.TryEvent(t, c, only(fields)), "null", `{"ends_at":["is before the start"]}`)
	}
}

func TestDecisionsPart4_SetBAllDayTakesMidnights(t *testing.T) {
	proves(t, "decisions 4 set B all-day: both midnights or dates, end exclusive, at least one day")
	c := school.Booker(t)
	elsewhere := time.Date(2019, 4, 10, 0, 30, 0, 0, school.Zone).UTC().Format("2006-01-02T15:04Z")
	for field, other := range map[string]string{"starts_at": "ends_at", "ends_at": "starts_at"} {
		for _, text := range []string{"2019-04-10 09:00", "2019-04-10 00:00:01", elsewhere} {
			fields := object{"all_day": true, field: text,
				other: map[string]string{"ends_at": "2019-04-12", "starts_at": "2019-04-08"}[other]}
			a := school.TryEvent(t, c, only(fields))
			a.WantCode(t, http.StatusUnprocessableEntity)
			equal(t, "the field of "+text, a.Keys(t, "event.errors"), field)
		}
	}
}

// local formats a clock time, held as a time in UTC, as clients do.
func local(wall time.Time) string { return wall.Format("2006-01-02 15:04:05") }

// wantStart books each text with both sets and compares the start.
func (s *School) wantStart(t *testing.T, c *servicetest.Client, text string, want time.Time) {
	t.Helper()
	a := s.TryEvent(t, c, only(object{"starts_at_text": text})).Must(t, http.StatusOK)
	equal(t, "set A, "+text, a.Text(t, "event.starts_at"), s.wire(want))
	a = s.TryEvent(t, c, object{"starts_at": text, "ends_at": text}).Must(t, http.StatusOK)
	equal(t, "set B, "+text, a.Text(t, "event.starts_at"), s.wire(want))
}

func TestDecisionsPart4_ATimeInTheGapIsAFaultOfItsField(t *testing.T) {
	proves(t, "decisions 4 gap: a time in the spring gap: 422 on its field; 400 in a query")
	c, change := school.Booker(t), school.clockChange(t, true)
	skipped := change.wall(change.before) // the first clock time that is not shown
	made := school.Event(t, c, only(object{"starts_at": local(skipped.Add(-time.Hour)),
		"ends_at": local(skipped.Add(change.length()))}))
	const fault = `["is skipped when the clock goes forward"]`
	for _, into := range []time.Duration{0, change.length() / 2, change.length() - time.Second} {
		at := local(skipped.Add(into))
		wantInvalid(t, school.TryEvent(t, c, only(object{"starts_at_text": at})), "null", `{"starts_at":`+fault+`}`)
		wantInvalid(t, c.Patch(t, pathIn(t, made), wrapped("event", "ends_at", at)),
			made.At(t, "event.id"), `{"ends_at":`+fault+`}`)
	}
	at, after := local(skipped), local(skipped.Add(change.length()))
	c.Get(t, "/api/free?type=Location&"+url.Values{"starts_at": {at}, "ends_at": {after}}.Encode()).Want(t,
		http.StatusBadRequest, `{"status":"Bad request","message":"starts_at is skipped when the clock goes forward"}`)
	key := school.Unique("gap")
	school.ImportBatch(t, "/api/admin/import/events", object{"key": key, "body": key, "category": school.Category.Name,
		"starts_at": at, "ends_at": after}).Equal(t, "records.0.errors", `{"starts_at":`+fault+`}`)
	school.wantStart(t, c, local(skipped.Add(-time.Second)), change.at.Add(-time.Second))
	school.wantStart(t, c, local(skipped.Add(change.length())), change.at)
}

func TestDecisionsPart4_OfTwoTimesInTheOverlapTheFirst(t *testing.T) {
	proves(t, "decisions 4 overlap: in the autumn overlap, the first of the two times")
	c, change := school.Booker(t), school.clockChange(t, false)
	repeated := change.wall(change.after) // the first clock time that is shown twice
	for _, into := range []time.Duration{0, change.length() / 2, change.length() - time.Second} {
		school.wantStart(t, c, local(repeated.Add(into)), change.at.Add(into-change.length())) // the first of the two
	}
	school.wantStart(t, c, local(repeated.Add(-time.Second)), change.at.Add(-change.length()-time.Second))
	school.wantStart(t, c, local(repeated.Add(change.length())), change.at.Add(change.length()))
	second := change.at.Add(change.length() / 2) // the offset selects the second
	school.wantStart(t, c, second.In(school.Zone).Format("2006-01-02T15:04:05-07:00"), second)
	hour := school.Event(t, c, object{"starts_at": local(repeated.Add(-time.Second)),
		"ends_at": local(repeated.Add(change.length()))})
	equal(t, "from before to after it", span(t, hour),
		school.wire(change.at.Add(-change.length()-time.Second))+" to "+school.wire(change.at.Add(change.length())))
}

func TestDecisionsPart4_DaysOf23And25Hours(t *testing.T) {
	proves(t, "decisions 4 days: days are calendar days, of 23 or 25 hours where the clock changes",
		"decisions 4 set A all-day: without end one day; the end inclusive; clock times: the whole days touched")
	c := school.Booker(t)
	for _, forward := range []bool{true, false} {
		change := school.clockChange(t, forward)
		day, next := date(change.day()), date(change.day().AddDate(0, 0, 1))
		want := school.spans(t, day+" 00:00", next+" 00:00", true)
		a := school.Event(t, c, only(object{"starts_at_text": day, "all_day_field": true}))
		equal(t, "set A on "+day, span(t, a), want)
		b := school.Event(t, c, only(object{"starts_at": day, "ends_at": next, "all_day": true}))
		equal(t, "set B on "+day, span(t, b), want)
		starts, err := time.Parse(time.RFC3339, a.Text(t, "event.starts_at"))
		ends, fault := time.Parse(time.RFC3339, a.Text(t, "event.ends_at"))
		if err != nil || fault != nil {
			t.Fatalf("%v %v", err, fault)
		}
		equal(t, "hours of "+day, ends.Sub(starts), 24*time.Hour-time.Duration(change.after-change.before)*time.Second)
	}
}
