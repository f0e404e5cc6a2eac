package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// gym makes a room that belongs to the north alone.
func (s twoSchools) gym(t *testing.T) int64 {
	t.Helper()
	id := things(t, 1)[0]
	s.admin.Post(t, path("/api/admin/elements/%d/members", s.north),
		map[string]any{"members": []any{map[string]any{"element_id": id}}}).Must(t, http.StatusCreated)
	return id
}

// booking books elements at 09:00 on a day.
func (s twoSchools) booking(t *testing.T, c *servicetest.Client, day string, elements ...any) created {
	t.Helper()
	return book(t, c, map[string]any{
		"body": s.mark + " Match", "event_category_id": s.plain, "starts_at": day + " 09:00", "ends_at": day + " 10:00",
	}, elements...)
}

// wantStatuses fails the test unless the commitments of an event have these statuses.
func wantStatuses(t *testing.T, name string, e created, statuses ...string) {
	t.Helper()
	valuetest.MustSame(t, len(e.Event.Commitments), len(statuses),
		"%s: %+v, want %v", name, e.Event.Commitments, statuses)
	for i, c := range e.Event.Commitments {
		valuetest.Same(t, c.Status, statuses[i], "%s: commitment %d", name, i)
	}
}

func TestDecisionsPart9_WhatBelongsToAnotherSchoolIsBookedOnRequest(t *testing.T) {
	s := newTwoSchools(t)
	gym, hall := s.gym(t), things(t, 1)[0]
	teacher, pupil := s.elements["staff north"], s.elements["staff south"]
	for user, statuses := range map[string][]string{
		"staff north": {"uncontrolled", "uncontrolled", "uncontrolled", "requested"},
		"staff south": {"requested", "uncontrolled", "requested", "uncontrolled"},
		"staff none":  {"requested", "uncontrolled", "requested", "requested"},
		"program":     {"requested", "uncontrolled", "requested", "requested"},
		"head":        {"uncontrolled", "uncontrolled", "uncontrolled", "requested"},
		"both":        {"uncontrolled", "uncontrolled", "uncontrolled", "uncontrolled"},
	} {
		c := s.as(t, user)
		e := s.booking(t, c, "2026-09-14", gym, hall, teacher, pupil)
		wantStatuses(t, user, e, statuses...)
		added := s.booking(t, c, "2026-09-14")
		var got created
		c.Post(t, path("/api/events/%d/add", added.Event.ID), map[string]any{"elements": []any{gym}}).
			Must(t, http.StatusOK).Decode(t, &got)
		wantStatuses(t, user+" adds", got, statuses[0])
		weekly := c.Post(t, "/api/events", map[string]any{
			"event": map[string]any{"body": s.mark + " Club", "event_category_id": s.plain,
				"starts_at": "2026-09-21 09:00", "ends_at": "2026-09-21 10:00"},
			"elements": []any{gym}, "repeat": map[string]any{"rule": "FREQ=WEEKLY;COUNT=2"},
		}).Must(t, http.StatusOK)
		wantStatuses(t, user+" in a series", get(t, c, weekly.Int(t, "series.events.1.id")), statuses[0])
	}
	wantStatuses(t, "admin", s.booking(t, s.admin, "2026-09-14", gym, teacher), "uncontrolled", "uncontrolled")
}

func TestDecisionsPart9_TheSchoolDecidesOnItsOwn(t *testing.T) {
	s := newTwoSchools(t)
	gym := s.gym(t)
	south, head := s.as(t, "staff south"), s.as(t, "head")
	e := s.booking(t, south, "2026-09-15", gym)
	commitment := e.Event.Commitments[0].ID
	decide := func(c *servicetest.Client, status string) servicetest.Answer {
		return decide(t, c, commitment, status)
	}
	if got := head.Get(t, "/api/commitments?status=requested").Must(t, http.StatusOK); got.Len(t, "commitments") != 1 ||
		got.Int(t, "commitments.0.id") != commitment || got.Int(t, "commitments.0.element.id") != gym {
		t.Errorf("what waits for the head: %s", got.Body)
	}
	for _, user := range []string{"staff south", "staff north", "program"} {
		decide(s.as(t, user), "confirmed").Want(t, http.StatusForbidden, `{"status":"Forbidden"}`)
		s.as(t, user).Get(t, "/api/commitments?status=requested").
			Want(t, http.StatusOK, `{"status":"OK","commitments":[],"next":null}`)
	}
	decide(s.admin, "confirmed").Want(t, http.StatusForbidden, `{"status":"Forbidden"}`)
	got := decide(head, "confirmed").Must(t, http.StatusOK)
	valuetest.Same(t, got.Text(t, "commitment.status"), "confirmed", got.Body)
	// A new time is to be decided on again, unless who decides gives it.
	retime := func(c *servicetest.Client, clock string) created {
		c.Patch(t, path("/api/events/%d", e.Event.ID),
			map[string]any{"event": map[string]any{"starts_at": "2026-09-15 " + clock}}).Must(t, http.StatusOK)
		return get(t, c, e.Event.ID)
	}
	wantStatuses(t, "re-timed", retime(south, "09:10"), "requested")
	decide(head, "rejected").Must(t, http.StatusOK)

	// The element's own administrators come first.
	administers(t, loadSchool(t).as(t, "keeper"), gym)
	decide(head, "noted").Want(t, http.StatusForbidden, `{"status":"Forbidden"}`)
	wantStatuses(t, "of one that has its own", s.booking(t, head, "2026-09-15", gym), "requested")
}

// A head was shown neither who asked for what is confidential nor, as a guest, the event on which it decides.
func TestDecisionsPart9_WhoDecidesForASchoolSeesTheEventAndWhoAsked(t *testing.T) {
	s := newTwoSchools(t)
	s.plain = s.category(t, "Care", nil, "confidential", true)
	gym := s.gym(t)
	e := s.booking(t, s.as(t, "staff south"), "2026-09-18", gym, s.elements["staff south"])
	asked := func(c *servicetest.Client, path, entry string) {
		t.Helper()
		got := c.Get(t, path).Must(t, http.StatusOK)
		valuetest.Same(t, got.Int(t, entry+"id"), e.Event.Commitments[0].ID, "the entry: %s", got.Body)
		valuetest.Same(t, got.Text(t, entry+"decision.asked_by.name"), "staffsouth", "who asked: %s", got.Body)
		valuetest.Has(t, got.Body, `"body":"Busy"`, "the title is hidden")
	}
	asked(s.as(t, "head"), path("/api/elements/%d/commitments?start_date=2026-09-18&include=decisions", gym),
		"commitments.0.")
	for _, kind := range []string{"staff", "guest"} {
		uuid := s.admin.Post(t, "/api/admin/users", map[string]any{"user": map[string]any{
			"name": "head", "email": s.mark + kind + "@school.example", "kind": kind, "admin_of": []int64{s.north},
			"permissions": map[string]any{"can_api": true},
		}}).Must(t, http.StatusCreated).Text(t, "user.uuid")
		head := system(t).Login(t, uuid)
		asked(head, "/api/commitments?include=decisions,locations", "commitments.0.")
		asked(head, path("/api/events/%d?include=decisions", e.Event.ID), "event.commitments.0.")
	}
}

func TestDecisionsPart9_TheSchoolAllocatesFromItsOwnPools(t *testing.T) {
	s := newTwoSchools(t)
	head, south := s.as(t, "head"), s.as(t, "staff south")
	group := s.admin.Import(t, "groups",
		map[string]any{"key": s.mark + "sets", "name": s.mark + " Sets", "resource": true})[s.mark+"sets"]
	item := s.gym(t)
	for in, member := range map[int64]int64{s.north: group, group: item} {
		s.admin.Post(t, path("/api/admin/elements/%d/members", in),
			map[string]any{"members": []any{map[string]any{"element_id": member}}}).Must(t, http.StatusCreated)
	}
	made := s.booking(t, south, "2026-09-16", group)
	told := south.Get(t, path("/api/events/%d?include=decisions", made.Event.ID))
	deciders := told.Texts(t, "event.requests.0.decision.deciders.#.name")
	slices.Sort(deciders) // they are listed by id, and ids of two replicas are in no order of time
	valuetest.List(t, deciders, []string{"both", "head"}, "who decides")
	allocations := path("/api/requests/%d/allocations", made.Event.Requests[0].ID)
	body := map[string]any{"elements": []any{item}}
	if got := head.Get(t, "/api/requests?status=outstanding"); got.Len(t, "requests") != 1 {
		t.Errorf("what waits for the head: %s", got.Body)
	}
	south.Post(t, allocations, body).Want(t, http.StatusForbidden, `{"status":"Forbidden"}`)
	got := head.Post(t, allocations, body).Must(t, http.StatusOK)
	if got.Int(t, "event.requests.0.num_allocated") != 1 ||
		got.Text(t, "event.commitments.0.status") != "uncontrolled" {
		t.Errorf("%s", got.Body)
	}
}

func TestDecisionsPart9_WhatIsOpenIsBookedAtOnce(t *testing.T) {
	s := newTwoSchools(t)
	south := s.as(t, "staff south")
	gym, pool := s.gym(t), s.gym(t)
	open := func(id int64, to any) {
		s.admin.Patch(t, path("/api/admin/elements/%d", id),
			map[string]any{"element": map[string]any{"open_to": to}}).Must(t, http.StatusOK)
	}
	open(pool, "all")
	wantStatuses(t, "an element", s.booking(t, south, "2026-09-17", gym, pool), "requested", "uncontrolled")
	open(pool, nil)
	open(s.north, "all")
	wantStatuses(t, "a school", s.booking(t, south, "2026-09-18", gym, pool), "uncontrolled", "uncontrolled")
	open(s.north, nil)
	wantStatuses(t, "neither any more", s.booking(t, south, "2026-09-19", gym, pool), "requested", "requested")
	a := s.admin.Patch(t, path("/api/admin/elements/%d", gym),
		map[string]any{"element": map[string]any{"open_to": "some"}})
	wantInvalid(t, a, "element", "open_to", "is not included in the list")
}
