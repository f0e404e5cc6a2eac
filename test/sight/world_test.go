package sight

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

type fields = map[string]any

// thing is an element or an event.
type thing struct {
	id   int64
	name string
	hour string // at which an event begins
}

// world is a school with one element and one event of each sort of the table.
type world struct {
	admin    *servicetest.Client
	clients  map[string]*servicetest.Client
	users    map[string]int64
	elements map[string]thing
	events   map[string]thing
	own      map[string]thing // an event of each user
	lesson   int64            // a category
	wide     int64            // a school-wide one
	care     int64            // a confidential one
	hours    int
}

func load(t *testing.T, system *servicetest.System) *world {
	t.Helper()
	w := &world{
		admin: system.Admin(t), clients: map[string]*servicetest.Client{}, elements: map[string]thing{},
		events: map[string]thing{}, own: map[string]thing{},
	}
	// Names begin with the type, which the search for free elements asks for.
	w.people(t)
	w.things(t)
	w.groups(t)
	w.login(t, system)
	w.book(t)
	return w
}

func (w *world) add(t *testing.T, what, kind string, record fields) {
	t.Helper()
	record["key"] = what
	id := w.admin.Import(t, kind, record)[what]
	a := w.admin.Get(t, fmt.Sprintf("/api/elements/%d", id)).Must(t, http.StatusOK)
	w.elements[what] = thing{id: id, name: a.Text(t, "element.name")}
}

func (w *world) people(t *testing.T) {
	w.add(t, "itself", "pupils", fields{"forename": "Pupil", "surname": "Quill"})
	w.add(t, "another pupil", "pupils", fields{"forename": "Pupil", "surname": "Other"})
	w.add(t, "a teacher", "staff", fields{"initials": "TT", "forename": "Tess", "surname": "Teacher"})
	w.add(t, "a teacher who is asked", "staff", fields{"initials": "AA", "forename": "Ann", "surname": "Asked"})
}

func (w *world) things(t *testing.T) {
	yes, no := true, false
	w.add(t, "a public property", "properties", fields{"name": "Property Open", "make_public": yes})
	w.add(t, "another property", "properties", fields{"name": "Property Closed", "make_public": no})
	w.add(t, "a location", "locations", fields{"name": "Location Hall"})
	w.add(t, "a service", "services", fields{"name": "Service Bus"})
	w.add(t, "a subject", "subjects", fields{"name": "Subject Maths"})
}

func (w *world) groups(t *testing.T) {
	for what, name := range map[string]string{
		"its group": "Group Own", "a group around its group": "Group Around", "a group that it has left": "Group Left",
		"another group": "Group Other",
	} {
		w.add(t, what, "groups", fields{"name": name})
	}
	for _, m := range []struct{ group, member, last string }{
		{"its group", "itself", ""}, {"its group", "another pupil", ""}, {"another group", "another pupil", ""},
		{"a group around its group", "its group", ""}, {"a group that it has left", "itself", "2020-07-31"},
	} {
		w.join(t, m.group, m.member, m.last)
	}
}

// join makes an element a member of a group, from long ago until a last day; "" means for ever.
func (w *world) join(t *testing.T, group, member, last string) {
	t.Helper()
	line := fields{"element_id": w.elements[member].id}
	if last != "" {
		line["last_day"] = last
	}
	w.admin.Post(t, fmt.Sprintf("/api/admin/elements/%d/members", w.elements[group].id),
		fields{"members": []fields{line}}).Must(t, http.StatusCreated)
}

func (w *world) login(t *testing.T, system *servicetest.System) {
	w.enter(t, system, map[string]fields{
		"pupil": {"kind": "pupil", "element": "Pupil:itself", "can_add_events": true},
		"guest": {"kind": "guest", "can_add_events": true},
		"staff": {"can_add_events": true, "element": "Staff:a teacher"},
		"su":    {"can_su": true},
		"clerk": {}, "keeper": {"kind": "guest"}, "another": {"kind": "pupil", "can_add_events": true},
		"maker":     {"can_add_events": true, "can_add_notes": true},
		"colleague": {"can_add_events": true, "can_add_notes": true}, "editor": {"edit_all_events": true},
		"monitor": {"kind": "pupil", "edit_all_events": true},
		"sibling": {"kind": "pupil", "element": "Pupil:another pupil"},
		"parent":  {"kind": "pupil", "can_add_events": true, "stands_for": []string{"itself", "another pupil"}},
	})
}

// enter makes users with these fields and can_api, and logs them in.
func (w *world) enter(t *testing.T, system *servicetest.System, users map[string]fields) {
	t.Helper()
	var records []fields
	uuids := map[string]string{}
	for key, more := range users {
		uuids[key] = uuid.NewString()
		record := fields{
			"key": key, "name": key, "email": strings.ReplaceAll(key, " ", ".") + "@school.example",
			"uuid": uuids[key], "can_api": true,
		}
		maps.Copy(record, more)
		records = append(records, record)
	}
	w.users = w.admin.Import(t, "users", records...)
	for key := range uuids {
		w.clients[key] = system.Login(t, uuids[key])
	}
}

func (w *world) book(t *testing.T) {
	ids := w.admin.Import(t, "eventcategories", fields{"key": "lesson", "name": "Lesson", "busy": true},
		fields{"key": "wide", "name": "School-wide", "busy": true, "schoolwide": true},
		fields{"key": "care", "name": "Care", "busy": true, "confidential": true})
	lesson, wide := ids["lesson"], ids["wide"]
	w.lesson, w.wide, w.care = lesson, wide, ids["care"]
	staff := w.clients["staff"]
	hall := "a location"
	w.event(t, staff, "with the pupil", lesson, "itself", "another pupil", hall)
	w.event(t, staff, "with its group", lesson, "its group", hall)
	w.event(t, staff, "with a group that it has left", lesson, "a group that it has left", hall)
	w.event(t, staff, "with another pupil", lesson, "another pupil", hall)
	w.event(t, staff, "of a public property", lesson, "a public property", "a teacher", hall)
	w.event(t, staff, "of another property", lesson, "another property", hall)
	w.event(t, staff, "of the hall alone", lesson, hall)
	w.keep(t, "a teacher who is asked", "clerk")
	w.event(t, staff, "school-wide", wide, "a public property", "a teacher", "itself", "another pupil", "its group",
		"another group", hall, "a teacher who is asked")
	w.event(t, w.clients["another"], "school-wide, of another pupil", wide)
	for _, kind := range []string{"pupil", "guest", "staff"} {
		w.own[kind] = w.event(t, w.clients[kind], "its own", lesson)
	}
	w.keep(t, "another property", "keeper")
	w.event(t, w.clients["maker"], "confidential", ids["care"], "itself", "a public property", "another property", hall)
	w.event(t, w.clients["maker"], "confidential, with its group", ids["care"], "its group", hall)
	w.keep(t, "a public property", "clerk")
	w.event(t, staff, "asked of a public property", lesson, "a public property", hall)
	w.event(t, staff, "for the keeper to decide", lesson, "another property", "a teacher", "itself")
}

// keep makes a user administrator of an element, who decides on later bookings.
func (w *world) keep(t *testing.T, element, user string) {
	t.Helper()
	w.admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", w.elements[element].id, w.users[user]),
		nil).Must(t, http.StatusOK)
}

// event books elements for an hour of its own.
func (w *world) event(t *testing.T, c *servicetest.Client, what string, category int64, elements ...string) thing {
	t.Helper()
	w.hours++
	e := thing{name: fmt.Sprintf("Event %02d %s", w.hours, what), hour: fmt.Sprintf("2026-09-07T%02d:00", 6+w.hours)}
	ids := sequence.Map(elements, func(element string) string { return fmt.Sprint(w.elements[element].id) })
	record := fields{"body": e.name, "event_category_id": category, "starts_at": e.hour,
		"ends_at": fmt.Sprintf("2026-09-07T%02d:50", 6+w.hours)}
	if len(elements) > 0 {
		record["organiser_id"] = w.elements["a teacher"].id
	}
	a := c.Post(t, "/api/events", fields{"event": record, "elements": ids}).Must(t, http.StatusOK)
	if n := a.Len(t, "failures"); n > 0 {
		t.Fatal(a.Body)
	}
	e.id = a.Int(t, "event.id")
	w.events[what] = e
	return e
}
