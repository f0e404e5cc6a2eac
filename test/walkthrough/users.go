package walkthrough

import "net/url"

// user makes a user with those permissions.
func (w *walk) user(name, email, kind string, element int64, permissions ...string) *person {
	granted := fields{}
	for _, permission := range permissions {
		granted[permission] = true
	}
	record := fields{"name": name, "email": email, "kind": kind, "permissions": granted}
	if element != 0 {
		record["element_id"] = element
	}
	a := w.call(w.admin, "POST", "/api/admin/users", fields{"user": record}, 201, is("user.name", name),
		is("user.email", email), is("user.kind", kind), is("user.active", true))
	return &person{name: name, email: email, id: a.id("user.id"), uuid: a.text("user.uuid")}
}

func users(w *walk) {
	w.owner = w.user("Olive Owner", "olive@school.invalid", "staff", w.teacher, "can_api", "can_add_events",
		"can_add_notes")
	w.keeper = w.user("Kim Keeper", "kim@school.invalid", "staff", 0, "can_api")
	w.deputy = w.user("Dee Deputy", "dee@school.invalid", "staff", 0, "can_api")
	w.driver = w.user("Tom Transport", "tom@school.invalid", "staff", 0, "can_api")
	w.script = w.user("Sam Script", "sam@school.invalid", "staff", 0, "can_api", "can_su")
	w.pupil = w.user("Kip Butler", "kip@school.invalid", "pupil", w.kai, "can_api")
	user := func(p *person) string { return path("/api/admin/users/%d", p.id) }
	w.call(w.admin, "GET", user(w.owner), nil, 200, absent("user.uuid"), is("user.element_id", w.teacher))
	w.call(w.admin, "POST", "/api/admin/users", fields{"user": fields{"name": ""}}, 422, is("user.id", nil),
		is("user.valid", false))
	w.call(w.admin, "PATCH", user(w.keeper), fields{"user": fields{"permissions": fields{"can_add_events": true}}}, 200,
		is("user.permissions.can_add_events", true), is("user.permissions.can_api", true))

	for _, p := range []*person{w.owner, w.keeper, w.driver, w.pupil} {
		w.login(p)
	}
	old := w.now(w.driver)
	w.driver.uuid = w.call(w.admin, "POST", user(w.driver)+"/uuid", nil, 201).text("uuid")
	w.await("the session from before the new uuid is", 401, func() any { return w.probe(old) })
	w.call(nil, "GET", "/api/login?uuid="+url.QueryEscape(old.uuid), nil, 401, exactly(accessDenied))
	w.login(w.driver)
	w.call(w.admin, "DELETE", user(w.pupil)+"/sessions", nil, 200, exactly(okBody))
	w.await("the pupil's session is", 401, func() any { return w.probe(w.pupil) })
	w.login(w.pupil)
	w.call(w.owner, "GET", "/api/admin/users", nil, 403, exactly(forbidden))

	administer := func(method string, element int64, p *person) {
		w.call(w.admin, method, path("/api/admin/elements/%d/administrators/%d", element, p.id), nil, 200)
	}
	for element, all := range map[int64][]*person{
		w.calendar: {w.keeper, w.deputy}, w.hall: {w.keeper}, w.buses: {w.driver},
	} {
		for _, p := range all {
			administer("PUT", element, p)
		}
	}
	controlled := func(element int64, want bool) {
		w.call(w.admin, "GET", path("/api/admin/elements/%d", element), nil, 200, is("element.controlled", want))
	}
	administer("PUT", w.subject, w.owner)
	controlled(w.subject, true)
	administer("DELETE", w.subject, w.owner)
	controlled(w.subject, false)
	w.call(w.admin, "GET", path("/api/admin/elements/%d/administrators", w.calendar), nil, 200,
		is("administrators.*.name", []string{w.keeper.name, w.deputy.name}))

	w.call(w.admin, "DELETE", user(w.deputy), nil, 200, exactly(okBody))
	w.call(nil, "GET", "/api/login?uuid="+url.QueryEscape(w.deputy.uuid), nil, 401, exactly(accessDenied))
	w.call(w.admin, "GET", user(w.deputy), nil, 200, is("user.active", false))
}

// probe calls whoami as a person, prints nothing, and returns the code.
func (w *walk) probe(p *person) int {
	a := answer{walk: w}
	if err := w.send(p, "GET", "/sessions/1/whoami", nil, nil, &a); err != nil {
		w.fail(err)
	}
	return a.code
}

func switching(w *walk) {
	w.login(w.script)
	become := func(p *person, code int, wants ...expectation) {
		w.call(w.script, "PUT", "/api/sessions/1", fields{"session": fields{"user_id": sent(p.id)[0]}}, code, wants...)
	}
	is1 := func(p *person) { w.call(w.script, "GET", "/sessions/1/whoami", nil, 200, is("user_id", p.id)) }
	w.call(w.owner, "GET", "/api/users?email=kim@school.invalid", nil, 403, exactly(forbidden))
	w.call(w.script, "GET", "/api/users?email=OLIVE@school.invalid", nil, 200, is("users.*.id", []int64{w.owner.id}))
	become(w.admin, 403, exactly(forbidden))
	before := w.now(w.script)
	become(w.owner, 200, exactly(okBody))
	is1(w.owner)
	w.call(before, "GET", "/sessions/1/whoami", nil, 401, exactly(accessDenied))
	become(w.keeper, 403, exactly(forbidden))
	made := w.call(w.script, "POST", "/api/events",
		fields{"event": w.hour("Rehearsal", w.lesson, 4, "09:00", "10:00"), "elements": sent(w.room)}, 200,
		is("status", "Created"))
	w.call(w.script, "GET", path("/api/events/%d", made.id("event.id")), nil, 200, is("event.owner.id", w.owner.id))
	w.call(w.admin, "GET", path("/api/admin/audit/events?record=Event:%d", made.id("event.id")), nil, 200,
		is("entries.*.action", []string{"create"}), is("entries.0.user_id", w.owner.id),
		is("entries.0.original_id", w.script.id))
	w.call(w.script, "PUT", "/api/sessions/1/revert", fields{}, 200, exactly(okBody))
	is1(w.script)
}

func leaving(w *walk) {
	if w.hook != nil {
		w.allDelivered()
		w.call(w.admin, "DELETE", path("/api/admin/webhooks/%d", w.webhook), nil, 200, exactly(okBody))
	}
	for _, p := range []*person{w.owner, w.keeper, w.driver, w.script, w.pupil, w.admin} {
		former := w.now(p)
		former.name += ", by the old cookie"
		w.call(p, "GET", "/api/logout", nil, 200, exactly(okBody))
		w.call(former, "GET", "/sessions/1/whoami", nil, 401, exactly(accessDenied))
	}
}
