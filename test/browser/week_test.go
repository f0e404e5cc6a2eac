package browser

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// timetable fills five days of one room with sixteen lessons each, and one that lasts all day.
func timetable(t *testing.T) wing {
	t.Helper()
	w := newWing(t, 1)
	for day := 3; day <= 7; day++ {
		date := fmt.Sprintf("2031-03-%02d", day)
		for hour := 7; hour < 23; hour++ {
			w.book(t, 0, fmt.Sprintf("Lesson with a long title %d", hour), fmt.Sprintf("%s %02d:00", date, hour),
				fmt.Sprintf("%s %02d:50", date, hour))
		}
	}
	w.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Open house", "category": w.kind,
		"all_day_field": true, "starts_at_text": "2031-03-04", "ends_at_text": "2031-03-05"},
		"elements": []int64{w.rooms[0]}}).Must(t, http.StatusOK)
	return w
}

var sheet = regexp.MustCompile(`/Type\s*/Page\b`)

func TestWeek_IsPrintedOnOneSheet(t *testing.T) {
	school := timetable(t)
	w := open(t, options{as: school.admin})
	w.visit(fmt.Sprintf("/week/%d?date=2031-03-04", school.rooms[0]))
	w.everyWidth("week")
	ofStyle := true // the style says that it is landscape
	printed, err := chromedp.Call(w.ctx, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: &ofStyle})
	w.must(err)
	w.write("print.pdf", printed.Data, nil)
	valuetest.Same(t, len(sheet.FindAll(printed.Data, -1)), 1, "sheets")
}

// press presses a key anywhere in the page, and waits for what comes of it, with the scripts of another page.
func (w *window) press(key, until string) {
	w.t.Helper()
	w.do(chromedp.KeyEvent(key))
	w.await(`(%s) && document.readyState === "complete"`, until)
}

func TestKeys_EachDoesWhatItsControlDoes(t *testing.T) {
	school := newWing(t, 1)
	w := open(t, options{as: school.admin})
	w.visit(fmt.Sprintf("/week/%d?date=2031-03-04", school.rooms[0]))
	w.press("\u0303", `location.search === "?date=2031-03-11"`) // the arrow to the right
	w.press("\u0302", `location.search === "?date=2031-03-04"`)
	w.press("r", `location.pathname === "/rooms"`)
	w.press("b", `location.pathname === "/book"`)
	w.press("?", `location.pathname === "/keys"`)
	w.everyWidth("keys")
	w.press("/", `document.activeElement.name === "q"`)
	w.do(chromedp.KeyEvent("rb"))
	w.await(`document.activeElement.value.endsWith("rb") && location.pathname === "/keys"`)
	w.do(chromedp.Click(chromedp.CSS("#keys-off")), chromedp.Reload())
	w.await(`document.getElementById("keys-off").checked`)
	w.do(chromedp.KeyEvent("r"))
	valuetest.Same(t, ask[string](w, "location.pathname"), "/keys", "a key that is turned off leads to")
	w.do(chromedp.Click(chromedp.CSS("#keys-off")), chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	w.press("t", `location.pathname === "/"`)
}

// TestWeek_APupilOnAPhone sees its own week, and nothing that it may not do.
func TestWeek_APupilOnAPhone(t *testing.T) {
	school := newWing(t, 1)
	key, secret := uuid.NewString(), uuid.NewString()
	pupil := school.admin.Import(t, "pupils", map[string]any{"key": key, "name": "Pia Pupil",
		"forename": "Pia", "surname": "Pupil"})[key]
	school.admin.Import(t, "users", map[string]any{"key": key, "name": "Pia Pupil", "uuid": secret, "kind": "pupil",
		"email": key + "@school.example", "can_api": true, "element": "Pupil:" + key})
	school.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Piano", "category": school.kind,
		"starts_at_text": "2031-03-04 09:00", "ends_at_text": "2031-03-04 09:30"},
		"elements": []int64{pupil, school.rooms[0]}}).Must(t, http.StatusOK)
	for _, noScript := range []bool{false, true} {
		w := open(t, options{width: widths[0], as: system.Get(t).Login(t, secret), noScript: noScript})
		w.visit("/?date=2031-03-04")
		w.await("%s", says("Piano"))
		w.everyWidth("week")
		valuetest.Holds(t, !ask[bool](w, `!!document.querySelector('a[href="/book"]')`), "a pupil is offered to book")
		w.click(`a.item`, says("09:00–09:30"))
		w.everyWidth("event")
	}
}

// TestWeek_OnAPhoneBeginsWithToday, and shows a day alone, without script too.
func TestWeek_OnAPhoneBeginsWithToday(t *testing.T) {
	school := newWing(t, 1)
	today := timetest.London(t).DayOf(time.Now())
	school.book(t, 0, "Assembly", today.String()+" 09:00", today.String()+" 09:30")
	for _, noScript := range []bool{false, true} {
		w := open(t, options{width: widths[0], as: school.admin, noScript: noScript})
		w.visit(fmt.Sprintf("/week/%d", school.rooms[0]))
		const first = `[...document.querySelectorAll(".day")].find((day) => day.checkVisibility())`
		if top := ask[float64](w, first+`.classList.contains("today") ? `+first+`.getBoundingClientRect().top : -1`); top < 0 || top > 500 {
			t.Errorf("today is at %v", top)
		}
		w.keep("phone")
		w.click(".today h2 a", `document.querySelectorAll(".day").length === 1 && `+says("Assembly"))
		w.everyWidth("alone")
		w.click("[rel=next]", `document.querySelectorAll(".day").length === 1 && !`+says("Assembly"))
		w.click("[rel=prev]", says("Assembly"))
		w.click(fmt.Sprintf(`nav a[href="/week/%d?date=%s"]`, school.rooms[0], today), `document.querySelectorAll(".day").length > 4`)
		if first := ask[bool](w, first+`.previousElementSibling.classList.contains("hours")`); !first {
			t.Error("a whole week leaves out days that are over")
		}
	}
}

// TestWeek_AParentSeesThePupilsSideBySide: an administrator finds a pupil and adds it to an account, whose user then
// sees the day of both.
func TestWeek_AParentSeesThePupilsSideBySide(t *testing.T) {
	school := newWing(t, 1)
	key, secret := "Parent-"+uuid.NewString()[:8], uuid.NewString()
	pupils := school.admin.Import(t, "pupils", map[string]any{"key": key + "1", "forename": "Pia", "surname": key},
		map[string]any{"key": key + "2", "forename": "Max", "surname": key})
	account := school.admin.Import(t, "users", map[string]any{"key": key, "name": "Ann " + key, "uuid": secret,
		"kind": "pupil", "email": key + "@home.example", "can_api": true, "stands_for": []string{key + "1"}})[key]
	for who, title := range map[string]string{key + "1": "Piano", key + "2": "Chess"} {
		school.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": title,
			"category": school.kind, "starts_at_text": "2031-03-04 09:00", "ends_at_text": "2031-03-04 09:30"},
			"elements": []int64{pupils[who]}}).Must(t, http.StatusOK)
	}
	admin := open(t, options{as: school.admin})
	admin.visit(fmt.Sprintf("/look-after/users/%d?find=%s", account, key))
	admin.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`[name=who][value="%d"]`, pupils[key+"2"]))))
	admin.everyWidth("account")
	admin.click(`#found > button`, `document.querySelectorAll("[name=end]").length === 2`)
	for _, noScript := range []bool{false, true} {
		w := open(t, options{width: widths[0], as: system.Get(t).Login(t, secret), noScript: noScript})
		w.visit("/?date=2031-03-04")
		w.await("%s && %s", says("Piano"), says("Chess"))
		w.everyWidth("day")
		w.click(fmt.Sprintf(`h2 a[href^="/week/%d"]`, pupils[key+"1"]),
			says("Piano")+` && !`+says("Chess")+` && !!document.querySelector('a[href^="/subscribe/"]')`)
	}
}

// TestSearch_FindsWhileOneTypes: a week, one beside another, and a person for a booking, without the search page.
func TestSearch_FindsWhileOneTypes(t *testing.T) {
	school := newWing(t, 2)
	w := open(t, options{as: school.admin})
	name := school.word + " 001"
	w.visit("/")
	w.do(chromedp.SendKeys(chromedp.CSS(".find [name=q]"), name))
	found := fmt.Sprintf(`.found a[href^="/week/%d"]`, school.rooms[1])
	w.await(`document.querySelector('%s')`, found)
	w.everyWidth("found")
	w.do(chromedp.SendKeys(chromedp.CSS(".find [name=q]"), "~~"))
	w.await(`!document.querySelector('%s') && document.querySelector(".found").innerText === "Nothing found."`, found)

	w.visit(fmt.Sprintf("/week/%d?date=2031-03-04", school.rooms[0]))
	w.do(chromedp.SendKeys(chromedp.CSS("#beside"), name))
	w.await(`document.querySelector('%s')`, found)
	w.click(found, `document.querySelectorAll(".day").length === 2`)

	w.visit("/book")
	w.do(chromedp.SendKeys(chromedp.CSS("#find"), name))
	box := fmt.Sprintf(`.found [name=who][value^="%d:"]`, school.rooms[1])
	w.await(`document.querySelector('%s')`, box)
	w.await(`!performance.getEntriesByType("resource").some((r) => r.name.includes("token="))`) // in any log
	w.do(chromedp.Click(chromedp.CSS(box)))
	w.enter(map[string]string{"title": "Rehearsal", "date": "2031-03-04", "from": "09:00", "to": "10:00",
		"kind": fmt.Sprint(school.kind)})
	w.click(`button[value="check"]`, fmt.Sprintf(`document.querySelector('[name=who][value^="%d:"]:checked')`, school.rooms[1]))
}

// TestWeek_ADragMovesAnEvent to another day and time, once its form is saved.
func TestWeek_ADragMovesAnEvent(t *testing.T) {
	school := newWing(t, 1)
	school.book(t, 0, "Early", "2031-03-04 08:00", "2031-03-04 08:30")
	event := school.book(t, 0, "Choir", "2031-03-04 09:00", "2031-03-04 10:30")
	school.book(t, 0, "Late", "2031-03-06 17:00", "2031-03-06 18:00")
	w := open(t, options{as: school.admin})
	w.visit(fmt.Sprintf("/week/%d?date=2031-03-04", school.rooms[0]))
	type place struct{ X, Y, Height float64 }
	const middle = `(({x, y, width, height}) => ({x: x + width / 2, y, height}))(%s.getBoundingClientRect())`
	choir := ask[place](w, middle, fmt.Sprintf(`document.querySelector('a[href="/events/%d"]')`, event))
	thursday := ask[place](w, middle, `document.querySelector("#c3 .timed")`)
	hour := thursday.Height / 10 // from 8 to 18
	mouse := func(kind input.DispatchMouseEventType, x, y float64) {
		w.do(chromedp.MouseEvent(kind, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	}
	mouse(input.DispatchMouseEventTypeMousePressed, choir.X, choir.Y+10)
	mouse(input.DispatchMouseEventTypeMouseMoved, thursday.X, choir.Y+10+3*hour)
	w.keep("drag")
	mouse(input.DispatchMouseEventTypeMouseReleased, thursday.X, choir.Y+10+3*hour)
	w.await(`document.readyState === "complete" && location.pathname === "/events/%d/edit"`, event)
	w.everyWidth("moved")
	w.click("main form button", says("12:00–13:30")+" && "+says("6 Mar"))
}
