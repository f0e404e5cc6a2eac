package walkthrough

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/emersion/go-ical"
)

// maxLine is the greatest length of a content line in octets, without its line break (RFC 5545, 3.1).
const maxLine = 75

// readCalendar reads a calendar with a parser of another library than the one that wrote it, and checks what that
// parser tolerates.
func (w *walk) readCalendar(a answer) *ical.Calendar {
	if w.err != nil {
		return ical.NewCalendar()
	}
	w.check("its type", "text/calendar; charset=utf-8", a.header.Get("Content-Type"))
	for line := range strings.SplitSeq(strings.TrimSuffix(string(a.body), "\r\n"), "\r\n") {
		if len(line) > maxLine || strings.ContainsAny(line, "\r\n") {
			w.differ(a.request, fmt.Sprintf("lines of at most %d octets", maxLine), line)
		}
	}
	read, err := ical.NewDecoder(bytes.NewReader(a.body)).Decode()
	if err != nil {
		w.differ(a.request, "a calendar", err.Error()+" of "+string(a.body))
		return ical.NewCalendar()
	}
	return read
}

// shownEntry returns the text of a calendar's event as the parser reads it.
func (w *walk) shownEntry(e ical.Event) string {
	summary, err := e.Props.Text(ical.PropSummary)
	starts, startFault := e.DateTimeStart(w.Zone)
	ends, endFault := e.DateTimeEnd(w.Zone)
	if err != nil || startFault != nil || endFault != nil {
		return fmt.Sprint(err, startFault, endFault)
	}
	form := "2006-01-02 15:04"
	if e.Props.Get(ical.PropDateTimeStart).ValueType() == ical.ValueDate {
		form = time.DateOnly
	}
	return fmt.Sprintf("%s: %s to %s", summary, starts.In(w.Zone).Format(form), ends.In(w.Zone).Format(form))
}

func calendars(w *walk) {
	day := w.call(w.owner, "POST", "/api/events", fields{"elements": sent(w.choir), "event": fields{
		"body": "Choir, away", "event_category_id": sent(w.concert)[0], "starts_at_text": w.date(2),
		"ends_at_text": w.date(4), "all_day_field": true,
	}}, 200)
	read := func(as *person, address string, want ...string) *ical.Calendar {
		c := w.readCalendar(w.call(as, "GET", address, nil, 200))
		got := []string{}
		for _, e := range c.Events() {
			got = append(got, w.shownEntry(e))
		}
		w.check("another parser reads", append([]string{}, want...), got)
		return c
	}
	concert := fmt.Sprintf("%s: %s 19:30 to %s 21:30", title, w.date(0), w.date(0))
	lesson := fmt.Sprintf("Voices: %s 13:00 to %s 14:00", w.date(1), w.date(1))
	away := fmt.Sprintf("Choir, away: %s to %s", w.date(2), w.date(5)) // the end is exclusive
	ofKai := path("/api/elements/%d/calendar.ics", w.kai)
	read(w.owner, path("/api/elements/%d/calendar.ics", w.calendar), concert,
		fmt.Sprintf("Open day: %s 09:00 to %s 10:00", w.date(5), w.date(5)))
	read(w.owner, path("/api/elements/%d/calendar.ics", w.hall)) // one was rejected, one is only requested
	before := read(w.owner, ofKai, concert, lesson, away)
	w.check("it describes its zone", []string{ical.CompTimezone, w.Zone.String()}, zoneOf(before))

	tagged := w.call(w.owner, "GET", ofKai, nil, 200)
	since := http.Header{"If-None-Match": {tagged.header.Get("ETag")}}
	w.callWith(w.owner, "GET", ofKai, nil, since, 304, exactly(""))
	w.call(w.owner, "PATCH", path("/api/events/%d", day.id("event.id")),
		fields{"event": fields{"body": "Choir in Wales"}}, 200)
	changed := w.readCalendar(w.callWith(w.owner, "GET", ofKai, nil, since, 200))
	w.check("the changed event's UID, and whether its SEQUENCE rose",
		fields{"uid": lastProperty(before, ical.PropUID), "rose": true},
		fields{"uid": lastProperty(changed, ical.PropUID),
			"rose": lastProperty(before, ical.PropSequence) < lastProperty(changed, ical.PropSequence)})
	away = strings.Replace(away, "Choir, away", "Choir in Wales", 1)

	feeds := path("/api/elements/%d/feeds", w.kai)
	renewed := func() (id int64, address string) {
		a := w.call(w.pupil, "POST", feeds, nil, 200, is("status", "Created"))
		return a.id("feed.id"), a.text("feed.path")
	}
	_, first := renewed()
	read(nil, first, concert, lesson, away)
	w.callWith(nil, "GET", first, nil,
		http.Header{"If-None-Match": {w.call(nil, "GET", first, nil, 200).header.Get("ETag")}}, 304, exactly(""))
	id, second := renewed()
	w.call(nil, "GET", first, nil, 404, exactly(notFound))
	read(nil, second, concert, lesson, away)
	w.call(w.owner, "DELETE", path("%s/%d", feeds, id), nil, 404, is("exception", "RecordNotFound"))
	w.call(w.pupil, "DELETE", path("%s/%d", feeds, id), nil, 200, exactly(okBody))
	w.call(nil, "GET", second, nil, 404, exactly(notFound))
}

// zoneOf returns the name and the zone of a calendar's first component.
func zoneOf(c *ical.Calendar) []string {
	if len(c.Children) == 0 || c.Children[0].Props.Get(ical.PropTimezoneID) == nil {
		return nil
	}
	return []string{c.Children[0].Name, c.Children[0].Props.Get(ical.PropTimezoneID).Value}
}

// lastProperty returns a property of a calendar's last event, "" when there is none.
func lastProperty(c *ical.Calendar, name string) string {
	events := c.Events()
	if len(events) == 0 || events[len(events)-1].Props.Get(name) == nil {
		return ""
	}
	return events[len(events)-1].Props.Get(name).Value
}

func notes(w *walk) {
	ofEvent := path("/api/events/%d/notes", w.event)
	made := w.call(w.owner, "POST", ofEvent, fields{"note": fields{"contents": "Bring *music*."}}, 200,
		is("note.formatted_contents", "<p>Bring <em>music</em>.</p>\n"), is("note.owner.id", w.owner.id))
	note := path("/api/notes/%d", made.id("note.id"))
	w.call(w.keeper, "GET", ofEvent, nil, 200, is("notes.*.contents", []string{"Bring *music*."}))
	w.call(w.pupil, "GET", ofEvent, nil, 200, is("notes", []any{}))
	w.call(w.owner, "PUT", note, fields{"note": fields{"visible_pupil": true}}, 200, is("note.visible_pupil", true),
		is("note.parent.id", w.event))
	w.call(w.pupil, "GET", note, nil, 200, is("note.contents", "Bring *music*."))
	w.call(w.keeper, "PUT", note, fields{"note": fields{"contents": "mine"}}, 403, exactly(forbidden))
	w.call(w.owner, "DELETE", strings.TrimPrefix(note, "/api"), nil, 200, exactly(okBody))
	w.call(w.owner, "DELETE", strings.TrimPrefix(note, "/api"), nil, 404, is("status", "Not found"))
}
