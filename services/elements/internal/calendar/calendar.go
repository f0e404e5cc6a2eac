// Package calendar writes the part of iCalendar (RFC 5545) that a schedule's feed needs: one VTIMEZONE, and events that
// don't recur. Libraries were tried: emersion/go-ical does not fold lines and sorts properties; arran4/golang-ical
// folds at words and escapes parameter values in a way that is not in the RFC. The tests read calendars with both.
package calendar

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Calendar is a feed.
type Calendar struct {
	Name   string
	Zone   wiretime.Zone
	From   time.Time // to To: the zone is described at least for this time
	To     time.Time
	Events []Event
}

// Event is an event of a feed.
type Event struct {
	UID      string
	Sequence int64
	Modified time.Time
	Summary  string
	Location string // empty when there is none
	Starts   time.Time
	Ends     time.Time // the same as Starts for an event without length
	AllDay   bool      // both are midnights of the zone
	Busy     bool
}

const (
	// maxLine is the greatest length of a line in octets, without its end.
	maxLine = 75

	// refreshEvery is how often programs are asked to read a calendar again.
	refreshEvery = "PT1H"

	dateForm  = "20060102"
	localForm = "20060102T150405"
	utcForm   = "20060102T150405Z"
)

// Encode returns the calendar as text; the text of the same calendar is always the same.
func Encode(c Calendar) []byte {
	w := &writer{zone: c.Zone}
	w.line("BEGIN:VCALENDAR")
	w.line("VERSION:2.0")
	w.line("PRODID:-//Belfry//Belfry//EN")
	w.line("CALSCALE:GREGORIAN")
	w.text("NAME", c.Name) // RFC 7986
	w.text("X-WR-CALNAME", c.Name)
	w.line("REFRESH-INTERVAL;VALUE=DURATION:" + refreshEvery) // RFC 7986
	w.line("X-PUBLISHED-TTL:" + refreshEvery)                 // the same for programs that don't know it
	w.timezone(c)
	for _, e := range c.Events {
		w.event(e)
	}
	w.line("END:VCALENDAR")
	return []byte(w.String())
}

type writer struct {
	strings.Builder
	zone wiretime.Zone
}

// timezone describes the zone, by one observance for each change of the clock, for the years of the window and of all
// events. They are whole years, so that the text does not change from day to day.
func (w *writer) timezone(c Calendar) {
	times := []time.Time{c.From, c.To}
	for _, e := range c.Events {
		times = append(times, e.Starts, e.Ends)
	}
	from, to := slices.MinFunc(times, time.Time.Compare), slices.MaxFunc(times, time.Time.Compare)
	w.line("BEGIN:VTIMEZONE")
	w.line("TZID:" + c.Zone.String())
	for _, change := range c.Zone.ClockChanges(newYear(from.UTC().Year()), newYear(to.UTC().Year()+1)) {
		kind := "STANDARD"
		if change.Summer {
			kind = "DAYLIGHT"
		}
		w.line("BEGIN:" + kind)
		shown := change.At.Add(time.Duration(change.Before) * time.Second) // by the clock as it was before
		w.line("DTSTART:" + shown.Format(localForm))
		w.line("TZOFFSETFROM:" + offset(change.Before))
		w.line("TZOFFSETTO:" + offset(change.After))
		w.text("TZNAME", change.Name)
		w.line("END:" + kind)
	}
	w.line("END:VTIMEZONE")
}

func newYear(year int) time.Time { return time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC) }

func (w *writer) event(e Event) {
	w.line("BEGIN:VEVENT")
	w.text("UID", e.UID)
	w.line("DTSTAMP:" + e.Modified.UTC().Format(utcForm)) // without METHOD, the same as LAST-MODIFIED (3.8.7.2)
	w.line("LAST-MODIFIED:" + e.Modified.UTC().Format(utcForm))
	w.line(fmt.Sprintf("SEQUENCE:%d", e.Sequence))
	w.moment("DTSTART", e.Starts, e.AllDay)
	if e.Ends.After(e.Starts) { // an event without length has no end (3.6.1)
		w.moment("DTEND", e.Ends, e.AllDay)
	}
	w.text("SUMMARY", e.Summary)
	if e.Location != "" {
		w.text("LOCATION", e.Location)
	}
	if !e.Busy {
		w.line("TRANSP:TRANSPARENT")
	}
	w.line("END:VEVENT")
}

// moment writes a date, or a time in the zone. A time that the clock shows twice, since it was set back, means the
// first instant in the zone (3.3.5). The second instant is written in UTC.
func (w *writer) moment(name string, at time.Time, date bool) {
	shown, first := w.zone.Clock(at)
	switch {
	case date:
		w.line(name + ";VALUE=DATE:" + w.zone.DayOf(at).Date().Format(dateForm))
	case first:
		w.line(name + ";TZID=" + w.zone.String() + ":" + shown.Format(localForm))
	default:
		w.line(name + ":" + at.UTC().Format(utcForm))
	}
}

var escape = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\r", `\n`, "\n", `\n`)

// text writes a property with text. It leaves out control characters, which text can't have.
func (w *writer) text(name, value string) {
	w.line(name + ":" + strings.Map(func(r rune) rune {
		if (r < ' ' && r != '\t') || r == 0x7f {
			return -1
		}
		return r
	}, escape.Replace(value)))
}

// line writes a content line, folded so that none has more than 75 octets and no character is cut.
func (w *writer) line(text string) {
	for room := maxLine; len(text) > room; room = maxLine - 1 { // the space that begins a folded line counts
		cut := room
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		w.WriteString(text[:cut] + "\r\n ")
		text = text[cut:]
	}
	w.WriteString(text + "\r\n")
}

// offset returns a UTC offset (3.3.14), with seconds only if there are any.
func offset(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	text := fmt.Sprintf("%c%02d%02d", sign, seconds/3600, seconds/60%60)
	if rest := seconds % 60; rest != 0 {
		text += fmt.Sprintf("%02d", rest)
	}
	return text
}
