package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// wing is some rooms that no other test has: their names begin with the same word.
type wing struct {
	word  string
	admin *servicetest.Client
	rooms []int64 // in the order of their names
	kind  int64   // a category
}

func newWing(t *testing.T, rooms int) wing {
	t.Helper()
	w := wing{word: "Wing-" + uuid.NewString()[:8], admin: system.Get(t).Admin(t)}
	w.kind = w.admin.Import(t, "eventcategories", map[string]any{"key": w.word, "name": w.word, "busy": true})[w.word]
	var records []map[string]any
	for i := range rooms {
		name := fmt.Sprintf("%s %03d", w.word, i)
		records = append(records, map[string]any{"key": name, "name": name})
	}
	ids := w.admin.Import(t, "locations", records...)
	for _, record := range records {
		w.rooms = append(w.rooms, ids[record["key"].(string)])
	}
	return w
}

// book creates an event in one of the rooms.
func (w wing) book(t *testing.T, room int, title, starts, ends string) int64 {
	t.Helper()
	var made servicetest.Booking
	w.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": title, "category": w.kind,
		"starts_at_text": starts, "ends_at_text": ends}, "elements": []int64{w.rooms[room]}}).
		Must(t, http.StatusOK).Decode(t, &made)
	return made.Event.ID
}

// path is the address of the board with these rooms alone.
func (w wing) path(more string) string {
	return "/rooms?date=2031-03-04&find=" + w.word + more
}

// row is the row of a room, as script finds it.
func (w wing) row(room int) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".room")].find((it) =>
		it.querySelector("h3").textContent === "%s %03d")`, w.word, room)
}

func TestRooms_ShowsWhatIsTakenAndFree(t *testing.T) {
	school := newWing(t, 3)
	event := school.book(t, 0, "Choir <b>& friends</b>", "2031-03-04 09:00", "2031-03-04 10:30")
	school.book(t, 0, strings.Repeat("Long ", 24), "2031-03-04 10:00", "2031-03-04 12:00")
	for _, noScript := range []bool{false, true} {
		w := open(t, options{noScript: noScript, as: school.admin})
		w.visit(school.path(""))
		shown := ask[[]string](w, `[...%s.querySelectorAll("li")].map((it) =>
			it.textContent.replace(/\s+/g, " ").trim())`, school.row(0))
		if len(shown) != 4 || !strings.Contains(shown[0], "08:00–09:00") ||
			!strings.Contains(shown[1], "Choir <b>& friends</b>") || !strings.Contains(shown[3], "12:00–17:00") {
			t.Errorf("the row has %q", shown)
		}
		to := ask[string](w, `%s.querySelectorAll("li a")[1].pathname`, school.row(0))
		valuetest.Same(t, to, fmt.Sprintf("/events/%d", event), "the event is at")
		w.everyWidth("day")
		w.visit(school.path("&days=5"))
		w.everyWidth("five-days")
		w.visit(school.path("&from=09:30&to=10:30"))
		valuetest.Same(t, ask[int](w, `document.querySelectorAll(".room").length`), 2, "rooms are free")
		to = ask[string](w, `%s.querySelector(".free a").search`, school.row(1))
		valuetest.Same(t, to, fmt.Sprintf("?date=2031-03-04&from=09%%3A30&to=10%%3A30&who=%d", school.rooms[1]),
			"a free room is booked at …")
	}
}

func TestRooms_SaysWhatIsWrongWithTheForm(t *testing.T) {
	w := open(t, options{as: system.Get(t).Admin(t)})
	for _, query := range []string{
		"date=2031-02-30", "type=Pupil", "from=10:00&to=09:00", "from=09:00", "from=x&to=y",
	} {
		w.visit("/rooms?" + query)
		if fault := ask[string](w, `document.querySelector("[role=alert]").textContent`); fault == "" {
			t.Errorf("%s: nothing is said", query)
		}
	}
	w.everyWidth("fault")
	w.visit("/rooms?find=" + uuid.NewString())
	w.everyWidth("none")
}

// at is the query of the page that the window is at.
func (w *window) at() url.Values {
	w.t.Helper()
	query, err := url.ParseQuery(strings.TrimPrefix(ask[string](w, "location.search"), "?"))
	w.must(err)
	return query
}

func TestRooms_ADragChoosesTheTime(t *testing.T) {
	school := newWing(t, 1)
	for _, trial := range []struct {
		press, release int // minutes of the day
		from, to       string
	}{{545, 650, "09:00", "11:00"}, {650, 545, "09:00", "11:00"}, {545, 545, "09:00", "10:00"}} {
		w := open(t, options{as: school.admin})
		w.visit(school.path(""))
		place := ask[struct{ X, Y, Width float64 }](w,
			`(({x, y, width, height}) => ({x, y: y + height / 2, width}))(
				%s.querySelector(".line").getBoundingClientRect())`, school.row(0))
		x := func(minute int) float64 { return place.X + place.Width*float64(minute-480)/540 }
		w.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x(trial.press), place.Y,
			chromedp.ButtonLeft, chromedp.ClickCount(1)),
			chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x(trial.release), place.Y, chromedp.ButtonLeft))
		if trial.press == 545 && trial.release == 650 {
			w.keep("drag")
		}
		w.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x(trial.release), place.Y,
			chromedp.ButtonLeft, chromedp.ClickCount(1)))
		w.await(`location.pathname === "/book"`)
		if at := w.at(); at.Get("from") != trial.from || at.Get("to") != trial.to ||
			at.Get("who") != fmt.Sprint(school.rooms[0]) {
			t.Errorf("%d to %d: %v", trial.press, trial.release, at)
		}
	}
}

func TestRooms_TheKeyboardAloneFindsAndBooks(t *testing.T) {
	school := newWing(t, 2)
	w := open(t, options{as: school.admin})
	w.visit("/rooms?date=2031-03-04")
	tab := func(until string) {
		t.Helper()
		for range 400 {
			if ask[bool](w, "document.activeElement?.matches(%q)", until) {
				return
			}
			w.do(chromedp.KeyEvent("\t"))
		}
		t.Fatalf("Tab does not lead to %s", until)
	}
	tab("#find")
	w.do(chromedp.KeyEvent(school.word + " 001\r"))
	w.await(`document.querySelectorAll(".room").length === 1`)
	tab(".free a")
	w.do(chromedp.KeyEvent("\r"))
	w.await(`location.pathname === "/book"`)
	at := w.at()
	if at.Get("who") != fmt.Sprint(school.rooms[1]) || at.Get("from") != "08:00" || at.Get("to") != "17:00" {
		t.Errorf("%v", at)
	}
}

// TestRooms_TwoHundredTakeThreeCalls counts the calls of the interface that one page makes, by its request's id.
func TestRooms_TwoHundredTakeThreeCalls(t *testing.T) {
	school := newWing(t, 200)
	s := system.Get(t)
	visitor := servicetest.Connect(servicetest.ClientOptions{URL: s.URL, Undocumented: true})
	visitor.SetSessionCookie(school.admin.SessionCookie())
	a := visitor.Get(t, school.path("&from=09:00&to=10:00")).Must(t, http.StatusOK)
	valuetest.Same(t, strings.Count(a.Body, `class="room"`), 200, "rooms")
	id, calls := a.Header.Get("X-Request-Id"), []string(nil)
	for line := range strings.Lines(s.Logs()) {
		if strings.Contains(line, id) && strings.Contains(line, `"route":"/api/`) {
			calls = append(calls, line)
		}
	}
	if len(calls) == 0 || len(calls) > 3 {
		t.Errorf("%d calls: %s", len(calls), slices.Collect(slices.Values(calls)))
	}
}
