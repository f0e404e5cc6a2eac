package endtoend_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// callsOf returns all that is counted, in the order of the table.
func callsOf(t *testing.T, s *servicetest.System) []call {
	t.Helper()
	c := newBudgeted(t, s)
	return slices.Concat(c.identityCalls(), c.elementsCalls(), c.elementAdministrationCalls(), c.eventsCalls(),
		c.decisionCalls(), c.eventAdministrationCalls(), c.notesCalls(),
		c.districtCalls())
}

// read is a call that changes nothing.
func read(route, counted string, as *servicetest.Client, path string) call {
	return call{route: route, counted: counted, request: func(int) request { return request{as: as, path: path} }}
}

// write is a call whose path and body are made for each request.
func write(route, counted string, as *servicetest.Client, of func(n int) (path string, body any)) call {
	return call{route: route, counted: counted, request: func(n int) request {
		path, body := of(n)
		return request{as: as, path: path, body: body}
	}}
}

// keyed is the same call with an Idempotency-Key.
func keyed(c call) call {
	of := c.request
	c.counted = "with an Idempotency-Key"
	c.request = func(n int) request {
		r := of(n)
		r.headers = []string{"Idempotency-Key", uuid.NewString()}
		return r
	}
	return c
}

// imports is an import of ten new records.
func (c *budgeted) imports(kind string, of func(key string) record) call {
	return call{route: "POST /api/admin/import/" + kind, counted: importedTen, request: func(n int) request {
		return request{c.admin, "/api/admin/import/" + kind, ten(n, of),
			[]string{"Content-Type", "application/x-ndjson"}}
	}}
}

func ndjson(r record) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // no record of these tests holds what JSON has not
	}
	return string(text) + "\n"
}

// accesses is a page of the access log.
func (c *budgeted) accesses() call {
	const path = "/api/admin/access/elements"
	return read("GET "+path, "10 entries", c.admin, path+"?limit=10")
}

// audit is a page of a service's audit.
func (c *budgeted) audit(service string) call {
	path := "/api/admin/audit/" + service
	return read("GET "+path, "10 entries, none to move", c.admin, path+"?limit=10")
}

func (c *budgeted) identityCalls() []call {
	user := c.users["pupil"]
	switching := record{"session": record{"user_id": user}}
	create := write("POST /api/admin/users", "", c.admin, func(int) (string, any) {
		return "/api/admin/users", newUser()
	})
	return []call{
		{route: "GET /api/login", counted: "the right uuid", request: func(int) request {
			return request{as: c.system.Client(c.t), path: "/api/login?uuid=" + c.uuids["pupil"]}
		}},
		{route: "POST /api/login", counted: "the right uuid", request: func(int) request {
			return request{as: c.system.Client(c.t), path: "/api/login", body: record{"uuid": c.uuids["pupil"]}}
		}},
		{route: "GET /api/logout", request: func(int) request {
			return request{as: c.login("pupil"), path: "/api/logout"}
		}},
		{route: "GET /api/logout/oidc", code: 302, request: func(int) request {
			return request{as: c.login("pupil"), path: "/api/logout/oidc"}
		}},
		read("GET /api/login/providers", "", c.system.Client(c.t), "/api/login/providers"),
		c.withoutProvider("GET /api/login/oidc/{provider}", "/api/login/oidc/none"),
		c.withoutProvider("GET /api/login/oidc/{provider}/callback", "/api/login/oidc/none/callback"),
		c.withoutProvider("POST /api/login/oidc/{provider}/logout", "/api/login/oidc/none/logout"),
		read("GET /api/users", "", c.login("secretary"), "/api/users?email=owner@school.example"),
		{route: "PUT /api/sessions/{session}", request: func(int) request {
			return request{as: c.login("secretary"), path: "/api/sessions/1", body: switching}
		}},
		{route: "PATCH /api/sessions/{session}", request: func(int) request {
			return request{as: c.login("secretary"), path: "/api/sessions/1", body: switching}
		}},
		{route: "PUT /api/sessions/{session}/revert", request: func(int) request {
			as := c.login("secretary")
			as.Put(c.t, "/api/sessions/1", switching).Must(c.t, 200)
			return request{as: as, path: "/api/sessions/1/revert"}
		}},
		read("GET /api/me", "of a user who is no element", c.login("pupil"), "/api/me"),
		read("GET /api/me", "of a pupil", c.itself, "/api/me"),
		read("GET /api/sessions/{session}/whoami", "", c.owner, "/api/sessions/1/whoami"),
		read("GET /sessions/{session}/whoami", "", c.owner, "/sessions/1/whoami"),
		read("GET /api/me/tokens", "", c.itself, "/api/me/tokens"),
		write("POST /api/me/tokens", "what it would be", c.itself, func(int) (string, any) {
			return "/api/me/tokens?dry_run=true", aToken
		}),
		write("DELETE /api/me/tokens/{token}", "", c.itself, func(int) (string, any) {
			return at("/api/me/tokens/%d", c.newToken(c.itself, "/api/me/tokens")), nil
		}),
		read("GET /api/admin/users", "a page", c.admin, "/api/admin/users"),
		create,
		keyed(create),
		read("GET /api/admin/users/{id}", "", c.admin, at("/api/admin/users/%d", user)),
		write("PATCH /api/admin/users/{id}", "another name", c.admin, func(int) (string, any) {
			return at("/api/admin/users/%d", user), record{"user": record{"name": uuid.NewString()}}
		}),
		write("DELETE /api/admin/users/{id}", "", c.admin, func(int) (string, any) {
			return at("/api/admin/users/%d", c.newUser()), nil
		}),
		write("POST /api/admin/users/{id}/uuid", "", c.admin, func(int) (string, any) {
			return at("/api/admin/users/%d/uuid", c.newUser()), nil
		}),
		write("DELETE /api/admin/users/{id}/sessions", "", c.admin, func(int) (string, any) {
			return at("/api/admin/users/%d/sessions", user), nil
		}),
		read("GET /api/admin/users/{id}/tokens", "", c.admin, at("/api/admin/users/%d/tokens", user)),
		write("POST /api/admin/users/{id}/tokens", "", c.admin, func(int) (string, any) {
			return at("/api/admin/users/%d/tokens", c.newUser()), aToken
		}),
		write("DELETE /api/admin/users/{id}/tokens/{token}", "", c.admin, func(int) (string, any) {
			tokens := at("/api/admin/users/%d/tokens", user)
			return at(tokens+"/%d", c.newToken(c.admin, tokens)), nil
		}),
		c.imports("users", func(key string) record {
			return record{"key": key, "name": key, "email": key + "@school.example"}
		}),
		c.audit("identity"),
		read("GET /healthz", "", c.system.Client(c.t), "/healthz"),
		read("GET /api/version", "", c.system.Client(c.t), "/api/version"),
		read("GET /.well-known/security.txt", "", c.system.Client(c.t), "/.well-known/security.txt"),
		read("GET /api/openapi.json", "", c.system.Client(c.t), "/api/openapi.json"),
		read("GET /api/docs", "", c.system.Client(c.t), "/api/docs"),
	}
}

// aToken is the body of a creation.
var aToken = record{"token": record{"name": "A program", "scope": "read"}}

func (c *budgeted) newToken(as *servicetest.Client, path string) int64 {
	return as.Post(c.t, path, aToken).Must(c.t, 201).Int(c.t, "token.id")
}

// withoutProvider is a call about a provider that the deployment does not have.
func (c *budgeted) withoutProvider(route, path string) call {
	missing := read(route, "no such provider", c.system.Client(c.t), path)
	missing.code = http.StatusNotFound
	return missing
}

func (c *budgeted) elementsCalls() []call {
	const commitments = "GET /api/elements/{id}/commitments"
	day := at("/api/elements/%d/commitments?start_date="+schoolDay, c.pupil)
	first := read(commitments, onDay+", first after a start", c.owner, day)
	first.first = true
	feed := c.owner.Post(c.t, at("/api/elements/%d/feeds", c.pupil), nil).Must(c.t, 201)
	feeds := "/api/elements/%d/feeds"
	newFeed := func() string {
		location := c.newLocation()
		made := c.owner.Post(c.t, at(feeds, location), nil).Must(c.t, 201)
		return at(feeds+"/%d", location, made.Int(c.t, "feed.id"))
	}
	return []call{
		read("GET /api/elements", "by name", c.owner, "/api/elements?name=Room%201"),
		read("GET /api/elements", "by a part of the name", c.owner, "/api/elements?namelike=mini"),
		read("GET /api/elements/{id}", "a pupil", c.owner, at("/api/elements/%d", c.pupil)),
		read(commitments, onDay, c.owner, day),
		first,
		read(commitments, "a pupil's week with staff and locations: 9 lessons", c.owner,
			at("/api/elements/%d/commitments?"+schoolWeek+"&include=staff,locations", c.pupil)),
		read(commitments, "a pupil's week with category and decisions: 9 lessons", c.owner,
			at("/api/elements/%d/commitments?"+schoolWeek+"&include=category,decisions", c.pupil)),
		read(commitments, "a pupil's year: "+inYear, c.owner,
			at("/api/elements/%d/commitments?"+schoolYear, c.pupil)),
		read("GET /api/elements", "by a part of the name, asked by a pupil", c.itself, "/api/elements?namelike=room"),
		read("GET /api/elements/{id}", "a pupil, asked by itself", c.itself, at("/api/elements/%d", c.pupil)),
		read(commitments, onDay+", asked by itself", c.itself, day),
		read(commitments, "a pupil's week with staff and locations: 9 lessons, asked by itself", c.itself,
			at("/api/elements/%d/commitments?"+schoolWeek+"&include=staff,locations", c.pupil)),
		read(commitments, "a location's day, asked by a pupil", c.itself,
			at("/api/elements/%d/commitments?start_date="+schoolDay, c.room)),
		read("GET /api/elements/{id}/freebusy", "a pupil's week, asked by itself", c.itself,
			at("/api/elements/%d/freebusy?"+schoolWeek, c.pupil)),
		read("GET /api/elements/{id}/calendar.ics", "a pupil, asked by itself", c.itself,
			at("/api/elements/%d/calendar.ics", c.pupil)),
		read("GET /api/elements/{id}/requests", "", c.owner,
			at("/api/elements/%d/requests?start_date=2028-01-01&end_date=2028-01-31", c.minibuses)),
		read("GET /api/elements/{id}/freebusy", "a pupil's week", c.owner,
			at("/api/elements/%d/freebusy?"+schoolWeek, c.pupil)),
		read("GET /api/freebusy", "a pupil and a teacher, a week", c.owner,
			at("/api/freebusy?elements=%d,%d&"+schoolWeek, c.pupil, c.teacher)),
		read("GET /api/free", "all locations, an hour", c.owner,
			"/api/free?type=Location&starts_at="+schoolDay+"T09:00&ends_at="+schoolDay+"T10:00"),
		read("GET /api/free", "all staff, an event's time, near to a teacher", c.owner,
			at("/api/free?type=Staff&near=%d&event=%d", c.teacher, c.event)),
		read("GET /api/free", "the slots of a pupil and a teacher, a week", c.owner,
			at("/api/free?slots=%d,%d&"+schoolWeek, c.pupil, c.teacher)),
		read("GET /api/timetables", "a pupil and a teacher, a week with staff and locations", c.owner,
			at("/api/timetables?elements=%d,%d&"+schoolWeek+"&include=staff,locations", c.pupil, c.teacher)),
		read("GET /api/timetables", "all locations, a day", c.owner,
			"/api/timetables?type=Location&start_date="+schoolDay),
		read("GET /api/elements/{id}/calendar.ics", "a pupil", c.owner, at("/api/elements/%d/calendar.ics", c.pupil)),
		read("GET /ical/{file}", "a pupil", c.system.Client(c.t), feed.Text(c.t, "feed.path")),
		read("GET /api/elements/{id}/feeds", "", c.owner, at(feeds, c.pupil)),
		write("POST /api/elements/{id}/feeds", "", c.owner, func(int) (string, any) {
			return at(feeds, c.newLocation()), nil
		}),
		write("POST /api/elements/{id}/feeds/{feed}/address", "", c.owner, func(int) (string, any) {
			return newFeed() + "/address", nil
		}),
		write("DELETE /api/elements/{id}/feeds/{feed}", "", c.owner, func(int) (string, any) { return newFeed(), nil }),
	}
}

func (c *budgeted) elementAdministrationCalls() []call {
	const elements = "/api/admin/elements"
	create := write("POST "+elements, "", c.admin, func(int) (string, any) { return elements, newLocation() })
	members := func(int) (string, any) {
		return at(elements+"/%d/members", c.set), record{"members": []record{{"element_id": c.newLocation()}}}
	}
	addMembers := write("POST "+elements+"/{id}/members", "one", c.admin, members)
	administrator := func(location int64) string {
		return at(elements+"/%d/administrators/%d", location, c.users["keeper"])
	}
	calls := []call{
		read("GET "+elements, "a page", c.admin, elements+"?limit=10"),
		read("GET "+elements, "a page of a type", c.admin, elements+"?entity_type=Location&limit=1"),
		read("GET /api/admin/export/memberships", "a page", c.admin, "/api/admin/export/memberships?limit=10"),
		read("GET /api/admin/erasures", "a page", c.admin, "/api/admin/erasures?limit=10"),
		read("GET /api/admin/erasures/{id}", "", c.admin, at("/api/admin/erasures/%d", c.erased)),
		write("POST /api/admin/erasures", "what it would be", c.admin, func(int) (string, any) {
			return "/api/admin/erasures?dry_run=true", record{"erasure": record{"element_id": c.pupil}}
		}),
		create,
		keyed(create),
		read("GET "+elements+"/{id}", "", c.admin, at(elements+"/%d", c.room)),
		write("PATCH "+elements+"/{id}", "another name", c.admin, func(int) (string, any) {
			return at(elements+"/%d", c.newLocation()), record{"element": record{"name": uuid.NewString()}}
		}),
		write("DELETE "+elements+"/{id}", "", c.admin, func(int) (string, any) {
			return at(elements+"/%d", c.newLocation()), nil
		}),
		read("GET "+elements+"/{id}/members", "8 members", c.admin, at(elements+"/%d/members", c.minibuses)),
		read("GET "+elements+"/{id}/members", "8 members, nested", c.admin,
			at(elements+"/%d/members?nested=true", c.minibuses)),
		addMembers,
		keyed(addMembers),
		write("DELETE "+elements+"/{id}/members/{member}", "", c.admin, func(int) (string, any) {
			member := c.newLocation()
			c.admin.Post(c.t, at(elements+"/%d/members", c.set),
				record{"members": []record{{"element_id": member}}}).Must(c.t, 201)
			return at(elements+"/%d/members/%d", c.set, member), nil
		}),
		read("GET "+elements+"/{id}/administrators", "one", c.admin, at(elements+"/%d/administrators", c.calendar)),
		write("PUT "+elements+"/{id}/administrators/{user}", "", c.admin, func(int) (string, any) {
			return administrator(c.newLocation()), nil
		}),
		write("DELETE "+elements+"/{id}/administrators/{user}", "", c.admin, func(int) (string, any) {
			path := administrator(c.newLocation())
			c.admin.Put(c.t, path, nil).Must(c.t, 200)
			return path, nil
		}),
	}
	return append(calls, c.elementImportCalls()...)
}

func (c *budgeted) elementImportCalls() []call {
	named := func(key string) record { return record{"key": key, "name": key} }
	locations := func(n int) {
		lines := ten(n, named)
		c.admin.Do(c.t, "POST", "/api/admin/import/locations", lines, "Content-Type", "application/x-ndjson").
			Must(c.t, 200)
	}
	// after is an import of what refers to ten locations, which are made before.
	after := func(kind string, of func(key string) record) call {
		into := c.imports(kind, of)
		made := into.request
		into.request = func(n int) request { locations(1000 + n); return made(1000 + n) }
		return into
	}
	return []call{
		c.imports("staff", func(key string) record {
			return record{"key": key, "initials": "X", "forename": "Ann", "surname": key}
		}),
		c.imports("pupils", func(key string) record { return record{"key": key, "forename": "Ann", "surname": key} }),
		c.imports("locations", named),
		c.imports("groups", named),
		c.imports("properties", named),
		c.imports("services", named),
		c.imports("subjects", named),
		after("memberships", func(key string) record { return membership("set", "Location:"+key) }),
		after("administrators", func(key string) record {
			return record{"key": "Location:" + key + "/keeper", "element": "Location:" + key, "user": "keeper"}
		}),
		c.audit("elements"),
		c.accesses(),
	}
}

func (c *budgeted) eventsCalls() []call {
	four := []int64{c.set, c.teacher, c.room, c.minibuses}
	create := func(counted, clashes string) call {
		return write("POST /api/events", counted, c.owner, func(int) (string, any) {
			return "/api/events", c.newEvent(clashes, four...)
		})
	}
	add := func(counted, clashes string) call {
		return write("POST /api/events/{id}/add", counted, c.owner, func(int) (string, any) {
			body := record{"elements": []int64{c.teacher, c.room}}
			if clashes != "" {
				body["clashes"] = clashes
			}
			return at("/api/events/%d/add", c.book("")), body
		})
	}
	change := func(n int) (string, any) {
		return at("/api/events/%d", c.event), record{"event": record{"body": fmt.Sprint("Trip ", n)}}
	}
	note := write("POST /api/events/{id}/notes", "an event with notes", c.owner, func(int) (string, any) {
		return at("/api/events/%d/notes", c.event), noteOf("Bring *boots*.")
	})
	first := read("GET /api/events/{id}", "5 elements, first after a start", c.owner, at("/api/events/%d", c.event))
	first.first = true
	return []call{
		create("4 elements", ""),
		keyed(create("", "")),
		create("4 elements, clashes reported", "report"),
		create("4 elements, clashes skipped", "skip"),
		write("POST /api/events", "a series of 40, 4 elements", c.owner, func(int) (string, any) {
			return "/api/events", c.newSeries("", four...)
		}),
		write("POST /api/events", "a series of 40, 4 elements, clashes refused", c.owner, func(int) (string, any) {
			return "/api/events", c.newSeries("refuse", four...)
		}),
		read("GET /api/series/{id}", "40 events", c.owner, at("/api/series/%d", c.owner.Post(c.t, "/api/events",
			c.newSeries("", four...)).Must(c.t, 200).Int(c.t, "series.id"))),
		write("PATCH /api/events/{id}", "all of a series of 40, other times, clashes refused", c.owner,
			c.moveSeries(four...)),
		write("GET /api/changes", "the token of now, none to move", c.owner, func(int) (string, any) {
			c.owner.Get(c.t, "/api/changes").Must(c.t, 200) // moves them
			return "/api/changes", nil
		}),
		{route: "GET /api/changes/stream", counted: "its beginning, none to move", once: true,
			request: func(int) request {
				c.owner.Get(c.t, "/api/changes").Must(c.t, 200) // which moves what there is
				return request{as: c.owner, path: "/api/changes/stream"}
			}},
		write("GET /api/changes", "since a token, none to move", c.owner, func(int) (string, any) {
			return "/api/changes?after=" + c.owner.Get(c.t, "/api/changes").Text(c.t, "next"), nil
		}),
		read("GET /api/events", "by a part of the title", c.owner, "/api/events?text=assembly"),
		read("GET /api/events", "a day's", c.owner, "/api/events?start_date=2028-01-03&end_date=2028-01-03"),
		read("GET /api/events", "a teacher's on a day", c.owner,
			at("/api/events?start_date=2028-01-03&end_date=2028-01-03&element=%d", c.teacher)),
		read("GET /api/events", "a day's, asked by a pupil", c.itself,
			"/api/events?start_date="+schoolDay+"&end_date="+schoolDay),
		read("GET /api/events/{id}", "5 elements", c.owner, at("/api/events/%d", c.event)),
		read("GET /api/events/{id}", "5 elements, asked by a pupil of one", c.itself, at("/api/events/%d", c.event)),
		read("GET /api/events/{id}/notes", "asked by a pupil", c.itself, at("/api/events/%d/notes", c.event)),
		first,
		write("PATCH /api/events/{id}", "5 elements, another body", c.owner, change),
		write("PATCH /api/events/{id}", "4 elements, another day, clashes refused", c.owner,
			func(int) (string, any) {
				later := c.newEvent("")["event"].(record)
				return at("/api/events/%d", c.book("", four...)), record{"clashes": "refuse", "event": record{
					"starts_at_text": later["starts_at_text"], "ends_at_text": later["ends_at_text"]}}
			}),
		write("PUT /api/events/{id}", "5 elements, another body", c.owner, change),
		write("DELETE /api/events/{id}", "", c.owner, func(int) (string, any) {
			return at("/api/events/%d", c.book("", four...)), nil
		}),
		add("2 elements", ""),
		keyed(add("", "")),
		add("2 elements, clashes skipped", "skip"),
		write("POST /api/events/{id}/replace", "one element, clashes refused", c.owner, func(int) (string, any) {
			return at("/api/events/%d/replace", c.book("", c.teacher)),
				record{"replace": []record{{"element": c.teacher, "with": c.room}}}
		}),
		write("DELETE /api/events/{id}/elements/{element}", "by the owner", c.owner, func(int) (string, any) {
			return at("/api/events/%d/elements/%d", c.book("", c.room), c.room), nil
		}),
		read("GET /api/events/{id}/notes", "3 notes or more", c.owner, at("/api/events/%d/notes", c.event)),
		note,
		keyed(note),
		write("POST /api/events/{id}/notes", "an event without notes", c.owner, func(int) (string, any) {
			return at("/api/events/%d/notes", c.book("")), noteOf("Bring *boots*.")
		}),
	}
}

func (c *budgeted) decisionCalls() []call {
	allocate := func(counted, clashes string) call {
		return write("POST /api/requests/{id}/allocations", counted, c.driver, func(int) (string, any) {
			body := record{"elements": c.buses[:2]}
			if clashes != "" {
				body["clashes"] = clashes
			}
			return at("/api/requests/%d/allocations", c.ask()), body
		})
	}
	return []call{
		read("GET /api/commitments", "", c.keeper, "/api/commitments?limit=10"),
		write("PATCH /api/commitments/{id}", "", c.keeper, func(int) (string, any) {
			return at("/api/commitments/%d", c.commit()), record{"commitment": record{"status": "confirmed"}}
		}),
		write("DELETE /api/commitments/{id}", "by the owner", c.owner, func(int) (string, any) {
			return at("/api/commitments/%d", c.commit()), nil
		}),
		write("DELETE /api/commitments/{id}", "by the element's administrator", c.keeper, func(int) (string, any) {
			return at("/api/commitments/%d", c.commit()), nil
		}),
		read("GET /api/requests", "", c.driver, "/api/requests?limit=10"),
		write("PATCH /api/requests/{id}", "by the group's administrator", c.driver, func(int) (string, any) {
			return at("/api/requests/%d", c.ask()), record{"request": record{"quantity": 3}}
		}),
		write("DELETE /api/requests/{id}", "by the owner", c.owner, func(int) (string, any) {
			return at("/api/requests/%d", c.ask()), nil
		}),
		allocate("2 items", ""),
		allocate("2 items, clashes allowed", "allow"),
		keyed(allocate("", "")),
	}
}

func (c *budgeted) eventAdministrationCalls() []call {
	const categories, webhooks = "/api/admin/eventcategories", "/api/admin/webhooks"
	category := write("POST "+categories, "", c.admin, func(int) (string, any) {
		return categories, record{"eventcategory": record{"name": uuid.NewString()}}
	})
	hook := c.newWebhook()
	return []call{
		read("GET /api/eventcategories", "", c.owner, "/api/eventcategories"),
		read("GET /api/eventcategories/{id}", "", c.owner, at("/api/eventcategories/%d", c.lesson)),
		read("GET "+categories, "a page", c.admin, categories),
		category,
		keyed(category),
		write("PATCH "+categories+"/{id}", "", c.admin, func(n int) (string, any) {
			return at(categories+"/%d", c.trip), record{"eventcategory": record{"pecking_order": 100 + n}}
		}),
		read("GET /api/admin/export/events", "a page", c.admin, "/api/admin/export/events?limit=10"),
		c.imports("eventcategories", func(key string) record { return record{"key": key, "name": key} }),
		c.imports("events", func(key string) record {
			return record{"key": key, "body": key, "category": "trip", "starts_at": "2029-01-11 09:00",
				"ends_at": "2029-01-11 10:00", "owner": "owner", "elements": []string{"Group:set", "Staff:1"}}
		}),
		write("POST /api/admin/clashes", "a day of 5 lessons, no one elsewhere", c.admin, func(int) (string, any) {
			return "/api/admin/clashes", record{"start_date": schoolDay, "end_date": schoolDay}
		}),
		read("GET "+webhooks, "", c.admin, webhooks),
		write("POST "+webhooks, "", c.admin, func(int) (string, any) {
			return webhooks, record{"webhook": record{"url": c.hook}}
		}),
		read("GET "+webhooks+"/{id}", "", c.admin, at(webhooks+"/%d", hook)),
		write("PATCH "+webhooks+"/{id}", "", c.admin, func(n int) (string, any) {
			return at(webhooks+"/%d", hook), record{"webhook": record{"active": n%2 == 0}}
		}),
		write("DELETE "+webhooks+"/{id}", "", c.admin, func(int) (string, any) {
			return at(webhooks+"/%d", c.newWebhook()), nil
		}),
		read("GET "+webhooks+"/{id}/deliveries", "", c.admin, at(webhooks+"/%d/deliveries", hook)),
		write("POST "+webhooks+"/{id}/secret", "", c.admin, func(int) (string, any) {
			return at(webhooks+"/%d/secret", hook), nil
		}),
		write("POST "+webhooks+"/{id}/test", "", c.admin, func(int) (string, any) {
			return at(webhooks+"/%d/test", hook), nil
		}),
		c.audit("events"),
	}
}

func (c *budgeted) notesCalls() []call {
	calls := []call{read("GET /api/notes", "", c.owner, at("/api/notes?events=%d", c.event))}
	for _, path := range []string{"/api/notes/", "/notes/"} {
		change := func(int) (string, any) { return at(path+"%d", c.note), noteOf(uuid.NewString()) }
		calls = append(calls,
			read("GET "+path+"{id}", "", c.owner, at(path+"%d", c.note)),
			write("PUT "+path+"{id}", "", c.owner, change),
			write("PATCH "+path+"{id}", "", c.owner, change),
			write("DELETE "+path+"{id}", "", c.owner, func(int) (string, any) {
				return at(path+"%d", c.addNote(c.event)), nil
			}))
	}
	calls = append(calls, read("GET /api/admin/export/notes", "a page", c.admin, "/api/admin/export/notes?limit=10"))
	return append(calls, c.imports("notes", func(key string) record {
		return record{"key": key, "event": schoolDay + " 9", "contents": key, "owner": "owner"}
	}), c.audit("notes"))
}
