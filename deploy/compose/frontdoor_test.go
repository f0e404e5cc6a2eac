package compose

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// locations is the table of paths as nginx reads it: the exact prefix, and what is below it.
func locations(table routes.Table) string {
	var b strings.Builder
	b.WriteString("# The table of paths, charts/belfry/files/routes.yaml, as nginx reads it. This file is generated.\n")
	for _, r := range table.Routes {
		paths := []string{"= " + r.Prefix, r.Prefix + "/"}
		if r.Prefix == "/" {
			paths = []string{"/"}
		}
		for _, path := range paths {
			fmt.Fprintf(&b, "location %s { proxy_pass http://%s; }\n", path, r.Service)
		}
	}
	return b.String()
}

func TestRoutes_AreThoseOfTheTable(t *testing.T) {
	table, err := checkout.Routes()
	errortest.None(t, err)
	want := locations(table)
	if os.Getenv("UPDATE") != "" {
		errortest.None(t, os.WriteFile("routes.conf", []byte(want), 0o644))
	}
	if diff := cmp.Diff(want, read(t, "routes.conf")); diff != "" {
		t.Errorf("routes.conf differs; UPDATE=1 go test ./deploy/compose writes it:\n%s", diff)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	errortest.None(t, err)
	return string(text)
}

// startDoor runs nginx with the files of this folder before services at other addresses, until the test ends.
func startDoor(t *testing.T, services map[string]string) (url string) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	errortest.None(t, err, "nginx is needed")
	listen, err := frontdoor.Addresses(1)
	errortest.None(t, err)
	folder := t.TempDir()
	moved := []string{"listen 8080;", "listen " + listen[0] + ";", " /tmp/", " " + folder + "/"}
	for _, name := range names.All() {
		moved = append(moved, "server "+name+":8080;", "server "+strings.TrimPrefix(services[name], "http://")+";")
	}
	configuration := strings.NewReplacer(moved...).Replace(read(t, "nginx.conf"))
	for name, text := range map[string]string{"nginx.conf": configuration, "routes.conf": read(t, "routes.conf")} {
		errortest.None(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	servicetest.RunProxy(t,
		exec.Command(program, "-p", folder, "-c", folder+"/nginx.conf", "-g", "daemon off;"), listen[0])
	return "http://" + listen[0]
}

func TestFrontDoor_SendsEachPathToItsService(t *testing.T) {
	services := map[string]string{}
	for _, name := range names.All() {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %s %s %s", name, r.RequestURI, r.Host, r.Header.Get("X-Forwarded-For"))
		}))
		t.Cleanup(s.Close)
		services[name] = s.URL
	}
	door := startDoor(t, services)
	table, err := checkout.Routes()
	errortest.None(t, err)
	paths := map[string]string{"/": names.Console, "/nowhere": names.Console, "/api//events": "identity",
		"/internal/elements/facts": names.Console}
	for _, r := range table.Routes {
		for _, path := range []string{r.Prefix, strings.TrimSuffix(r.Prefix, "/") + "/x%2Fy?q=a%20b", r.Prefix + "x"} {
			paths[path], _ = table.Service(path)
		}
	}
	for path, service := range paths {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, door+path, nil)
		errortest.None(t, err)
		r.Host = "belfry.school.example:8080"
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		want := fmt.Sprintf("%s %s belfry.school.example:8080 192.0.2.1, 127.0.0.1", service, path)
		if code, got := answer(t, r); code != http.StatusOK || got != want {
			t.Errorf("%s: %d %s, want %s", path, code, got, want)
		}
	}
}

func answer(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	a, err := http.DefaultClient.Do(r)
	errortest.None(t, err)
	defer func() { _ = a.Body.Close() }()
	body, err := io.ReadAll(a.Body)
	errortest.None(t, err)
	return a.StatusCode, string(body)
}

// A booking through nginx, with its note and in the stream of changes, and what nginx itself answers.
func TestFrontDoor_BeforeRealServices(t *testing.T) {
	system := servicetest.Start(t, servicetest.Options{Console: true, NoRace: true})
	services := map[string]string{}
	for _, name := range names.All() {
		services[name] = system.Replica(name, 0)
	}
	admin := system.Admin(t).At(startDoor(t, services))
	category := admin.Import(t, "eventcategories", map[string]any{"key": "lesson", "name": "Lesson"})["lesson"]
	room := admin.Import(t, "locations", map[string]any{"key": "hall", "name": "Hall"})["hall"]
	stream := admin.Stream(t, "/api/changes/stream")
	if first, open := stream.Next(); !open || first.ID == "" {
		t.Fatalf("the stream begins with %+v", first)
	}
	event := admin.Post(t, "/api/events", map[string]any{"elements": []any{room}, "event": map[string]any{
		"body": "Assembly", "event_category_id": category, "starts_at_text": "2026-09-07 09:00",
	}}).Must(t, http.StatusOK).Int(t, "event.id")
	for {
		e, open := stream.Next()
		if !open {
			t.Fatal("the stream has ended")
		}
		if strings.Contains(e.Data, fmt.Sprintf(`"kind":"Event","id":%d,`, event)) {
			break
		}
	}
	notes := fmt.Sprintf("/api/events/%d/notes", event)
	admin.Post(t, notes, map[string]any{"note": map[string]any{"contents": "Bring a chair."}}).Must(t, http.StatusOK)
	admin.Get(t, fmt.Sprintf("/api/elements/%d/commitments?start_date=2026-09-07", room)).
		Equal(t, "commitments.0.event.body", `"Assembly"`)

	large := strings.Repeat("x", 6<<20)
	admin.Post(t, "/api/events", large).Want(t, http.StatusRequestEntityTooLarge, `{"status":"Payload too large"}`,
		"6 MiB")
	system.Kill(t, "notes")
	admin.Get(t, "/api/notes/1").Want(t, http.StatusServiceUnavailable, `{"status":"Service unavailable"}`,
		"a service that is away")
}
