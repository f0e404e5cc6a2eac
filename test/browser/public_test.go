package browser

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// TestPublic_AVisitorWithoutLogin goes from the page for signing in to a month of the school's calendar, and to the
// next one. The calendar is that of another console of the system, which has a guest's token.
func TestPublic_AVisitorWithoutLogin(t *testing.T) {
	s := system.Get(t)
	admin, word := s.Admin(t), "Public-"+uuid.NewString()[:8]
	calendar := admin.Import(t, "properties", map[string]any{"key": word, "name": word, "make_public": true})[word]
	hall := admin.Import(t, "locations", map[string]any{"key": word, "name": "Hall " + word})[word]
	kind := admin.Import(t, "eventcategories", map[string]any{"key": word, "name": word})[word]
	for title, elements := range map[string][]int64{"Concert, to which all are welcome": {calendar, hall},
		"Governors": {hall}} {
		admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": title, "category": kind,
			"starts_at_text": "2043-05-07 19:00", "ends_at_text": "2043-05-07 21:00"}, "elements": elements,
			"clashes": "allow"}).Must(t, http.StatusOK)
	}
	guest := admin.Import(t, "users", map[string]any{"key": word, "name": word, "kind": "guest", "can_api": true,
		"email": word + "@school.example"})[word]
	token := admin.Post(t, fmt.Sprintf("/api/admin/users/%d/tokens", guest), map[string]any{
		"token": map[string]any{"name": "Public calendar", "scope": "read"}}).
		Must(t, http.StatusCreated).Text(t, "token.token")
	console := servicetest.Start(t, servicetest.Options{Services: []string{names.Console}, NoRace: true,
		Env: map[string]string{"BELFRY_API_ROUTES": "/=" + s.URL, "BELFRY_PUBLIC_TOKEN": token}})
	for _, noScript := range []bool{false, true} {
		for _, language := range []string{"en", "de"} {
			w := open(t, options{at: console.URL, noScript: noScript, language: language})
			w.visit("/sign-in")
			w.click(`a[href="/public"]`, `location.pathname === "/public"`)
			w.visit("/public?date=2043-05-01")
			w.await("%s && %s && !%s", says("Concert"), says("19:00–21:00"), says("Governors"))
			w.everyWidth("month-" + language)
			w.do(chromedp.Click(chromedp.CSS(`a[rel~="next"]`)))
			w.await(`location.search.startsWith("?date=2043-06-") && document.querySelector(".done")`)
			w.everyWidth("empty-" + language)
		}
	}
	w := open(t, options{at: console.URL, as: admin})
	w.visit("/public?date=2043-05-01")
	if ask[bool](w, `!(%s) || !!document.querySelector("nav, form")`, says("Concert")) {
		t.Error("someone who is signed in sees another page")
	}
}
