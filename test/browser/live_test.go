package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLive_ThePageShowsWhatOthersChange: a page that is not being used shows another's booking by itself; one in
// which a field has the focus says that it has changed, and keeps what is typed.
func TestLive_ThePageShowsWhatOthersChange(t *testing.T) {
	school := newWing(t, 1)
	hour := 0
	// Its stream may begin only after a booking: then the next one tells.
	until := func(w *window, title, condition string) {
		t.Helper()
		for ; hour < 24 && !ask[bool](w, "%s", condition); hour++ {
			school.book(t, 0, title, fmt.Sprintf("2031-03-04 %02d:00", hour), fmt.Sprintf("2031-03-04 %02d:30", hour))
			w.await(`%s || performance.now() > %f`, condition, ask[float64](w, "performance.now()")+20_000)
		}
	}
	for n, path := range []string{school.path(""), fmt.Sprintf("/week/%d?date=2031-03-04", school.rooms[0])} {
		w := open(t, options{as: school.admin})
		w.visit(path)
		chess := fmt.Sprintf("Chess %d", n)
		until(w, chess, says(chess))
		if !ask[bool](w, "%s", says(chess)) {
			t.Errorf("%s does not show what was booked", path)
		}

		w.visit(path)
		w.do(chromedp.Focus(chromedp.CSS("main input[type=date]")))
		drama := fmt.Sprintf("Drama %d", n)
		until(w, drama, `document.querySelector("main > [role=status]").innerText.startsWith("Something here has changed")`)
		w.everyWidth(fmt.Sprintf("changed-%d", n))
		w.click("main > [role=status] a", says(drama))
	}
}
