package conformance_test

import (
	"fmt"
	"net/http"
	"testing"
)

// houseCalls are those of administration that an administrator of a school may make of what belongs to it, and those
// that it may not.
func houseCalls() map[string]call {
	record := func(e Element) string { return elementAdmin(e) }
	of := func(e func(x *scene) Element, rest string) func(*scene) string {
		return func(x *scene) string { return record(e(x)) + rest }
	}
	house := func(x *scene) Element { return x.house }
	fresh := func(x *scene) Element { return x.ofHouse(x.t) }
	current := with(wrapped("element", "current", true))
	member := func(id func(x *scene) int64) func(*scene) any {
		return func(x *scene) any { return object{"members": []any{object{"element_id": id(x)}}} }
	}
	const elements, one = "/api/admin/elements", "/api/admin/elements/{id}"
	calls := map[string]call{"GET " + elements + " | of the head's school": send(http.MethodGet, func(x *scene) string {
		return fmt.Sprintf("%s?limit=1&after=%d", elements, x.teacher.ID-1)
	}, nil).listing("elements", func(x *scene) int64 { return x.teacher.ID }),
		"GET " + elements + " | another": send(http.MethodGet, func(x *scene) string {
			return fmt.Sprintf("%s?limit=1&after=%d", elements, x.stranger.element.ID-1)
		}, nil).listing("elements", func(x *scene) int64 { return x.stranger.element.ID }),
		"POST " + elements + " | a school": send(http.MethodPost, at(elements), func(x *scene) any {
			return wrappedAll("element", object{"entity_type": "Group", "name": x.school.Unique("School"),
				"school": true})
		}),
		"GET " + one + " | the head's school":       send(http.MethodGet, of(house, ""), nil),
		"GET " + one + " | of the head's school":    send(http.MethodGet, of(fresh, ""), nil),
		"PATCH " + one + " | the head's school":     send(http.MethodPatch, of(house, ""), current),
		"PATCH " + one + " | of the head's school":  send(http.MethodPatch, of(fresh, ""), current),
		"DELETE " + one + " | of the head's school": send(http.MethodDelete, of(fresh, ""), nil),

		"GET " + one + "/members | the head's school": send(http.MethodGet, of(house, "/members"), nil),
		"POST " + one + "/members | the head's school, one of its own": send(http.MethodPost, of(house, "/members"),
			member(func(x *scene) int64 { return x.teacher.ID })),
		"POST " + one + "/members | the head's school, another": send(http.MethodPost, of(house, "/members"),
			member(func(x *scene) int64 { return x.school.Location(x.t).ID })),
		"DELETE " + one + "/members/{member} | of the head's school": send(http.MethodDelete, func(x *scene) string {
			return fmt.Sprintf("%s/members/%d", record(x.house), x.ofHouse(x.t).ID)
		}, nil),
	}
	for name, do := range administratorCalls(of(fresh, "")) {
		calls[name] = do
	}
	for name, do := range colleagueCalls() {
		calls[name] = do
	}
	return calls
}

func wrappedAll(name string, fields object) any { return object{name: fields} }

// administratorCalls are those of the administrators of an element of the head's school.
func administratorCalls(element func(x *scene) string) map[string]call {
	const path = "/api/admin/elements/{id}/administrators"
	put := func(user func(x *scene) int64) call {
		return send(http.MethodPut, func(x *scene) string {
			return fmt.Sprintf("%s/administrators/%d", element(x), user(x))
		}, with(object{}))
	}
	own := func(x *scene) int64 { return x.colleague(x.t).ID }
	another := func(x *scene) int64 { return x.stranger.id }
	return map[string]call{"GET " + path + " | of the head's school": send(http.MethodGet, func(x *scene) string {
		return element(x) + "/administrators"
	}, nil),
		"PUT " + path + "/{user} | of the head's school, one of its own": put(own),
		"PUT " + path + "/{user} | of the head's school, another":        put(another),
		"DELETE " + path + "/{user} | of the head's school": send(http.MethodDelete, func(x *scene) string {
			e, u := x.ofHouse(x.t), x.colleague(x.t)
			x.school.Administrator(x.t, e, u)
			return fmt.Sprintf("/api/admin/elements/%d/administrators/%d", e.ID, u.ID)
		}, nil),
	}
}

// colleagueCalls are those of users who belong to the head's school.
func colleagueCalls() map[string]call {
	const users, one = "/api/admin/users", "/api/admin/users/{id}"
	user := func(x *scene, fields object) any {
		all := object{"name": x.school.Unique("User"), "email": x.school.Address()}
		for name, value := range fields {
			all[name] = value
		}
		return wrappedAll("user", all)
	}
	create := func(fields func(x *scene) object) call {
		return send(http.MethodPost, at(users), func(x *scene) any { return user(x, fields(x)) })
	}
	patch := func(fields func(x *scene) object) call {
		return send(http.MethodPatch, func(x *scene) string { return account(x.colleague(x.t).ID) },
			func(x *scene) any { return wrappedAll("user", fields(x)) })
	}
	list := func(who func(x *scene) int64) call {
		return send(http.MethodGet, func(x *scene) string {
			return fmt.Sprintf("%s?limit=1000&after=%d", users, x.actors["head"].id-1)
		}, nil).listing("users", who)
	}
	rights := object{"can_api": true, "edit_all_events": true}
	calls := map[string]call{
		"GET " + users + " | of the head's school": list(func(x *scene) int64 { return x.actors["head"].id }),
		"GET " + users + " | another": send(http.MethodGet, func(x *scene) string {
			return fmt.Sprintf("%s?limit=1&after=%d", users, x.stranger.id-1)
		}, nil).listing("users", func(x *scene) int64 { return x.stranger.id }),
		"POST " + users + " | an administrator of the head's school": create(func(x *scene) object {
			return object{"element_id": x.teacher.ID, "admin_of": []int64{x.house.ID}}
		}),
		"POST " + users + " | of the head's school": create(func(x *scene) object {
			return object{"element_id": x.teacher.ID, "permissions": object{"can_api": true}}
		}),
		"POST " + users + " | of the head's school, with a right that the head lacks": create(
			func(x *scene) object {
				return object{"element_id": x.teacher.ID, "permissions": rights}
			}),
		"POST " + users + " | of no school": create(func(x *scene) object {
			return object{"element_id": x.stranger.element.ID}
		}),
		"GET " + one + " | of the head's school": send(http.MethodGet, func(x *scene) string {
			return account(x.colleague(x.t).ID)
		}, nil),
		"PATCH " + one + " | of the head's school": patch(func(*scene) object {
			return object{"name": "Another name"}
		}),
		"PATCH " + one + " | of the head's school, to be another's element": patch(func(x *scene) object {
			return object{"element_id": x.stranger.element.ID}
		}),
		"PATCH " + one + " | of the head's school, to administer it": patch(func(x *scene) object {
			return object{"admin_of": []int64{x.house.ID}}
		}),
		"PATCH " + one + " | of the head's school, who has a right that the head lacks": send(http.MethodPatch,
			powerful(""), with(wrapped("user", "active", true))),
		"POST " + one + "/uuid | of the head's school, who has a right that the head lacks": send(http.MethodPost,
			powerful("/uuid"), nil),
		"POST " + one + "/uuid | of the head's school, who administers an element of another": send(http.MethodPost,
			keeping(func(x *scene) Element { return x.school.Location(x.t) }), nil),
		"POST " + one + "/uuid | of the head's school, who administers an element of it": send(http.MethodPost,
			keeping(func(x *scene) Element { return x.ofHouse(x.t) }), nil),
	}
	for _, c := range []struct{ method, rest string }{
		{http.MethodDelete, ""}, {http.MethodPost, "/uuid"}, {http.MethodDelete, "/sessions"},
	} {
		calls[c.method+" "+one+c.rest+" | of the head's school"] = send(c.method, func(x *scene) string {
			return account(x.colleague(x.t).ID) + c.rest
		}, nil)
	}
	return calls
}

// powerful is the path of a user of the head's school who may do what the head may not.
func powerful(rest string) func(x *scene) string {
	return func(x *scene) string { return account(x.colleague(x.t, "edit_all_events").ID) + rest }
}

// keeping is the path of the uuid of a user of the head's school who administers the element.
func keeping(element func(x *scene) Element) func(x *scene) string {
	return func(x *scene) string {
		u := x.colleague(x.t)
		x.school.Administrator(x.t, element(x), u)
		return account(u.ID) + "/uuid"
	}
}

// A right over a school ends in the sessions that are there, and what leaves the school leaves it.
func TestAdministration_AnAdministratorOfASchoolIsOneOnThatDayAlone(t *testing.T) {
	proves(t, "administration school")
	house := school.Element(t, object{"entity_type": "Group", "name": school.Unique("School"), "school": true})
	year, kai := school.Group(t), school.Pupil(t)
	school.Member(t, house, year, "", "")
	school.Member(t, year, kai, "", "")
	head := school.UserWith(t, object{"admin_of": []int64{house.ID}}, "can_api")
	client := school.Login(t, head)
	path := func(e Element) string { return elementAdmin(e) }
	want := func(what string, code int) {
		t.Helper()
		if got := client.Get(t, path(kai)); got.Code != code {
			t.Errorf("%s: %d %s", what, got.Code, got.Body)
		}
	}
	want("a pupil in a year of the school", http.StatusOK)

	// Its own creations begin in the school.
	made := client.Post(t, "/api/admin/elements", wrappedAll("element",
		object{"entity_type": "Pupil", "forename": "Ida", "surname": school.Unique("Pupil")}))
	ida := Element{ID: made.Must(t, http.StatusCreated).Int(t, "element.id")}
	client.Get(t, path(ida)).Must(t, http.StatusOK)

	// Moved to another school, by somebody who administers both.
	other := school.Element(t, object{"entity_type": "Group", "name": school.Unique("School"), "school": true})
	member := object{"members": []any{object{"element_id": kai.ID}}}
	client.Post(t, path(other)+"/members", member).Must(t, http.StatusForbidden)
	school.Admin().Post(t, path(other)+"/members", member).Must(t, http.StatusCreated)
	school.Admin().Delete(t, fmt.Sprintf("%s/members/%d", path(year), kai.ID)).Must(t, http.StatusOK)
	want("a pupil that has left", http.StatusForbidden)
	client.Post(t, path(house)+"/members", member).Must(t, http.StatusForbidden)

	// A school that is none any more has no administrator.
	school.Admin().Patch(t, path(house), wrapped("element", "school", false)).Must(t, http.StatusOK)
	client.Get(t, path(ida)).Must(t, http.StatusForbidden)
	school.Admin().Patch(t, path(house), wrapped("element", "school", true)).Must(t, http.StatusOK)
	client.Get(t, path(ida)).Must(t, http.StatusOK)

	// The right is another school's from the answer on, in the same session.
	school.change(t, head, object{"admin_of": []int64{other.ID}})
	client.Get(t, path(ida)).Must(t, http.StatusForbidden)
	want("a pupil of the school that it administers now", http.StatusOK)
	school.change(t, head, object{"admin_of": nil})
	want("without the right", http.StatusForbidden)
	school.Admin().Patch(t, userPath(head), wrapped("user", "admin_of", []int64{year.ID})).Must(t,
		http.StatusUnprocessableEntity)
}

// Nobody but an admin acts as somebody who administers a school.
func TestAdministration_NobodySwitchesToAnAdministratorOfASchool(t *testing.T) {
	proves(t, "administration school switch")
	house := school.Element(t, object{"entity_type": "Group", "name": school.Unique("School"), "school": true})
	head, su := school.User(t), school.User(t, "can_su")
	client := school.Login(t, su)
	into := func() int {
		return client.Put(t, "/api/sessions/1", wrapped("session", "user_id", fmt.Sprint(head.ID))).Code
	}
	equal(t, "while it is nobody", into(), http.StatusOK)
	school.change(t, head, object{"admin_of": []int64{house.ID}})
	equal(t, "the switched session", client.Get(t, "/api/me").Code, http.StatusUnauthorized)
	client = school.Login(t, su)
	equal(t, "once it administers a school", into(), http.StatusForbidden)
}
