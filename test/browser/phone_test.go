package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// Pages fit a phone in German too, whose words are longer, with all of the bar at its foot.
func TestPhone_PagesFitInGerman(t *testing.T) {
	admin := system.Get(t).Admin(t)
	me := admin.Get(t, "/api/me").Int(t, "user.id")
	w := open(t, options{as: admin, language: "de", width: widths[0]})
	for _, path := range []string{"/", "/rooms", "/book", "/inbox", "/cover", "/account", "/look-after", "/keys",
		fmt.Sprintf("/look-after/users/%d", me), "/look-after/import"} {
		w.visit(path)
		for _, part := range []string{"html", ".pages"} {
			if wide := ask[int64](w, `document.querySelector(%q).scrollWidth`, part); wide > widths[0] {
				w.keep("wide")
				t.Errorf("%s: %s is %d wide", path, part, wide)
			}
		}
	}
}

// The focused control is never hidden by the bar at the foot (WCAG 2.4.11).
func TestPhone_NothingWithTheFocusIsCovered(t *testing.T) {
	school := newWing(t, 20)
	w := open(t, options{as: school.admin, width: widths[0]})
	w.visit(school.path(""))
	for range 60 {
		w.do(chromedp.KeyEvent("\t"))
		if covered := ask[string](w, `(({activeElement: at}, bar) => bar.contains(at) || at === document.body ||
			at.getBoundingClientRect().bottom <= bar.getBoundingClientRect().top ? "" : at.outerHTML)(
			document, document.querySelector(".pages"))`); covered != "" {
			w.keep("covered")
			t.Fatalf("the bar covers %s", covered)
		}
	}
}

// What a row of the inbox opens is in sight.
func TestPhone_ARowOfTheInboxLeadsToWhatItOpens(t *testing.T) {
	school := newWing(t, 1)
	for day := range 9 {
		at := fmt.Sprintf("2031-03-0%d ", day+1)
		school.book(t, 0, "Fencing", at+"11:00", at+"12:00")
	}
	decider := school.decider(t)
	for day := range 9 {
		at := fmt.Sprintf("2031-03-0%d ", day+1)
		school.book(t, 0, "Chess", at+"15:00", at+"16:00")
	}
	w := open(t, options{as: decider, width: widths[0]})
	w.visit("/inbox")
	w.click(".pick:nth-child(5) > a", `(({top, bottom}) => top >= 0 && bottom < innerHeight)(
		document.getElementById("open").getBoundingClientRect())`)
}
