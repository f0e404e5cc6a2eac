package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// A note that is for pupils or guests tells them of its event no more than the event itself does.
func TestDecisionsPart6_TheParentOfANoteIsTheEventAsTheCallerSeesIt(t *testing.T) {
	s := newSchool(t)
	id := s.newNote(t, map[string]any{"contents": "a", "visible_pupil": true, "visible_guest": true})
	const noTime = "1970-01-01T01:00:00.000+01:00"
	busy := fmt.Sprintf(`{"id":%d,"body":"Busy","starts_at":%q,"ends_at":%q,"all_day":false,"valid":true}`,
		s.event, noTime, noTime)
	for user, want := range map[string]string{
		"pupil": busy, "guest": busy, "author": parentForm(s.event), "colleague": parentForm(s.event),
		"head": parentForm(s.event),
	} {
		code := s.clients[user].Get(t, fmt.Sprint("/api/events/", s.event)).Code
		valuetest.MustSame(t, code == http.StatusForbidden, want == busy, "the event is %d to the %s", code, user)
		for _, path := range paths(id) {
			valuetest.Has(t, s.clients[user].Get(t, path).Must(t, http.StatusOK).Body, `"parent":`+want+`,`,
				"%s as the %s", path, user)
		}
	}
}

// A hidden event may also be confidential: then its notes are not shown to those from whom it is hidden.
func TestDecisionsPart9_ANoteOfAHiddenConfidentialEventIsMissing(t *testing.T) {
	s := newSchool(t)
	s.category = s.confidential(t)
	s.event = s.newEvent(t)
	id := s.newNote(t, map[string]any{"contents": "a", "visible_pupil": true, "visible_guest": true})
	for user, code := range map[string]int{
		"pupil": http.StatusNotFound, "guest": http.StatusNotFound, "colleague": http.StatusNotFound,
		"author": http.StatusOK, "head": http.StatusOK,
	} {
		for _, path := range paths(id) {
			s.clients[user].Get(t, path).WantCode(t, code, "%s as the %s", path, user)
		}
	}
}

// confidential makes such a category.
func (s school) confidential(t *testing.T) int64 {
	t.Helper()
	return s.clients["head"].Import(t, "eventcategories",
		map[string]any{"key": "care", "name": "Care", "confidential": true})["care"]
}

// noter is another user of that kind, who has added a note to the school's event.
func (s school) noter(t *testing.T, kind string) (client *servicetest.Client, note int64) {
	t.Helper()
	secret := uuid.NewString()
	s.clients["head"].Import(t, "users", map[string]any{"key": secret, "name": "Noter", "uuid": secret, "kind": kind,
		"email": secret + "@school.example", "can_api": true, "can_add_notes": true})
	client = system(t).Login(t, secret)
	return client, client.Post(t, fmt.Sprintf("/api/events/%d/notes", s.event),
		map[string]any{"note": map[string]any{"contents": "mine"}}).Must(t, http.StatusOK).Int(t, "note.id")
}

// Its owner could delete a note that it could no longer read or change, which revealed that the note exists.
func TestDecisionsPart6_ANoteThatIsMissingToItsOwnerIsNotDeleted(t *testing.T) {
	s := newSchool(t)
	noter, id := s.noter(t, "staff")
	category := s.confidential(t)
	s.clients["author"].Patch(t, fmt.Sprint("/api/events/", s.event), map[string]any{"event": map[string]any{
		"event_category_id": category,
	}}).Must(t, http.StatusOK)
	for _, path := range paths(id) {
		noter.Get(t, path).Want(t, http.StatusNotFound, missing(id))
		noter.Put(t, path, `{"note":{"contents":"b"}}`).Want(t, http.StatusNotFound, missing(id))
		noter.Delete(t, path).Want(t, http.StatusNotFound, missing(id))
	}
	s.clients["head"].Get(t, paths(id)[0]).Must(t, http.StatusOK)
}

// A pupil who may add notes to any event is told of it no more by its own note, whether it reads or changes it.
func TestDecisionsPart6_TheParentOfAPupilsOwnNoteIsHiddenAsItsEventIs(t *testing.T) {
	s := newSchool(t)
	pupil, id := s.noter(t, "pupil")
	for _, path := range paths(id) {
		for what, body := range map[string]string{
			"GET":     pupil.Get(t, path).Must(t, http.StatusOK).Body,
			"PUT":     pupil.Put(t, path, `{"note":{"contents":"b"}}`).Must(t, http.StatusOK).Body,
			"PATCH":   pupil.Patch(t, path, `{"note":{"contents":"c"}}`).Must(t, http.StatusOK).Body,
			"invalid": pupil.Put(t, path, `{"note":{"contents":7}}`).Must(t, http.StatusUnprocessableEntity).Body,
		} {
			if strings.Contains(body, "Fire drill") || strings.Contains(body, "2026-09-01") ||
				!strings.Contains(body, `"body":"Busy"`) {
				t.Errorf("%s %s: %s", what, path, body)
			}
		}
	}
}
