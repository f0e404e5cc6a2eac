package api_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
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
	// A name that elements owns changes the answer, and so the tag, but is no change of the event.
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
	if same := owner.Patch(t, e, `{"event":{"body":"Art"}}`); same.Header.Get("ETag") != changed.Header.Get("ETag") {
		t.Error("a change of nothing made a new version")
	}
}

func TestDecisionsPart1_IfMatch_OfAnEvent(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
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
		for _, known := range []string{old, `"event-` + text(id) + `-99"`, `"event-1-2"`, `"note-` + text(id) + `-2"`} {
			owner.Do(t, call.method, call.path, call.body, "If-Match", known).
				Want(t, 412, `{"status":"Precondition failed","message":"the record is not at a version that If-Match names"}`)
		}
		if a := owner.Do(t, call.method, call.path, call.body, "If-Match", "nonsense"); a.Code != 400 {
			t.Errorf("%s: %d %s", call.method, a.Code, a.Body)
		}
		// Who may not, or asks for what is not there, learns that and nothing of versions.
		if a := s.as(t, "nobody").Do(t, call.method, call.path, call.body, "If-Match", old); a.Code != 403 {
			t.Errorf("%s: %d %s", call.method, a.Code, a.Body)
		}
		missing := strings.Replace(call.path, text(id), "999999", 1)
		if a := owner.Do(t, call.method, missing, call.body, "If-Match", "*"); a.Code != 404 {
			t.Errorf("%s: %d %s", call.method, a.Code, a.Body)
		}
	}
	owner.Get(t, e).Want(t, 200, before.Body)

	for i, others := range []string{"*", `"x", `} {
		known := others
		if i == 1 {
			known += owner.Get(t, e).Header.Get("ETag")
		}
		if a := owner.Do(t, "POST", e+"/add", `{"elements":["`+text(s.minibuses)+`"]}`, "If-Match",
			known); a.Code != 200 || len(get(t, owner, id).Event.Requests) != 1 || get(t, owner,
			id).Event.Requests[0].Quantity != i+1 {
			t.Errorf("%s: %d %s", known, a.Code, a.Body)
		}
	}
	owner.Do(t, "DELETE", e, nil, "If-Match", "W/"+owner.Get(t, e).Header.Get("ETag")).Want(t, 200, `{"status":"OK"}`)
}

func TestDecisionsPart1_IfMatch_OfManyAtOneVersionOverTwoReplicasOneWins(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	id := book(t, owner, s.fields()).Event.ID
	e := path("/api/events/%d", id)
	for range 3 {
		tag := owner.Get(t, e).Header.Get("ETag")
		var won, lost atomic.Int64
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				a := owner.At(system(t).Replica("events", i%2)).Do(t, "PATCH", e,
					`{"event":{"body":"`+uuid.NewString()+`"}}`, "If-Match", tag)
				switch a.Code {
				case 200:
					won.Add(1)
				case 412:
					lost.Add(1)
				default:
					t.Errorf("%d %s", a.Code, a.Body)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 19 {
			t.Errorf("%d won, %d lost", won.Load(), lost.Load())
		}
	}
}
