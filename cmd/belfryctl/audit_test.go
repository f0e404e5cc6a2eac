package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestAudit_OfASchool: an administrator of a school reads the audit of its users, elements, memberships, events,
// categories and webhooks, and nothing about another school's.
func TestAudit_OfASchool(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	join := func(group, member int64) {
		admin.Post(t, fmt.Sprintf("/api/admin/elements/%d/members", group),
			object{"members": []object{{"element_id": member}}}).Must(t, 201)
	}
	type school struct{ group, head, pupil, user, category, webhook int64 }
	var schools []school
	var uuids []string
	for _, name := range []string{"North", "South"} {
		s := school{
			group: addsElement(t, admin, object{"entity_type": "Group", "name": name, "school": true}),
			head: addsElement(t, admin, object{"entity_type": "Staff", "initials": "HD", "forename": "Hal",
				"surname": name}),
			pupil: addsElement(t, admin, object{"entity_type": "Pupil", "forename": "Ann", "surname": name}),
		}
		join(s.group, s.head)
		join(s.group, s.pupil)
		made := adds(t, admin, "user", object{"name": "Hal " + name, "email": "hd." + name + "@school.example",
			"element_id": s.head, "admin_of": []int64{s.group}, "permissions": object{"can_api": true}})
		s.user = made.Int(t, "user.id")
		s.category = adds(t, admin, "eventcategory", object{"name": name + " lesson", "school_id": s.group}).
			Int(t, "eventcategory.id")
		s.webhook = adds(t, admin, "webhook", object{"url": "https://receiver.invalid/", "school_id": s.group}).
			Int(t, "webhook.id")
		schools, uuids = append(schools, s), append(uuids, made.Text(t, "user.uuid"))
	}
	own, other := schools[0], schools[1]
	book := func(category int64, elements ...int64) int64 {
		t.Helper()
		return addsEvent(t, admin, category, "Trip", "2026-09-07", elements...).Int(t, "event.id")
	}
	ofOwn, shared := book(own.category, own.pupil), book(other.category, own.pupil, other.pupil)
	bare := book(own.category)
	gone, goneShared := book(own.category, own.pupil), book(own.category, own.pupil, other.pupil)
	secret := adds(t, admin, "eventcategory", object{"name": "Safeguarding", "confidential": true}).
		Int(t, "eventcategory.id")
	redacted, told, goneRedacted := book(secret, own.pupil), book(secret, own.pupil, own.head), book(secret, own.pupil)
	for _, id := range []int64{gone, goneShared, goneRedacted} {
		admin.Delete(t, fmt.Sprintf("/api/events/%d", id)).Must(t, 200)
	}
	head := o.with("BELFRY_UUID", uuids[0])

	client := o.system.Login(t, uuids[0])
	for i, c := range []*servicetest.Client{client, o.system.Login(t, uuids[1])} {
		key := []string{"North-1", "South-1"}[i]
		c.Import(t, "staff", object{"key": key, "initials": "IM", "forename": "Ida", "surname": key})
		c.Import(t, "users", object{"key": key, "name": key, "email": key + "@school.example",
			"element": "Staff:" + key})
	}

	out := head.does(t, "audit")
	for _, want := range []string{"North", fmt.Sprintf("User:%d ", own.user), fmt.Sprintf("Element:%d ", own.pupil),
		"Import:staff ", "Import:users ", "Membership:", fmt.Sprintf("EventCategory:%d ", own.category),
		fmt.Sprintf("Webhook:%d ", own.webhook)} {
		valuetest.Has(t, out, want)
	}
	if strings.Contains(out, "South") || strings.Contains(out, fmt.Sprintf("User:%d ", other.user)) {
		t.Errorf("it is shown another school's:\n%s", out)
	}
	for path, code := range map[string]int{
		fmt.Sprintf("elements?record=Element:%d", own.pupil):          200,
		fmt.Sprintf("elements?record=Element:%d", other.pupil):        403,
		fmt.Sprintf("identity?record=User:%d", own.user):              200,
		fmt.Sprintf("identity?record=User:%d", other.user):            403,
		"identity?record=User:1":                                      403,
		"elements?record=Import":                                      200,
		"events":                                                      200,
		fmt.Sprintf("events?record=EventCategory:%d", own.category):   200,
		fmt.Sprintf("events?record=EventCategory:%d", other.category): 403,
		fmt.Sprintf("events?record=Webhook:%d", own.webhook):          200,
		fmt.Sprintf("events?record=Webhook:%d", other.webhook):        403,
		fmt.Sprintf("events?record=Event:%d", ofOwn):                  200,
		fmt.Sprintf("events?record=Event:%d", gone):                   200,
		fmt.Sprintf("events?record=Event:%d", shared):                 403,
		fmt.Sprintf("events?record=Event:%d", goneShared):             403,
		fmt.Sprintf("events?record=Event:%d", bare):                   403,
		fmt.Sprintf("events?record=Event:%d", redacted):               403,
		fmt.Sprintf("events?record=Event:%d", goneRedacted):           403,
		fmt.Sprintf("events?record=Event:%d", told):                   200,
		"events?record=Event:999999999":                               403,
		"events?record=Event:x":                                       403,
		"events?record=Event":                                         200,
		"notes":                                                       403,
	} {
		a := client.Get(t, "/api/admin/audit/"+path)
		if a.Code != code || code == 200 && strings.Contains(a.Body, "South") {
			t.Errorf("%s: %d, want %d: %s", path, a.Code, code, a.Body)
		}
	}
	of := func(record string) (kinds []string) {
		for _, line := range client.Audit(t, "elements", "record="+record) {
			kinds = append(kinds, strings.Split(line.Record, ":")[0])
		}
		return slices.Compact(kinds)
	}
	texts := func(query string) (texts []string) {
		for _, line := range client.Audit(t, "events", query) {
			texts = append(texts, line.Action+" "+line.Record)
		}
		return texts
	}
	events := []string{fmt.Sprintf("delete Event:%d", gone), fmt.Sprintf("create Event:%d", told),
		fmt.Sprintf("create Event:%d", gone), fmt.Sprintf("create Event:%d", ofOwn)}
	valuetest.List(t, texts("record=Event"), events, "of events it is shown")
	all := append(events, fmt.Sprintf("create Webhook:%d", own.webhook),
		fmt.Sprintf("create EventCategory:%d", own.category))
	valuetest.List(t, texts(""), all, "of the service events it is shown")
	listed := head.does(t, "audit", "--record", "Event")
	valuetest.Has(t, listed, fmt.Sprintf("Event:%d ", ofOwn))
	valuetest.Lacks(t, listed, fmt.Sprintf("Event:%d ", shared), "it is shown an event of two schools")
	for id, want := range map[int64][]string{ofOwn: {"create"}, gone: {"delete", "create"}} {
		var got []string
		for _, line := range client.Audit(t, "events", fmt.Sprintf("record=Event:%d", id)) {
			got = append(got, line.Action)
		}
		valuetest.List(t, got, want, "event %d", id)
	}
	valuetest.List(t, of("Membership"), []string{"Membership"}, "memberships")

	// A person who moves takes along its history and that of its events, from the next answer on.
	admin.Delete(t, fmt.Sprintf("/api/admin/elements/%d/members/%d", own.group, own.pupil)).Must(t, 200)
	join(other.group, own.pupil)
	for _, id := range []int64{ofOwn, gone} {
		client.Get(t, fmt.Sprintf("/api/admin/audit/events?record=Event:%d", id)).WantCode(t, 403,
			"the event %d of who has left", id)
	}
	client.Get(t, fmt.Sprintf("/api/admin/audit/elements?record=Element:%d", own.pupil)).WantCode(t, 403,
		"who has left")
	if got := texts("record=Event"); len(got) > 0 {
		t.Errorf("of events it is still shown %q", got)
	}
	admin.Patch(t, fmt.Sprintf("/api/admin/users/%d", own.user),
		object{"user": object{"admin_of": []int64{}}}).Must(t, 200)
	client.Get(t, "/api/admin/audit/elements").WantCode(t, 403, "without a school")
}
