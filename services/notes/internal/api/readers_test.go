package api_test

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The whole trial has 1,000 notes and 50 readers (docs/reliability.md).
var (
	hostile = flag.Int("hostile", 150, "how many notes of the worst kind are sent")
	readers = flag.Int("readers", 10, "how many read meanwhile")
)

// TestHardToBreak_Row02_ReadersBesideHostileNotes fills an event's notes as far as they go, and has many users read
// them at once while more notes of the worst kind are sent.
func TestHardToBreak_Row02_ReadersBesideHostileNotes(t *testing.T) {
	const (
		writers = 8
		limit   = 200 << 10 // KiB
	)
	s := servicetest.Start(t, servicetest.Options{NoRace: true, Env: map[string]string{"GOMEMLIMIT": "230MiB"}})
	admin := s.Admin(t)
	category := admin.Import(t, "eventcategories", map[string]any{"key": "c", "name": "Lesson"})["c"]
	event := admin.Post(t, "/api/events", map[string]any{"event": map[string]any{
		"body": "Fire drill", "event_category_id": category, "starts_at": "2026-09-01 09:00",
		"ends_at": "2026-09-01 10:00",
	}}).Must(t, http.StatusOK).Int(t, "event.id")
	path := fmt.Sprintf("/api/events/%d/notes", event)
	note := map[string]any{"note": map[string]any{"contents": strings.Repeat("<", 65536)}}
	stored := 0
	for admin.Post(t, path, note).Code == http.StatusOK {
		stored++
	}

	c := servicetest.Connect(servicetest.ClientOptions{URL: s.URL, Undocumented: true})
	c.SetSessionCookie(admin.SessionCookie())
	var mu sync.Mutex
	written, read, longest := map[int]int{}, map[int]int{}, 0
	var sent atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for sent.Add(1) <= int64(*hostile) {
				a := c.Post(t, path, note)
				mu.Lock()
				written[a.Code]++
				mu.Unlock()
			}
		})
	}
	users := colleagues(t, s, admin, *readers)
	for _, user := range users {
		wg.Go(func() {
			a := user.Get(t, path)
			mu.Lock()
			defer mu.Unlock()
			read[a.Code]++
			longest = max(longest, len(a.Body))
			valuetest.Same(t, strings.Count(a.Body, `"formatted_contents"`), stored, "notes: %d %.200s", a.Code, a.Body)
		})
	}
	wg.Wait()
	if written[http.StatusUnprocessableEntity] != *hostile || read[http.StatusOK] != *readers || longest > 8<<20 {
		t.Errorf("the writers got %v, the readers %v, at most %d bytes", written, read, longest)
	}
	for _, service := range []string{"notes", "events"} {
		_, peak := s.Memory(t, service, 0)
		t.Logf("%s: at most %d KiB resident", service, peak)
		valuetest.Holds(t, peak < limit, "%s took %d KiB, %d are allowed", service, peak, limit)
	}
	t.Logf("%d notes fit, their listing has %d bytes", stored, longest)
}

// colleagues are as many staff, each signed in.
func colleagues(t *testing.T, s *servicetest.System, admin *servicetest.Client, n int) []*servicetest.Client {
	t.Helper()
	records := make([]map[string]any, n)
	for i := range records {
		records[i] = map[string]any{
			"key": fmt.Sprint("colleague", i), "name": "C", "email": fmt.Sprintf("c%d@school.example", i),
			"kind": "staff", "can_api": true, "uuid": fmt.Sprintf("00000000-0000-4000-9000-%012d", i),
		}
	}
	admin.Import(t, "users", records...)
	clients := make([]*servicetest.Client, n)
	for i := range clients {
		clients[i] = servicetest.Connect(servicetest.ClientOptions{URL: s.URL, Undocumented: true})
		clients[i].Get(t, "/api/login?uuid="+records[i]["uuid"].(string)).Must(t, http.StatusOK)
	}
	return clients
}
