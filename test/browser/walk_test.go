package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/emersion/go-ical"
	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/deploy/local/provider"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// academy is a school behind TLS whose people sign in at its own login provider: two replicas of each service.
type academy struct {
	*servicetest.System
	url, issuer string // of Belfry for browsers, and of the provider
	phone       *http.Client
	admin       *servicetest.Client
	keeper      *servicetest.Client
	hall, kind  int64
	uuids       map[string]string // of its users
	tuesday     time.Time         // the first that is at least a week away
}

func newAcademy(t *testing.T) *academy {
	t.Helper()
	var belfry atomic.Pointer[url.URL]
	front := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(belfry.Load())
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}})
	front.Config.ErrorLog = log.New(io.Discard, "", 0) // Chromium asks first whether the certificate is signed
	front.StartTLS()
	t.Cleanup(front.Close)
	login := httptest.NewUnstartedServer(nil)
	issuer := "http://" + login.Listener.Addr().String()
	pages, err := provider.New(provider.Options{
		Issuer: issuer, ClientID: "belfry", Secret: "of the client", Home: front.URL + "/", ClaimsInToken: true,
		Callback: front.URL + "/api/login/oidc/school/callback",
		Users:    []provider.User{{Subject: "tilda", Name: "Tilda Teacher", Email: "tilda@school.example"}},
	})
	errortest.None(t, err)
	login.Config.Handler = pages
	login.Start()
	t.Cleanup(login.Close)
	list, _ := json.Marshal([]map[string]string{
		{"name": "school", "title": "your school account", "issuer": issuer, "clientId": "belfry"},
	})
	a := &academy{url: front.URL, issuer: issuer, phone: front.Client(), uuids: map[string]string{}}
	env := map[string]string{
		"BELFRY_OIDC_PROVIDERS": string(list), "BELFRY_OIDC_SECRET_SCHOOL": "of the client",
		"BELFRY_PUBLIC_URL": front.URL, "BELFRY_SECURE_COOKIES": "true", "BELFRY_TRUSTED_PROXIES": "127.0.0.0/8",
	}
	a.System = servicetest.Start(t, servicetest.Options{Console: true, Replicas: 2, NoRace: true, Env: env})
	at, err := url.Parse(a.URL)
	errortest.None(t, err)
	belfry.Store(at)
	a.fill(t)
	return a
}

// fill makes the records of the school. On the second of every second Tuesday from a.tuesday on, the hall is taken.
func (a *academy) fill(t *testing.T) {
	t.Helper()
	a.admin = a.Admin(t)
	a.kind = a.admin.Import(t, "eventcategories", map[string]any{"key": "club", "name": "Club", "busy": true})["club"]
	a.hall = a.admin.Import(t, "locations", map[string]any{"key": "hall", "name": "Great Hall"})["hall"]
	a.admin.Import(t, "staff", map[string]any{"key": "tilda", "name": "Tilda Teacher", "initials": "TT",
		"forename": "Tilda", "surname": "Teacher"})
	var users []map[string]any
	for _, key := range []string{"tilda", "keeper"} {
		a.uuids[key] = uuid.NewString()
		users = append(users, map[string]any{"key": key, "name": strings.ToUpper(key[:1]) + key[1:],
			"uuid": a.uuids[key], "email": key + "@school.example", "can_api": true, "can_add_events": true})
	}
	users[0]["element"] = "Staff:tilda"
	ids := a.admin.Import(t, "users", users...)
	a.admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", a.hall, ids["keeper"]), nil).
		Must(t, http.StatusOK)
	a.keeper = a.Login(t, a.uuids["keeper"])
	a.tuesday = time.Now().AddDate(0, 0, 7)
	for a.tuesday.Weekday() != time.Tuesday {
		a.tuesday = a.tuesday.AddDate(0, 0, 1)
	}
	day := a.day(1)
	a.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Mock exam", "category": a.kind,
		"starts_at_text": day + " 15:00", "ends_at_text": day + " 17:00"}, "elements": []int64{a.hall}}).
		Must(t, http.StatusOK)
	a.decide(t)
}

// day is one of every second Tuesday, from 0.
func (a *academy) day(i int) string { return a.tuesday.AddDate(0, 0, 14*i).Format(time.DateOnly) }

// decide confirms all that waits for the keeper of the hall, and returns how many these were.
func (a *academy) decide(t *testing.T) int {
	t.Helper()
	var waiting struct{ Commitments []struct{ ID int64 } }
	a.keeper.Get(t, "/api/commitments").Must(t, http.StatusOK).Decode(t, &waiting)
	for _, c := range waiting.Commitments {
		a.keeper.Patch(t, fmt.Sprintf("/api/commitments/%d", c.ID),
			map[string]any{"commitment": map[string]any{"status": "confirmed"}}).Must(t, http.StatusOK)
	}
	return len(waiting.Commitments)
}

// click presses what a selector finds, and waits until another page is there in which the expression is true.
func (w *window) click(selector, until string) {
	w.t.Helper()
	ask[chromedp.Void](w, "document.documentElement.dataset.left = 1")
	w.do(chromedp.Click(chromedp.CSS(selector)))
	w.await("!document.documentElement.dataset.left && document.readyState === 'complete' && (%s)", until)
}

// enter fills in fields by their ids.
func (w *window) enter(fields map[string]string) {
	w.t.Helper()
	for name, value := range fields {
		w.do(chromedp.SetValue(chromedp.CSS("#"+name), value))
	}
}

// says is an expression that is true where the page's main part has a text.
func says(text string) string {
	return fmt.Sprintf("document.getElementById('main')?.innerText.includes(%q)", text)
}

// signIn signs in at the provider.
func (a *academy) signIn(t *testing.T, o options) *window {
	t.Helper()
	o.at, o.also = a.url, a.issuer
	w := open(t, o)
	w.visit("/")
	w.await(`location.pathname === "/sign-in"`)
	if o.language == "" {
		w.everyWidth("sign-in")
	}
	w.do(chromedp.Click(chromedp.CSS("a.button.wide")))
	w.await(`location.origin === %q && document.querySelector("button[value=tilda]")`, a.issuer)
	w.do(chromedp.Click(chromedp.CSS("button[value=tilda]")))
	w.await(`location.origin === %q && location.pathname === "/" && document.querySelector(".week")`, a.url)
	return w
}

// TestWalk_FromTheSchoolsAccountToThePhone is what a teacher does without reading anything.
func TestWalk_FromTheSchoolsAccountToThePhone(t *testing.T) {
	a := newAcademy(t)
	w := a.signIn(t, options{})
	booked := a.bookSecondTuesdays(t, w)
	if n := a.decide(t); n != booked { // the inbox is a page of its own, with a test of its own
		t.Errorf("%d bookings wait for the keeper of the hall, want %d", n, booked)
	}
	w.do(chromedp.Reload())
	w.await("%s", says("✓ confirmed"))
	w.everyWidth("confirmed")

	w.click(`.pages a[href="/"]`, `document.querySelector(".week")`)
	w.click(`a[href^="/subscribe/"]`, says("No device is subscribed yet"))
	w.enter(map[string]string{"name": "Phone"})
	w.click(`.row[method=post] button:not(.plain)`, `document.querySelector("img.code")?.naturalWidth`)
	w.everyWidth("subscribed")
	address := ask[string](w, `document.getElementById("address").value`)
	valuetest.Same(t, ask[string](w, `document.querySelector('a[href^="webcal:"]').href`),
		"webcal"+strings.TrimPrefix(address, "https"), "the phone opens …")
	valuetest.Same(t, a.calendar(t, address), booked, "events in the phone's calendar, of %d", booked)
	w.click(`form[action$="/end"] button`, says("No device is subscribed yet"))
	valuetest.Same(t, a.fetch(t, address, "").code, http.StatusNotFound, "the address that was ended answers")
	a.corridor(t)
}

// bookSecondTuesdays books the hall for every second Tuesday, four in all of which one is taken. It returns how many
// were booked.
func (a *academy) bookSecondTuesdays(t *testing.T, w *window) int {
	t.Helper()
	w.click(`.pages a[href="/book"]`, `document.getElementById("title")`)
	shown := ask[string](w, `document.querySelector("[name=who]").value`)
	valuetest.Holds(t, strings.HasSuffix(shown, "Tilda Teacher"), "the form books %q", shown)
	w.enter(map[string]string{"title": "Chess club", "date": a.day(0), "from": "15:30", "to": "16:30", "repeat": "2",
		"until": a.day(3), "find": "hall"})
	w.click("button[value=find]", says("Great Hall"))
	w.do(chromedp.Click(chromedp.CSS(`[name=who]:not(:checked)`)))
	w.click("button[value=check]", says("◌ needs approval"))
	dates := ask[[]string](w, `[...document.querySelectorAll("fieldset li s")].map((it) => it.innerText)`)
	taken := a.tuesday.AddDate(0, 0, 14)
	want := taken.Format("Mon 2 Jan")
	if taken.Year() != time.Now().Year() {
		want += taken.Format(" 2006")
	}
	valuetest.List(t, dates, []string{want}, "left out")
	w.everyWidth("checked")
	w.click("button[value=book]", says("This is booked"))
	w.await("%s", says("◌ requested"))
	w.everyWidth("booked")
	return 3
}

// answer is what a program gets.
type answer struct {
	code int
	body string
}

func (a *academy) fetch(t *testing.T, address, token string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	errortest.None(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	got, err := a.phone.Do(r)
	errortest.None(t, err)
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	errortest.None(t, err)
	return answer{got.StatusCode, string(text)}
}

// calendar counts the chess clubs in a calendar, as a phone reads it.
func (a *academy) calendar(t *testing.T, address string) (found int) {
	t.Helper()
	c, err := ical.NewDecoder(strings.NewReader(a.fetch(t, address, "").body)).Decode()
	errortest.None(t, err)
	for _, e := range c.Events() {
		if title, _ := e.Props.Text("SUMMARY"); strings.Contains(title, "Chess club") {
			found++
		}
	}
	return found
}

// corridor shows the day of the hall by a token for it, which can do nothing else.
func (a *academy) corridor(t *testing.T) {
	t.Helper()
	today := time.Now().Format(time.DateOnly)
	tilda := a.Login(t, a.uuids["tilda"])
	tilda.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Lights on", "category": a.kind,
		"all_day_field": true, "starts_at_text": today, "ends_at_text": today}, "elements": []int64{a.hall}}).
		Must(t, http.StatusOK)
	token := tilda.Post(t, "/api/me/tokens", map[string]any{"token": map[string]any{"name": "Corridor",
		"scope": "read_element", "element_id": a.hall}}).Must(t, http.StatusCreated).Text(t, "token.token")
	w := open(t, options{at: a.url})
	w.visit("/screen")
	w.enter(map[string]string{"rooms": fmt.Sprint(a.hall), "name": "Great Hall", "token": token})
	w.click("main button", says("Lights on"))
	w.keep("corridor")
	sign := tilda.ByToken(token)
	for _, path := range []string{"/api/me/tokens", "/api/events?text=Chess", "/api/elements?namelike=Hall",
		"/api/elements/1/feeds", "/api/commitments", "/api/users?email=tilda@school.example"} {
		valuetest.Same(t, sign.Get(t, path).Code, http.StatusForbidden, "the token reads %s", path)
	}
	sign.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "x"}}).Must(t, http.StatusForbidden)
}

// TestWalk_AServiceIsKilledWhileAFormIsOpen is in German: what was typed is on the page of the error, and is booked
// once when it is sent again.
func TestWalk_AServiceIsKilledWhileAFormIsOpen(t *testing.T) {
	a := newAcademy(t)
	w := a.signIn(t, options{language: "de", noScript: true})
	w.click(`.pages a[href="/book"]`, `document.getElementById("title")`)
	w.everyWidth("book-de")
	w.enter(map[string]string{"title": "Schachklub <b>", "date": a.day(0), "from": "09:00", "to": "10:00"})
	a.Kill(t, "events")
	w.click("button[value=book]", says("Ein Teil von Belfry"))
	w.everyWidth("away-de")
	valuetest.Holds(t, !ask[bool](w, "!(%s)", says("Schachklub <b>")), "the page of the error has lost what was typed")
	a.Restart(t, "events")
	w.click("main form button", says("Schachklub <b>"))
	if at := ask[string](w, "location.pathname"); !strings.HasPrefix(at, "/events/") {
		t.Errorf("sent again, it leads to %s", at)
	}
	var found struct{ Events []struct{ ID int64 } }
	a.admin.Get(t, "/api/events?text=Schachklub").Must(t, http.StatusOK).Decode(t, &found)
	valuetest.Same(t, len(found.Events), 1, "events were booked")
}
