package calendar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"
	"github.com/emersion/go-ical"
	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func at(text string) time.Time {
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return parsed
}

func TestRFC5545_AFeedToTheLetter(t *testing.T) {
	z := timetest.Zone(t, "Europe/London")
	got := string(Encode(Calendar{
		Name: "R1; big, room", Zone: z, From: at("2026-01-10T00:00:00Z"), To: at("2026-12-01T00:00:00Z"),
		Events: []Event{
			{UID: "event-1@ns", Modified: at("2026-05-01T10:00:00Z"), Summary: "Maths", Location: "R1,R2",
				Starts: at("2026-05-04T08:00:00Z"), Ends: at("2026-05-04T09:00:00Z"), Busy: true},
			{UID: "event-2@ns", Sequence: 3, Modified: at("2026-05-01T10:00:01Z"), Summary: "Half\nterm\x07",
				AllDay: true, Starts: at("2026-05-24T23:00:00Z"), Ends: at("2026-05-29T23:00:00Z")},
			{UID: "event-3@ns", Modified: at("2026-05-01T10:00:00Z"), Summary: `a\b`,
				Starts: at("2026-10-25T00:30:00Z"), Ends: at("2026-10-25T01:30:00Z"), Busy: true},
			{UID: "event-4@ns", Modified: at("2026-05-01T10:00:00Z"), Summary: "bell",
				Starts: at("2026-06-01T11:00:00Z"), Ends: at("2026-06-01T11:00:00Z"), Busy: true},
		},
	}))
	want := `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Belfry//Belfry//EN
CALSCALE:GREGORIAN
NAME:R1\; big\, room
X-WR-CALNAME:R1\; big\, room
REFRESH-INTERVAL;VALUE=DURATION:PT1H
X-PUBLISHED-TTL:PT1H
BEGIN:VTIMEZONE
TZID:Europe/London
BEGIN:STANDARD
DTSTART:20260101T000000
TZOFFSETFROM:+0000
TZOFFSETTO:+0000
TZNAME:GMT
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:20260329T010000
TZOFFSETFROM:+0000
TZOFFSETTO:+0100
TZNAME:BST
END:DAYLIGHT
BEGIN:STANDARD
DTSTART:20261025T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0000
TZNAME:GMT
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:event-1@ns
DTSTAMP:20260501T100000Z
LAST-MODIFIED:20260501T100000Z
SEQUENCE:0
DTSTART;TZID=Europe/London:20260504T090000
DTEND;TZID=Europe/London:20260504T100000
SUMMARY:Maths
LOCATION:R1\,R2
END:VEVENT
BEGIN:VEVENT
UID:event-2@ns
DTSTAMP:20260501T100001Z
LAST-MODIFIED:20260501T100001Z
SEQUENCE:3
DTSTART;VALUE=DATE:20260525
DTEND;VALUE=DATE:20260530
SUMMARY:Half\nterm
TRANSP:TRANSPARENT
END:VEVENT
BEGIN:VEVENT
UID:event-3@ns
DTSTAMP:20260501T100000Z
LAST-MODIFIED:20260501T100000Z
SEQUENCE:0
DTSTART;TZID=Europe/London:20261025T013000
DTEND:20261025T013000Z
SUMMARY:a\\b
END:VEVENT
BEGIN:VEVENT
UID:event-4@ns
DTSTAMP:20260501T100000Z
LAST-MODIFIED:20260501T100000Z
SEQUENCE:0
DTSTART;TZID=Europe/London:20260601T120000
SUMMARY:bell
END:VEVENT
END:VCALENDAR
`
	want = strings.ReplaceAll(want, "\n", "\r\n")
	valuetest.Same(t, got, want)
}

func TestRFC5545_3_1_LinesFoldAt75OctetsAndCutNoCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé漢🎺,;\\ ")), 0, 300, -1).Draw(t, "text")
		w := &writer{}
		w.line("SUMMARY:" + text)
		folded := w.String()
		if !strings.HasSuffix(folded, "\r\n") ||
			strings.Join(strings.Split(strings.TrimSuffix(folded, "\r\n"), "\r\n "), "") != "SUMMARY:"+text {
			t.Fatalf("%q folded: %q", text, folded)
		}
		lines := strings.Split(strings.TrimSuffix(folded, "\r\n"), "\r\n")
		for i, line := range lines {
			if len(line) > 75 || !utf8.ValidString(line) || (i+1 < len(lines) && len(line) < 75-utf8.UTFMax) {
				t.Fatalf("line %d of %q has %d octets", i, folded, len(line))
			}
		}
	})
}

func drawCalendar(t *rapid.T) Calendar {
	c := Calendar{
		Name: drawText(t, "name"), From: at("2026-01-10T00:00:00Z"), To: at("2028-01-10T00:00:00Z"),
		Zone: timetest.Zone(t, rapid.SampledFrom([]string{"Europe/London", "America/New_York", "Australia/Lord_Howe",
			"Asia/Tokyo", "UTC"}).Draw(t, "zone")),
	}
	for n := range rapid.IntRange(0, 6).Draw(t, "events") {
		e := Event{
			UID: fmt.Sprintf("event-%d@ns", n), Sequence: rapid.Int64Range(0, 99).Draw(t, "sequence"),
			Modified: at("2026-05-01T10:00:00Z"),
			Summary:  drawText(t, "summary"), Location: drawText(t, "location"), Busy: rapid.Bool().Draw(t, "busy"),
			AllDay: rapid.Bool().Draw(t, "all day"),
		}
		around := at(rapid.SampledFrom([]string{"2026-03-28T00:00:00Z", "2026-10-24T12:00:00Z", "2027-11-06T20:00:00Z",
			"2026-04-04T10:00:00Z", "2020-01-01T00:00:00Z"}).Draw(t, "around"))
		e.Starts = around.Add(time.Duration(rapid.IntRange(0, 72*4).Draw(t, "quarters")) * 15 * time.Minute)
		e.Ends = e.Starts.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "length")) * 15 * time.Minute)
		if e.AllDay {
			e.Starts, e.Ends = c.Zone.Bounds(c.Zone.Days(e.Starts, e.Ends))
		}
		c.Events = append(c.Events, e)
	}
	return c
}

func drawText(t *rapid.T, name string) string {
	return rapid.StringOfN(rapid.RuneFrom([]rune("abcé漢🎺,;:\\\n\"' nN")), 1, 120, -1).Draw(t, name)
}

// times are the start and the end of an event as its own VTIMEZONE, and nothing else, makes them. It reads the
// description by the letter of 3.6.5: the observance in force is the one whose start was last, each start being
// local time before it.
func times(t *rapid.T, c *ical.Calendar, prop *ical.Prop) time.Time {
	if prop.Params.Get("TZID") == "" {
		value, err := time.Parse(utcForm, prop.Value)
		errortest.None(t, err)
		return value
	}
	wall, err := time.Parse(localForm, prop.Value)
	errortest.None(t, err)
	zone := c.Children[0]
	if zone.Name != ical.CompTimezone || zone.Props.Get("TZID").Value != prop.Params.Get("TZID") {
		t.Fatalf("no description of %s", prop.Params.Get("TZID"))
	}
	offset := func(observance *ical.Component, name string) time.Duration {
		value := observance.Props.Get(name).Value
		whole, err := time.Parse("1504", value[1:])
		errortest.None(t, err)
		d := time.Duration(whole.Hour())*time.Hour + time.Duration(whole.Minute())*time.Minute
		if value[0] == '-' {
			d = -d
		}
		return d
	}
	// The first instant that shows this clock time.
	var found time.Time
	for i, observance := range zone.Children {
		begins, err := time.Parse(localForm, observance.Props.Get("DTSTART").Value)
		errortest.None(t, err)
		begins = begins.Add(-offset(observance, "TZOFFSETFROM"))
		instant := wall.Add(-offset(observance, "TZOFFSETTO"))
		if instant.Before(begins) {
			continue
		}
		if i+1 < len(zone.Children) {
			next := zone.Children[i+1]
			ends, err := time.Parse(localForm, next.Props.Get("DTSTART").Value)
			errortest.None(t, err)
			if !instant.Before(ends.Add(-offset(next, "TZOFFSETFROM"))) {
				continue
			}
		}
		if found.IsZero() || instant.Before(found) {
			found = instant
		}
	}
	return found
}

func TestRFC5545_AnotherParserReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCalendar(t)
		text := Encode(c)
		read, err := ical.NewDecoder(bytes.NewReader(text)).Decode()
		errortest.None(t, err, "%s", text)
		events := read.Events()
		valuetest.MustSame(t, len(events), len(c.Events), "events\n%s", text)
		if err := ical.NewEncoder(&bytes.Buffer{}).Encode(read); err != nil { // checks what each component has to have
			t.Fatalf("%v\n%s", err, text)
		}
		for i, e := range c.Events {
			got := events[i]
			for name, want := range map[string]string{"UID": e.UID, "SUMMARY": e.Summary, "LOCATION": e.Location} {
				if value, err := got.Props.Text(name); err != nil || value != want {
					t.Fatalf("%s %q, %v, want %q\n%s", name, value, err, want, text)
				}
			}
			valuetest.MustSame(t, got.Props.Get("SEQUENCE").Value, fmt.Sprint(e.Sequence), "%s", text)
			starts, ends := got.Props.Get("DTSTART"), got.Props.Get("DTEND")
			switch {
			case e.AllDay:
				days := c.Zone.Days(e.Starts, e.Ends)
				if starts.ValueType() != ical.ValueDate ||
					starts.Value != strings.ReplaceAll(days.First.String(), "-", "") ||
					ends.Value != strings.ReplaceAll(days.Last.AddDays(1).String(), "-", "") {
					t.Fatalf("%v to %v\n%s", e.Starts, e.Ends, text)
				}
			case ends == nil:
				if !e.Ends.Equal(e.Starts) || !times(t, read, starts).Equal(e.Starts) {
					t.Fatalf("%v to %v\n%s", e.Starts, e.Ends, text)
				}
			default:
				if !times(t, read, starts).Equal(e.Starts) || !times(t, read, ends).Equal(e.Ends) {
					t.Fatalf("%v to %v, read as %v to %v\n%s", e.Starts, e.Ends, times(t, read, starts),
						times(t, read, ends), text)
				}
			}
		}
		third, err := ics.ParseCalendar(bytes.NewReader(text))
		valuetest.MustHold(t, err == nil && len(third.Events()) == len(c.Events), "the third parser: %v\n%s", err, text)
		for i, e := range third.Events() {
			valuetest.MustSame(t, e.GetProperty(ics.ComponentPropertySummary).Value, c.Events[i].Summary,
				"the third parser")
		}
	})
}

// debian reads a calendar from its standard input with both of Debian's libraries for it and prints what they make
// of each event.
const debian = `
import sys, json, icalendar, vobject
text = sys.stdin.buffer.read()
out = []
for e in icalendar.Calendar.from_ical(text).walk('VEVENT'):
    starts = e['DTSTART'].dt
    out.append([str(e['SUMMARY']), str(starts.timestamp() if hasattr(starts, 'timestamp') else starts)])
calendar = vobject.readOne(text.decode())
calendar.validate(raiseException=True)
for i, e in enumerate(calendar.vevent_list):
    out[i].append(str(e.summary.value))
    out[i].append(str(e.dtstart.value.timestamp() if hasattr(e.dtstart.value, 'timestamp') else e.dtstart.value))
json.dump(out, sys.stdout)
`

func TestRFC5545_DebiansLibrariesReadIt(t *testing.T) {
	const python = "/usr/bin/python3"
	if out, err := exec.CommandContext(t.Context(), python, "-c",
		"import icalendar, vobject").CombinedOutput(); err != nil {
		t.Fatalf("python3-icalendar and python3-vobject are needed (.ci/setup tests installs them): %v\n%s", err, out)
	}
	z := timetest.Zone(t, "Europe/London")
	summary := strings.Repeat("Ünïcode; 漢字, \"quoted\" \\ ", 8)
	starts := at("2026-07-01T08:00:00Z")
	text := Encode(Calendar{Name: "A", Zone: z, From: at("2026-01-10T00:00:00Z"), To: at("2028-01-10T00:00:00Z"),
		Events: []Event{
			{UID: "event-1@ns", Modified: starts, Summary: summary, Location: "R1", Starts: starts,
				Ends: starts.Add(time.Hour), Busy: true},
			{UID: "event-2@ns", Modified: starts, Summary: "day", AllDay: true, Starts: at("2026-07-01T23:00:00Z"),
				Ends: at("2026-07-02T23:00:00Z")},
			{UID: "event-3@ns", Modified: starts, Summary: "winter", Starts: at("2026-12-01T08:00:00Z"),
				Ends: at("2026-12-01T08:00:00Z")},
		}})
	command := exec.CommandContext(t.Context(), python, "-c", debian)
	command.Stdin = bytes.NewReader(text)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, complaints.String(), text)
	}
	var got [][]string
	errortest.None(t, json.Unmarshal(out, &got))
	summerTime, winterTime := fmt.Sprintf("%d.0", starts.Unix()), fmt.Sprintf("%d.0", at("2026-12-01T08:00:00Z").Unix())
	want := [][]string{{summary, summerTime, summary, summerTime}, {"day", "2026-07-02", "day", "2026-07-02"},
		{"winter", winterTime, "winter", winterTime}}
	valuetest.Same(t, fmt.Sprint(got), fmt.Sprint(want))
}
