package web

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestClients_ThePathsThatMayEndInJSON(t *testing.T) {
	for path, want := range map[string]string{
		"/api/elements.json": "/api/elements", "/api/events/5.json": "/api/events/5",
		"/api/sessions/1/whoami.json": "/api/sessions/1/whoami", "/sessions/1/whoami.json": "/sessions/1/whoami",
		"/notes/7.json": "/notes/7", "/api/version.json": "/api/version",
		"/api/openapi.json": "", "/api/docs.json": "", "/api/admin/users.json": "", "/api/admin/users/5.json": "",
		"/api/elements/5/calendar.ics.json": "", "/api/elements/5/calendar.ics": "", "/api/events.json.json": "",
		"/api/.json": "", "/api/events/.json": "", "/ical/a.json": "", "/healthz.json": "", "/internal/users.json": "",
		"/api/events.JSON": "", "/api/events.json/": "", "/api/events.xml": "", ".json": "", "/notes.json": "", "": "",
	} {
		if want == "" {
			want = path
		}
		valuetest.Same(t, WithoutSuffix(path), want, path)
	}
}

// FuzzWithoutSuffix checks that only one .json is removed, and never twice.
func FuzzWithoutSuffix(f *testing.F) {
	for _, path := range []string{
		"/api/events/5.json", "/api/events.json.json", "/api/openapi.json", "/api/.json", "",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		got := WithoutSuffix(path)
		if got == path {
			return
		}
		if got+".json" != path || WithoutSuffix(got) != got || strings.HasSuffix(got, "/") {
			t.Fatalf("%q: %q", path, got)
		}
	})
}
