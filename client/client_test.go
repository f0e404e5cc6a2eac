package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/client/clienttest"
)

func TestAddressIsChecked(t *testing.T) {
	for _, address := range []string{"", "belfry.example", "ftp://belfry.example", "http://", "http://u:p@h",
		"http://h?x=1", "http://h#x", ":"} {
		if _, err := client.New(address, client.Options{}); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}

func TestHardToBreak_Row14_ACreationIsSentAgainOnlyWhenNoServiceHasHeardOfIt(t *testing.T) {
	for code, again := range map[int]bool{404: true, 500: false, 502: false, 503: false, 504: false, 200: false} {
		school := clienttest.NewSchool(t)
		c := school.SignedIn(t)
		var calls atomic.Int32
		school.Before = func(w http.ResponseWriter, _ *http.Request) bool {
			if calls.Add(1) == 1 {
				clienttest.Foreign(code, "no")(w)
			} else {
				clienttest.Answer(w, 201, map[string]any{"status": "Created", "thing": map[string]any{"id": 1}})
			}
			return true
		}
		_, err := c.Create(t.Context(), "/api/admin/things", "thing", map[string]any{})
		if again != (err == nil) || again != (calls.Load() == 2) {
			t.Errorf("after %d: %d calls, %v", code, calls.Load(), err)
		}
	}
}

func TestAs_ReadsTheFieldsThatFit(t *testing.T) {
	record, err := client.ParseRecord([]byte(`{"id":9007199254740993,"name":"Hall","entity_type":7,"colour":"red"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := api.Element{ID: 9007199254740993, Name: "Hall"}
	if got := client.As[api.Element](record); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if same := client.As[client.Record](record); same.Text("colour") != "red" {
		t.Errorf("a record as itself is %v", same)
	}
}

func TestUUIDIsInNoError(t *testing.T) {
	const uuid = "4ab0c2de-7f6f-4f0c-9a43-0d6f0c6b7a55"
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	server := func(handler http.HandlerFunc) string {
		s := httptest.NewServer(handler)
		t.Cleanup(s.Close)
		return s.URL
	}
	for name, address := range map[string]string{
		"refused": closed.URL,
		"unknown": server(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }),
		"reset":   server(func(w http.ResponseWriter, _ *http.Request) { clienttest.Reset(w) }),
		"redirect": server(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://belfry.example"+r.URL.String(), http.StatusPermanentRedirect)
		}),
		"echo": server(func(w http.ResponseWriter, r *http.Request) {
			clienttest.Answer(w, http.StatusNotFound,
				map[string]any{"status": "Not found", "message": "no " + r.URL.String()})
		}),
		"html": server(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<p>"+r.URL.String()) }),
		"no cookie": server(func(w http.ResponseWriter, _ *http.Request) {
			clienttest.Answer(w, 200, map[string]any{"status": "OK"})
		}),
	} {
		t.Run(name, func(t *testing.T) {
			var heard []string
			hear := func(err error, _ time.Duration) { heard = append(heard, err.Error()) }
			c, err := client.New(address, client.Options{Wait: 10 * time.Microsecond, OnRetry: hear})
			if err != nil {
				t.Fatal(err)
			}
			err = c.Login(t.Context(), uuid)
			if err == nil {
				t.Fatal("logged in")
			}
			all := strings.Join(append(heard, err.Error(), fmt.Sprintf("%+v %#v", err, err)), "\n")
			if strings.Contains(all, uuid) {
				t.Error(all)
			}
			if name == "redirect" && !strings.HasSuffix(err.Error(), "it redirects to https://belfry.example") {
				t.Error(err)
			}
		})
	}
}

// A switched session that ended was renewed as its original user, and the call repeated with that user's rights.
func TestSwitch_AnEndedSessionIsNotRenewedAsItsOriginalUser(t *testing.T) {
	school := clienttest.NewSchool(t)
	c := school.SignedIn(t)
	school.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/api/sessions/1") {
			return false
		}
		clienttest.Answer(w, 200, map[string]any{"status": "OK"})
		return true
	}
	if err := c.Switch(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	school.EndSessions()
	_, err := c.Get(t.Context(), "/api/me", "")
	var failed *client.Error
	if !errors.As(err, &failed) || failed.Code != 401 || school.Logins() != 1 {
		t.Errorf("%v, after %d logins", err, school.Logins())
	}
	if err := c.Revert(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "/api/me", ""); err != nil || school.Logins() != 2 {
		t.Errorf("its own session again: %v, after %d logins", err, school.Logins())
	}
}

// Streams were asked for without the token, and refused.
func TestStream_SendsTheToken(t *testing.T) {
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "text/event-stream")
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Options{Token: "blf_secret"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stream(t.Context(), "0", nil); err != nil {
		t.Fatal(err)
	}
	if got := <-sent; got != "Bearer blf_secret" {
		t.Errorf("it was asked for by %q", got)
	}
}
