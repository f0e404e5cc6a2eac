package api_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestDecisionsPart4_BothSpellings(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	book(t, owner, s.fields("event_category_id", nil, "eventcategory_id", s.lesson))
	book(t, owner, s.fields("event_category_id", text(s.lesson), "eventcategory_id", s.lesson))
	wantInvalid(t, owner.Post(t, "/api/events", map[string]any{"event": s.fields("eventcategory_id", s.trip)}), "event", "event_category_id", "differs from eventcategory_id")
	wantInvalid(t, owner.Post(t, "/api/events", map[string]any{"event": s.fields("event_category_id", 999999)}), "event", "event_category_id", "must exist")
	wantInvalid(t, owner.Post(t, "/api/events", map[string]any{"event": s.fields("event_category_id", "lesson")}), "event", "event_category_id", "must exist")
	wantInvalid(t, owner.Post(t, "/api/events", map[string]any{"event": s.fields("event_category_id", "")}), "event", "event_category_id", "can't be blank")
}

func TestDecisionsPart4_SetsAAndB(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	for name, c := range map[string]struct {
		fields       []any
		starts, ends string
	}{
		"A timed, no end":          {[]any{"starts_at_text", "2026-09-07 09:00"}, "2026-09-07T09:00:00.000+01:00", "2026-09-07T09:00:00.000+01:00"},
		"A all-day, no end":        {[]any{"starts_at_text", "2026-09-07", "all_day_field", true}, "2026-09-07T00:00:00.000+01:00", "2026-09-08T00:00:00.000+01:00"},
		"A all-day, inclusive end": {[]any{"starts_at_text", "2026-10-24", "ends_at_text", "2026-10-25", "all_day_field", "true"}, "2026-10-24T00:00:00.000+01:00", "2026-10-26T00:00:00.000+00:00"},
		"A all-day, clock times":   {[]any{"starts_at_text", "2026-09-07 13:00", "ends_at_text", "2026-09-08 08:00", "all_day_field", true}, "2026-09-07T00:00:00.000+01:00", "2026-09-09T00:00:00.000+01:00"},
		"A in the spring gap":      {[]any{"starts_at_text", "2026-03-29 01:30"}, "2026-03-29T02:30:00.000+01:00", "2026-03-29T02:30:00.000+01:00"},
		"A in the overlap":         {[]any{"starts_at_text", "2026-10-25T01:30:00.999"}, "2026-10-25T01:30:00.000+01:00", "2026-10-25T01:30:00.000+01:00"},
		"B timed":                  {[]any{"starts_at_text", nil, "starts_at", "2026-09-07T08:00:00Z", "ends_at", "2026-09-07 10:00"}, "2026-09-07T09:00:00.000+01:00", "2026-09-07T10:00:00.000+01:00"},
		"B all-day":                {[]any{"starts_at_text", nil, "starts_at", "2026-09-07", "ends_at", "2026-09-08", "all_day", true}, "2026-09-07T00:00:00.000+01:00", "2026-09-08T00:00:00.000+01:00"},
	} {
		t.Run(name, func(t *testing.T) {
			e := book(t, owner, s.fields(c.fields...)).Event
			if got := get(t, owner, e.ID).Event; got.StartsAt != c.starts || got.EndsAt != c.ends {
				t.Errorf("%s to %s, want %s to %s", got.StartsAt, got.EndsAt, c.starts, c.ends)
			}
		})
	}
}

func TestDecisionsPart4_ErrorsUseTheAPIsFieldNames(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	for name, c := range map[string]struct {
		fields         []any
		field, message string
	}{
		"sets mixed":                {[]any{"starts_at", "2026-09-07", "ends_at", "2026-09-08"}, "starts_at", "can't mix all_day_field, starts_at_text, ends_at_text with all_day, starts_at, ends_at"},
		"B without an end":          {[]any{"starts_at_text", nil, "starts_at", "2026-09-07"}, "ends_at", "can't be blank"},
		"neither start":             {[]any{"starts_at_text", nil, "ends_at_text", "2026-09-07"}, "starts_at", "can't be blank"},
		"no such day":               {[]any{"starts_at_text", "2026-02-30"}, "starts_at", "is not a date"},
		"a number":                  {[]any{"starts_at_text", 20260907}, "starts_at", "is not a date"},
		"an end that is no date":    {[]any{"ends_at_text", "later"}, "ends_at", "is not a date"},
		"an end before the start":   {[]any{"ends_at_text", "2026-09-07 08:59"}, "ends_at", "is before the start"},
		"B all-day, not midnights":  {[]any{"starts_at_text", nil, "starts_at", "2026-09-07 09:00", "ends_at", "2026-09-08", "all_day", true}, "starts_at", "is not a date"},
		"B all-day, no day":         {[]any{"starts_at_text", nil, "starts_at", "2026-09-07", "ends_at", "2026-09-07", "all_day", true}, "ends_at", "is before the start"},
		"all-day neither yes or no": {[]any{"all_day_field", "maybe"}, "all_day", "is not true or false"},
		"a blank body":              {[]any{"body", " \n "}, "body", "can't be blank"},
		"a body that is a number":   {[]any{"body", 7}, "body", "is not a string"},
		"a body too long":           {[]any{"body", strings.Repeat("é", 4097)}, "body", "is too long (maximum is 4096 characters)"},
		"an organiser who is none":  {[]any{"organiser_id", s.room}, "organiser_id", "must be a staff element"},
		"an organiser unknown":      {[]any{"organiser_id", 999999}, "organiser_id", "must be a staff element"},
		"an organiser that is text": {[]any{"organiser_id", "ABC"}, "organiser_id", "must be a staff element"},
	} {
		t.Run(name, func(t *testing.T) {
			wantInvalid(t, owner.Post(t, "/api/events", map[string]any{"event": s.fields(c.fields...), "elements": s.room}), "event", c.field, c.message)
		})
	}
	book(t, owner, s.fields("body", " "+strings.Repeat("é", 4096)+" ", "organiser_id", text(s.leaver)))
}

func TestDecisionsPart1_MalformedRequests(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields()).Event
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/api/events", `{"elements":[]}`}, {"POST", "/api/events", `{"event":7}`}, {"POST", "/api/events", `{`}, {"POST", "/api/events", `{"event":{}} x`},
		{"POST", "/api/events", encode(t, map[string]any{"event": s.fields(), "elements": map[string]any{}})},
		{"POST", path("/api/events/%d/add", e.ID), `{}`}, {"POST", path("/api/events/%d/add", e.ID), `{"elements":null}`}, {"POST", path("/api/events/%d/add", e.ID), `{"elements":true}`},
		{"PATCH", path("/api/events/%d", e.ID), `{"body":"x"}`}, {"POST", path("/api/events/%d/notes", e.ID), `{}`},
	} {
		if a := owner.Do(t, c.method, c.path, c.body); a.Code != 400 || !strings.HasPrefix(a.Body, `{"status":"Bad request"`) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, a.Code, a.Body)
		}
	}
	for _, id := range []string{"x", "01", "-1", "+1", "0", "9223372036854775808", "1/"} {
		if a := owner.Get(t, "/api/events/"+id); a.Code != 404 {
			t.Errorf("GET /api/events/%s: %d %s", id, a.Code, a.Body)
		}
	}
	system.Client(t).Get(t, path("/api/events/%d", e.ID)).Want(t, 401, `{"status":"Access denied"}`)
}

func TestDecisionsPart4_CreatingNeedsCanAddEventsAndPrivilegeForPrivilegedCategories(t *testing.T) {
	s := loadSchool(t)
	for _, user := range []string{"nobody", "editor", "organiser"} {
		s.as(t, user).Post(t, "/api/events", map[string]any{"event": s.fields()}).Want(t, 403, `{"status":"Forbidden"}`)
	}
	owner := s.as(t, "owner")
	secret := s.fields("event_category_id", s.privileged)
	owner.Post(t, "/api/events", map[string]any{"event": secret}).Want(t, 403, `{"status":"Forbidden"}`)
	book(t, s.as(t, "privileged"), secret)
	book(t, s.as(t, "admin"), secret)

	e := book(t, owner, s.fields()).Event
	change := map[string]any{"event": map[string]any{"eventcategory_id": s.privileged}}
	owner.Patch(t, path("/api/events/%d", e.ID), change).Want(t, 403, `{"status":"Forbidden"}`)
	if a := s.as(t, "admin").Patch(t, path("/api/events/%d", e.ID), change); a.Code != 200 {
		t.Errorf("an admin: %d %s", a.Code, a.Body)
	}
}

func TestDecisionsPart4_ElementsAreAnArrayOrOneBareIDAndAtMost1000(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	for _, elements := range []any{s.room, text(s.room), []any{s.room}} {
		a := owner.Post(t, "/api/events", map[string]any{"event": s.fields(), "elements": elements})
		var got created
		if a.Decode(t, &got); len(got.Event.Commitments) != 1 {
			t.Errorf("%v: %s", elements, a.Body)
		}
	}
	e := book(t, owner, s.fields()).Event
	many := make([]any, 1001)
	for i := range many {
		many[i] = s.minibuses
	}
	wantInvalid(t, owner.Post(t, "/api/events", map[string]any{"event": s.fields(), "elements": many}), "event", "elements", "has more than 1000 entries")
	owner.Post(t, path("/api/events/%d/add", e.ID), map[string]any{"elements": many}).Want(t, 422, `{"status":"Unprocessable entity","errors":{"elements":["has more than 1000 entries"]}}`)
	got := add(t, owner, e.ID, many[:1000]...)
	if len(got.Failures) != 0 || got.Event.Requests[0].Quantity != 1000 {
		t.Errorf("%d failures, %+v", len(got.Failures), got.Event.Requests)
	}
	a := owner.Post(t, path("/api/events/%d/add", e.ID), map[string]any{"elements": []any{s.minibuses}})
	want := fmt.Sprintf(`"failures":[{"index":0,"element_id":"%d","item_type":"Request","item":{"id":null,"quantity":1001,"num_allocated":0,"element":{"id":%d,"name":"Minibuses","entity_type":"Group","entity_id":%d,"valid":true},"valid":false,"errors":{"quantity":["must be at most 1000"]}}}]}`,
		s.minibuses, s.minibuses, entityID(t, s.minibuses))
	if !strings.HasSuffix(a.Body, want) {
		t.Errorf("got %s\nwant …%s", a.Body, want)
	}
}

func TestDecisionsPart4_InvalidPatchComesBackWithTheStoredEvent(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields()).Event
	owner.Patch(t, path("/api/events/%d", e.ID), map[string]any{"event": map[string]any{"body": "Physics", "ends_at_text": "2026-09-06"}}).Want(t, 422, fmt.Sprintf(
		`{"status":"Unprocessable entity","event":{"id":%d,"body":"Physics","starts_at":"2026-09-07T09:00:00.000+01:00","ends_at":"2026-09-07T09:00:00.000+01:00","all_day":false,"valid":false,"errors":{"ends_at":["is before the start"]}}}`, e.ID))
	if got := get(t, owner, e.ID).Event; got.Body != "Maths" {
		t.Errorf("it was written: %+v", got)
	}
	s.as(t, "nobody").Patch(t, path("/api/events/%d", e.ID), map[string]any{"event": map[string]any{"body": ""}}).Want(t, 403, `{"status":"Forbidden"}`)
}

func TestDecisionsPart4_WhoMayDeleteACommitmentOrRequest(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	for user, may := range map[string]map[string]bool{ // the commitments to room and calendar, the request for minibuses
		"owner": {"room": true, "calendar": true, "minibuses": true}, "admin": {"room": true, "calendar": true, "minibuses": true},
		"editor": {"room": true, "calendar": true, "minibuses": true}, "organiser": {"room": true, "calendar": true, "minibuses": true},
		"keeper": {"calendar": true}, "driver": {"minibuses": true}, "nobody": {},
	} {
		e := book(t, owner, s.fields("organiser_id", s.teacher), s.room, s.calendar, s.minibuses).Event
		c := s.as(t, user)
		for what, address := range map[string]string{
			"room": path("/api/commitments/%d", e.Commitments[0].ID), "calendar": path("/api/commitments/%d", e.Commitments[1].ID), "minibuses": path("/api/requests/%d", e.Requests[0].ID),
		} {
			want := 403
			if may[what] {
				want = 200
			}
			if a := c.Delete(t, address); a.Code != want {
				t.Errorf("%s deletes that of %s: %d, want %d", user, what, a.Code, want)
			}
		}
		want := 403
		if user == "owner" || user == "admin" || user == "editor" {
			want = 200
		}
		if a := c.Post(t, path("/api/events/%d/add", e.ID), map[string]any{"elements": []any{s.pupil}}); a.Code != want {
			t.Errorf("%s adds: %d, want %d", user, a.Code, want)
		}
	}
}

func TestDecisionsPart4_RetimingReturnsDecidedCommitmentsToRequested(t *testing.T) {
	s := loadSchool(t)
	owner, keeper := s.as(t, "owner"), s.as(t, "keeper")
	for _, decision := range []string{"confirmed", "rejected", "noted"} {
		e := book(t, owner, s.fields(), s.calendar, s.room).Event
		a := keeper.Patch(t, path("/api/commitments/%d", e.Commitments[0].ID), map[string]any{"commitment": map[string]any{"status": decision, "reason": "because"}})
		if a.Code != 200 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
		statusAfter := func(fields map[string]any) string {
			if a := owner.Patch(t, path("/api/events/%d", e.ID), map[string]any{"event": fields}); a.Code != 200 {
				t.Fatalf("%d %s", a.Code, a.Body)
			}
			got := get(t, owner, e.ID).Event
			if got.Commitments[1].Status != "uncontrolled" || got.Commitments[0].ID != e.Commitments[0].ID {
				t.Errorf("commitments %+v", got.Commitments)
			}
			return got.Commitments[0].Status
		}
		if got := statusAfter(map[string]any{"body": "History", "starts_at_text": "2026-09-07 09:00"}); got != decision {
			t.Errorf("%s became %s without a new time", decision, got)
		}
		if got := statusAfter(map[string]any{"ends_at": "2026-09-07 10:00"}); got != "requested" {
			t.Errorf("%s became %s by a new end", decision, got)
		}
	}
	// The one who administers the element need not ask again.
	e := book(t, keeper, s.fields()).Event
	admin := s.as(t, "admin")
	c := add(t, admin, e.ID, s.calendar).Event.Commitments[0]
	keeper.Patch(t, path("/api/commitments/%d", c.ID), map[string]any{"commitment": map[string]any{"status": "confirmed"}})
	keeper.Patch(t, path("/api/events/%d", e.ID), map[string]any{"event": map[string]any{"starts_at_text": "2026-09-09 09:00", "ends_at_text": "2026-09-09 09:30"}})
	if got := get(t, keeper, e.ID).Event.Commitments[0].Status; got != "confirmed" {
		t.Errorf("the administrator's own re-timing made it %s", got)
	}
}
