package api_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
)

func TestDecisionsPart1_IdempotencyKey_ANoteIsMadeOnce(t *testing.T) {
	s := newSchool(t)
	author := s.clients["author"]
	path, key := fmt.Sprintf("/api/events/%d/notes", s.event), uuid.NewString()
	post := func(contents string) (int, string) {
		a := author.Do(t, "POST", path, map[string]any{"note": map[string]any{"contents": contents}}, "Idempotency-Key",
			key)
		return a.Code, a.Body
	}
	code, first := post("a")
	if code != 200 {
		t.Fatalf("%d %s", code, first)
	}
	forget := func() {
		keys, err := system(t).Redis.Keys(t.Context(), system(t).Prefix+"answer:*").Result()
		if err == nil && len(keys) > 0 {
			err = system(t).Redis.Del(t.Context(), keys...).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, crashed := range []bool{false, true} { // after a crash the note itself says that it was made
		if crashed {
			forget()
		}
		if code, again := post("a"); code != 200 || again != first {
			t.Errorf("crashed %v: %d %s, first %s", crashed, code, again, first)
		}
		if crashed {
			forget()
		}
		if code, body := post("b"); code != 409 {
			t.Errorf("another body, crashed %v: %d %s", crashed, code, body)
		}
	}
	var list struct{ Notes []any }
	author.Get(t, path).Decode(t, &list)
	if len(list.Notes) != 1 {
		t.Errorf("%d notes", len(list.Notes))
	}
}

func TestDecisionsPart1_ETagAndIfMatch_OfANote(t *testing.T) {
	s := newSchool(t)
	author := s.clients["author"]
	id := s.newNote(t, map[string]any{"contents": "a"})
	for i, path := range paths(id) {
		old := author.Get(t, path).Header.Get("ETag")
		if a := author.Do(t, "GET", paths(id)[1-i], nil, "If-None-Match", old); a.Code != 304 || a.Body != "" {
			t.Errorf("%d %q", a.Code, a.Body)
		}
		// The parent is shown in the note: a change of it is seen.
		author.Patch(t, fmt.Sprint("/api/events/", s.event),
			map[string]any{"event": map[string]any{"body": uuid.NewString()}})
		if a := author.Do(t, "GET", path, nil, "If-None-Match", old); a.Code != 200 {
			t.Errorf("a 304 hides the parent's change: %d", a.Code)
		}
		changed := author.Do(t, "PUT", path, `{"note":{"contents":"b"}}`, "If-Match", old)
		if changed.Code != 200 || changed.Header.Get("ETag") != author.Get(t, path).Header.Get("ETag") ||
			changed.Header.Get("ETag") == old {
			t.Errorf("%d %s", changed.Code, changed.Body)
		}
		before := author.Get(t, path).Body
		for _, call := range [][2]string{{"PUT", `{"note":{"contents":"c"}}`}, {"PATCH", `{"note":{"contents":7}}`},
			{"DELETE", ``}} {
			author.Do(t, call[0], path, call[1], "If-Match", old).
				Want(t, 412, `{"status":"Precondition failed","message":"the record is not at a version that If-Match names"}`)
			if a := s.clients["colleague"].Do(t, call[0], path, call[1], "If-Match", old); a.Code != 403 {
				t.Errorf("%s: %d %s", call[0], a.Code, a.Body)
			}
			if a := author.Do(t, call[0], path, call[1], "If-Match", `"`); a.Code != 400 {
				t.Errorf("%s: %d %s", call[0], a.Code, a.Body)
			}
		}
		author.Get(t, path).Want(t, 200, before)
	}
	author.Do(t, "DELETE", paths(id)[0], nil, "If-Match", author.Get(t, paths(id)[0]).Header.Get("ETag")).Want(t, 200,
		`{"status":"OK"}`)
	author.Do(t, "DELETE", paths(id)[0], nil, "If-Match", "*").Want(t, 404, missing(id))
}
