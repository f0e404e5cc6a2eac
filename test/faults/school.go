package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The size of the school.
const (
	rooms, teachers, groups, calendars, buses, pupils = 12, 12, 4, 2, 6, 80
	days                                              = 28
)

// firstDay is the first day of events: four weeks without a change of the clock, in which local time is UTC.
var firstDay = time.Date(2027, 1, 4, 0, 0, 0, 0, time.UTC)

func dayOf(n int) string { return firstDay.AddDate(0, 0, n).Format(time.DateOnly) }

// school is what is there before the first fault.
type school struct {
	admin, writer, keeper *caller
	category              int64
	rooms, teachers       []int64
	groups, pupils        []int64
	calendars             []int64 // controlled, by the keeper
	minibuses             int64   // a resource group, kept by the keeper
	keeperID              int64
	halls                 []hall
	buses                 []int64
}

type fields = map[string]any

// newSchool makes the school. Nothing is broken yet, so any answer but success is an error.
func newSchool(ctx context.Context, s *system) (*school, error) {
	m := maker{ctx: ctx, as: newCaller(s.url, s.admin)}
	sc := &school{admin: m.as}
	sc.category = m.id("POST", "/api/admin/eventcategories",
		fields{"eventcategory": fields{"name": "Lesson", "busy": true}}, "eventcategory")
	for n := range rooms {
		sc.rooms = append(sc.rooms, m.element("Location", n, fields{}))
	}
	for n := range teachers {
		sc.teachers = append(sc.teachers, m.element("Staff", n,
			fields{"initials": "T" + strconv.Itoa(n), "forename": "Tess", "surname": "Teacher"}))
	}
	for n := range groups {
		sc.groups = append(sc.groups, m.element("Group", n, fields{}))
	}
	for n := range pupils {
		sc.pupils = append(sc.pupils, m.element("Pupil", n, fields{"forename": "Pat", "surname": "Pupil"}))
	}
	var writerUUID, keeperUUID string
	_, writerUUID = m.user("Wendy Writer", "can_api", "can_add_events", "can_add_notes")
	sc.keeperID, keeperUUID = m.user("Kim Keeper", "can_api")
	administer := func(element int64) {
		m.call("PUT", fmt.Sprintf("/api/admin/elements/%d/administrators/%d", element, sc.keeperID), nil, nil)
	}
	for n := range calendars {
		sc.calendars = append(sc.calendars, m.element("Property", n, fields{}))
		administer(sc.calendars[n])
	}
	sc.minibuses = m.element("Group", groups, fields{"resource": true})
	administer(sc.minibuses)
	for n := range buses {
		sc.buses = append(sc.buses, m.element("Service", n, fields{}))
		m.call("POST", fmt.Sprintf("/api/admin/elements/%d/members", sc.minibuses),
			fields{"members": []fields{{"element_id": sc.buses[n]}}}, nil)
	}
	var hook struct{ Webhook struct{ Secret string } }
	m.call("POST", "/api/admin/webhooks", fields{"webhook": fields{"url": s.endpoint.URL}}, &hook)
	s.endpoint.Trust(hook.Webhook.Secret)
	sc.writer, sc.keeper = newCaller(s.url, writerUUID), newCaller(s.url, keeperUUID)
	return sc, m.err
}

// maker makes records until something fails; err has what.
type maker struct {
	ctx context.Context //nolint:containedctx // it lives for one function
	as  *caller
	err error
}

func (m *maker) call(method, path string, body, reply any) {
	if m.err != nil {
		return
	}
	a, err := m.as.send(m.ctx, method, path, body)
	switch {
	case err != nil:
		m.err = err
	case a.Code != http.StatusOK && a.Code != http.StatusCreated:
		m.err = fmt.Errorf("%s: %d %s", a.Request, a.Code, a.Body)
	case a.Fault() != nil:
		m.err = a.Fault()
	case reply != nil:
		m.err = json.Unmarshal([]byte(a.Body), reply)
	}
}

// id makes a record and returns the id that is below a key of the answer.
func (m *maker) id(method, path string, body any, key string) int64 {
	var reply map[string]json.RawMessage
	var record struct{ ID int64 }
	if m.call(method, path, body, &reply); m.err == nil {
		m.err = json.Unmarshal(reply[key], &record)
	}
	return record.ID
}

func (m *maker) element(kind string, n int, with fields) int64 {
	with["entity_type"] = kind
	if with["forename"] == nil {
		with["name"] = fmt.Sprintf("%s %d", kind, n)
	}
	return m.id("POST", "/api/admin/elements", fields{"element": with}, "element")
}

func (m *maker) user(name string, permissions ...string) (id int64, uuid string) {
	granted := fields{}
	for _, p := range permissions {
		granted[p] = true
	}
	var reply struct {
		User struct {
			ID   int64
			UUID string
		}
	}
	m.call("POST", "/api/admin/users", fields{"user": fields{"name": name, "kind": "staff", "permissions": granted,
		"email": fmt.Sprintf("%x@school.invalid", name)}}, &reply)
	return reply.User.ID, reply.User.UUID
}
