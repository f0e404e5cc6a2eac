package conformance_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// ending are the calls that end a user, its uuid or its sessions, by the rest of the path.
var ending = []struct{ method, rest string }{
	{http.MethodDelete, ""}, {http.MethodPost, "/uuid"}, {http.MethodDelete, "/sessions"},
}

const (
	adminUsers    = " /api/admin/users/{id}"
	adminElements = " /api/admin/elements/{id}"
)

// accountCalls are those of users' records.
func accountCalls() map[string]call {
	calls := map[string]call{
		"POST /api/admin/users | an admin": at().sending(func(x *scene) any {
			return x.newUser(object{"permissions": object{"admin": true}})
		}),
		"GET" + adminUsers + " | itself":  at(user),
		"GET" + adminUsers + " | another": at(stranger),
		"PATCH" + adminUsers + " | itself, to become an admin": at(user).
			with(wrapped("user", "permissions", object{"admin": true})),
		"PATCH" + adminUsers + " | another": at(stranger).with(wrapped("user", "active", true)),
	}
	for _, one := range ending {
		calls[one.method+adminUsers+one.rest+" | itself"] = calling(func(x *scene) servicetest.Answer {
			client, id := x.client, x.who.id
			if x.allowed() { // another of its kind, as it will be gone
				u := x.school.User(x.t, granted[x.who.kind]...)
				client, id = x.school.Login(x.t, u), u.ID
			}
			return client.Do(x.t, one.method, account(id)+one.rest, nil)
		})
		calls[one.method+adminUsers+one.rest+" | another"] = at(func(x *scene) any {
			if x.allowed() {
				return x.school.User(x.t).ID
			}
			return x.stranger.id
		})
	}
	return calls
}

// newUser is the body of a create of a user, with these fields besides name and address.
func (x *scene) newUser(fields object) any {
	return object{"user": servicetest.With(fields, "name", x.school.Unique("User"), "email", x.school.Address())}
}

// colleagueCalls are those of users who belong to the head's school.
func colleagueCalls() map[string]call {
	const users, of = " /api/admin/users | ", " | of the head's school"
	head := func(x *scene) any { return x.actors["head"].id }
	create := func(fields func(x *scene) object) call {
		return at().sending(func(x *scene) any { return x.newUser(fields(x)) })
	}
	patch := func(field string, value param) call {
		return at(colleague).sending(func(x *scene) any { return wrapped("user", field, value(x)) })
	}
	ofBoth := func(x *scene) any { return x.both.ID }
	inHouse := func(x *scene) any { return []int64{x.house.ID} }
	powerful := func(x *scene) any { return x.colleague(x.t, "edit_all_events").ID } // who may do what the head may not
	keeping := func(kept func(x *scene) Element) param {
		return func(x *scene) any {
			u := x.colleague(x.t)
			x.school.Administrator(x.t, kept(x), u)
			return u.ID
		}
	}
	calls := map[string]call{
		"GET" + users + "of the head's school": at().asking("limit=1000&from_id=%d", head).listing("users", head),
		"GET" + users + "another": at().asking("limit=1&from_id=%d", stranger).
			listing("users", stranger),
		"POST" + users + "an administrator of the head's school": create(func(x *scene) object {
			return object{"element_id": x.newTeacher(x.t).ID, "admin_of": inHouse(x)}
		}),
		"POST" + users + "of the head's school": create(func(x *scene) object {
			return object{"element_id": x.newTeacher(x.t).ID, "permissions": object{"can_api": true}}
		}),
		"POST" + users + "of the head's school, with a right that the head lacks": create(func(x *scene) object {
			return object{"element_id": x.newTeacher(x.t).ID,
				"permissions": object{"can_api": true, "edit_all_events": true}}
		}),
		"POST" + users + "of the head's school and another": create(func(x *scene) object {
			return object{"element_id": x.both.ID}
		}),
		"POST" + users + "of no school": create(func(x *scene) object {
			return object{"element_id": x.stranger.element.ID}
		}),
		"GET" + adminUsers + of:                                 at(colleague),
		"PATCH" + adminUsers + of:                               at(colleague).with(wrapped("user", "name", "Another")),
		"PATCH" + adminUsers + of + ", to be another's element": patch("element_id", anothers),
		"PATCH" + adminUsers + of + ", to be of another too":    patch("element_id", ofBoth),
		"PATCH" + adminUsers + of + ", to administer it":        patch("admin_of", inHouse),
		"PATCH" + adminUsers + of + ", who has a right that the head lacks": at(powerful).
			with(wrapped("user", "active", true)),
		"PATCH" + adminUsers + of + ", who administers an element of another, another address": at(keeping(
			func(x *scene) Element { return x.school.Location(x.t) })).sending(func(x *scene) any {
			return wrapped("user", "email", x.school.Address())
		}),
		"POST" + adminUsers + "/uuid" + of + " and another": at(func(x *scene) any {
			return x.school.UserWith(x.t, object{"element_id": x.both.ID}, "can_api").ID
		}),
		"POST" + adminUsers + "/uuid" + of + ", who has a right that the head lacks": at(powerful),
		"POST" + adminUsers + "/uuid" + of + ", who administers an element of another": at(keeping(
			func(x *scene) Element { return x.school.Location(x.t) })),
		"POST" + adminUsers + "/uuid" + of + ", who administers an element of it": at(keeping(
			func(x *scene) Element { return x.ofHouse(x.t, x.school.Location(x.t)) })),
	}
	for _, one := range ending {
		calls[one.method+adminUsers+one.rest+of] = at(colleague)
	}
	const tokens = adminUsers + "/tokens"
	maps.Copy(calls, map[string]call{
		"GET" + tokens + of:                                                           at(colleague),
		"GET" + tokens + " | another":                                                 at(stranger),
		"POST" + tokens + of:                                                          at(colleague).with(aToken),
		"POST" + tokens + " | another":                                                at(stranger).with(aToken),
		"DELETE" + tokens + "/{token}" + of:                                           at(colleague, none),
		"DELETE" + tokens + "/{token} | another":                                      at(stranger, none),
		"POST" + tokens + of + ", who has a right that the head lacks":                at(powerful).with(aToken),
		"DELETE" + tokens + "/{token}" + of + ", who has a right that the head lacks": at(powerful, none),
		"POST" + tokens + of + ", who administers an element of another": at(keeping(
			func(x *scene) Element { return x.school.Location(x.t) })).with(aToken),
	})
	return calls
}

// recordCalls are those of elements' records, their members and administrators.
func recordCalls() map[string]call {
	current := wrapped("element", "current", true)
	return map[string]call{
		"POST /api/admin/elements | any": at().sending(func(x *scene) any {
			return object{"element": object{"entity_type": "Location", "name": x.school.Unique("Room")}}
		}),
		"GET" + adminElements + " | itself":    at(own),
		"GET" + adminElements + " | another":   at(anothers),
		"PATCH" + adminElements + " | itself":  at(own).with(current),
		"PATCH" + adminElements + " | another": at(anothers).with(current),
		"DELETE" + adminElements + " | another": at(func(x *scene) any {
			if x.allowed() {
				return x.school.Location(x.t).ID
			}
			return anothers(x)
		}),
		"GET" + adminElements + "/members | of the keeper's minibuses": at(buses),
		"POST" + adminElements + "/members | of the keeper's minibuses": at(buses).sending(func(x *scene) any {
			return object{"members": []any{object{"element_id": x.spare.ID}}}
		}),
		"DELETE" + adminElements + "/members/{member} | of a group": calling(func(x *scene) servicetest.Answer {
			group, member := x.buses, x.bus
			if x.allowed() {
				member = x.school.Location(x.t)
				group = x.school.Group(x.t, member)
			}
			return x.client.Delete(x.t, fmt.Sprintf("%s/members/%d", elementAdmin(group), member.ID))
		}),
		"GET" + adminElements + "/administrators | of the keeper's calendar": at(calendar),
		"PUT" + adminElements + "/administrators/{user} | of the keeper's calendar, itself": calling(
			func(x *scene) servicetest.Answer {
				path := fmt.Sprintf("%s/administrators/%d", elementAdmin(x.calendar), x.who.id)
				a := x.client.Put(x.t, path, object{})
				if a.Code == http.StatusOK {
					x.school.Admin().Delete(x.t, path).Must(x.t, http.StatusOK)
				}
				return a
			}),
		"DELETE" + adminElements + "/administrators/{user} | of another calendar": at(func(x *scene) any {
			if !x.allowed() {
				return x.other.ID
			}
			calendar := x.school.Property(x.t)
			x.school.Administrator(x.t, calendar, User{ID: x.stranger.id})
			return calendar.ID
		}, stranger),
	}
}

// houseCalls are those of elements of the head's school, their members and administrators.
func houseCalls() map[string]call {
	const elements, it, of = " /api/admin/elements | ", " | the head's school", " | of the head's school"
	current := wrapped("element", "current", true)
	member := func(id param) param {
		return func(x *scene) any { return object{"members": []any{object{"element_id": id(x)}}} }
	}
	return map[string]call{
		"GET" + elements + "of the head's school": at().asking("limit=1&from_id=%d", teacher).
			listing("elements", teacher),
		"GET" + elements + "another": at().asking("limit=1&from_id=%d", anothers).listing("elements", anothers),
		"POST" + elements + "a school": at().sending(func(x *scene) any {
			return object{"element": object{"entity_type": "Group", "name": x.school.Unique("School"), "school": true}}
		}),
		"GET" + adminElements + it:    at(house),
		"GET" + adminElements + of:    at(fresh),
		"PATCH" + adminElements + it:  at(house).with(current),
		"PATCH" + adminElements + of:  at(fresh).with(current),
		"DELETE" + adminElements + of: at(fresh),

		"GET" + adminElements + "/members" + it:                       at(house),
		"POST" + adminElements + "/members" + it + ", one of its own": at(house).sending(member(teacher)),
		"POST" + adminElements + "/members" + it + ", another":        at(house).sending(member(aRoom)),
		"DELETE" + adminElements + "/members/{member}" + of:           at(house, fresh),

		"GET" + adminElements + "/administrators" + of:                             at(fresh),
		"PUT" + adminElements + "/administrators/{user}" + of + ", one of its own": at(fresh, colleague).with(object{}),
		"PUT" + adminElements + "/administrators/{user}" + of + ", another":        at(fresh, stranger).with(object{}),
		"DELETE" + adminElements + "/administrators/{user}" + of: calling(func(x *scene) servicetest.Answer {
			e, u := x.ofHouse(x.t, x.school.Location(x.t)), x.colleague(x.t)
			x.school.Administrator(x.t, e, u)
			return x.client.Delete(x.t, fmt.Sprintf("%s/administrators/%d", elementAdmin(e), u.ID))
		}),
	}
}

// administrationCalls are those of categories, webhooks, imports, audits and erasures, and of the document.
func administrationCalls() map[string]call {
	const categories, webhooks, audit = " /api/admin/eventcategories", " /api/admin/webhooks", "GET /api/admin/audit/"
	record := func(kind string, id param) call {
		return at().asking("record=%s:%d", func(*scene) any { return kind }, id)
	}
	calls := map[string]call{
		"GET /api/openapi.json | any": at(), "GET /api/docs | any": at(), "GET /api/version | any": at(),
		"GET /healthz | any": at(),
		"GET /.well-known/security.txt | a deployment without contacts": at(),
		"GET" + categories + " | any":                                   at().asking("limit=1"),
		"POST" + categories + " | one without a name":                   at().with(wrapped("eventcategory")),
		"PATCH" + categories + "/{id} | with nothing to change": at(func(x *scene) any {
			return x.school.Privileged.ID
		}).with(wrapped("eventcategory")),
		"POST" + categories + " | a privileged one without a name": at().
			with(wrapped("eventcategory", "privileged", true)),
		"PATCH" + categories + "/{id} | of the head's school": at(func(x *scene) any { return x.lesson }).
			with(wrapped("eventcategory")),
		"POST /api/admin/clashes | a dry run": at().asking("dry_run=true").
			with(object{"start_date": "2019-04-10", "end_date": "2019-04-10"}),
		"GET" + webhooks + " | any":                        at(),
		"POST" + webhooks + " | one without an address":    at().with(wrapped("webhook")),
		"PATCH" + webhooks + "/{id} | a missing one":       at(none).with(wrapped("webhook")),
		audit + "elements | of the head's school":          record("Element", house),
		audit + "elements | another":                       record("Element", aRoom),
		audit + "identity | another":                       record("User", stranger),
		"GET /api/admin/access/elements | any":             at().asking("limit=1"),
		"GET /api/admin/erasures | any":                    at().asking("limit=1"),
		"POST /api/admin/erasures | one that names no one": at().with(wrapped("erasure")),
		"GET /api/admin/erasures/{id} | a missing one":     at(none),
	}
	for _, one := range []string{"GET {}", "DELETE {}", "GET {}/deliveries", "POST {}/secret", "POST {}/test"} {
		method, rest, _ := strings.Cut(one, " {}")
		calls[method+webhooks+"/{id}"+rest+" | a missing one"] = at(none)
	}
	for _, kind := range []string{"administrators", "eventcategories", "events", "groups", "locations", "memberships",
		"notes", "properties", "pupils", "services", "staff", "subjects", "users"} {
		dryRun := at().asking("dry_run=true").with(`{"key":"x"}`)
		dryRun.headers = []string{"Content-Type", "application/x-ndjson"}
		calls["POST /api/admin/import/"+kind+" | a dry run"] = dryRun
	}
	for _, things := range []string{"export/events", "export/memberships", "export/notes", "audit/elements",
		"audit/events", "audit/identity", "audit/notes"} {
		calls["GET /api/admin/"+things+" | any"] = at().asking("limit=1")
	}
	return calls
}
