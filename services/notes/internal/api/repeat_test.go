package api_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
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
	valuetest.MustSame(t, code, 200, first)
	forget := func() {
		keys, err := system(t).Redis.Keys(t.Context(), system(t).Prefix+"answer:*").Result()
		if err == nil && len(keys) > 0 {
			err = system(t).Redis.Del(t.Context(), keys...).Err()
		}
		errortest.None(t, err)
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
		code, body := post("b")
		valuetest.Same(t, code, 409, "another body, crashed %v %s", crashed, body)
	}
	var list struct{ Notes []any }
	author.Get(t, path).Decode(t, &list)
	valuetest.Same(t, len(list.Notes), 1, "notes")
}

func TestDecisionsPart1_ETagAndIfMatch_OfANote(t *testing.T) {
	s := newSchool(t)
	author := s.clients["author"]
	id := s.newNote(t, map[string]any{"contents": "a"})
	for i, path := range paths(id) {
		old := author.Get(t, path).Header.Get("ETag")
		author.Do(t, "GET", paths(id)[1-i], nil, "If-None-Match", old).Want(t, 304, "")
		// The parent is shown in the note: a change of it is seen.
		author.Patch(t, fmt.Sprint("/api/events/", s.event),
			map[string]any{"event": map[string]any{"body": uuid.NewString()}})
		author.Do(t, "GET", path, nil, "If-None-Match", old).WantCode(t, 200, "a 304 hides the parent's change")
		next := fmt.Sprintf(`{"note":{"contents":"b%d"}}`, i)
		changed := author.Do(t, "PUT", path, next, "If-Match", old)
		if changed.Code != 200 || changed.Header.Get("ETag") != author.Get(t, path).Header.Get("ETag") ||
			changed.Header.Get("ETag") == old {
			t.Errorf("%d %s", changed.Code, changed.Body)
		}
		for _, same := range []string{next, `{"note":{}}`} {
			again := author.Do(t, "PUT", path, same)
			valuetest.Same(t, again.Header.Get("ETag"), changed.Header.Get("ETag"), "a change without effect: %s", same)
		}
		before := author.Get(t, path).Body
		for _, call := range [][2]string{{"PUT", `{"note":{"contents":"c"}}`}, {"PATCH", `{"note":{"contents":7}}`},
			{"DELETE", ``}} {
			author.Do(t, call[0], path, call[1], "If-Match", old).
				Want(t, 412, `{"status":"Precondition failed","message":"the record is not at a version that If-Match names"}`)
			s.clients["colleague"].Do(t, call[0], path, call[1], "If-Match", old).WantCode(t, 403, call[0])
			author.Do(t, call[0], path, call[1], "If-Match", `"`).WantCode(t, 400, call[0])
		}
		author.Get(t, path).Want(t, 200, before)
	}
	author.Do(t, "DELETE", paths(id)[0], nil, "If-Match", author.Get(t, paths(id)[0]).Header.Get("ETag")).Want(t, 200,
		`{"status":"OK"}`)
	author.Do(t, "DELETE", paths(id)[0], nil, "If-Match", "*").Want(t, 404, missing(id))
}
