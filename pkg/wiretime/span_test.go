package wiretime

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// fields reads the time fields of a request body.
func fields(t testing.TB, body string) SpanFields {
	t.Helper()
	var f SpanFields
	errortest.None(t, json.Unmarshal([]byte(body), &f))
	return f
}

// show writes a span as clients see it, or the faults.
func show(z Zone, s Span, faults problem.Fields) string {
	if faults != nil {
		var b strings.Builder
		for _, field := range slices.Sorted(maps.Keys(faults)) {
			b.WriteString(field + " " + strings.Join(faults[field], ", ") + "; ")
		}
		return strings.TrimSuffix(b.String(), "; ")
	}
	text := strings.ReplaceAll(z.Format(s.Starts)+" to "+z.Format(s.Ends), ".000", "")
	if s.AllDay {
		text += " all day"
	}
	return text
}

func TestPart4_2_NewSpan(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"set A timed", `{"starts_at_text":"2019-04-10 09:00","ends_at_text":"2019-04-10 10:30"}`,
			"2019-04-10T09:00:00+01:00 to 2019-04-10T10:30:00+01:00"},
		{"set A timed without end: zero length", `{"starts_at_text":"2019-04-10 09:00"}`,
			"2019-04-10T09:00:00+01:00 to 2019-04-10T09:00:00+01:00"},
		{"set A timed, blank end: zero length", `{"starts_at_text":"2019-04-10 09:00","ends_at_text":" "}`,
			"2019-04-10T09:00:00+01:00 to 2019-04-10T09:00:00+01:00"},
		{"set A all-day without end: one day", `{"all_day_field":true,"starts_at_text":"2019-04-10"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-11T00:00:00+01:00 all day"},
		{"set A all-day end is inclusive",
			`{"all_day_field":true,"starts_at_text":"2019-04-10","ends_at_text":"2019-04-12"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-13T00:00:00+01:00 all day"},
		{"set A all-day on one day", `{"all_day_field":true,"starts_at_text":"2019-04-10","ends_at_text":"2019-04-10"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-11T00:00:00+01:00 all day"},
		{"set A all-day with clock times: the whole days",
			`{"all_day_field":true,"starts_at_text":"2019-04-10 15:00","ends_at_text":"2019-04-11 09:00"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-12T00:00:00+01:00 all day"},
		{"set A all-day, clock times reversed within a day",
			`{"all_day_field":true,"starts_at_text":"2019-04-10 15:00","ends_at_text":"2019-04-10 09:00"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-11T00:00:00+01:00 all day"},
		{"set A all-day, an offset decides the local day",
			`{"all_day_field":true,"starts_at_text":"2019-04-10T23:30Z"}`,
			"2019-04-11T00:00:00+01:00 to 2019-04-12T00:00:00+01:00 all day"},
		{"set A all-day, 23 hours", `{"all_day_field":true,"starts_at_text":"2019-03-31"}`,
			"2019-03-31T00:00:00+00:00 to 2019-04-01T00:00:00+01:00 all day"},
		{"set A all-day, 25 hours", `{"all_day_field":true,"starts_at_text":"2019-10-27"}`,
			"2019-10-27T00:00:00+01:00 to 2019-10-28T00:00:00+00:00 all day"},
		{"set A timed, bare dates are midnights", `{"starts_at_text":"2019-04-10","ends_at_text":"2019-04-11"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-11T00:00:00+01:00"},
		{"set A all_day_field false is timed", `{"all_day_field":false,"starts_at_text":"2019-04-10 09:00"}`,
			"2019-04-10T09:00:00+01:00 to 2019-04-10T09:00:00+01:00"},
		{"set A end before start", `{"starts_at_text":"2019-04-10 09:00","ends_at_text":"2019-04-10 08:59"}`,
			"ends_at is before the start"},
		{"set A all-day end before start",
			`{"all_day_field":true,"starts_at_text":"2019-04-10","ends_at_text":"2019-04-09"}`,
			"ends_at is before the start"},

		{"set B timed", `{"starts_at":"2019-04-10 09:00","ends_at":"2019-04-10 10:30"}`,
			"2019-04-10T09:00:00+01:00 to 2019-04-10T10:30:00+01:00"},
		{"set B zero length", `{"starts_at":"2019-04-10 09:00","ends_at":"2019-04-10 09:00"}`,
			"2019-04-10T09:00:00+01:00 to 2019-04-10T09:00:00+01:00"},
		{"set B all-day end is exclusive", `{"all_day":true,"starts_at":"2019-04-10","ends_at":"2019-04-12"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-12T00:00:00+01:00 all day"},
		{"set B all-day, midnights", `{"all_day":true,"starts_at":"2019-04-10 00:00","ends_at":"2019-04-10T23:00:00Z"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-11T00:00:00+01:00 all day"},
		{"set B all-day needs a midnight to start",
			`{"all_day":true,"starts_at":"2019-04-10 09:00","ends_at":"2019-04-12"}`, "starts_at is not a date"},
		{"set B all-day needs a midnight to end",
			`{"all_day":true,"starts_at":"2019-04-10","ends_at":"2019-04-12 00:01"}`, "ends_at is not a date"},
		{"set B all-day, at least one day", `{"all_day":true,"starts_at":"2019-04-10","ends_at":"2019-04-10"}`,
			"ends_at is before the start"},
		{"set B without end", `{"starts_at":"2019-04-10 09:00"}`, "ends_at can't be blank"},
		{"set B blank end", `{"starts_at":"2019-04-10 09:00","ends_at":""}`, "ends_at can't be blank"},
		{"set B end before start", `{"starts_at":"2019-04-10 09:00","ends_at":"2019-04-10 08:59:59"}`,
			"ends_at is before the start"},

		{"rule 1: neither start", `{}`, "starts_at can't be blank"},
		{"null is not given", `{"starts_at_text":null,"starts_at":null}`, "starts_at can't be blank"},
		{"blank start", `{"starts_at_text":" "}`, "starts_at can't be blank"},
		{"set B with nothing but the flag", `{"all_day":true}`, "ends_at can't be blank; starts_at can't be blank"},
		{"both are bad", `{"starts_at":"soon","ends_at":"later"}`, "ends_at is not a date; starts_at is not a date"},
		{"mixed starts", `{"starts_at":"2019-04-10","starts_at_text":"2019-04-10"}`, "starts_at " + mixedSets},
		{"mixed start and end", `{"starts_at_text":"2019-04-10","ends_at":"2019-04-11"}`, "starts_at " + mixedSets},
		{"mixed flag", `{"all_day":true,"starts_at_text":"2019-04-10"}`, "starts_at " + mixedSets},

		{"no offset in the spring gap", `{"starts_at_text":"2019-03-31 01:30"}`, "starts_at " + problem.Skipped},
		{"no offset in the autumn overlap is the first", `{"starts_at_text":"2019-10-27 01:30"}`,
			"2019-10-27T01:30:00+01:00 to 2019-10-27T01:30:00+01:00"},
		{"an offset picks the second", `{"starts_at_text":"2019-10-27 01:30+00:00"}`,
			"2019-10-27T01:30:00+00:00 to 2019-10-27T01:30:00+00:00"},
		{"seconds are kept, fractions dropped",
			`{"starts_at":"2019-04-10T09:00:01.999","ends_at":"2019-04-10T09:00:02.001+01:00"}`,
			"2019-04-10T09:00:01+01:00 to 2019-04-10T09:00:02+01:00"},
		{"output can be sent back",
			`{"starts_at":"2019-04-10T09:00:00.000+01:00","ends_at":"2019-04-10T04:30:00.000-04:30"}`,
			"2019-04-10T09:00:00+01:00 to 2019-04-10T10:00:00+01:00"},

		{"first day", `{"all_day_field":true,"starts_at_text":"1970-01-01"}`,
			"1970-01-01T00:00:00+01:00 to 1970-01-02T00:00:00+01:00 all day"},
		{"last day", `{"all_day_field":true,"starts_at_text":"2199-12-31","ends_at_text":"2199-12-31"}`,
			"2199-12-31T00:00:00+00:00 to 2200-01-01T00:00:00+00:00 all day"},
		{"last exclusive end", `{"starts_at":"2199-12-31 09:00","ends_at":"2200-01-01"}`,
			"2199-12-31T09:00:00+00:00 to 2200-01-01T00:00:00+00:00"},
		{"too early", `{"starts_at_text":"1969-12-31"}`, "starts_at " + outOfBounds},
		{"too late", `{"starts_at_text":"2200-01-01"}`, "starts_at " + outOfBounds},
		{"ends too late", `{"starts_at":"2199-12-31 09:00","ends_at":"2200-01-01 00:00:01"}`, "ends_at " + outOfBounds},
		{"inclusive end too late", `{"all_day_field":true,"starts_at_text":"2199-12-31","ends_at_text":"2200-01-01"}`,
			"ends_at " + outOfBounds},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := zone(t, "Europe/London")
			s, faults := z.NewSpan(fields(t, c.body))
			valuetest.Same(t, show(z, s, faults), c.want, c.body)
		})
	}
}

func TestDecisionsPart4_AnAllDayEndAt24DoesNotTouchTheNextDay(t *testing.T) {
	z := zone(t, "Europe/London")
	for ends, c := range map[string]struct{ starts, want string }{
		"2026-05-01 24:00":          {"2026-05-01", "2026-05-01T00:00:00+01:00 to 2026-05-02T00:00:00+01:00 all day"},
		"2026-05-03T24:00:00+01:00": {"2026-05-01", "2026-05-01T00:00:00+01:00 to 2026-05-04T00:00:00+01:00 all day"},
		"2026-05-03 24:00Z":         {"2026-05-01", "2026-05-01T00:00:00+01:00 to 2026-05-05T00:00:00+01:00 all day"},
		"2026-05-03 00:00":          {"2026-05-01", "2026-05-01T00:00:00+01:00 to 2026-05-04T00:00:00+01:00 all day"},
		"2199-12-31 24:00":          {"2199-12-31", "2199-12-31T00:00:00+00:00 to 2200-01-01T00:00:00+00:00 all day"},
		// The start is the day after, and the end no earlier.
		"2026-05-01T24:00": {"2026-05-01 24:00", "2026-05-02T00:00:00+01:00 to 2026-05-03T00:00:00+01:00 all day"},
	} {
		allDay := true
		f := SpanFields{AllDayField: &allDay, StartsAtText: &c.starts, EndsAtText: &ends}
		s, faults := z.NewSpan(f)
		valuetest.Same(t, show(z, s, faults), c.want, c.starts+" to "+ends)
		f.StartsAtText = nil
		s.Ends = z.Midnight(z.DayOf(s.Starts) + 1)
		s, faults = z.ChangeSpan(s, f)
		valuetest.Same(t, show(z, s, faults), c.want, "the end changes to "+ends)
	}
}

func TestPart4_MidnightThatTheClockSkipsIsAMidnight(t *testing.T) {
	z := zone(t, "America/Sao_Paulo")
	s, faults := z.NewSpan(fields(t, `{"all_day":true,"starts_at":"2018-11-04 00:00","ends_at":"2018-11-05"}`))
	valuetest.Same(t, show(z, s, faults), "2018-11-04T01:00:00-02:00 to 2018-11-05T00:00:00-02:00 all day")
}

// TestDecisionsPart4_ATimeThatTheClockSkipsIsAFaultOfItsField: 01:30 to 02:30 became 02:30 to 02:30. A day is there
// even when its midnight is not, and the end of a day is there even when the next day is not.
func TestDecisionsPart4_ATimeThatTheClockSkipsIsAFaultOfItsField(t *testing.T) {
	const skipped = problem.Skipped
	for _, c := range []struct{ zone, body, want string }{
		{"Europe/London", `{"starts_at":"2027-03-28 01:30","ends_at":"2027-03-28 02:30"}`, "starts_at " + skipped},
		{"Europe/London", `{"starts_at":"2027-03-28 00:30","ends_at":"2027-03-28 01:30"}`, "ends_at " + skipped},
		{"Europe/London", `{"starts_at_text":"2027-03-28 01:00","ends_at_text":"2027-03-28 01:59:59"}`,
			"ends_at " + skipped + "; starts_at " + skipped},
		{"Europe/London", `{"starts_at":"2027-03-28 00:59:59","ends_at":"2027-03-28 02:00"}`,
			"2027-03-28T00:59:59+00:00 to 2027-03-28T02:00:00+01:00"},
		{"Europe/London", `{"starts_at":"2027-03-28T01:30Z","ends_at":"2027-03-28T01:30-01:00"}`,
			"2027-03-28T02:30:00+01:00 to 2027-03-28T03:30:00+01:00"},
		{"Europe/London", `{"all_day_field":true,"starts_at_text":"2027-03-28 01:30"}`,
			"2027-03-28T00:00:00+00:00 to 2027-03-29T00:00:00+01:00 all day"},
		{"Australia/Lord_Howe", `{"starts_at":"2026-10-04 02:15","ends_at":"2026-10-04 02:30"}`, "starts_at " + skipped},
		{"Australia/Lord_Howe", `{"starts_at":"2026-04-05 01:45","ends_at":"2026-04-05 02:00"}`,
			"2026-04-05T01:45:00+11:00 to 2026-04-05T02:00:00+10:30"},
		{"America/Sao_Paulo", `{"all_day":true,"starts_at":"2018-11-04 00:00","ends_at":"2018-11-05"}`,
			"2018-11-04T01:00:00-02:00 to 2018-11-05T00:00:00-02:00 all day"},
		{"America/Sao_Paulo", `{"all_day":true,"starts_at":"2018-11-04 00:30","ends_at":"2018-11-05"}`,
			"starts_at " + skipped},
		{"America/Sao_Paulo", `{"starts_at":"2018-11-04 00:00","ends_at":"2018-11-04 02:00"}`, "starts_at " + skipped},
		{"America/Sao_Paulo", `{"starts_at":"2018-11-04","ends_at":"2018-11-04 02:00"}`,
			"2018-11-04T01:00:00-02:00 to 2018-11-04T02:00:00-02:00"},
		{"America/Sao_Paulo", `{"starts_at":"2018-11-03 23:00","ends_at":"2018-11-03 24:00"}`,
			"2018-11-03T23:00:00-03:00 to 2018-11-04T01:00:00-02:00"},
		{"Asia/Beirut", `{"all_day_field":true,"starts_at_text":"2026-03-29"}`,
			"2026-03-29T01:00:00+03:00 to 2026-03-30T00:00:00+03:00 all day"},
		{"Africa/Casablanca", `{"starts_at":"2026-03-22 02:30","ends_at":"2026-03-22 04:00"}`, "starts_at " + skipped},
		{"Pacific/Apia", `{"all_day":true,"starts_at":"2011-12-29","ends_at":"2011-12-30"}`,
			"2011-12-29T00:00:00-10:00 to 2011-12-31T00:00:00+14:00 all day"},
		{"Pacific/Apia", `{"starts_at":"2011-12-29 23:00","ends_at":"2011-12-29 24:00"}`,
			"2011-12-29T23:00:00-10:00 to 2011-12-31T00:00:00+14:00"},
		{"Pacific/Apia", `{"all_day":true,"starts_at":"2011-12-30","ends_at":"2011-12-31"}`, "starts_at " + skipped},
		{"Pacific/Apia", `{"all_day_field":true,"starts_at_text":"2011-12-30 10:00"}`, "starts_at " + skipped},
		{"Pacific/Apia", `{"all_day_field":true,"starts_at_text":"2011-12-29","ends_at_text":"2011-12-30"}`,
			"ends_at " + skipped},
		{"Pacific/Apia", `{"starts_at":"2011-12-30 10:00","ends_at":"2011-12-31 10:00"}`, "starts_at " + skipped},
		{"Pacific/Apia", `{"all_day_field":true,"starts_at_text":"2011-12-29"}`,
			"2011-12-29T00:00:00-10:00 to 2011-12-31T00:00:00+14:00 all day"},
	} {
		z := zone(t, c.zone)
		s, faults := z.NewSpan(fields(t, c.body))
		valuetest.Same(t, show(z, s, faults), c.want, "%s: %s", c.zone, c.body)
	}
	z := zone(t, "Europe/London")
	stored, _ := z.NewSpan(fields(t, `{"starts_at":"2027-03-27 01:30","ends_at":"2027-03-28 02:30"}`))
	changed, faults := z.ChangeSpan(stored, fields(t, `{"starts_at":"2027-03-28 01:30"}`))
	if faults["starts_at"] == nil || !changed.Equal(stored) {
		t.Errorf("a change into the gap: %s, %v", show(z, changed, nil), faults)
	}
}

func TestPart4_FormsOfADateTime(t *testing.T) {
	z := zone(t, "Europe/London")
	for text, want := range map[string]string{
		"2019-04-10":                          "2019-04-09T23:00:00Z",
		"2019-04-10 09:00":                    "2019-04-10T08:00:00Z",
		"2019-04-10T09:00":                    "2019-04-10T08:00:00Z",
		"2019-04-10T09:00:30":                 "2019-04-10T08:00:30Z",
		"2019-04-10 09:00:30.5":               "2019-04-10T08:00:30Z",
		"2019-04-10 09:00:30.123456789":       "2019-04-10T08:00:30Z",
		"2019-04-10 09:00Z":                   "2019-04-10T09:00:00Z",
		"2019-04-10T09:00:00.000Z":            "2019-04-10T09:00:00Z",
		"2019-04-10T09:00:00.000-00:00":       "2019-04-10T09:00:00Z",
		"2019-04-10T09:00:00+05:45":           "2019-04-10T03:15:00Z",
		"2019-04-10 00:00-23:59":              "2019-04-10T23:59:00Z",
		"2020-02-29 23:59:59":                 "2020-02-29T23:59:59Z",
		"2019-04-10 9:00":                     "",
		"2019-04-10 09":                       "",
		"2019-04-10 09:0":                     "",
		"2019-04-10 0900":                     "",
		"2019-04-10 24:00":                    "2019-04-10T23:00:00Z",
		"2019-03-30 24:00:00.000":             "2019-03-31T00:00:00Z",
		"2019-04-10 24:00+02:00":              "2019-04-10T22:00:00Z",
		"2019-04-10 24:01":                    "",
		"2019-04-10 24:00:00.001":             "",
		"2019-04-10 09:60":                    "",
		"2019-04-10 23:59:60":                 "",
		"2019-04-10 09:00:00.":                "",
		"2019-04-10 09:00:00.1234567890":      "",
		"2019-04-10 09:00:00,000":             "",
		"2019-04-10 09:00.5":                  "",
		"2019-04-10t09:00z":                   "",
		"2019-04-10  09:00":                   "",
		" 2019-04-10 09:00":                   "",
		"2019-04-10 09:00 ":                   "",
		"2019-04-10 ":                         "",
		"2019-04-10T":                         "",
		"2019-04-10Z":                         "",
		"2019-04-10 09:00+01":                 "",
		"2019-04-10 09:00+0100":               "",
		"2019-04-10 09:00+24:00":              "",
		"2019-04-10 09:00+01:60":              "",
		"2019-04-10 09:00 +01:00":             "",
		"2019-04-10 09:00 BST":                "",
		"2019-04-10 09:00Z+01:00":             "",
		"2019-04-10 +9:00":                    "",
		"2019-02-29 09:00":                    "",
		"10/04/2019 09:00":                    "",
		"1554883200":                          "",
		"next Tuesday":                        "",
		"2019-04-10 09:00\x00":                "",
		"2019-04-10T09:00:00.000+01:00[Zone]": "",
	} {
		got, ok := z.parseMoment(text, ISO)
		if ok != (want != "") || ok && !got.at.Equal(instant(t, want)) {
			t.Errorf("%q: %v, %v; want %q", text, got.at, ok, want)
		}
	}
}

func TestDecisionsPart4_DatesWithSlashesAreReadByTheirOrder(t *testing.T) {
	z := zone(t, "Europe/London")
	for text, want := range map[string][countOfOrders]string{
		"1/4/2019":              {"", "2019-03-31T23:00:00Z", "2019-01-04T00:00:00Z"},
		"01/04/2019 09:05":      {"", "2019-04-01T08:05:00Z", "2019-01-04T09:05:00Z"},
		"1/4/2019T9:05:30Z":     {"", "2019-04-01T09:05:30Z", "2019-01-04T09:05:30Z"},
		"31/12/2019":            {"", "2019-12-31T00:00:00Z", ""},
		"12/31/2019":            {"", "", "2019-12-31T00:00:00Z"},
		"31/12/2019 24:00":      {"", "2020-01-01T00:00:00Z", ""},
		"29/2/2019":             {"", "", ""},
		"29/2/2020":             {"", "2020-02-29T00:00:00Z", ""},
		"1/4/19":                {"", "", ""},
		"2019/4/1":              {"", "", ""},
		"001/4/2019":            {"", "", ""},
		"1/4/2019/":             {"", "", ""},
		"1/4":                   {"", "", ""},
		"/4/2019":               {"", "", ""},
		"1-4-2019":              {"", "", ""},
		"1/4/2019 9:5":          {"", "", ""},
		"1/4/2019 009:05":       {"", "", ""},
		"1/4/2019 9:05+1:00":    {"", "", ""},
		"2019-04-10 9:05":       {"", "2019-04-10T08:05:00Z", "2019-04-10T08:05:00Z"},
		"2019-04-10 9:05+02:00": {"", "2019-04-10T07:05:00Z", "2019-04-10T07:05:00Z"},
		"2019-4-10":             {"", "", ""},
		"2019-04-10":            {"2019-04-09T23:00:00Z", "2019-04-09T23:00:00Z", "2019-04-09T23:00:00Z"},
		"2019-04-10 09:05":      {"2019-04-10T08:05:00Z", "2019-04-10T08:05:00Z", "2019-04-10T08:05:00Z"},
	} {
		for order := range countOfOrders {
			got, ok := z.parseMoment(text, order)
			if ok != (want[order] != "") || ok && !got.at.Equal(instant(t, want[order])) {
				t.Errorf("%q, %v: %v, %v; want %q", text, order, got.at, ok, want[order])
			}
		}
	}
	for _, text := range []string{"dmy", "mdy", "iso"} {
		var o DateOrder
		if err := o.UnmarshalText([]byte(text)); err != nil || o.String() != text {
			t.Errorf("%s: %v, %v", text, o, err)
		}
	}
	errortest.Some(t, new(DateOrder).UnmarshalText([]byte("ymd")), "ymd is an order")
}

func TestPart4_2_Rule10_ChangeSpan(t *testing.T) {
	z := zone(t, "Europe/London")
	timed, _ := z.NewSpan(fields(t, `{"starts_at":"2019-04-10 09:00","ends_at":"2019-04-11 10:00"}`))
	point, _ := z.NewSpan(fields(t, `{"starts_at":"2019-04-10 09:00","ends_at":"2019-04-10 09:00"}`))
	allDay, _ := z.NewSpan(fields(t, `{"all_day":true,"starts_at":"2019-04-10","ends_at":"2019-04-12"}`))
	for _, c := range []struct {
		name string
		old  Span
		body string
		want string
	}{
		{"no field", timed, `{}`, "2019-04-10T09:00:00+01:00 to 2019-04-11T10:00:00+01:00"},
		{"the start alone keeps the end, set A", timed, `{"starts_at_text":"2019-04-11 09:00"}`,
			"2019-04-11T09:00:00+01:00 to 2019-04-11T10:00:00+01:00"},
		{"the start alone keeps the end, set B", timed, `{"starts_at":"2019-04-01 09:00"}`,
			"2019-04-01T09:00:00+01:00 to 2019-04-11T10:00:00+01:00"},
		{"the start to the end", timed, `{"starts_at":"2019-04-11 10:00"}`,
			"2019-04-11T10:00:00+01:00 to 2019-04-11T10:00:00+01:00"},
		{"the start past the end", timed, `{"starts_at":"2019-04-11 10:01"}`, "ends_at is before the start"},
		{"the start of an all-day event", allDay, `{"starts_at_text":"2019-04-11"}`,
			"2019-04-11T00:00:00+01:00 to 2019-04-12T00:00:00+01:00 all day"},
		{"the start of an all-day event past its end", allDay, `{"starts_at_text":"2019-04-12"}`,
			"ends_at is before the start"},
		{"the end alone, set A all-day, inclusive", allDay, `{"ends_at_text":"2019-04-12"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-13T00:00:00+01:00 all day"},
		{"the end alone, set B all-day, exclusive", allDay, `{"ends_at":"2019-04-13"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-13T00:00:00+01:00 all day"},
		{"the end alone, before the start", timed, `{"ends_at":"2019-04-10 08:00"}`, "ends_at is before the start"},
		{"both", timed, `{"starts_at":"2020-04-10 09:00","ends_at":"2020-04-10 10:00"}`,
			"2020-04-10T09:00:00+01:00 to 2020-04-10T10:00:00+01:00"},
		{"a blank end in set A is the default end", timed, `{"ends_at_text":""}`,
			"2019-04-10T09:00:00+01:00 to 2019-04-10T09:00:00+01:00"},
		{"a blank end in set A is the default end, all-day", allDay, `{"ends_at_text":""}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-11T00:00:00+01:00 all day"},
		{"a blank end in set B", timed, `{"ends_at":""}`, "ends_at can't be blank"},
		{"a blank start", timed, `{"starts_at":""}`, "starts_at can't be blank"},
		{"timed to all-day, set A: whole days touched", timed, `{"all_day_field":true}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-12T00:00:00+01:00 all day"},
		{"timed to all-day, set B: whole days touched", timed, `{"all_day":true}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-12T00:00:00+01:00 all day"},
		{"zero length to all-day: its day", point, `{"all_day":true}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-11T00:00:00+01:00 all day"},
		{"all-day to timed keeps the midnights", allDay, `{"all_day_field":false}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-12T00:00:00+01:00"},
		{"the flag as it was", allDay, `{"all_day":true}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-12T00:00:00+01:00 all day"},
		{"to all-day with a new start", timed, `{"all_day_field":true,"starts_at_text":"2019-04-09 12:00"}`,
			"2019-04-09T00:00:00+01:00 to 2019-04-12T00:00:00+01:00 all day"},
		{"to all-day, a start given in set B must be a midnight", timed,
			`{"all_day":true,"starts_at":"2019-04-09 12:00"}`, "starts_at is not a date"},
		{"to timed with a new end", allDay, `{"all_day":false,"ends_at":"2019-04-10 09:00"}`,
			"2019-04-10T00:00:00+01:00 to 2019-04-10T09:00:00+01:00"},
		{"mixed", timed, `{"all_day":true,"ends_at_text":"2019-04-12"}`, "starts_at " + mixedSets},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, faults := z.ChangeSpan(c.old, fields(t, c.body))
			valuetest.Same(t, show(z, s, faults), c.want, c.body)
		})
	}
}

func TestPart4_AFaultLeavesTheOtherFieldsOfTheSpan(t *testing.T) {
	z := zone(t, "Europe/London")
	stored, _ := z.NewSpan(fields(t, `{"starts_at":"2019-04-10 09:00","ends_at":"2019-04-10 10:00"}`))
	const noTime, ten, eleven = "0000-12-31T23:58:45-00:01", "2019-04-10T10:00:00+01:00", "2019-04-10T11:00:00+01:00"
	const nine = "2019-04-10T09:00:00+01:00"
	for body, want := range map[string]struct{ made, changed string }{
		`{"starts_at":"2019-04-10 11:00","ends_at":"soon"}`:       {eleven + " to " + noTime, eleven + " to " + ten},
		`{"starts_at":"soon","ends_at":"2019-04-10 11:00"}`:       {noTime + " to " + eleven, nine + " to " + eleven},
		`{"starts_at":"2019-04-10 11:00","ends_at":"2019-04-09"}`: {eleven + " to " + noTime, eleven + " to " + ten},
		`{"starts_at_text":"soon"}`:                               {noTime + " to " + noTime, nine + " to " + ten},
		`{"starts_at_text":"2019-04-10","ends_at":"2019-04-11"}`:  {noTime + " to " + noTime, nine + " to " + ten},
		`{"all_day":true,"starts_at":"2019-04-10 11:00","ends_at":"2019-04-12"}`: {
			noTime + " to 2019-04-12T00:00:00+01:00 all day", nine + " to 2019-04-12T00:00:00+01:00 all day"},
	} {
		made, faults := z.NewSpan(fields(t, body))
		if got := show(z, made, nil); faults == nil || got != want.made {
			t.Errorf("new, %s: %s, faults %v; want %s", body, got, faults, want.made)
		}
		changed, faults := z.ChangeSpan(stored, fields(t, body))
		if got := show(z, changed, nil); faults == nil || got != want.changed {
			t.Errorf("changed, %s: %s, faults %v; want %s", body, got, faults, want.changed)
		}
	}
}

// drawFields draws the fields of one set, valid or not.
func drawFields(t *rapid.T, z Zone) SpanFields {
	text := func(name string) *string {
		at := drawMinute(t)
		s := rapid.SampledFrom([]string{
			at.Format("2006-01-02"), at.Format("2006-01-02 15:04"), at.Format("2006-01-02T15:04:05Z"),
			z.Format(at), z.Format(z.Midnight(z.DayOf(at))), "", "soon",
		}).Draw(t, name)
		return rapid.SampledFrom([]*string{&s, &s, &s, nil}).Draw(t, name+" given")
	}
	yes, no := true, false
	flag := rapid.SampledFrom([]*bool{nil, &yes, &no}).Draw(t, "flag")
	if rapid.Bool().Draw(t, "set A") {
		return SpanFields{AllDayField: flag, StartsAtText: text("start"), EndsAtText: text("end")}
	}
	return SpanFields{AllDay: flag, StartsAt: text("start"), EndsAt: text("end")}
}

func checkSpan(t *rapid.T, z Zone, s Span) {
	if s.Ends.Before(s.Starts) || s.Starts.Nanosecond() != 0 || s.Ends.Nanosecond() != 0 {
		t.Fatalf("span %+v", s)
	}
	if s.AllDay && (!z.Midnight(z.DayOf(s.Starts)).Equal(s.Starts) || !z.Midnight(z.DayOf(s.Ends)).Equal(s.Ends) ||
		s.Ends.Equal(s.Starts)) {
		t.Fatalf("all-day span %s", show(z, s, nil))
	}
	if days := z.Days(s.Starts, s.Ends); days.First < FirstEventDay || days.Last > LastEventDay {
		t.Fatalf("span %s touches the days %v", show(z, s, nil), days)
	}
}

func TestPart4_2_SpansAreWholeAndComeBackAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZone(t)
		s, faults := z.NewSpan(drawFields(t, z))
		if faults != nil {
			return
		}
		checkSpan(t, z, s)
		starts, ends := z.Format(s.Starts), z.Format(s.Ends)
		again, faults := z.NewSpan(SpanFields{AllDay: &s.AllDay, StartsAt: &starts, EndsAt: &ends})
		if faults != nil || !again.Equal(s) {
			t.Fatalf("%s read back as set B: %s", show(z, s, nil), show(z, again, faults))
		}
		if !s.AllDay {
			return
		}
		days := z.Days(s.Starts, s.Ends)
		starts, ends = days.First.String(), days.Last.String()
		again, faults = z.NewSpan(SpanFields{AllDayField: &s.AllDay, StartsAtText: &starts, EndsAtText: &ends})
		if faults != nil || !again.Equal(s) {
			t.Fatalf("%s read back as set A: %s", show(z, s, nil), show(z, again, faults))
		}
	})
}

func TestPart4_2_Rule10_ChangesKeepWhatIsNotGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZone(t)
		old, faults := z.NewSpan(drawFields(t, z))
		if faults != nil {
			return
		}
		f := drawFields(t, z)
		s, faults := z.ChangeSpan(old, f)
		if faults != nil {
			return
		}
		checkSpan(t, z, s)
		sameFlag := s.AllDay == old.AllDay
		if f.StartsAt == nil && f.StartsAtText == nil && sameFlag && !s.Starts.Equal(old.Starts) {
			t.Fatalf("the start moved from %s to %s", show(z, old, nil), show(z, s, nil))
		}
		if f.EndsAt == nil && f.EndsAtText == nil && sameFlag && !s.Ends.Equal(old.Ends) {
			t.Fatalf("the end moved from %s to %s", show(z, old, nil), show(z, s, nil))
		}
		if f.AllDay == nil && f.AllDayField == nil && !sameFlag {
			t.Fatalf("the flag changed from %s to %s", show(z, old, nil), show(z, s, nil))
		}
	})
}
