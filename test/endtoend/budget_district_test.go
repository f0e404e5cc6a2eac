package endtoend_test

import (
	"maps"
	"sync"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// district is what the budgets of several schools in one Belfry are counted on: a school with a category and a webhook
// of its own. It is there only from its first call on, since a category of a school costs all who ask for categories a
// question.
type district struct {
	school, club, event int64
	head                *servicetest.Client // who administers the school
	teacher             *servicetest.Client // who belongs to it
}

func (c *budgeted) newDistrict() *district {
	c.t.Helper()
	school := record{"key": "school", "name": "School", "school": true}
	d := &district{school: c.admin.Import(c.t, "groups", school)["school"]}
	var members []record
	for _, id := range []int64{c.teacher, c.pupil, c.room, c.set, c.minibuses} {
		members = append(members, record{"element_id": id})
	}
	c.admin.Post(c.t, at("/api/admin/elements/%d/members", d.school), record{"members": members}).Must(c.t, 201)
	d.club = c.admin.Post(c.t, "/api/admin/eventcategories", record{"eventcategory": record{
		"name": "Club", "busy": true, "school_id": d.school}}).Must(c.t, 201).Int(c.t, "eventcategory.id")
	c.admin.Post(c.t, "/api/admin/webhooks",
		record{"webhook": record{"url": c.hook, "school_id": d.school}}).Must(c.t, 201)
	user := func(fields record) *servicetest.Client {
		id := uuid.NewString()
		user := record{"name": "Head", "email": id + "@school.example", "uuid": id, "element_id": c.teacher,
			"permissions": record{"can_api": true, "can_add_events": true}}
		maps.Copy(user, fields)
		made := c.admin.Post(c.t, "/api/admin/users", record{"user": user}).Must(c.t, 201)
		return c.system.Login(c.t, made.Text(c.t, "user.uuid"))
	}
	d.head, d.teacher = user(record{"admin_of": []int64{d.school}}), user(nil)
	d.event = d.teacher.Post(c.t, "/api/events", c.clubEvent(d)).Must(c.t, 200).Int(c.t, "event.id")
	return d
}

// clubEvent is a new event of the school's category and elements.
func (c *budgeted) clubEvent(d *district) record {
	e := c.newEvent("", c.set, c.teacher, c.room, c.minibuses)
	e["event"].(record)["event_category_id"] = d.club
	return e
}

func (c *budgeted) districtCalls() []call {
	of := sync.OnceValue(c.newDistrict)
	by := func(route, counted string, ask func(d *district) request) call {
		return call{route: route, counted: counted, request: func(int) request { return ask(of()) }}
	}
	return []call{
		by("GET /api/elements", "by a part of the name, in a school", func(d *district) request {
			return request{as: d.teacher, path: at("/api/elements?namelike=room&school=%d", d.school)}
		}),
		by("GET /api/admin/elements", "a page, for a school's administrator", func(d *district) request {
			return request{as: d.head, path: "/api/admin/elements?limit=10"}
		}),
		by("GET /api/admin/users", "a page, for a school's administrator", func(d *district) request {
			return request{as: d.head, path: "/api/admin/users?limit=10"}
		}),
		by("GET /api/eventcategories", "one of a school's", func(d *district) request {
			return request{as: d.teacher, path: "/api/eventcategories"}
		}),
		by("GET /api/admin/eventcategories", "a page, for a school's administrator", func(d *district) request {
			return request{as: d.head, path: "/api/admin/eventcategories?limit=10"}
		}),
		by("POST /api/events", "4 elements, of a school's category", func(d *district) request {
			return request{as: d.teacher, path: "/api/events", body: c.clubEvent(d)}
		}),
		by("GET /api/admin/webhooks", "a school's, for its administrator", func(d *district) request {
			return request{as: d.head, path: "/api/admin/webhooks"}
		}),
		by("GET /api/admin/audit/events", "a page, for a school's administrator", func(d *district) request {
			return request{as: d.head, path: "/api/admin/audit/events?limit=1"}
		}),
		by("GET /api/admin/audit/events", "of an event, for a school's administrator", func(d *district) request {
			return request{as: d.head, path: at("/api/admin/audit/events?record=Event:%d", d.event)}
		}),
	}
}
