package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestBook_FromBookingToDeletion walks all pages of an event at every width, with and without script.
func TestBook_FromBookingToDeletion(t *testing.T) {
	for _, noScript := range []bool{true, false} {
		school := newWing(t, 2)
		w := open(t, options{noScript: noScript, as: school.admin})
		w.visit(fmt.Sprintf("/book?date=2031-03-04&who=%d", school.rooms[0]))
		w.enter(map[string]string{"kind": fmt.Sprint(school.kind), "title": "Chess"})
		ask[chromedp.Void](w, `document.querySelector("#title").focus()`)
		w.do(chromedp.KeyEvent("\r")) // checks, and says what is missing
		w.await(`document.querySelector("[role=alert]")?.innerText.includes("the start time")`)
		w.everyWidth("book-fault")
		w.enter(map[string]string{"from": "09:00", "to": "10:00"})
		w.click("button[value=book]", says("This is booked"))
		event := ask[string](w, "location.pathname")
		w.visit(event + "/edit")
		w.everyWidth("edit")
		w.enter(map[string]string{"title": "Go"})
		w.click("main form button", says("Saved"))
		w.visit(event + "/people?q=" + school.word)
		w.await("%s", says("✓ free"))
		w.everyWidth("add")
		w.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`[name=with][value="%d"]`, school.rooms[1]))))
		w.click("form[method=post][action$=people] button", says("Added"))
		w.visit(event + "/cancel")
		w.everyWidth("cancel")
		// The second of two clicks said that there is nothing here.
		if !noScript {
			twice := ask[string](w, `(() => {
				const form = document.querySelector("main form[method=post]");
				const click = () => form.dispatchEvent(new SubmitEvent("submit", {bubbles: true, cancelable: true}));
				return [click(), click()].join();
			})()`)
			valuetest.Same(t, twice, "true,false", "of two clicks on Delete, those that are sent")
			w.visit(event + "/cancel")
		}
		w.click("button.danger", says("“Go” was deleted"))
		w.everyWidth("deleted")
	}
}
