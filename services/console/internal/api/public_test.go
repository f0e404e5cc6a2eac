package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// user makes a user of a kind with a token of scope read, and returns the path that ends the token, and the token.
func user(t *testing.T, admin *servicetest.Client, kind string) (path, token string) {
	t.Helper()
	key := uuid.NewString()
	id := admin.Import(t, "users", map[string]any{"key": key, "name": key, "kind": kind, "can_api": true,
		"email": key + "@school.example"})[key]
	tokens := fmt.Sprintf("/api/admin/users/%d/tokens", id)
	a := admin.Post(t, tokens, map[string]any{"token": map[string]any{"name": "public", "scope": "read"}}).
		Must(t, http.StatusCreated)
	return tokens + "/" + a.At(t, "token.id"), a.Text(t, "token.token")
}

// publicConsole is another console of a system, with a public calendar by a token, and a client of it.
func publicConsole(t *testing.T, of *servicetest.System, token string) (*servicetest.System, *servicetest.Client) {
	t.Helper()
	s := servicetest.Start(t, servicetest.Options{Services: []string{names.Console}, NoRace: true,
		Env: map[string]string{"BELFRY_API_ROUTES": "/=" + of.URL, "BELFRY_PUBLIC_TOKEN": token}})
	return s, servicetest.Connect(servicetest.ClientOptions{URL: s.URL, Undocumented: true})
}

func shows(t *testing.T, c *servicetest.Client, path string, code int, texts ...string) servicetest.Answer {
	t.Helper()
	a := c.Do(t, http.MethodGet, path, nil, "Accept", "text/html").Must(t, code)
	for _, text := range texts {
		valuetest.Has(t, a.Body, text, path)
	}
	return a
}

func TestPublic_AnyoneSeesAMonthOfWhatGuestsSee(t *testing.T) {
	s, key := shared.Get(t), uuid.NewString()[:8]
	admin := s.Admin(t)
	admin.Import(t, "properties", map[string]any{"key": key, "name": "Calendar " + key, "make_public": true})
	admin.Import(t, "locations", map[string]any{"key": key, "name": "Field <b> " + key})
	admin.Import(t, "eventcategories", map[string]any{"key": key, "name": key},
		map[string]any{"key": key + "c", "name": key + "c", "confidential": true})
	row := func(title, of, starts, ends string, elements ...string) map[string]any {
		return map[string]any{"key": key + title, "body": title, "category": of, "starts_at": starts, "ends_at": ends,
			"elements": elements}
	}
	calendar, field := "Property:"+key, "Location:"+key
	admin.Import(t, "events",
		row("Sports day", key, "2041-05-07 09:00", "2041-05-07 12:00", calendar, field),
		row("Spring trip", key, "2041-04-29 08:00", "2041-05-02 15:00", calendar),
		row("Staff meeting", key, "2041-05-07 13:00", "2041-05-07 14:00", field),
		row("Interview", key+"c", "2041-05-07 15:00", "2041-05-07 16:00", calendar))
	_, token := user(t, admin, "guest")
	_, anyone := publicConsole(t, s, token)
	page := shows(t, anyone, "/public?date=2041-05-20", 200, "Public calendar, May 2041",
		"<h2>Wednesday 1 May 2041</h2>", "Mon 29 Apr 2041 08:00 to Thu 2 May 2041 15:00",
		"<h2>Tuesday 7 May 2041</h2>", "Sports day", ">09:00–12:00<", "Field &lt;b&gt; "+key,
		`href="/public?date=2041-04-30"`, `href="/public?date=2041-06-01"`)
	for _, hidden := range []string{"Staff meeting", "Interview", "Busy", "13:00", "/events/", "<form", token} {
		valuetest.Lacks(t, page.Body, hidden, "the page has %q", hidden)
	}
	if h := page.Header; h.Get("Cache-Control") != "public, max-age=60" || h.Get("Set-Cookie") != "" ||
		!strings.Contains(h.Get("Vary"), "Accept-Language") || strings.Contains(h.Get("Vary"), "Cookie") {
		t.Errorf("its headers are %v", h)
	}
	signedIn := anyone.Copy()
	signedIn.SetSessionCookie(admin.SessionCookie())
	shows(t, signedIn, "/search", 200)
	valuetest.Same(t, shows(t, signedIn, "/public?date=2041-05-20", 200).Body, page.Body, "an administrator sees")
	german := anyone.Do(t, http.MethodGet, "/public?date=2041-05-20", nil, "Accept-Language", "de")
	valuetest.Has(t, german.Body, "Öffentlicher Kalender, Mai 2041", "in German")
	shows(t, anyone, "/public?date=2041-07-01", 200, "Nothing in this month.")
	shows(t, anyone, "/public?date=never", 400, "This is not a date")
	shows(t, anyone, "/sign-in", 200, `href="/public"`)
}

func TestPublic_ATokenThatHasEnded(t *testing.T) {
	s := servicetest.Start(t, servicetest.Options{NoRace: true})
	path, token := user(t, s.Admin(t), "guest")
	console, anyone := publicConsole(t, s, token)
	shows(t, anyone, "/public", 200)
	s.Admin(t).Delete(t, path).Must(t, http.StatusOK)
	for range 12 { // more than there are failed logins in a minute
		page := shows(t, anyone, "/public", 503, "another token of a guest account")
		if page.Header.Get("Cache-Control") != "private, no-store" || strings.Contains(page.Body, token) {
			t.Errorf("%v %s", page.Header, page.Body)
		}
	}
	if logs := console.Logs(); !strings.Contains(logs, "BELFRY_PUBLIC_TOKEN cannot be used") ||
		strings.Contains(logs+s.Logs(), token) {
		t.Error("the log has the token, or no reason")
	}
}

func TestPublic_ThereIsNoneWithoutATokenOfAGuest(t *testing.T) {
	b := visitor(t)
	b.open("/public", 404, "There is nothing here")
	valuetest.Lacks(t, b.open("/sign-in", 200), "/public", "the page for signing in leads to it")
	for _, kind := range []string{"staff", "pupil"} {
		_, token := user(t, shared.Get(t).Admin(t), kind)
		_, anyone := publicConsole(t, shared.Get(t), token)
		shows(t, anyone, "/public", 503, "another token of a guest account")
	}
	for token, valid := range map[string]bool{"": true, "secret": false} {
		err := (&Settings{PublicToken: settings.NewSecret(token)}).Check()
		if (err == nil) != valid || err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestPublic_AMonthHasABound(t *testing.T) {
	key, admin := uuid.NewString()[:8], shared.Get(t).Admin(t)
	admin.Import(t, "eventcategories", map[string]any{"key": key, "name": key, "schoolwide": true})
	for first := 0; first <= publicAtMost; first += 100 {
		var rows []map[string]any
		for i := first; i < min(first+100, publicAtMost+1); i++ {
			rows = append(rows, map[string]any{"key": fmt.Sprint(key, i), "body": fmt.Sprint("Event ", i),
				"category": key, "starts_at": "2042-03-03 09:00", "ends_at": "2042-03-03 10:00"})
		}
		admin.Import(t, "events", rows...)
	}
	_, token := user(t, admin, "guest")
	_, anyone := publicConsole(t, shared.Get(t), token)
	page := shows(t, anyone, "/public?date=2042-03-31", 200, "There are more events")
	if n := strings.Count(page.Body, "<li>"); n != publicAtMost || len(page.Body) > 100_000 {
		t.Errorf("%d events in %d bytes", n, len(page.Body))
	}
}
