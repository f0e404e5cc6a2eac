package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// shared is used by all tests of this package; each makes its own events.
var shared = servicetest.Share(servicetest.Options{})

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

func system(t testing.TB) *servicetest.System {
	t.Helper()
	return shared.Get(t)
}

// users are one of each kind that may use the API, by key. Their uuids are made of the last field.
var users = []struct {
	key, kind string
	rights    []string
	uuid      string
}{
	{"author", "staff", []string{"can_add_events", "can_add_notes"}, "00000000-0000-4000-8000-000000000001"},
	{"colleague", "staff", []string{"can_add_events"}, "00000000-0000-4000-8000-000000000002"},
	{"pupil", "pupil", nil, "00000000-0000-4000-8000-000000000003"},
	{"guest", "guest", nil, "00000000-0000-4000-8000-000000000004"},
	{"head", "staff", []string{"admin"}, "00000000-0000-4000-8000-000000000005"},
}

// school is what most tests begin with.
type school struct {
	clients  map[string]*servicetest.Client // by key of users
	ids      map[string]int64               // of the users, by key
	category int64
	event    int64
}

// newSchool imports the users, logs them in, and makes an event of the author's.
func newSchool(t *testing.T) school {
	t.Helper()
	admin := system(t).Admin(t)
	var records []map[string]any
	for _, u := range users {
		record := map[string]any{"key": u.key, "name": u.key, "email": u.key + "@school.example", "kind": u.kind,
			"uuid": u.uuid, "can_api": true}
		for _, right := range u.rights {
			record[right] = true
		}
		records = append(records, record)
	}
	s := school{clients: map[string]*servicetest.Client{}, ids: admin.Import(t, "users", records...)}
	s.category = admin.Import(t, "eventcategories", map[string]any{"key": "c", "name": "Lesson"})["c"]
	for _, u := range users {
		s.clients[u.key] = system(t).Login(t, u.uuid)
	}
	s.event = s.newEvent(t)
	return s
}

// newEvent makes the event of parentForm.
func (s school) newEvent(t *testing.T) int64 {
	t.Helper()
	return s.clients["author"].Post(t, "/api/events", map[string]any{"event": map[string]any{
		"body": "Fire drill", "event_category_id": s.category, "starts_at": "2026-09-01 09:00",
		"ends_at": "2026-09-01 10:00"}}).Must(t, 200).Int(t, "event.id")
}

// parentForm is the summary of an event of newEvent's.
func parentForm(event int64) string {
	return fmt.Sprintf(`{"id":%d,"body":"Fire drill","starts_at":"2026-09-01T09:00:00.000+01:00","ends_at":"2026-09-01T10:00:00.000+01:00","all_day":false,"valid":true}`, event)
}

// ownerForm is the list form of a user.
func (s school) ownerForm(key string) string {
	return fmt.Sprintf(`{"id":%d,"name":%q,"email":"%s@school.example","valid":true}`, s.ids[key], key, key)
}

// newNote adds a note of the author's to the school's event and returns its id.
func (s school) newNote(t *testing.T, fields map[string]any) int64 {
	t.Helper()
	return s.clients["author"].Post(t, fmt.Sprintf("/api/events/%d/notes", s.event), map[string]any{"note": fields}).
		Must(t, 200).Int(t, "note.id")
}

func quoted(text string) string {
	encoded, _ := json.Marshal(text) // strings always encode
	return string(encoded)
}

func ok(name, value string) string { return fmt.Sprintf(`{"status":"OK",%q:%s}`, name, value) }

func missing(id int64) string {
	return fmt.Sprintf(`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Note with 'id'=%d"}`, id)
}

// paths are both forms of a note's path.
func paths(id int64) []string {
	return []string{fmt.Sprint("/api/notes/", id), fmt.Sprint("/notes/", id)}
}

// waitForNoNotes fails the test unless the store loses all notes of an event within a few seconds.
func waitForNoNotes(t *testing.T, event int64) {
	t.Helper()
	timetest.Eventually(t, "no notes of the event", 10*time.Second, func() bool {
		left, err := system(t).DB.Collection("notes").CountDocuments(t.Context(),
			bson.D{{Key: "event_id", Value: event}})
		errortest.None(t, err)
		return left == 0
	})
}
