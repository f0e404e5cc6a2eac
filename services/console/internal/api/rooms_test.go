package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/board"
	"github.com/belfry-schools/belfry/services/console/internal/page"
)

// heaviest bounds a page, as it is sent, in bytes: the console's own promise for all of its parts together.
const heaviest = 100_000

// render makes a page of a body in both languages, and returns the English one.
func render(t *testing.T, name string, body any) string {
	t.Helper()
	zone, err := wiretime.LoadZone("Europe/London")
	errortest.None(t, err)
	pages, err := page.New(page.Options{Zone: zone})
	errortest.None(t, err)
	var english string
	for _, language := range []string{"de", "en"} {
		now := time.Date(2026, 11, 24, 9, 31, 0, 0, time.UTC)
		text, err := pages.Render(name, page.Frame{Texts: pages.Texts(language, now), Nonce: "nonce", Body: body,
			Me: &page.Me{Permissions: api.Permissions{CanAddEvents: true}}, Now: now})
		errortest.None(t, err)
		if english = string(text); strings.Contains(english, "ZgotmplZ") || strings.Contains(english, "%!") {
			t.Errorf("%s: a value does not fit where it is shown: %s", language, english)
		}
	}
	return english
}

// school is a number of rooms with eight bookings a day, from 24 November 2026 on.
func school(rooms, days int) []board.Thing {
	things := make([]board.Thing, rooms)
	for i := range things {
		things[i] = board.Thing{ID: int64(i + 1), Name: fmt.Sprintf("Building %d room %d", i/20, i)}
		for n := range days * 8 {
			starts := time.Date(2026, 11, 24+n/8, 9+n%8, 0, 0, 0, time.UTC)
			things[i].Bookings = append(things[i].Bookings, board.Booking{Event: int64(i*100 + n), Who: "HGO",
				Title: fmt.Sprintf("%d Mathematics %d", 7+i%7, n), Starts: starts, Ends: starts.Add(50 * time.Minute)})
		}
	}
	return things
}

func roomsOf(things []board.Thing, five bool) roomsBody {
	zone, _ := wiretime.LoadZone("Europe/London")
	day, _ := wiretime.ParseDay("2026-11-24")
	body := roomsBody{Form: boardForm{Type: boardTypes[0], Date: day, Five: five}, Types: boardTypes, Rows: len(things),
		Of: len(things)}
	body.Board = board.New(things, board.Options{Zone: zone, Days: body.Form.days(), Now: zone.Midnight(day)})
	body.Style = template.CSS(body.Board.Style()) // #nosec G203 -- as the page's
	return body
}

// What keeps nothing busy takes nothing, as for the interface.
func TestRooms_WhatKeepsNothingBusyIsFree(t *testing.T) {
	d := newDesk(t)
	d.ask("Choir", "2031-03-04 12:00", "2031-03-04 13:00", d.hall)
	d.idle().ask("Exhibition", "2031-03-03", "2031-03-06", d.hall)
	path := "/rooms?date=2031-03-04&find=" + d.word
	for _, trial := range []struct{ query, shown, hidden string }{
		{"", `title="all day Exhibition `, "00:00"},
		{"", "from=08%3A00&amp;to=12%3A00&amp;who=" + fmt.Sprint(d.hall), "from=12%3A00"},
		{"&days=5", "free 08:00–12:00 13:00–17:00", "booked all day"},
		{"&from=10:00&to=11:00", "One of ", "from=10%3A00&amp;to=11%3A00&amp;who=" + fmt.Sprint(d.hall) + `" data-from="780"`},
		{"&from=12:00&to=13:00", "0 of ", "Exhibition"},
		{"&type=Service&from=12:00&to=13:00", "Bus 1 " + d.word, "Hall"},
		{"&type=Staff&days=5", `href="/rooms?type=Staff&amp;find=` + d.word + `&amp;days=5">Today`, "Hall"},
	} {
		page := d.deciders[0].open(path+trial.query, 200, trial.shown)
		valuetest.Lacks(t, page, trial.hidden, "%s shows %s", trial.query, trial.hidden)
	}
}

// Visitors who may not book are offered nothing to book, and pupils nothing to decide or to cover.
func TestPages_OfferWhatTheVisitorMayDo(t *testing.T) {
	d, b := newDesk(t), signedInAs(t, map[string]any{"kind": "pupil"})
	page := b.open("/rooms?date=2031-03-04&find="+d.word, 200, "Hall "+d.word, ">free </span>08:00–17:00")
	for _, path := range []string{"/book", "/inbox", "/cover"} {
		valuetest.Lacks(t, page, `href="`+path, "a pupil is led to %s", path)
	}
	b.open("/cover", 403, "You may not do that")
}

func TestRooms_TwoHundredAreALightPage(t *testing.T) {
	for _, five := range []bool{false, true} {
		text := render(t, "rooms", roomsOf(school(200, 5), five))
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write([]byte(text + page.Style() + page.Script("rooms")))
		if err := w.Close(); err != nil || packed.Len() > heaviest {
			t.Errorf("five days %t: %d bytes, %d packed: %v", five, len(text), packed.Len(), err)
		}
	}
}

func TestRooms_ShowsWhatPeopleTypeAsText(t *testing.T) {
	things := school(2, 1)
	things[0].Name, things[1].Name = "<script>alert(1)</script>", strings.Repeat("W", 120)
	things[1].Bookings[0].Title, things[1].Bookings[0].State = `"><img src=x>`, "requested"
	text := render(t, "rooms", roomsOf(things, false))
	for _, wanted := range []string{
		"&lt;script&gt;alert(1)", things[1].Name, "&#34;&gt;&lt;img", "◌ requested", ">09:00–09:50 <",
		`href="/book?date=2026-11-24&amp;from=08%3A00&amp;to=09%3A00&amp;who=1"`, ".p540-590{grid-column:13/23}",
	} {
		valuetest.Has(t, text, wanted, "the page")
	}
}

func TestRooms_BookingsAtOnceAreAllShown(t *testing.T) {
	things := school(1, 1)
	for n := range 40 {
		b := things[0].Bookings[0]
		b.Event = int64(1000 + n)
		things[0].Bookings = append(things[0].Bookings, b)
	}
	text := render(t, "rooms", roomsOf(things, false))
	if n := strings.Count(text, `href="/events/`); n != 48 || !strings.Contains(text, ".lane41{grid-row:41}") {
		t.Errorf("%d events are shown, want 48 in 41 lanes", n)
	}
}

func TestScreen_ShowsNowAndNext(t *testing.T) {
	zone, _ := wiretime.LoadZone("Europe/London")
	now := time.Date(2026, 11, 24, 9, 31, 0, 0, time.UTC)
	things := school(2, 1)
	things[1].Bookings = nil
	body := screenBody{Rooms: "1,2", Zone: zone.String()}
	for _, thing := range things {
		body.Signs = append(body.Signs, board.NewSign(thing, zone, now))
	}
	text := render(t, "screen", body)
	for _, wanted := range []string{
		"until 09:50", "10:00–10:50", "Free for the rest of the day", "Nothing more today",
		`data-zone="Europe/London"`,
	} {
		valuetest.Has(t, text, wanted, "the screen")
	}
}

func TestScreen_TakesOneToTwentyNumbers(t *testing.T) {
	screenIDs := func(text string) ([]int64, error) { return readEach(strings.Split(text, ","), screenRooms) }
	if ids, _ := screenIDs("91, 92"); len(ids) != 2 || ids[1] != 92 {
		t.Errorf("%v", ids)
	}
	ids, _ := screenIDs(strings.Repeat("1,", screenRooms-1) + "1")
	valuetest.Same(t, len(ids), screenRooms, "ids")
	many := strings.Repeat("1,", screenRooms) + "1"
	for _, bad := range []string{"", "x", "0", "-1", "1,,2", many, "99999999999999999999"} {
		ids, err := screenIDs(bad)
		errortest.Some(t, err, "%q: %v", bad, ids)
	}
}

// A time that the clock skips was answered as if a part of Belfry were away.
func TestRooms_ATimeThatTheClockSkips(t *testing.T) {
	newBooker(t).open("/rooms?date=2026-03-29&from=01:30&to=03:00", 400, "Write both times")
}

// The times that were typed were lost.
func TestRooms_AFaultKeepsWhatWasTyped(t *testing.T) {
	s := newBooker(t)
	s.open("/rooms?from=9&to=", 400, "Write both times", `value="09:00"`)
	s.open("/rooms?date=never&from=9&to=10", 400, "Write the date", `value="09:00"`, `value="10:00"`)
}

// An event of several days read as if it were over on each of them.
func TestWeek_AnEventOfSeveralDaysSaysBoth(t *testing.T) {
	s := newBooker(t)
	s.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Trip", "category": s.kind,
		"starts_at_text": "2031-03-04 09:00", "ends_at_text": "2031-03-06 15:00"}, "elements": []int64{s.gym}}).
		Must(t, http.StatusOK)
	s.open(fmt.Sprintf("/week/%d?date=2031-03-05", s.gym), 200, "Tue 4 Mar 2031 09:00 to Thu 6 Mar 2031 15:00")
}
