package api_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart1_ETag_OfAnEvent(t *testing.T) {
	s := loadSchool(t)
	owner, admin := s.as(t, "owner"), system(t).Admin(t)
	renamed := admin.Import(t, "staff",
		map[string]any{"key": "etag", "initials": "ETG", "forename": "Eta", "surname": "Gee"})["etag"]
	e := path("/api/events/%d", book(t, owner, s.fields(), renamed).Event.ID)

	first := owner.Get(t, e)
	tag := first.Header.Get("ETag")
	if tag == "" || owner.At(system(t).Replica("events", 0)).Get(t, e).Header.Get("ETag") != tag ||
		owner.At(system(t).Replica("events", 1)).Get(t, e).Header.Get("ETag") != tag {
		t.Fatalf("ETag %q is not the same everywhere", tag)
	}
	if a := owner.Do(t, "GET", e, nil, "If-None-Match", tag); a.Code != 304 || a.Body != "" ||
		a.Header.Get("ETag") != tag {
		t.Errorf("%d %q", a.Code, a.Body)
	}
	// The name of an element changes the answer, and so the tag, but not the event.
	admin.Patch(t, path("/api/admin/elements/%d", renamed),
		map[string]any{"element": map[string]any{"surname": uuid.NewString()}})
	second := owner.Do(t, "GET", e, nil, "If-None-Match", tag)
	if second.Code != 200 || second.Body == first.Body || second.Header.Get("ETag") == tag {
		t.Errorf("a 304 hides a new name: %d %s", second.Code, second.Body)
	}
	changed := owner.Do(t, "PATCH", e, `{"event":{"body":"Art"}}`, "If-Match", tag)
	if changed.Code != 200 || changed.Header.Get("ETag") != owner.Get(t, e).Header.Get("ETag") {
		t.Errorf("%d %s, ETag %q", changed.Code, changed.Body, changed.Header.Get("ETag"))
	}
	// What changes nothing makes no version.
	valuetest.Same(t, owner.Patch(t, e, `{"event":{"body":"Art"}}`).Header.Get("ETag"), changed.Header.Get("ETag"),
		"a change of nothing made a new version")
}

func TestDecisionsPart1_IfMatch_OfAnEvent(t *testing.T) {
	s, owner := loadOwned(t)
	id := book(t, owner, s.fields(), s.teacher).Event.ID
	e := path("/api/events/%d", id)
	old := owner.Get(t, e).Header.Get("ETag")
	owner.Patch(t, e, `{"event":{"body":"Art"}}`)
	before := owner.Get(t, e)

	calls := []struct{ method, path, body string }{
		{"PATCH", e, `{"event":{"body":"Mine"}}`},
		{"PUT", e, `{"event":{"body":" "}}`}, // invalid as well: the precondition comes first
		{"POST", e + "/add", `{"elements":[` + text(s.room) + `]}`},
		{"DELETE", e, ""},
	}
	for _, call := range calls {
		owner.Do(t, call.method, call.path, call.body, "If-Match", old).Want(t, 412,
			`{"status":"Precondition failed","message":"the record is not at a version that If-Match names"}`)
		// A caller without rights, or of a missing event, is not told about versions.
		s.as(t, "stranger").Do(t, call.method, call.path, call.body, "If-Match", old).WantCode(t, 403)
		missing := strings.Replace(call.path, text(id), "999999", 1)
		owner.Do(t, call.method, missing, call.body, "If-Match", "*").WantCode(t, 404)
	}
	owner.Do(t, "DELETE", e+"/elements/"+text(s.room), nil, "If-Match", old).WantCode(t, 404) // it is not on the event
	owner.Do(t, "DELETE", e+"/elements/"+text(s.teacher), nil, "If-Match", old).WantCode(t, 412)
	owner.Get(t, e).Want(t, 200, before.Body)
}

func TestDecisionsPart1_IfMatch_OfManyAtOneVersionOverTwoReplicasOneWins(t *testing.T) {
	s, owner := loadOwned(t)
	id := book(t, owner, s.fields()).Event.ID
	e := path("/api/events/%d", id)
	for range 3 {
		tag := owner.Get(t, e).Header.Get("ETag")
		got := codes(atOnce(20, s.through(t, "owner"), func(_ int, c *servicetest.Client) servicetest.Answer {
			return c.Do(t, "PATCH", e, change(map[string]any{"body": uuid.NewString()}), "If-Match", tag)
		}))
		valuetest.Equal(t, map[int]int{200: 1, 412: 19}, got)
	}
}
