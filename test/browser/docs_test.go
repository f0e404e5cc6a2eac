package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// visible lists the ids of the operations and records that the page at /api/docs shows.
const visible = `[...document.querySelectorAll("article")].filter((it) => it.checkVisibility()).map(({id}) => id)`

// sample removes most operations and records, which are all of one make: axe-core needs minutes for all of them.
func (w *window) sample() {
	w.t.Helper()
	const kept = "#logInByBody, #findElements, #createEvent, #streamChanges, #record-Event"
	ask[chromedp.Void](w, `document.querySelectorAll("article:not(%s)").forEach((it) => it.remove())`, kept)
}

func TestDocs_IsAccessibleAtEachWidth(t *testing.T) {
	for _, noScript := range []bool{false, true} {
		w := open(t, options{noScript: noScript})
		w.visit("/api/docs#createEvent")
		if shown := ask[bool](w, `document.getElementById("search").checkVisibility()`); shown == noScript {
			t.Errorf("the search is shown: %t", shown)
		}
		w.sample()
		w.everyWidth("page")
	}
}

func TestDocs_TheSearchShowsWhatHasEveryWord(t *testing.T) {
	w := open(t, options{})
	w.visit("/api/docs")
	all := ask[[]string](w, visible)
	// "/" leads to the search from anywhere. KeyEvent would type it there too, although the page has taken the key.
	_, err := chromedp.Call(w.ctx, input.DispatchKeyEvent,
		input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Text: "/"})
	w.must(err)
	w.await(`document.activeElement.id === "search"`)
	w.do(chromedp.KeyEvent("REVOKE feed"))
	w.await(`document.getElementById("search").value.endsWith("REVOKE feed")`)
	found := ask[[]string](w, visible)
	if !slices.Contains(found, "revokeFeed") || len(found) > 10 {
		t.Errorf("found %v by %q", found, ask[string](w, `document.getElementById("search").value`))
	}
	if ask[bool](w, `document.querySelector('nav a[href="#findElements"]').checkVisibility()`) {
		t.Error("the contents still have what the search hides")
	}
	w.keep("found")
	w.do(chromedp.KeyEvent(" no such words anywhere"))
	w.await(`document.getElementById("found").textContent === "0 found"`)
	if found := ask[[]string](w, visible); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	w.do(chromedp.Evaluate[chromedp.Void](`location.hash = "#getMe"`))
	w.await("(%s).length === %d", visible, len(all))
}

func TestDocs_ALinkOpensItsOperation(t *testing.T) {
	for _, noScript := range []bool{false, true} {
		w := open(t, options{noScript: noScript})
		w.visit("/api/docs#createEvent")
		const top = `document.getElementById("createEvent").getBoundingClientRect().top`
		if at := ask[float64](w, top); at < 0 || at > 400 {
			t.Errorf("the operation is %g below the window's top", at)
		}
		for _, language := range []string{"curl", "Python"} {
			example := ask[string](w, `[...document.querySelectorAll("#createEvent .call-example")]
				.find((it) => it.firstChild.textContent === %q).querySelector("code").textContent`, language)
			valuetest.Has(t, example, "/api/events", language)
		}
	}
}

// form opens the form of an operation with the keyboard alone, and fills it in by the names of its labels.
func (w *window) form(operation string, values map[string]string) string {
	w.t.Helper()
	form := "#" + operation + " form"
	w.do(chromedp.Focus(chromedp.CSS("#"+operation+" > button")), chromedp.KeyEvent("\r"),
		chromedp.WaitVisible(chromedp.CSS(form)))
	for name, value := range values {
		given, _ := json.Marshal(value)
		ask[chromedp.Void](w, `(([label]) => { label.querySelector("input, textarea").value = %s })(
			[...document.querySelectorAll(%q)].filter((it) => it.firstChild.textContent === %q))`, given,
			form+" label", name)
	}
	return form
}

// send presses the form's button and returns the status and the body that are shown.
func (w *window) send(form string) (status, body string) {
	w.t.Helper()
	w.do(chromedp.Click(chromedp.CSS(form + " button")))
	w.await(`document.querySelector("%[1]s [role=status]").textContent &&
		!document.querySelector("%[1]s button").disabled`, form)
	return ask[string](w, `document.querySelector("%s [role=status]").textContent`, form),
		ask[string](w, `document.querySelector("%s pre").textContent`, form)
}

func (w *window) logIn(user string) {
	w.t.Helper()
	body, _ := json.Marshal(map[string]string{"uuid": user})
	status, text := w.send(w.form("logInByBody", map[string]string{"body": string(body)}))
	if !strings.HasPrefix(status, "200 ") {
		w.t.Fatalf("%s %s", status, text)
	}
}

func TestDocs_CallsAreSentWithTheVisitorsSession(t *testing.T) {
	s := system.Get(t)
	admin := s.Admin(t)
	hall, category := "Hall "+uuid.NewString(), "Kind "+uuid.NewString()
	element := admin.Import(t, "locations", map[string]any{"key": hall, "name": hall})[hall]
	kind := admin.Import(t, "eventcategories", map[string]any{"key": category, "name": category})[category]
	w := open(t, options{})
	w.visit("/api/docs")
	form := w.form("getMe", nil)
	// A click missed the button when the line above it came late.
	if !ask[bool](w, `!!document.querySelector("%s button ~ .about")`, form) {
		t.Error("who is logged in stands above the button, which moves when it is known")
	}
	if status, _ := w.send(form); !strings.HasPrefix(status, "401 ") {
		t.Errorf("without a session: %s", status)
	}
	w.await(`document.querySelector("%s .about").textContent.includes("not logged in")`, form)
	w.logIn(s.AdminUUID)

	status, text := w.send(w.form("findElements", map[string]string{"name (query)": hall}))
	if !strings.HasPrefix(status, "200 ") || !strings.Contains(status, "X-Request-Id: ") ||
		!strings.Contains(text, hall) {
		t.Errorf("%s %s", status, text)
	}
	w.await(`document.querySelector("#findElements form .about").textContent.startsWith("Sent as ")`)

	body := fmt.Sprintf(`{"event": {"body": "Staff meeting", "category": %d, "starts_at_text": "2031-03-04 16:00",
		"ends_at_text": "2031-03-04 17:00"}, "elements": [%d]}`, kind, element)
	status, text = w.send(w.form("createEvent", map[string]string{"body": body}))
	var created struct{ Event struct{ ID int64 } }
	if err := json.Unmarshal([]byte(text), &created); err != nil || !strings.HasPrefix(status, "200 ") {
		t.Fatalf("%v: %s %s", err, status, text)
	}
	admin.Get(t, fmt.Sprintf("/api/events/%d", created.Event.ID)).Must(t, http.StatusOK)
	w.keep("created")
	w.sample()
	w.accessible()
	sent, dialogs := w.seen()
	for _, wanted := range []string{"POST /api/login", "POST /api/events"} {
		valuetest.Holds(t, slices.Contains(sent, wanted), "%s was not sent: %v", wanted, sent)
	}
	if len(dialogs) != 2 || !strings.Contains(dialogs[1], "POST /api/events changes what is stored") {
		t.Errorf("asked %q", dialogs)
	}
}

func TestDocs_ACallThatChangesSomethingIsSentOnlyWhenTheVisitorConfirmsIt(t *testing.T) {
	w := open(t, options{refuses: true})
	w.visit("/api/docs")
	w.do(chromedp.Click(chromedp.CSS(w.form("logInByBody", nil) + " button")))
	sent, dialogs := w.seen() // the question is answered before the click returns
	if len(dialogs) != 1 || slices.Contains(sent, "POST /api/login") {
		t.Errorf("asked %q, sent %q", dialogs, sent)
	}
}

func TestDocs_AStreamIsShownAsItComesUntilItIsStopped(t *testing.T) {
	s := system.Get(t)
	w := open(t, options{as: s.Admin(t)})
	w.visit("/api/docs")
	form := w.form("streamChanges", nil)
	w.do(chromedp.Click(chromedp.CSS(form + " button")))
	w.await(`document.querySelector("%s pre").textContent.includes("data:")`, form)
	w.do(chromedp.Click(chromedp.CSS(form + " button[type=button]")))
	w.await(`document.querySelector("%s [role=status]").textContent.endsWith("Stopped.")`, form)
}
