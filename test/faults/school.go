package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/belfry-schools/belfry/client"
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
	client                *client.Client // of the first administrator; it repeats what has no answer
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

// eventAt returns the fields of an event.
func (sc *school) eventAt(title string, starts time.Time, length time.Duration) fields {
	return fields{"body": title, "event_category_id": sc.category, "starts_at": starts.Format(time.RFC3339),
		"ends_at": starts.Add(length).Format(time.RFC3339)}
}

// newSchool makes the school. Nothing is broken yet.
func newSchool(ctx context.Context, s *system) (*school, error) {
	c, err := client.New(s.url, client.Options{UserAgent: "belfry-endure"})
	if err != nil {
		return nil, err
	}
	m := maker{ctx: ctx, client: c, err: c.Login(ctx, s.admin)}
	sc := &school{client: c, admin: newCaller(s.url, s.admin)}
	lesson := fields{"name": "Lesson", "busy": true}
	sc.category = m.create("/api/admin/eventcategories", "eventcategory", lesson).ID("id")
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
	writer := m.user("Wendy Writer", "can_api", "can_add_events", "can_add_notes")
	keeper := m.user("Kim Keeper", "can_api")
	sc.keeperID = keeper.ID("id")
	administer := func(element int64) {
		m.do(func() error {
			path := fmt.Sprintf("/api/admin/elements/%d/administrators/%d", element, sc.keeperID)
			_, err := c.Put(ctx, path, "administrator")
			return err
		})
	}
	for n := range calendars {
		sc.calendars = append(sc.calendars, m.element("Property", n, fields{}))
		administer(sc.calendars[n])
	}
	sc.minibuses = m.element("Group", groups, fields{"resource": true})
	administer(sc.minibuses)
	for n := range buses {
		sc.buses = append(sc.buses, m.element("Service", n, fields{}))
		m.do(func() error {
			_, err := c.AddMembers(ctx, sc.minibuses, []map[string]any{{"element_id": sc.buses[n]}})
			return err
		})
	}
	s.endpoint.Trust(m.create("/api/admin/webhooks", "webhook", fields{"url": s.endpoint.URL}).Text("secret"))
	sc.writer, sc.keeper = newCaller(s.url, writer.Text("uuid")), newCaller(s.url, keeper.Text("uuid"))
	return sc, m.err
}

// maker makes records until something fails; err has what.
type maker struct {
	ctx    context.Context //nolint:containedctx // it lives for one function
	client *client.Client
	err    error
}

func (m *maker) do(call func() error) {
	if m.err == nil {
		m.err = call()
	}
}

func (m *maker) create(path, part string, with fields) (made client.Record) {
	m.do(func() (err error) { made, err = m.client.Create(m.ctx, path, part, with); return err })
	return made
}

func (m *maker) element(kind string, n int, with fields) int64 {
	with["entity_type"] = kind
	if with["forename"] == nil {
		with["name"] = fmt.Sprintf("%s %d", kind, n)
	}
	return m.create("/api/admin/elements", "element", with).ID("id")
}

func (m *maker) user(name string, permissions ...string) client.Record {
	granted := fields{}
	for _, p := range permissions {
		granted[p] = true
	}
	return m.create("/api/admin/users", "user", fields{"name": name, "kind": "staff", "permissions": granted,
		"email": fmt.Sprintf("%x@school.invalid", name)})
}
