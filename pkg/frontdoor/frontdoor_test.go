package frontdoor_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func replica(t *testing.T, name string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		errortest.Report(t, err)
		_, _ = io.WriteString(w, name+" "+r.Method+" "+r.RequestURI+" "+string(body)+" "+
			r.Header.Get("X-Forwarded-For"))
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// closedAddress returns an address that nothing listens on.
func closedAddress(t *testing.T) string {
	t.Helper()
	addresses, err := frontdoor.Addresses(1)
	errortest.None(t, err)
	return addresses[0]
}

func TestFrontDoor(t *testing.T) {
	table := routes.Table{Routes: []routes.Row{{Prefix: "/api/elements", Service: "elements"},
		{Prefix: "/api/notes", Service: "notes"}, {Prefix: "/api/events", Service: "events"}}}
	door := httptest.NewServer(frontdoor.New(table, map[string][]string{
		"elements": {closedAddress(t), replica(t, "elements")}, "notes": {closedAddress(t)},
	}, slog.New(slog.DiscardHandler)))
	defer door.Close()
	for _, c := range []struct{ path, want string }{
		// whichever replica's turn it is
		{"/api/elements?name=a%20b", "200 elements POST /api/elements?name=a%20b body 127.0.0.1"},
		{"/api/elements/%31/x", "200 elements POST /api/elements/%31/x body 127.0.0.1"},
		{"/api/elementsx", `404 {"status":"Not found"}`},
		{"/api/notes/1", `503 {"status":"Service unavailable"}`},
		{"/api/events/1", `404 {"status":"Not found"}`},
		{"/", `404 {"status":"Not found"}`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, door.URL+c.path, strings.NewReader("body"))
		errortest.None(t, err)
		r.Header.Set("X-Forwarded-For", "198.51.100.7") // set by the client, and not forwarded
		answer, err := http.DefaultClient.Do(r)
		errortest.None(t, err)
		text, err := io.ReadAll(answer.Body)
		errortest.None(t, err)
		valuetest.Same(t, answer.Status[:4]+string(text), c.want, c.path)
		_ = answer.Body.Close()
	}
}

func TestFrontDoor_WhatIsNobodysIsAnsweredByAService(t *testing.T) {
	table := routes.Table{Routes: []routes.Row{{Prefix: "/api/elements", Service: "elements"}}}
	door := httptest.NewServer(frontdoor.New(table, map[string][]string{
		"elements": {replica(t, "elements")}, routes.Otherwise: {replica(t, "otherwise")},
	}, slog.New(slog.DiscardHandler)))
	defer door.Close()
	for _, path := range []string{"/", "/api", "/api/elementsx", "/internal/users"} {
		answer, err := http.Get(door.URL + path)
		errortest.None(t, err)
		text, err := io.ReadAll(answer.Body)
		if want := "otherwise GET " + path + "  127.0.0.1"; err != nil || string(text) != want {
			t.Errorf("%s: got %q, want %q", path, text, want)
		}
		_ = answer.Body.Close()
	}
}

func TestFrontDoor_ItsOwnAnswersHaveTheHeadersOfAllOthers(t *testing.T) {
	table := routes.Table{Routes: []routes.Row{{Prefix: "/api/notes", Service: "notes"}}}
	door := httptest.NewServer(frontdoor.New(table, map[string][]string{"notes": {closedAddress(t)}},
		slog.New(slog.DiscardHandler)))
	defer door.Close()
	for path, code := range map[string]int{"/api/notes/1": 503, "/": 404} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, door.URL+path, http.NoBody)
		errortest.None(t, err)
		r.Header.Set("X-Request-Id", "chosen-by-a-client")
		answer, err := http.DefaultClient.Do(r)
		errortest.None(t, err)
		_ = answer.Body.Close()
		valuetest.Same(t, answer.StatusCode, code, "%s: %s", path, answer.Status)
		for header, want := range map[string]string{
			"X-Request-Id": "chosen-by-a-client", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Cache-Control": "no-store",
			"Content-Type": "application/json; charset=utf-8",
		} {
			valuetest.Same(t, answer.Header.Get(header), want, "%s: %s", path, header)
		}
	}
}

func TestDecisionsPart1_WhatIsTooLargeForAnyServiceIsAnsweredByTheDoor(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // ends early when the front door closes the connection
	}))
	defer service.Close()
	table := routes.Table{Routes: []routes.Row{{Prefix: "/api/events", Service: "events"}}}
	door := httptest.NewServer(frontdoor.New(table, map[string][]string{"events": {service.Listener.Addr().String()}},
		slog.New(slog.DiscardHandler)))
	defer door.Close()
	large := strings.Repeat("x", 5<<20)
	for name, body := range map[string]io.Reader{
		"of known length": strings.NewReader(large),
		"in chunks":       io.MultiReader(strings.NewReader(large)),
	} {
		answer, err := http.Post(door.URL+"/api/events", "application/json", body)
		errortest.None(t, err, name)
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge ||
			string(text) != `{"status":"Payload too large"}` {
			t.Errorf("%s: %d %s %v", name, answer.StatusCode, text, err)
		}
		_ = answer.Body.Close()
	}
}
