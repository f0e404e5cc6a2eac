package api_test

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// shared is all four services, two replicas of each. Webhooks may go to this machine.
var shared = servicetest.Share(servicetest.Options{Replicas: 2, Env: map[string]string{
	"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8"}})

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

func system(t testing.TB) *servicetest.System {
	t.Helper()
	return shared.Get(t)
}

// school is what the tests book: it is loaded once through the import calls. Its fields are ids, as they stand in
// answers.
type school struct {
	teacher, colleague, leaver, room, set, pupil, minibuses, minibus, calendar int64
	lesson, trip, privileged                                                   int64
	uuids                                                                      map[string]string // by user
	users                                                                      map[string]int64
}

var (
	loadOnce sync.Once
	loaded   school
)

// loadSchool returns the school; the first test that asks loads it.
func loadSchool(t *testing.T) school {
	t.Helper()
	loadOnce.Do(func() { loaded = importSchool(t) })
	valuetest.MustHold(t, loaded.teacher != 0, "the school could not be loaded")
	return loaded
}

func importSchool(t *testing.T) school {
	t.Helper()
	admin := system(t).Admin(t)
	staff := admin.Import(t, "staff",
		map[string]any{"key": "1", "initials": "ABC", "forename": "Anna", "surname": "Bell"},
		map[string]any{"key": "2", "initials": "DEF", "forename": "Dan", "surname": "Eve"},
		map[string]any{"key": "3", "initials": "OLD", "forename": "Olga", "surname": "Dean", "current": false})
	pupils := admin.Import(t, "pupils", map[string]any{"key": "1", "forename": "Pat", "surname": "Quill"})
	rooms := admin.Import(t, "locations", map[string]any{"key": "1", "name": "Room 1", "short_name": "R1"})
	groups := admin.Import(t, "groups",
		map[string]any{"key": "9A", "name": "9A"},
		map[string]any{"key": "buses", "name": "Minibuses", "resource": true})
	services := admin.Import(t, "services", map[string]any{"key": "1", "name": "Minibus 1"})
	properties := admin.Import(t, "properties", map[string]any{"key": "1", "name": "Public calendar"})
	categories := admin.Import(t, "eventcategories",
		map[string]any{"key": "lesson", "name": "Lesson", "pecking_order": 20, "busy": true, "timetable": true},
		map[string]any{"key": "trip", "name": "Trip"},
		map[string]any{"key": "secret", "name": "Secret", "privileged": true})

	s := school{
		teacher: staff["1"], colleague: staff["2"], leaver: staff["3"], room: rooms["1"], set: groups["9A"],
		pupil:     pupils["1"],
		minibuses: groups["buses"], minibus: services["1"], calendar: properties["1"],
		lesson: categories["lesson"], trip: categories["trip"], privileged: categories["secret"],
		uuids: map[string]string{},
	}
	var records []map[string]any
	for name, more := range map[string]map[string]any{
		"owner":      {"can_add_events": true, "can_add_notes": true},
		"organiser":  {"element": "Staff:1"},
		"editor":     {"edit_all_events": true},
		"privileged": {"can_add_events": true, "privileged": true},
		"keeper":     {"can_add_events": true}, // administers the public calendar
		"driver":     {},                       // administers the minibuses
		"stranger":   {},
		"admin":      {"admin": true},
	} {
		s.uuids[name] = uuid.NewString()
		record := map[string]any{"key": name, "name": name, "email": name + "@school.example", "uuid": s.uuids[name],
			"can_api": true}
		for field, value := range more {
			record[field] = value
		}
		records = append(records, record)
	}
	s.users = admin.Import(t, "users", records...)
	admin.Import(t, "administrators",
		map[string]any{"key": "Property:1/keeper", "element": "Property:1", "user": "keeper"},
		map[string]any{"key": "Group:buses/driver", "element": "Group:buses", "user": "driver"})
	return s
}

// as returns a client signed in as one of the school's users.
func (s school) as(t *testing.T, user string) *servicetest.Client {
	t.Helper()
	return system(t).Login(t, s.uuids[user])
}

// enter makes a user of kind staff who may call the API, but for the fields that follow, and returns a client signed in
// as that user.
func enter(t *testing.T, more ...any) *servicetest.Client {
	t.Helper()
	id := uuid.NewString()
	record := map[string]any{"key": id, "name": "Una", "email": id + "@school.example", "uuid": id, "can_api": true}
	system(t).Admin(t).Import(t, "users", servicetest.With(record, more...))
	return system(t).Login(t, id)
}

// whoIs returns the id of a client's user.
func whoIs(t *testing.T, c *servicetest.Client) int64 {
	t.Helper()
	return c.Get(t, "/api/me").Must(t, 200).Int(t, "user.id")
}

// administers makes a client's user an administrator of an element.
func administers(t *testing.T, c *servicetest.Client, element int64) {
	t.Helper()
	call := path("/api/admin/elements/%d/administrators/%d", element, whoIs(t, c))
	system(t).Admin(t).Put(t, call, nil).Must(t, 200)
}

// loadOwned returns the school, and a client signed in as the user who makes events in it.
func loadOwned(t *testing.T) (school, *servicetest.Client) {
	t.Helper()
	s := loadSchool(t)
	return s, s.as(t, "owner")
}

// fields are the least that an event needs, and more.
func (s school) fields(more ...any) map[string]any {
	fields := map[string]any{"body": "Maths", "event_category_id": s.lesson, "starts_at_text": "2026-09-07 09:00"}
	return servicetest.With(fields, more...)
}

type created = servicetest.Booking

// decoded returns what an answer of 200 says.
func decoded[T any](t *testing.T, a servicetest.Answer) (got T) {
	t.Helper()
	a.Must(t, 200).Decode(t, &got)
	return got
}

// book creates an event.
func book(t *testing.T, c *servicetest.Client, fields map[string]any, elements ...any) created {
	t.Helper()
	body := map[string]any{"event": fields, "elements": append([]any{}, elements...)}
	return decoded[created](t, c.Post(t, "/api/events", body))
}

func add(t *testing.T, c *servicetest.Client, id int64, elements ...any) created {
	t.Helper()
	return decoded[created](t, c.Post(t, path("/api/events/%d/add", id), map[string]any{"elements": elements}))
}

func get(t *testing.T, c *servicetest.Client, id int64) created {
	t.Helper()
	return decoded[created](t, c.Get(t, path("/api/events/%d", id)))
}

// decide moves a commitment to a status, with more beside it.
func decide(t *testing.T, c *servicetest.Client, id int64, status string, more ...any) servicetest.Answer {
	t.Helper()
	fields := servicetest.With(map[string]any{"status": status}, more...)
	return c.Patch(t, path("/api/commitments/%d", id), map[string]any{"commitment": fields})
}

// holds fails the test for each of the parts that a text lacks.
func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		valuetest.Has(t, text, part)
	}
}

// times are the fields of an event that are its times.
func times(starts, ends string) map[string]any {
	return map[string]any{"starts_at_text": starts, "ends_at_text": ends}
}

// wantInvalid fails the test unless the answer is 422 with exactly that message on that field of the record.
func wantInvalid(t *testing.T, a servicetest.Answer, record, field, message string) {
	t.Helper()
	if a.WantCode(t, 422); a.Code == 422 {
		a.Equal(t, "status", `"Unprocessable entity"`)
		a.Equal(t, record+".valid", "false")
		a.Equal(t, record+".errors", fmt.Sprintf("{%q:[%q]}", field, message))
	}
}

func path(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func text(id int64) string { return strconv.FormatInt(id, 10) }

// day returns the ids of the events in an element's day.
func day(t *testing.T, c *servicetest.Client, element int64, date string) []int64 {
	t.Helper()
	got := decoded[struct {
		Commitments []struct{ Event struct{ ID int64 } }
	}](t, c.Get(t, path("/api/elements/%d/commitments?start_date=%s", element, date)))
	var ids []int64
	for _, commitment := range got.Commitments {
		ids = append(ids, commitment.Event.ID)
	}
	return ids
}

// through returns clients of the user at each replica of the service, so that a test decides where its requests go.
func (s school) through(t *testing.T, user string) []*servicetest.Client {
	t.Helper()
	clients := make([]*servicetest.Client, 2)
	for i := range clients {
		clients[i] = s.as(t, user).At(system(t).Replica("events", i))
	}
	return clients
}

// codes counts answers by their codes.
func codes(answers []servicetest.Answer) map[int]int {
	counts := map[int]int{}
	for _, a := range answers {
		counts[a.Code]++
	}
	return counts
}

// atOnce runs do n times at once, spread over the clients, and returns the answers.
func atOnce(n int, clients []*servicetest.Client,
	do func(i int, c *servicetest.Client) servicetest.Answer) []servicetest.Answer {
	answers := make([]servicetest.Answer, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i] = do(i, clients[i%len(clients)]) })
	}
	wg.Wait()
	return answers
}
