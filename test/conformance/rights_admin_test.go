package conformance_test

import (
	"fmt"
	"net/http"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// nowhere is the id of no record.
const nowhere = 1 << 60

// allowed says whether the table lets the one who asks do it. Then the call is made with something that may go.
func (x *scene) allowed() bool { return x.row.Answers[x.who.kind].Code < 300 }

// accountCalls are those of users' records.
func accountCalls() map[string]call {
	calls := map[string]call{
		"POST /api/admin/users | an admin": send(http.MethodPost, at("/api/admin/users"), func(x *scene) any {
			return object{"user": object{"name": x.school.Unique("User"),
				"email": x.school.Address(), "permissions": object{"admin": true}}}
		}),
		"GET /api/admin/users/{id} | itself": send(http.MethodGet, func(x *scene) string { return account(x.who.id) },
			nil),
		"GET /api/admin/users/{id} | another": send(http.MethodGet,
			func(x *scene) string { return account(x.stranger.id) }, nil),
		"PATCH /api/admin/users/{id} | itself, to become an admin": send(http.MethodPatch,
			func(x *scene) string { return account(x.who.id) },
			with(wrapped("user", "permissions", object{"admin": true}))),
		"PATCH /api/admin/users/{id} | another": send(http.MethodPatch,
			func(x *scene) string { return account(x.stranger.id) }, with(wrapped("user", "active", true))),
	}
	for _, one := range []struct{ method, rest string }{
		{http.MethodDelete, ""}, {http.MethodPost, "/uuid"}, {http.MethodDelete, "/sessions"},
	} {
		name := one.method + " /api/admin/users/{id}" + one.rest
		calls[name+" | itself"] = call{do: func(x *scene) servicetest.Answer {
			client, id := x.client, x.who.id
			if x.allowed() { // another of its kind, as it will be gone
				u := x.school.User(x.t, granted[x.who.kind]...)
				client, id = x.school.Login(x.t, u), u.ID
			}
			return client.Do(x.t, one.method, account(id)+one.rest, nil)
		}}
		calls[name+" | another"] = send(one.method, func(x *scene) string {
			if x.allowed() {
				return account(x.school.User(x.t).ID) + one.rest
			}
			return account(x.stranger.id) + one.rest
		}, nil)
	}
	return calls
}

// elementRecordCalls are those of elements' records, their members and administrators.
func elementRecordCalls() map[string]call {
	record := func(e Element) string { return elementAdmin(e) }
	itself := func(x *scene) string { return record(x.who.element) }
	another := func(x *scene) string { return record(x.stranger.element) }
	members := func(x *scene) string { return record(x.buses) + "/members" }
	change := with(wrapped("element", "current", true))
	return map[string]call{
		"POST /api/admin/elements | any": send(http.MethodPost, at("/api/admin/elements"), func(x *scene) any {
			return object{"element": object{"entity_type": "Location", "name": x.school.Unique("Room")}}
		}),
		"GET /api/admin/elements/{id} | itself":    send(http.MethodGet, itself, nil),
		"GET /api/admin/elements/{id} | another":   send(http.MethodGet, another, nil),
		"PATCH /api/admin/elements/{id} | itself":  send(http.MethodPatch, itself, change),
		"PATCH /api/admin/elements/{id} | another": send(http.MethodPatch, another, change),
		"DELETE /api/admin/elements/{id} | another": send(http.MethodDelete, func(x *scene) string {
			if x.allowed() {
				return record(x.school.Location(x.t))
			}
			return another(x)
		}, nil),
		"GET /api/admin/elements/{id}/members | of the keeper's minibuses": send(http.MethodGet, members, nil),
		"POST /api/admin/elements/{id}/members | of the keeper's minibuses": send(http.MethodPost, members,
			func(x *scene) any {
				return object{"members": []any{object{"element_id": x.spare.ID}}}
			}),
		"DELETE /api/admin/elements/{id}/members/{member} | of a group": send(http.MethodDelete, func(x *scene) string {
			group, member := x.buses, x.bus
			if x.allowed() {
				member = x.school.Location(x.t)
				group = x.school.Group(x.t, member)
			}
			return fmt.Sprintf("%s/members/%d", record(group), member.ID)
		}, nil),
		"GET /api/admin/elements/{id}/administrators | of the keeper's calendar": send(http.MethodGet,
			func(x *scene) string { return record(x.calendar) + "/administrators" }, nil),
		"PUT /api/admin/elements/{id}/administrators/{user} | of the keeper's calendar, itself": {
			do: func(x *scene) servicetest.Answer {
				path := fmt.Sprintf("%s/administrators/%d", record(x.calendar), x.who.id)
				a := x.client.Put(x.t, path, object{})
				if a.Code == http.StatusOK {
					x.school.Admin().Delete(x.t, path).Must(x.t, http.StatusOK)
				}
				return a
			}},
		"DELETE /api/admin/elements/{id}/administrators/{user} | of another calendar": send(http.MethodDelete,
			func(x *scene) string {
				calendar := x.other
				if x.allowed() {
					calendar = x.school.Property(x.t)
					x.school.Administrator(x.t, calendar, User{ID: x.stranger.id})
				}
				return fmt.Sprintf("%s/administrators/%d", record(calendar), x.stranger.id)
			}, nil),
	}
}

// otherAdministrationCalls are those of categories, webhooks, imports, audits and absences, and of the document.
func otherAdministrationCalls() map[string]call {
	webhook := fmt.Sprintf("/api/admin/webhooks/%d", nowhere)
	calls := map[string]call{
		"GET /api/openapi.json | any":          send(http.MethodGet, at("/api/openapi.json"), nil),
		"GET /api/docs | any":                  send(http.MethodGet, at("/api/docs"), nil),
		"GET /api/version | any":               send(http.MethodGet, at("/api/version"), nil),
		"GET /healthz | any":                   send(http.MethodGet, at("/healthz"), nil),
		"GET /api/admin/eventcategories | any": send(http.MethodGet, at("/api/admin/eventcategories?limit=1"), nil),
		"POST /api/admin/eventcategories | one without a name": send(http.MethodPost, at("/api/admin/eventcategories"),
			with(wrapped("eventcategory"))),
		"PATCH /api/admin/eventcategories/{id} | with nothing to change": send(http.MethodPatch, func(x *scene) string {
			return fmt.Sprintf("/api/admin/eventcategories/%d", x.school.Privileged.ID)
		}, with(wrapped("eventcategory"))),
		"POST /api/admin/eventcategories | a privileged one without a name": send(http.MethodPost,
			at("/api/admin/eventcategories"), with(wrapped("eventcategory", "privileged", true))),
		"PATCH /api/admin/eventcategories/{id} | of the head's school": send(http.MethodPatch, func(x *scene) string {
			return fmt.Sprintf("/api/admin/eventcategories/%d", x.lesson)
		}, with(wrapped("eventcategory"))),
		"POST /api/admin/clashes | a dry run": send(http.MethodPost, at("/api/admin/clashes"),
			with(object{"start_date": "2019-04-10", "end_date": "2019-04-10", "dry_run": true})),
		"GET /api/admin/webhooks | any": send(http.MethodGet, at("/api/admin/webhooks"), nil),
		"POST /api/admin/webhooks | one without an address": send(http.MethodPost, at("/api/admin/webhooks"),
			with(wrapped("webhook"))),
		"PATCH /api/admin/webhooks/{id} | one that there is not": send(http.MethodPatch, at(webhook),
			with(wrapped("webhook"))),
	}
	for _, one := range []struct{ method, rest string }{
		{http.MethodGet, ""}, {http.MethodDelete, ""}, {http.MethodGet, "/deliveries"}, {http.MethodPost, "/secret"},
		{http.MethodPost, "/test"},
	} {
		calls[one.method+" /api/admin/webhooks/{id}"+one.rest+" | one that there is not"] = send(one.method,
			at(webhook+one.rest), nil)
	}
	for _, kind := range []string{"administrators", "eventcategories", "events", "groups", "locations", "memberships",
		"notes", "properties", "pupils", "services", "staff", "subjects", "users"} {
		path := "/api/admin/import/" + kind
		calls["POST "+path+" | a dry run"] = call{do: func(x *scene) servicetest.Answer {
			return x.client.Do(x.t, http.MethodPost, path+"?dry_run=true", `{"key":"x"}`, "Content-Type",
				"application/x-ndjson")
		}}
	}
	for _, kind := range []string{"events", "memberships", "notes"} {
		path := "/api/admin/export/" + kind
		calls["GET "+path+" | any"] = send(http.MethodGet, at(path+"?limit=1"), nil)
	}
	for _, service := range []string{"elements", "events", "identity", "notes"} {
		path := "/api/admin/audit/" + service
		calls["GET "+path+" | any"] = send(http.MethodGet, at(path+"?limit=1"), nil)
	}
	about := func(service, recordType string, id func(x *scene) int64) call {
		return send(http.MethodGet, func(x *scene) string {
			return fmt.Sprintf("/api/admin/audit/%s?record=%s:%d", service, recordType, id(x))
		}, nil)
	}
	calls["GET /api/admin/audit/elements | of the head's school"] = about("elements", "Element",
		func(x *scene) int64 { return x.house.ID })
	calls["GET /api/admin/audit/elements | another"] = about("elements", "Element",
		func(x *scene) int64 { return x.school.Location(x.t).ID })
	calls["GET /api/admin/audit/identity | another"] = about("identity", "User",
		func(x *scene) int64 { return x.stranger.id })
	calls["GET /api/admin/access/elements | any"] = send(http.MethodGet, at("/api/admin/access/elements?limit=1"), nil)
	calls["GET /api/admin/erasures | any"] = send(http.MethodGet, at("/api/admin/erasures?limit=1"), nil)
	calls["POST /api/admin/erasures | one that names no one"] = send(http.MethodPost, at("/api/admin/erasures"),
		with(wrapped("erasure")))
	calls["GET /api/admin/erasures/{id} | one that there is not"] = send(http.MethodGet,
		at(fmt.Sprintf("/api/admin/erasures/%d", nowhere)), nil)
	return calls
}
