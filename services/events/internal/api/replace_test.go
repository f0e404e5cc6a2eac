package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// replacing is the body of a replacement of elements by others, in pairs.
func replacing(clashes any, pairs ...any) map[string]any {
	all := []map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, map[string]any{"element": pairs[i], "with": pairs[i+1]})
	}
	return map[string]any{"replace": all, "clashes": clashes}
}

// elements are those that an event commits, with their statuses.
func (s school) elements(t *testing.T, id int64) string {
	t.Helper()
	var all []string
	for _, c := range get(t, s.as(t, "owner"), id).Event.Commitments {
		all = append(all, fmt.Sprintf("%d %s", c.Element.ID, c.Status))
	}
	return strings.Join(all, ", ")
}

func TestReplace_TakesElementsOutAndOthersInWithOneWrite(t *testing.T) {
	s := loadSchool(t)
	owner, admin := s.as(t, "owner"), system(t).Admin(t)
	rooms := things(t, 1)
	e := book(t, owner, s.at("2026-11-02", "09:00", "10:00"), s.teacher, s.room, s.minibuses).Event
	of := path("/api/events/%d/replace", e.ID)
	audited := func() int { return len(admin.AuditTexts(t, "events", path("record=Event:%d", e.ID))) }
	before := audited()

	a := owner.Post(t, of, replacing(nil, s.teacher, s.calendar, s.minibuses, rooms[0])).Must(t, 200)
	want := fmt.Sprintf("%d uncontrolled, %d requested, %d uncontrolled", s.room, s.calendar, rooms[0])
	if got := s.elements(t, e.ID); got != want || a.Len(t, "event.requests") != 0 || a.Len(t, "failures") != 0 {
		t.Errorf("%s, want %s: %s", got, want, a.Body)
	}
	if a.Text(t, "event.owner.name") != "owner" { // as GET shows the event
		t.Errorf("owner: %s", a.Body)
	}
	valuetest.Same(t, audited(), before+1, "entries of the audit, want one more than %d", before)
}

func TestReplace_WhatIsWrongChangesNothingAndIsNamed(t *testing.T) {
	s, owner := loadOwned(t)
	e := book(t, owner, s.at("2026-11-03", "09:00", "10:00"), s.teacher, s.room).Event
	of := path("/api/events/%d/replace", e.ID)
	before := s.elements(t, e.ID)
	many := make([]any, 2002)
	for i := range many {
		many[i] = s.teacher
	}
	for name, c := range map[string]struct {
		body any
		code int
		want string
	}{
		"no replace": {map[string]any{}, 400, "replace is not an array"},
		"null":       {map[string]any{"replace": nil}, 400, "replace is not an array"},
		"a number":   {map[string]any{"replace": []any{7}}, 400, "replace[0] is not an object"},
		"without with": {map[string]any{"replace": []any{map[string]any{"element": 7}}}, 400,
			"replace[0] is not an object"},
		"too many":         {replacing(nil, many...), 422, `"replace":["has more than 1000 entries"]`},
		"not on the event": {replacing(nil, s.teacher, s.colleague, s.set, s.pupil), 422, `"replace[1].element":["is not on the event"]`},
		"no id":            {replacing(nil, "x", s.colleague), 422, `"replace[0].element":["is not on the event"]`},
		"twice": {replacing(nil, s.teacher, s.colleague, s.teacher, s.set), 422,
			`"replace[1].element":["is replaced twice"]`},
		"by what does not exist": {replacing(nil, s.teacher, 99999999), 422, `"replace[0].with":["must exist"]`},
		"by no id":               {replacing(nil, s.teacher, "y"), 422, `"replace[0].with":["must exist"]`},
		"by what is there":       {replacing(nil, s.teacher, s.room), 422, `"replace[0].with":["has already been taken"]`},
		"both by one": {replacing(nil, s.teacher, s.colleague, s.room, s.colleague), 422,
			`"replace[1].with":["has already been taken"]`},
	} {
		if a := owner.Post(t, of, c.body); a.Code != c.code || !strings.Contains(a.Body, c.want) {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
	s.as(t, "stranger").Post(t, of, replacing(nil, s.teacher, s.colleague)).
		Want(t, 403, `{"status":"Forbidden","message":"needs edit rights on the event"}`)
	s.as(t, "organiser").Post(t, of, replacing(nil, s.teacher, s.colleague)).WantCode(t, 403)
	owner.Do(t, "POST", of, replacing(nil, s.teacher, s.colleague), "If-Match", `"event-0-1"`).WantCode(t, 412)
	valuetest.Same(t, s.elements(t, e.ID), before, "before %s", before)
	owner.Post(t, of, replacing(nil)).Must(t, 200)
}

func TestReplace_RefusesClashesUnlessToldOtherwise(t *testing.T) {
	s, owner := loadOwned(t)
	rooms := things(t, 4)
	taken := book(t, owner, s.at("2026-11-04", "09:00", "10:00"), rooms[2]).Event
	e := book(t, owner, s.at("2026-11-04", "09:30", "10:30"), rooms[0], rooms[1]).Event
	of := path("/api/events/%d/replace", e.ID)
	both := func(clashes any) map[string]any { return replacing(clashes, rooms[0], rooms[2], rooms[1], rooms[3]) }
	has := func(want ...int64) {
		t.Helper()
		var texts []string
		for _, id := range want {
			texts = append(texts, fmt.Sprintf("%d uncontrolled", id))
		}
		valuetest.Same(t, s.elements(t, e.ID), strings.Join(texts, ", "))
	}
	a := owner.Post(t, of, both(nil))
	if a.Code != 409 || a.Int(t, "clashes.0.element.id") != rooms[2] || a.Int(t, "clashes.0.event.id") != taken.ID {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	owner.Post(t, of, replacing(nil, rooms[0], rooms[2], rooms[1], rooms[0])).WantCode(t, 422) // clash or not
	has(rooms[0], rooms[1])
	got := extending(t, owner.Post(t, of, both("skip")))
	valuetest.Holds(t, got.refused(t) == text(rooms[2]) && got.Failures[0].Index == 0, "%+v", got)
	has(rooms[0], rooms[3])
	got = extending(t, owner.Post(t, of, replacing("report", rooms[0], rooms[2])))
	valuetest.Same(t, got.pairs(), pair(rooms[2], taken.ID), "reported")
	has(rooms[3], rooms[2])
}

func TestRemoveElement_TakesItsCommitmentAndItsRequest(t *testing.T) {
	s, owner := loadOwned(t)
	e := book(t, owner, s.at("2026-11-06", "09:00", "10:00"), s.teacher, s.calendar, s.minibuses, s.room).Event
	of := func(element int64) string { return path("/api/events/%d/elements/%d", e.ID, element) }
	const lacking = `{"status":"Forbidden","message":"needs edit rights on the event, or administration of the element"}`
	s.as(t, "stranger").Delete(t, of(s.teacher)).Want(t, 403, lacking)
	s.as(t, "stranger").Delete(t, of(s.set)).Want(t, 403, lacking) // whether it is there or not
	owner.Do(t, "DELETE", of(s.teacher), nil, "If-Match", `"event-0-1"`).WantCode(t, 412)
	owner.Delete(t, of(s.teacher)).Want(t, 200, `{"status":"OK"}`)
	owner.Delete(t, of(s.teacher)).Want(t, 404, path(
		`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Element with 'id'=%d"}`, s.teacher))
	s.as(t, "keeper").Delete(t, of(s.room)).WantCode(t, 403)
	s.as(t, "keeper").Delete(t, of(s.calendar)).WantCode(t, 200) // which it administers
	s.as(t, "driver").Delete(t, of(s.minibuses)).WantCode(t, 200)
	got := get(t, owner, e.ID).Event
	valuetest.Holds(t, len(got.Requests) == 0 && s.elements(t, e.ID) == path("%d uncontrolled", s.room), "%+v", got)
}

func TestClashes_AChangeOfOneEventReportsOrRefusesThem(t *testing.T) {
	s, owner := loadOwned(t)
	room := things(t, 1)[0]
	taken := book(t, owner, s.at("2026-11-09", "09:00", "10:00"), room).Event
	e := book(t, owner, s.at("2026-11-09", "11:00", "12:00"), room, s.set).Event
	change := func(clashes any, from, to string) servicetest.Answer {
		return owner.Patch(t, path("/api/events/%d", e.ID), map[string]any{"clashes": clashes, "event": map[string]any{
			"starts_at": "2026-11-09 " + from, "ends_at": "2026-11-09 " + to}})
	}
	for _, clashes := range []string{"refuse", "skip"} {
		a := change(clashes, "09:30", "10:30")
		if a.Code != 409 || a.Int(t, "clashes.0.event.id") != taken.ID || a.Int(t, "clashes.0.element.id") != room {
			t.Errorf("%s: %d %s", clashes, a.Code, a.Body)
		}
	}
	got := get(t, owner, e.ID).Event
	valuetest.Has(t, got.StartsAt, "T11:00", "moved: %+v", got)
	if a := change("refuse", "10:00", "11:00"); a.Code != 200 || a.Has("clashes") {
		t.Errorf("to a free time: %d %s", a.Code, a.Body)
	}
	if a := change("report", "09:30", "10:30"); a.Code != 200 || a.Int(t, "clashes.0.event.id") != taken.ID {
		t.Errorf("reported: %d %s", a.Code, a.Body)
	}
	// It makes no clash that it did not make before.
	change("refuse", "09:30", "10:30").WantCode(t, 200)
	a := change("report", "10:30", "11:00")
	valuetest.Same(t, a.At(t, "clashes"), "[]", "reported: %s", a.Body)
	if a := change(nil, "09:00", "09:30"); a.Code != 200 || a.Has("clashes") {
		t.Errorf("not asked for: %d %s", a.Code, a.Body)
	}
	valuetest.Same(t, standing(t, room), 0, "reservations are left")
}

func TestAnswersOfCallsThatAddShowPeopleWhereAsked(t *testing.T) {
	s := loadSchool(t)
	owner, driver := s.as(t, "owner"), s.as(t, "driver")
	fields := s.at("2026-11-12", "09:00", "10:00")
	fields["organiser_id"] = s.teacher
	body := map[string]any{"event": fields, "elements": []any{s.minibuses}}
	people := func(a servicetest.Answer, want bool) {
		t.Helper()
		if a.Code != 200 || a.Has("event.owner") != want || a.Has("event.organiser") != want {
			t.Errorf("%s: %d %s", a.Request, a.Code, a.Body)
		}
	}
	people(owner.Post(t, "/api/events", body), false) // the contract's form
	made := owner.Post(t, "/api/events?include=people,category", body)
	people(made, true)
	if made.Text(t, "event.owner.name") != "owner" || made.Int(t, "event.organiser.id") != s.teacher ||
		made.Int(t, "event.category.id") != s.lesson {
		t.Errorf("%s", made.Body)
	}
	of := path("/api/events/%d", made.Int(t, "event.id"))
	people(owner.Post(t, of+"/add", map[string]any{"elements": []any{}}), false)
	people(owner.Post(t, of+"/add?include=people", map[string]any{"elements": []any{}}), true)
	allocations := path("/api/requests/%d/allocations", made.Int(t, "event.requests.0.id"))
	people(driver.Post(t, allocations, map[string]any{"elements": []any{}}), false)
	people(driver.Post(t, allocations+"?include=people", map[string]any{"elements": []any{}}), true)
}

// More elements than a call may name were 422 before anything was said of the record and the rights.
func TestClients_MissingAndForbiddenComeBeforeTooManyElements(t *testing.T) {
	s, owner := loadOwned(t)
	e := book(t, owner, s.at("2026-11-04", "09:00", "10:00"), s.teacher, s.minibuses).Event
	many := make([]any, 1001)
	pairs := make([]any, 2*len(many))
	for i := range pairs {
		many[i/2], pairs[i] = s.teacher, s.teacher
	}
	elements := map[string]any{"elements": many}
	for call, c := range map[string]struct {
		of      string
		id      int64
		body    map[string]any
		allowed *servicetest.Client
	}{
		"add":         {"/api/events/%d/add", e.ID, elements, owner},
		"replace":     {"/api/events/%d/replace", e.ID, replacing("refuse", pairs...), owner},
		"allocations": {"/api/requests/%d/allocations", e.Requests[0].ID, elements, s.as(t, "driver")},
	} {
		for name, of := range map[string]struct {
			by   *servicetest.Client
			id   int64
			code int
		}{
			"missing": {c.allowed, 1 << 40, 404}, "forbidden": {s.as(t, "stranger"), c.id, 403},
			"allowed": {c.allowed, c.id, 422},
		} {
			valuetest.Same(t, of.by.Post(t, path(c.of, of.id), c.body).Code, of.code, "%s, %s", call, name)
		}
	}
}
