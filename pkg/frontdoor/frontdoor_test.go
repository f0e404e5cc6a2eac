package frontdoor_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
)

func replica(t *testing.T, name string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, name+" "+r.Method+" "+r.RequestURI+" "+string(body)+" "+
			r.Header.Get("X-Forwarded-For"))
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// door returns the URL of a front door.
func door(t *testing.T, table routes.Table, targets map[string][]string) string {
	t.Helper()
	inside, err := frontdoor.Inside(table, targets)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(inside.Close)
	return "http://" + inside.Address
}

// closedAddress returns an address that nothing listens on.
func closedAddress(t *testing.T) string {
	t.Helper()
	addresses, err := frontdoor.Addresses(1)
	if err != nil {
		t.Fatal(err)
	}
	return addresses[0]
}

func TestFrontDoor(t *testing.T) {
	table := routes.Table{Routes: []routes.Row{{Prefix: "/api/elements", Service: "elements"},
		{Prefix: "/api/notes", Service: "notes"}, {Prefix: "/api/events", Service: "events"}}}
	at := door(t, table, map[string][]string{
		"elements": {closedAddress(t), replica(t, "elements")}, "notes": {closedAddress(t)},
	})
	for _, c := range []struct{ path, want string }{
		// whichever replica's turn it is
		{"/api/elements?name=a%20b", "200 elements POST /api/elements?name=a%20b body 127.0.0.1"},
		{"/api/elements/%31/x", "200 elements POST /api/elements/%31/x body 127.0.0.1"},
		{"/api/elementsx", `404 {"status":"Not found"}`},
		{"/api/notes/1", `503 {"status":"Service unavailable"}`},
		{"/api/events/1", `404 {"status":"Not found"}`},
		{"/", `404 {"status":"Not found"}`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+c.path, strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", "198.51.100.7") // set by the client, and not forwarded
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := answer.Status[:4] + string(text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.path, got, c.want)
		}
		_ = answer.Body.Close()
	}
}

func TestFrontDoor_WhatIsNobodysIsAnsweredByAService(t *testing.T) {
	table := routes.Table{Routes: []routes.Row{{Prefix: "/api/elements", Service: "elements"}}}
	at := door(t, table, map[string][]string{
		"elements": {replica(t, "elements")}, routes.Otherwise: {replica(t, "otherwise")},
	})
	for _, path := range []string{"/", "/api", "/api/elementsx", "/internal/users"} {
		answer, err := http.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if want := "otherwise GET " + path + "  127.0.0.1"; err != nil || string(text) != want {
			t.Errorf("%s: got %q, want %q", path, text, want)
		}
		_ = answer.Body.Close()
	}
}

func TestFrontDoor_ItsOwnAnswersHaveTheHeadersOfAllOthers(t *testing.T) {
	table := routes.Table{Routes: []routes.Row{{Prefix: "/api/notes", Service: "notes"}}}
	at := door(t, table, map[string][]string{"notes": {closedAddress(t)}})
	for path, code := range map[string]int{"/api/notes/1": 503, "/": 404} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Request-Id", "chosen-by-a-client")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != code {
			t.Errorf("%s: %s", path, answer.Status)
		}
		for header, want := range map[string]string{
			"X-Request-Id": "chosen-by-a-client", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Cache-Control": "no-store",
			"Content-Type": "application/json; charset=utf-8",
		} {
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", path, header, got, want)
			}
		}
	}
}

func TestDecisionsPart1_WhatIsTooLargeForAnyServiceIsAnsweredByTheDoor(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // ends early when the front door closes the connection
	}))
	defer service.Close()
	table := routes.Table{Routes: []routes.Row{{Prefix: "/api/events", Service: "events"}}}
	at := door(t, table, map[string][]string{"events": {service.Listener.Addr().String()}})
	large := strings.Repeat("x", 5<<20)
	for name, body := range map[string]io.Reader{
		"of known length": strings.NewReader(large),
		"in chunks":       io.MultiReader(strings.NewReader(large)),
	} {
		answer, err := http.Post(at+"/api/events", "application/json", body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge ||
			string(text) != `{"status":"Payload too large"}` {
			t.Errorf("%s: %d %s %v", name, answer.StatusCode, text, err)
		}
		_ = answer.Body.Close()
	}
}

// TestFrontDoor_AReplicaThatBeganAgainIsReached: connections to the one before are of no use for a write either.
func TestFrontDoor_AReplicaThatBeganAgainIsReached(t *testing.T) {
	table := routes.Table{Routes: []routes.Row{{Prefix: "/api/events", Service: "events"}}}
	address := closedAddress(t)
	at := door(t, table, map[string][]string{"events": {address}})
	for range 3 {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		service := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		})}
		go service.Serve(listener) //nolint:errcheck // it ends when it is closed
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				answer, err := http.Post(at+"/api/events", "text/plain", strings.NewReader("an event"))
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(answer.Body)
				if err != nil || answer.StatusCode != http.StatusOK || string(text) != "an event" {
					t.Errorf("%s %q %v", answer.Status, text, err)
				}
				_ = answer.Body.Close()
			})
		}
		all.Wait()
		_ = service.Close()
	}
}

// TestFrontDoor_AnAnswerIsPassedOnAsItCame: its headers, its length to a HEAD, and a part of it before the rest comes.
func TestFrontDoor_AnAnswerIsPassedOnAsItCame(t *testing.T) {
	more := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "a=1; Path=/; HttpOnly")
		w.Header().Add("Set-Cookie", "b=2; Path=/")
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Length", "12")
			return
		}
		w.Header()["Content-Type"] = nil
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "second")
	}))
	defer service.Close()
	at := door(t, routes.Table{}, map[string][]string{routes.Otherwise: {service.Listener.Addr().String()}})
	head, err := http.Head(at)
	if err != nil {
		t.Fatal(err)
	}
	if head.ContentLength != 12 || len(head.Header["Set-Cookie"]) != 2 || head.Header.Get("Server") != "" {
		t.Errorf("the answer to a HEAD has %d bytes and %v", head.ContentLength, head.Header)
	}
	answer, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	if kind, found := answer.Header["Content-Type"]; found || answer.Close {
		t.Errorf("Content-Type %q, the connection is closed: %t", kind, answer.Close)
	}
	part := make([]byte, 99)
	for _, want := range []string{"first", "second"} {
		more <- struct{}{}
		if n, err := answer.Body.Read(part); string(part[:n]) != want || err != nil && err != io.EOF {
			t.Errorf("got %q, want %q: %v", part[:n], want, err)
		}
	}
	_ = answer.Body.Close()
}
