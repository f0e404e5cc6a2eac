package endtoend_test

import (
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// budgeted is the school that the counted requests are about. Its fields are ids, as they stand in answers.
type budgeted struct {
	t                             *testing.T
	system                        *servicetest.System
	teacher, colleague, room, set int64
	pupil, minibuses, calendar    int64
	erased                        int64 // a pupil
	buses                         []int64
	lesson, trip                  int64
	event, note                   int64 // five elements and three notes, and one of these
	users                         map[string]int64
	uuids                         map[string]string
	hook                          string // where webhooks go
	trips                         int    // how many events were made, each on a day of its own
	years                         int    // how many series were made, each in a year of its own

	admin, owner, keeper, driver *servicetest.Client
	itself                       *servicetest.Client // of the pupil
}

const (
	// Lessons are at nine on every school day of 40 weeks from schoolDay, and on schoolDay four more.
	schoolDay   = "2026-09-07"
	schoolWeek  = "start_date=2026-09-07&end_date=2026-09-13"
	schoolYear  = "start_date=2026-09-07&end_date=2027-07-31"
	inYear      = "204 lessons"
	onDay       = "a pupil's day: 5 lessons, two levels of groups"
	importedTen = "10 new records"
)

type record = map[string]any

// startBudgeted is the school in a system of its own.
func startBudgeted(t *testing.T) *budgeted {
	t.Helper()
	return newBudgeted(t, servicetest.Start(t,
		servicetest.Options{Env: map[string]string{"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8"}}))
}

// newBudgeted loads a small school. A pupil is in a set and in a form, and the form is in a year.
func newBudgeted(t *testing.T, s *servicetest.System) *budgeted {
	t.Helper()
	admin := s.Admin(t)
	staff := admin.Import(t, "staff", record{"key": "1", "initials": "ABC", "forename": "Anna", "surname": "Bell"},
		record{"key": "2", "initials": "DEF", "forename": "Dan", "surname": "Eve"})
	pupils := admin.Import(t, "pupils", record{"key": "1", "forename": "Pat", "surname": "Quill"},
		record{"key": "2", "forename": "Kim", "surname": "Quill"},
		record{"key": "3", "forename": "Gus", "surname": "Gone"})
	rooms := admin.Import(t, "locations", record{"key": "1", "name": "Room 1", "short_name": "R1"})
	groups := admin.Import(t, "groups", record{"key": "year", "name": "Year 9"}, record{"key": "form", "name": "9A"},
		record{"key": "set", "name": "9 Mathematics 1"}, record{"key": "buses", "name": "Minibuses", "resource": true})
	properties := admin.Import(t, "properties", record{"key": "1", "name": "Public calendar"})
	categories := admin.Import(t, "eventcategories",
		record{"key": "lesson", "name": "Lesson", "busy": true, "timetable": true, "clash_check": true},
		record{"key": "trip", "name": "Trip", "busy": true})
	c := &budgeted{t: t, system: s, admin: admin, teacher: staff["1"], colleague: staff["2"], room: rooms["1"],
		set: groups["set"], pupil: pupils["1"], minibuses: groups["buses"], calendar: properties["1"],
		lesson: categories["lesson"], trip: categories["trip"], uuids: map[string]string{},
		hook: receivers.NewEndpoint(t).URL}
	var fleet, memberships []record
	for i := range 8 {
		fleet = append(fleet, record{"key": strconv.Itoa(i), "name": fmt.Sprintf("Minibus %d", i)})
		memberships = append(memberships, membership("buses", fmt.Sprintf("Service:%d", i)))
	}
	services := admin.Import(t, "services", fleet...)
	for i := range fleet {
		c.buses = append(c.buses, services[strconv.Itoa(i)])
	}
	admin.Import(t, "memberships", append(memberships, membership("year", "Group:form"),
		membership("form", "Pupil:1"), membership("set", "Pupil:1"), membership("set", "Pupil:2"))...)
	c.addUsers()
	c.addLessons()
	c.erased = pupils["3"]
	admin.Post(t, "/api/admin/erasures", record{"erasure": record{"element_id": c.erased}}).Must(t, 201)
	awaitErasure(t, admin, c.erased)
	return c
}

func membership(group, member string) record {
	return record{"key": "Group:" + group + "/" + member, "group": group, "member": member,
		"spans": []record{{"first_day": nil, "last_day": nil}}}
}

func (c *budgeted) addUsers() {
	c.t.Helper()
	var users []record
	for name, more := range map[string]record{
		"owner": {"can_add_events": true, "can_add_notes": true}, "keeper": {}, "driver": {}, "pupil": {},
		"secretary": {"can_su": true}, "itself": {"kind": "pupil", "element": "Pupil:1"},
	} {
		c.uuids[name] = uuid.NewString()
		user := record{"key": name, "name": name, "email": name + "@school.example", "uuid": c.uuids[name],
			"can_api": true}
		maps.Copy(user, more)
		users = append(users, user)
	}
	c.users = c.admin.Import(c.t, "users", users...)
	c.admin.Import(c.t, "administrators",
		record{"key": "Property:1/keeper", "element": "Property:1", "user": "keeper"},
		record{"key": "Group:buses/driver", "element": "Group:buses", "user": "driver"})
	c.owner, c.keeper, c.driver = c.login("owner"), c.login("keeper"), c.login("driver")
	c.itself = c.login("itself")
}

func (c *budgeted) addLessons() {
	c.t.Helper()
	first, err := time.Parse(time.DateOnly, schoolDay)
	errortest.None(c.t, err)
	lesson := func(day time.Time, hour int) record {
		date := day.Format(time.DateOnly)
		return record{"key": fmt.Sprintf("%s %d", date, hour), "body": "Mathematics", "category": "lesson",
			"starts_at": fmt.Sprintf("%s %02d:00", date, hour), "ends_at": fmt.Sprintf("%s %02d:50", date, hour),
			"elements": []string{"Group:set", "Staff:1", "Location:1"}}
	}
	var lessons []record
	for hour := 10; hour < 14; hour++ {
		lessons = append(lessons, lesson(first, hour))
	}
	for week := range 40 {
		for day := range 5 {
			lessons = append(lessons, lesson(first.AddDate(0, 0, 7*week+day), 9))
		}
	}
	c.admin.Import(c.t, "events", lessons...)
	c.event = c.book("skip", c.set, c.teacher, c.room, c.calendar, c.minibuses)
	for range 3 {
		c.note = c.addNote(c.event)
	}
}

// login returns a new client of that user.
func (c *budgeted) login(user string) *servicetest.Client {
	c.t.Helper()
	return c.system.Login(c.t, c.uuids[user])
}

// at is a path with ids in it.
func at(format string, ids ...any) string { return fmt.Sprintf(format, ids...) }

// newEvent is the body of a new event, on a day on which there is no other.
func (c *budgeted) newEvent(clashes string, elements ...int64) record {
	c.trips++
	day := time.Date(2028, 1, c.trips, 9, 0, 0, 0, time.UTC).Format(time.DateOnly)
	return clashing(record{"event": record{"body": "Trip", "event_category_id": c.trip,
		"starts_at_text": day + " 09:00", "ends_at_text": day + " 17:00"}, "elements": elements}, clashes)
}

// clashing is the body with what becomes of clashes; "": as the service does by default.
func clashing(body record, clashes string) record {
	if clashes != "" {
		body["clashes"] = clashes
	}
	return body
}

// newSeries is a create of 40 events, at times that no other has.
func (c *budgeted) newSeries(clashes string, elements ...int64) record {
	body := c.newEvent("", elements...)
	c.years++
	start := time.Date(2040+c.years, 1, 2, 9, 0, 0, 0, time.UTC).Format(time.DateOnly)
	body["event"] = record{"body": "Trip", "event_category_id": c.trip, "starts_at_text": start + " 09:00",
		"ends_at_text": start + " 17:00"}
	body["repeat"] = record{"rule": "FREQ=WEEKLY;COUNT=40"}
	return clashing(body, clashes)
}

// moveSeries is a change of a series of 40 events, each time to other times.
func (c *budgeted) moveSeries(elements ...int64) call {
	c.t.Helper()
	id := c.owner.Post(c.t, "/api/events", c.newSeries("", elements...)).Must(c.t, 200).Int(c.t, "series.events.0.id")
	day := fmt.Sprint(2040 + c.years)
	moved := write("PATCH /api/events/{id}", "all of a series of 40, other times, clashes refused", c.owner,
		func(n int) record {
			return record{"clashes": "refuse", "event": record{
				"starts_at_text": fmt.Sprintf("%s-01-02 09:%02d", day, n%60), "ends_at_text": day + "-01-02 17:00"}}
		}, id)
	return queried(moved, "?scope=all")
}

// book has the owner make an event.
func (c *budgeted) book(clashes string, elements ...int64) int64 {
	c.t.Helper()
	return c.owner.Post(c.t, "/api/events", c.newEvent(clashes, elements...)).Must(c.t, 200).Int(c.t, "event.id")
}

// commit returns a new commitment of the calendar, which is not decided yet.
func (c *budgeted) commit() int64 {
	c.t.Helper()
	return c.owner.Get(c.t, at("/api/events/%d", c.book("", c.calendar))).Int(c.t, "event.commitments.0.id")
}

// ask returns a new request for two minibuses.
func (c *budgeted) ask() int64 {
	c.t.Helper()
	event := c.book("", c.minibuses, c.minibuses)
	return c.owner.Get(c.t, at("/api/events/%d", event)).Int(c.t, "event.requests.0.id")
}

func (c *budgeted) addNote(event int64) int64 {
	c.t.Helper()
	return c.owner.Post(c.t, at("/api/events/%d/notes", event), noteOf("Bring *boots*.")).Must(c.t, 200).
		Int(c.t, "note.id")
}

func noteOf(contents string) record { return record{"note": record{"contents": contents}} }

// add has the administrator make a record and returns its id.
func (c *budgeted) add(path string, body any, id string) int64 {
	c.t.Helper()
	return c.admin.Post(c.t, path, body).Must(c.t, 201).Int(c.t, id)
}

func (c *budgeted) newLocation() int64 {
	c.t.Helper()
	return c.add("/api/admin/elements", newLocation(), "element.id")
}

func newLocation() record {
	return record{"element": record{"entity_type": "Location", "name": uuid.NewString()}}
}

func (c *budgeted) newUser() int64 {
	c.t.Helper()
	return c.add("/api/admin/users", newUser(), "user.id")
}

func newUser() record {
	name := uuid.NewString()
	return record{"user": record{"name": name, "email": name + "@school.example",
		"permissions": record{"can_api": true}}}
}

func (c *budgeted) newWebhook() int64 {
	c.t.Helper()
	return c.add("/api/admin/webhooks", record{"webhook": record{"url": c.hook}}, "webhook.id")
}

// ten are the lines of ten new records of an import.
func ten(n int, of func(key string) record) string {
	var lines string
	for i := range 10 {
		lines += ndjson(of(fmt.Sprintf("ten-%d-%d", n, i)))
	}
	return lines
}
