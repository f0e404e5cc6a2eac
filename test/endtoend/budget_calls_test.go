package endtoend_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// calls are all that is counted, in the order of the table.
func (c *budgeted) calls() []call {
	return slices.Concat(c.identityCalls(), c.elementsCalls(), c.elementAdministrationCalls(), c.eventsCalls(),
		c.decisionCalls(), c.eventAdministrationCalls(), c.notesCalls(), c.districtCalls())
}

// read is a call that changes nothing. Its query and the ids in its path are as made takes them.
func read(route, counted string, as *servicetest.Client, query any, ids ...any) call {
	return call{route: route, counted: counted, request: func(n int) request {
		_, path := filled(route, made(n, ids...)...)
		return request{as: as, path: path + made(n, query)[0].(string)}
	}}
}

// write is a call with a body. That and the ids in its path are as made takes them.
func write(route, counted string, as *servicetest.Client, body any, ids ...any) call {
	return call{route: route, counted: counted, request: func(n int) request {
		_, path := filled(route, made(n, ids...)...)
		return request{as: as, path: path, body: made(n, body)[0]}
	}}
}

// made returns the parts of the n-th request: those that are functions are called for each request.
func made(n int, parts ...any) []any {
	all := slices.Clone(parts)
	for i, part := range parts {
		switch part := part.(type) {
		case func() int64:
			all[i] = part()
		case func() string:
			all[i] = part()
		case func() record:
			all[i] = part()
		case func(int) record:
			all[i] = part(n)
		}
	}
	return all
}

// queried is the same call with a query.
func queried(c call, query string) call {
	of := c.request
	c.request = func(n int) request {
		r := of(n)
		r.path += query
		return r
	}
	return c
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
	return read("GET /api/admin/access/elements", "10 entries", c.admin, "?limit=10")
}

// audit is a page of a service's audit.
func (c *budgeted) audit(service string) call {
	return read("GET /api/admin/audit/"+service, "10 entries, none to move", c.admin, "?limit=10")
}

func (c *budgeted) identityCalls() []call {
	user := c.users["pupil"]
	switching := record{"session": record{"user_id": user}}
	create := write("POST /api/admin/users", "", c.admin, newUser)
	newToken := func(as *servicetest.Client, path string) func() int64 {
		return func() int64 { return as.Post(c.t, path, aToken).Must(c.t, 201).Int(c.t, "token.id") }
	}
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
		read("GET /api/login/providers", "", c.system.Client(c.t), ""),
		c.withoutProvider("GET /api/login/oidc/{provider}"),
		c.withoutProvider("GET /api/login/oidc/{provider}/callback"),
		c.withoutProvider("POST /api/login/oidc/{provider}/logout"),
		read("GET /api/users", "", c.login("secretary"), "?email=owner@school.example"),
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
		read("GET /api/me", "of a user who is no element", c.login("pupil"), ""),
		read("GET /api/me", "of a pupil", c.itself, ""),
		read("GET /api/sessions/{session}/whoami", "", c.owner, "", 1),
		read("GET /sessions/{session}/whoami", "", c.owner, "", 1),
		read("GET /api/me/tokens", "", c.itself, ""),
		queried(write("POST /api/me/tokens", "what it would be", c.itself, aToken), "?dry_run=true"),
		write("DELETE /api/me/tokens/{token}", "", c.itself, nil, newToken(c.itself, "/api/me/tokens")),
		read("GET /api/admin/users", "a page", c.admin, ""),
		create,
		keyed(create),
		read("GET /api/admin/users/{id}", "", c.admin, "", user),
		write("PATCH /api/admin/users/{id}", "another name", c.admin, func() record {
			return record{"user": record{"name": uuid.NewString()}}
		}, user),
		write("DELETE /api/admin/users/{id}", "", c.admin, nil, c.newUser),
		write("POST /api/admin/users/{id}/uuid", "", c.admin, nil, c.newUser),
		write("DELETE /api/admin/users/{id}/sessions", "", c.admin, nil, user),
		read("GET /api/admin/users/{id}/tokens", "", c.admin, "", user),
		write("POST /api/admin/users/{id}/tokens", "", c.admin, aToken, c.newUser),
		write("DELETE /api/admin/users/{id}/tokens/{token}", "", c.admin, nil, user,
			newToken(c.admin, at("/api/admin/users/%d/tokens", user))),
		c.imports("users", func(key string) record {
			return record{"key": key, "name": key, "email": key + "@school.example"}
		}),
		c.audit("identity"),
		read("GET /healthz", "", c.system.Client(c.t), ""),
		read("GET /api/version", "", c.system.Client(c.t), ""),
		read("GET /.well-known/security.txt", "", c.system.Client(c.t), ""),
		read("GET /api/openapi.json", "", c.system.Client(c.t), ""),
		read("GET /api/docs", "", c.system.Client(c.t), ""),
	}
}

// aToken is the body of a creation.
var aToken = record{"token": record{"name": "A program", "scope": "read"}}

// withoutProvider is a call about a provider that the deployment does not have.
func (c *budgeted) withoutProvider(route string) call {
	missing := read(route, "no such provider", c.system.Client(c.t), "", "none")
	missing.code = http.StatusNotFound
	return missing
}

func (c *budgeted) elementsCalls() []call {
	const (
		commitments = "GET /api/elements/{id}/commitments"
		day         = "?start_date=" + schoolDay
		week, year  = "?" + schoolWeek, "?" + schoolYear
		people      = "&include=staff,locations"
	)
	first := read(commitments, onDay+", first after a start", c.owner, day, c.pupil)
	first.first = true
	feed := c.owner.Post(c.t, at("/api/elements/%d/feeds", c.pupil), nil).Must(c.t, 201).Text(c.t, "feed.path")
	// ofFeed is a call about a new feed of a new location.
	ofFeed := func(route string) call {
		return call{route: route, request: func(int) request {
			location := c.newLocation()
			made := c.owner.Post(c.t, at("/api/elements/%d/feeds", location), nil).Must(c.t, 201)
			_, path := filled(route, location, made.Int(c.t, "feed.id"))
			return request{as: c.owner, path: path}
		}}
	}
	return []call{
		read("GET /api/elements", "by name", c.owner, "?name=Room%201"),
		read("GET /api/elements", "by a part of the name", c.owner, "?namelike=mini"),
		read("GET /api/elements/{id}", "a pupil", c.owner, "", c.pupil),
		read(commitments, onDay, c.owner, day, c.pupil),
		first,
		read(commitments, "a pupil's week with staff and locations: 9 lessons", c.owner, week+people, c.pupil),
		read(commitments, "a pupil's week with category and decisions: 9 lessons", c.owner,
			week+"&include=category,decisions", c.pupil),
		read(commitments, "a pupil's year: "+inYear, c.owner, year, c.pupil),
		read("GET /api/elements", "by a part of the name, asked by a pupil", c.itself, "?namelike=room"),
		read("GET /api/elements/{id}", "a pupil, asked by itself", c.itself, "", c.pupil),
		read(commitments, onDay+", asked by itself", c.itself, day, c.pupil),
		read(commitments, "a pupil's week with staff and locations: 9 lessons, asked by itself", c.itself,
			week+people, c.pupil),
		read(commitments, "a location's day, asked by a pupil", c.itself, day, c.room),
		read("GET /api/elements/{id}/freebusy", "a pupil's week, asked by itself", c.itself, week, c.pupil),
		read("GET /api/elements/{id}/calendar.ics", "a pupil, asked by itself", c.itself, "", c.pupil),
		read("GET /api/elements/{id}/requests", "", c.owner, "?start_date=2028-01-01&end_date=2028-01-31", c.minibuses),
		read("GET /api/elements/{id}/freebusy", "a pupil's week", c.owner, week, c.pupil),
		read("GET /api/freebusy", "a pupil and a teacher, a week", c.owner,
			at("?elements=%d,%d&"+schoolWeek, c.pupil, c.teacher)),
		read("GET /api/free", "all locations, an hour", c.owner,
			"?type=Location&starts_at="+schoolDay+"T09:00&ends_at="+schoolDay+"T10:00"),
		read("GET /api/free", "all staff, an event's time, near to a teacher", c.owner,
			at("?type=Staff&near=%d&event=%d", c.teacher, c.event)),
		read("GET /api/free", "the slots of a pupil and a teacher, a week", c.owner,
			at("?slots=%d,%d&"+schoolWeek, c.pupil, c.teacher)),
		read("GET /api/timetables", "a pupil and a teacher, a week with staff and locations", c.owner,
			at("?elements=%d,%d&"+schoolWeek+people, c.pupil, c.teacher)),
		read("GET /api/timetables", "all locations, a day", c.owner, "?type=Location&start_date="+schoolDay),
		read("GET /api/elements/{id}/calendar.ics", "a pupil", c.owner, "", c.pupil),
		read("GET /ical/{file}", "a pupil", c.system.Client(c.t), "", strings.TrimPrefix(feed, "/ical/")),
		read("GET /api/elements/{id}/feeds", "", c.owner, "", c.pupil),
		write("POST /api/elements/{id}/feeds", "", c.owner, nil, c.newLocation),
		ofFeed("POST /api/elements/{id}/feeds/{feed}/address"),
		ofFeed("DELETE /api/elements/{id}/feeds/{feed}"),
	}
}

func (c *budgeted) elementAdministrationCalls() []call {
	const elements = "/api/admin/elements"
	create := write("POST "+elements, "", c.admin, newLocation)
	members := func() record { return record{"members": []record{{"element_id": c.newLocation()}}} }
	addMembers := write("POST "+elements+"/{id}/members", "one", c.admin, members, c.set)
	newMember := func() int64 {
		member := c.newLocation()
		c.admin.Post(c.t, at(elements+"/%d/members", c.set), record{"members": []record{{"element_id": member}}}).
			Must(c.t, 201)
		return member
	}
	keeper := c.users["keeper"]
	kept := func() int64 {
		location := c.newLocation()
		c.admin.Put(c.t, at(elements+"/%d/administrators/%d", location, keeper), nil).Must(c.t, 200)
		return location
	}
	calls := []call{
		read("GET "+elements, "a page", c.admin, "?limit=10"),
		read("GET "+elements, "a page of a type", c.admin, "?entity_type=Location&limit=1"),
		read("GET /api/admin/export/memberships", "a page", c.admin, "?limit=10"),
		read("GET /api/admin/erasures", "a page", c.admin, "?limit=10"),
		read("GET /api/admin/erasures/{id}", "", c.admin, "", c.erased),
		queried(write("POST /api/admin/erasures", "what it would be", c.admin,
			record{"erasure": record{"element_id": c.pupil}}), "?dry_run=true"),
		create,
		keyed(create),
		read("GET "+elements+"/{id}", "", c.admin, "", c.room),
		write("PATCH "+elements+"/{id}", "another name", c.admin, func() record {
			return record{"element": record{"name": uuid.NewString()}}
		}, c.newLocation),
		write("DELETE "+elements+"/{id}", "", c.admin, nil, c.newLocation),
		read("GET "+elements+"/{id}/members", "8 members", c.admin, "", c.minibuses),
		read("GET "+elements+"/{id}/members", "8 members, nested", c.admin, "?nested=true", c.minibuses),
		addMembers,
		keyed(addMembers),
		write("DELETE "+elements+"/{id}/members/{member}", "", c.admin, nil, c.set, newMember),
		read("GET "+elements+"/{id}/administrators", "one", c.admin, "", c.calendar),
		write("PUT "+elements+"/{id}/administrators/{user}", "", c.admin, nil, c.newLocation, keeper),
		write("DELETE "+elements+"/{id}/administrators/{user}", "", c.admin, nil, kept, keeper),
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
		return write("POST /api/events", counted, c.owner, func() record { return c.newEvent(clashes, four...) })
	}
	createSeries := func(counted, clashes string) call {
		return write("POST /api/events", counted, c.owner, func() record { return c.newSeries(clashes, four...) })
	}
	booked := func(elements ...int64) func() int64 {
		return func() int64 { return c.book("", elements...) }
	}
	add := func(counted, clashes string) call {
		return write("POST /api/events/{id}/add", counted, c.owner,
			clashing(record{"elements": []int64{c.teacher, c.room}}, clashes), booked())
	}
	change := func(n int) record { return record{"event": record{"body": fmt.Sprint("Trip ", n)}} }
	note := write("POST /api/events/{id}/notes", "an event with notes", c.owner, noteOf("Bring *boots*."), c.event)
	first := read("GET /api/events/{id}", "5 elements, first after a start", c.owner, "", c.event)
	first.first = true
	series := c.owner.Post(c.t, "/api/events", c.newSeries("", four...)).Must(c.t, 200).Int(c.t, "series.id")
	// moved has the changes moved that there are, before the request.
	moved := func() string {
		c.owner.Get(c.t, "/api/changes").Must(c.t, 200)
		return ""
	}
	stream := read("GET /api/changes/stream", "its beginning, none to move", c.owner, moved)
	stream.once = true
	return []call{
		create("4 elements", ""),
		keyed(create("", "")),
		create("4 elements, clashes reported", "report"),
		create("4 elements, clashes skipped", "skip"),
		createSeries("a series of 40, 4 elements", ""),
		createSeries("a series of 40, 4 elements, clashes refused", "refuse"),
		read("GET /api/series/{id}", "40 events", c.owner, "", series),
		c.moveSeries(four...),
		read("GET /api/changes", "the token of now, none to move", c.owner, moved),
		stream,
		read("GET /api/changes", "since a token, none to move", c.owner, func() string {
			return "?after=" + c.owner.Get(c.t, "/api/changes").Text(c.t, "next")
		}),
		read("GET /api/events", "by a part of the title", c.owner, "?text=assembly"),
		read("GET /api/events", "a day's", c.owner, "?start_date=2028-01-03&end_date=2028-01-03"),
		read("GET /api/events", "a teacher's on a day", c.owner,
			at("?start_date=2028-01-03&end_date=2028-01-03&element=%d", c.teacher)),
		read("GET /api/events", "a day's, asked by a pupil", c.itself, "?start_date="+schoolDay+"&end_date="+schoolDay),
		read("GET /api/events/{id}", "5 elements", c.owner, "", c.event),
		read("GET /api/events/{id}", "5 elements, asked by a pupil of one", c.itself, "", c.event),
		read("GET /api/events/{id}/notes", "asked by a pupil", c.itself, "", c.event),
		first,
		write("PATCH /api/events/{id}", "5 elements, another body", c.owner, change, c.event),
		write("PATCH /api/events/{id}", "4 elements, another day, clashes refused", c.owner, func() record {
			later := c.newEvent("")["event"].(record)
			return record{"clashes": "refuse", "event": record{
				"starts_at_text": later["starts_at_text"], "ends_at_text": later["ends_at_text"]}}
		}, booked(four...)),
		write("PUT /api/events/{id}", "5 elements, another body", c.owner, change, c.event),
		write("DELETE /api/events/{id}", "", c.owner, nil, booked(four...)),
		add("2 elements", ""),
		keyed(add("", "")),
		add("2 elements, clashes skipped", "skip"),
		write("POST /api/events/{id}/replace", "one element, clashes refused", c.owner,
			record{"replace": []record{{"element": c.teacher, "with": c.room}}}, booked(c.teacher)),
		write("DELETE /api/events/{id}/elements/{element}", "by the owner", c.owner, nil, booked(c.room), c.room),
		read("GET /api/events/{id}/notes", "3 notes or more", c.owner, "", c.event),
		note,
		keyed(note),
		write("POST /api/events/{id}/notes", "an event without notes", c.owner, noteOf("Bring *boots*."), booked()),
	}
}

func (c *budgeted) decisionCalls() []call {
	allocate := func(counted, clashes string) call {
		return write("POST /api/requests/{id}/allocations", counted, c.driver,
			clashing(record{"elements": c.buses[:2]}, clashes), c.ask)
	}
	return []call{
		read("GET /api/commitments", "", c.keeper, "?limit=10"),
		write("PATCH /api/commitments/{id}", "", c.keeper,
			record{"commitment": record{"status": "confirmed"}}, c.commit),
		write("DELETE /api/commitments/{id}", "by the owner", c.owner, nil, c.commit),
		write("DELETE /api/commitments/{id}", "by the element's administrator", c.keeper, nil, c.commit),
		read("GET /api/requests", "", c.driver, "?limit=10"),
		write("PATCH /api/requests/{id}", "by the group's administrator", c.driver,
			record{"request": record{"quantity": 3}}, c.ask),
		write("DELETE /api/requests/{id}", "by the owner", c.owner, nil, c.ask),
		allocate("2 items", ""),
		allocate("2 items, clashes allowed", "allow"),
		keyed(allocate("", "")),
	}
}

func (c *budgeted) eventAdministrationCalls() []call {
	const categories, webhooks = "/api/admin/eventcategories", "/api/admin/webhooks"
	category := write("POST "+categories, "", c.admin, func() record {
		return record{"eventcategory": record{"name": uuid.NewString()}}
	})
	hook := c.newWebhook()
	return []call{
		read("GET /api/eventcategories", "", c.owner, ""),
		read("GET /api/eventcategories/{id}", "", c.owner, "", c.lesson),
		read("GET "+categories, "a page", c.admin, ""),
		category,
		keyed(category),
		write("PATCH "+categories+"/{id}", "", c.admin, func(n int) record {
			return record{"eventcategory": record{"pecking_order": 100 + n}}
		}, c.trip),
		read("GET /api/admin/export/events", "a page", c.admin, "?limit=10"),
		c.imports("eventcategories", func(key string) record { return record{"key": key, "name": key} }),
		c.imports("events", func(key string) record {
			return record{"key": key, "body": key, "category": "trip", "starts_at": "2029-01-11 09:00",
				"ends_at": "2029-01-11 10:00", "owner": "owner", "elements": []string{"Group:set", "Staff:1"}}
		}),
		write("POST /api/admin/clashes", "a day of 5 lessons, no one elsewhere", c.admin,
			record{"start_date": schoolDay, "end_date": schoolDay}),
		read("GET "+webhooks, "", c.admin, ""),
		write("POST "+webhooks, "", c.admin, record{"webhook": record{"url": c.hook}}),
		read("GET "+webhooks+"/{id}", "", c.admin, "", hook),
		write("PATCH "+webhooks+"/{id}", "", c.admin, func(n int) record {
			return record{"webhook": record{"active": n%2 == 0}}
		}, hook),
		write("DELETE "+webhooks+"/{id}", "", c.admin, nil, c.newWebhook),
		read("GET "+webhooks+"/{id}/deliveries", "", c.admin, "", hook),
		write("POST "+webhooks+"/{id}/secret", "", c.admin, nil, hook),
		write("POST "+webhooks+"/{id}/test", "", c.admin, nil, hook),
		c.audit("events"),
	}
}

func (c *budgeted) notesCalls() []call {
	calls := []call{read("GET /api/notes", "", c.owner, at("?events=%d", c.event))}
	another := func() record { return noteOf(uuid.NewString()) }
	newNote := func() int64 { return c.addNote(c.event) }
	for _, path := range []string{"/api/notes/{id}", "/notes/{id}"} {
		calls = append(calls,
			read("GET "+path, "", c.owner, "", c.note),
			write("PUT "+path, "", c.owner, another, c.note),
			write("PATCH "+path, "", c.owner, another, c.note),
			write("DELETE "+path, "", c.owner, nil, newNote))
	}
	calls = append(calls, read("GET /api/admin/export/notes", "a page", c.admin, "?limit=10"))
	return append(calls, c.imports("notes", func(key string) record {
		return record{"key": key, "event": schoolDay + " 9", "contents": key, "owner": "owner"}
	}), c.audit("notes"))
}
