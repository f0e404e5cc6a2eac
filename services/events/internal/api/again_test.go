package api_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// repeatedCall is a call with an Idempotency-Key, and a text of its answer that not everybody may see.
type repeatedCall struct {
	c            *servicetest.Client
	method, path string
	body         map[string]any
	secret       string
	user         int64
	category     int64 // of its event
}

func (r repeatedCall) do(t *testing.T, key string) servicetest.Answer {
	t.Helper()
	return r.c.Do(t, r.method, r.path, r.body, "Idempotency-Key", key)
}

// repeatedCalls are a call of each repeatable route of events, each by a new user of the kind staff on an event of a
// new category. The event is another's where the call is not its creation.
func (s school) repeatedCalls(t *testing.T) map[string]func() repeatedCall {
	t.Helper()
	admin := system(t).Admin(t)
	fresh := func() (r repeatedCall, fields map[string]any) {
		r.secret = uuid.NewString()
		r.c = enter(t, "can_add_events", true, "can_add_notes", true, "edit_all_events", true)
		r.user = whoIs(t, r.c)
		r.category = admin.Post(t, "/api/admin/eventcategories", map[string]any{"eventcategory": map[string]any{
			"name": r.secret}}).Must(t, 201).Int(t, "eventcategory.id")
		r.method = "POST"
		return r, s.fields("body", r.secret, "event_category_id", r.category, "ends_at_text", "2026-09-07 10:00")
	}
	on := func(path string, body func(r repeatedCall) map[string]any) func() repeatedCall {
		return func() repeatedCall {
			r, fields := fresh()
			id := book(t, admin, fields, s.minibuses).Event.ID
			r.path, r.body = strings.ReplaceAll(path, "ID", strconv.FormatInt(id, 10)), body(r)
			return r
		}
	}
	return map[string]func() repeatedCall{
		"POST /api/events": func() repeatedCall {
			r, fields := fresh()
			r.path, r.body = "/api/events", map[string]any{"event": fields, "elements": []any{s.pupil}}
			return r
		},
		"POST /api/events, a series": func() repeatedCall {
			r, _ := fresh()
			r.path, r.body = "/api/events", s.ofSeries(r.secret, []any{s.pupil}, "rule", "FREQ=WEEKLY;COUNT=2")
			return r
		},
		"POST /api/events/ID/add": on("/api/events/ID/add", func(repeatedCall) map[string]any {
			return map[string]any{"elements": []any{s.pupil}}
		}),
		"POST /api/events/ID/replace": on("/api/events/ID/replace", func(repeatedCall) map[string]any {
			return replacing("allow", s.minibuses, s.pupil)
		}),
		"POST /api/events/ID/notes": on("/api/events/ID/notes", func(r repeatedCall) map[string]any {
			return map[string]any{"note": map[string]any{"contents": r.secret}}
		}),
		"PATCH /api/events/ID?scope=all": func() repeatedCall {
			r, fields := fresh()
			of := s.ofSeries(r.secret, []any{s.pupil}, "rule", "FREQ=WEEKLY;COUNT=2")
			of["event"] = servicetest.With(fields, "starts_at_text", "2027-01-05 09:00", "ends_at_text",
				"2027-01-05 10:00")
			r.method, r.path = "PATCH", makeSeries(t, admin, of).of(1, "?scope=all")
			r.body = map[string]any{"event": map[string]any{"body": r.secret + "!"}}
			return r
		},
	}
}

// TestHardToBreak_Row07_AKeptAnswerIsGivenAgainToWhoMayStillSeeIt: a request was answered again to a user with fewer
// rights with what it could no longer see.
func TestHardToBreak_Row07_AKeptAnswerIsGivenAgainToWhoMayStillSeeIt(t *testing.T) {
	s, admin := loadSchool(t), system(t).Admin(t)
	user := func(fields map[string]any) func(repeatedCall) {
		return func(r repeatedCall) {
			admin.Patch(t, path("/api/admin/users/%d", r.user), map[string]any{"user": fields}).Must(t, 200)
		}
	}
	shrinks := map[string]func(repeatedCall){
		"a permission less": user(map[string]any{"permissions": map[string]any{"can_add_events": false}}),
		"a pupil now":       user(map[string]any{"kind": "pupil"}),
		"a guest now":       user(map[string]any{"kind": "guest"}),
		"confidential now": func(r repeatedCall) {
			admin.Patch(t, path("/api/admin/eventcategories/%d", r.category), map[string]any{
				"eventcategory": map[string]any{"confidential": true}}).Must(t, 200)
		},
	}
	for route, call := range s.repeatedCalls(t) {
		for name, shrink := range shrinks {
			if name == "confidential now" && strings.HasPrefix(route, "POST /api/events") &&
				!strings.Contains(route, "ID") {
				continue // who made it owns it, and knows what it is
			}
			r, key := call(), uuid.NewString()
			first := r.do(t, key)
			if first.Code != 200 || !strings.Contains(first.Body, r.secret) && !strings.Contains(route, "series") {
				t.Fatalf("%s: %d %s", route, first.Code, first.Body)
			}
			r.do(t, key).Want(t, 200, first.Body)
			shrink(r)
			a := r.do(t, key)
			if a.Code != 409 || !strings.Contains(a.Body, "already done") || strings.Contains(a.Body, r.secret) {
				t.Errorf("%s, %s: %d %s", route, name, a.Code, a.Body)
			}
			forgetAnswers(t, system(t))
			if a := r.do(t, key); name == "confidential now" && strings.Contains(a.Body, r.secret) &&
				!strings.Contains(route, "notes") || a.Code >= 500 {
				t.Errorf("%s, %s, by the record: %d %s", route, name, a.Code, a.Body)
			}
		}
	}
}

// A pupil is given its answer again as long as it sees all that is in it.
func TestHardToBreak_Row07_APupilWhoLeavesItsGroupIsNotToldOfItAgain(t *testing.T) {
	s, admin := loadSchool(t), system(t).Admin(t)
	tag := uuid.NewString()
	pupils := admin.Import(t, "pupils", map[string]any{"key": tag, "forename": "Zoe", "surname": tag})
	groups := admin.Import(t, "groups", map[string]any{"key": tag, "name": tag})
	members := map[string]any{"members": []map[string]any{{"element_id": pupils[tag], "first_day": "2026-01-01"}}}
	admin.Post(t, path("/api/admin/elements/%d/members", groups[tag]), members).Must(t, 201)
	c, key := enter(t, "kind", "pupil", "element", "Pupil:"+tag, "can_add_events", true), uuid.NewString()
	body := map[string]any{"event": maps.Clone(s.fields("ends_at_text", "2026-09-07 10:00")),
		"elements": []any{groups[tag]}}
	first := keyed(t, c, "/api/events", body, key)
	if first.Code != 200 || !strings.Contains(first.Body, tag) {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	keyed(t, c, "/api/events", body, key).Want(t, 200, first.Body)
	admin.Delete(t, path("/api/admin/elements/%d/members/%d?from=2026-01-02", groups[tag], pupils[tag])).Must(t, 200)
	if a := keyed(t, c, "/api/events", body, key); a.Code != 409 || strings.Contains(a.Body, tag) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	forgetAnswers(t, system(t))
	if a := keyed(t, c, "/api/events", body, key); a.Code != 200 || strings.Contains(a.Body, tag) {
		t.Errorf("by the record: %d %s", a.Code, a.Body)
	}
}
