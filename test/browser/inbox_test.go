package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// decider is a user who decides on the first room of a wing.
func (w wing) decider(t *testing.T) *servicetest.Client {
	t.Helper()
	room, secret := w.word+" 000", uuid.NewString()
	w.admin.Import(t, "users", map[string]any{"key": w.word, "name": "Ms McGregor", "uuid": secret,
		"email": w.word + "@school.example", "can_api": true, "can_add_events": true})
	w.admin.Import(t, "administrators", map[string]any{"key": "Location:" + room + "/" + w.word,
		"element": "Location:" + room, "user": w.word})
	return system.Get(t).Login(t, secret)
}

func TestInbox_TheKeyboardAloneRejectsAndUndoes(t *testing.T) {
	school := newWing(t, 1)
	school.book(t, 0, "Fencing", "2031-03-04 11:00", "2031-03-04 12:00")
	decider := school.decider(t)
	for _, title := range []string{"Choir <b>& friends</b>", "Drama, whose name is long enough for two lines"} {
		school.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": title,
			"category": school.kind, "starts_at_text": "2031-03-04 09:00", "ends_at_text": "2031-03-04 11:30"},
			"elements": school.rooms, "clashes": "allow"}).Must(t, http.StatusOK)
	}
	for _, noScript := range []bool{true, false} {
		w := open(t, options{noScript: noScript, as: decider})
		w.visit("/inbox")
		w.everyWidth("waiting")
		ask[chromedp.Void](w, `document.querySelector("#reason").focus()`)
		w.do(chromedp.KeyEvent("The floor is wet.\r\t\t\r")) // Enter in the reason confirmed
		w.await(`document.querySelector("main [role=status]")?.innerText.includes("Rejected")`)
		w.everyWidth("rejected")
		ask[chromedp.Void](w, `document.querySelector("main [role=status] button").focus()`)
		w.do(chromedp.KeyEvent("\r"))
		w.await(`document.querySelector("main [role=status]")?.innerText.includes("Waiting again")`)
	}
	w := open(t, options{as: decider})
	w.visit("/inbox")
	w.press("n", `document.querySelector("[role=alert]")`) // a reason is missing
	w.press("y", `document.querySelector("main [role=status]")?.innerText.includes("Confirmed")`)
	w = open(t, options{as: school.admin})
	w.visit("/inbox")
	w.everyWidth("empty")
}
