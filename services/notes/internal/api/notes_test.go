package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart6_ContentsThatAreTooLongAreInvalid(t *testing.T) {
	s := newSchool(t)
	author := s.clients["author"]
	long := strings.Repeat("é", 65536)
	id := s.newNote(t, map[string]any{"contents": long})
	invalid := func(id, contents string, parent, errors string) string {
		return fmt.Sprintf(`{"status":"Unprocessable entity","note":{"id":%s,"contents":%s,"visible_guest":true,"visible_staff":true,"visible_pupil":false,"formatted_contents":"","owner":%s,%s"valid":false,"errors":%s}}`,
			id, quoted(contents), s.ownerForm("author"), parent, errors)
	}
	tooLong := `{"contents":["is too long (maximum is 65536 characters)"]}`
	body := map[string]any{"note": map[string]any{"contents": long + "!", "visible_guest": true}}
	author.Put(t, paths(id)[0], body).Want(t, 422,
		invalid(fmt.Sprint(id), long+"!", `"parent":`+parentForm(s.event)+`,`, tooLong))
	author.Post(t, fmt.Sprintf("/api/events/%d/notes", s.event), body).Want(t, 422,
		invalid("null", long+"!", "", tooLong))
	author.Patch(t, paths(id)[0], `{"note":{"contents":[],"visible_guest":true,"visible_pupil":7}}`).
		Want(t, 422, invalid(fmt.Sprint(id), long, `"parent":`+parentForm(s.event)+`,`,
			`{"contents":["is not a string"],"visible_pupil":["is not true or false"]}`))
	valuetest.Has(t, author.Get(t, paths(id)[0]).Body, `"visible_guest":false`, "an invalid change is stored")
	// About the longest body that a client may send, of characters that JSON may write in six bytes, on its way
	// through two services.
	raw := `{"note":{"visible_guest":true,"contents":"` + strings.Repeat("<", 1_000_000) + `"}}`
	author.Post(t, fmt.Sprintf("/api/events/%d/notes", s.event), raw).Want(t, 422,
		invalid("null", strings.Repeat("<", 1_000_000), "", tooLong))
}

// A calendar marks the events that have notes by one call; it reveals no note that the event's list does not show.
func TestClients_EventsWithNotesAreThoseWhoseListIsNotEmpty(t *testing.T) {
	s := newSchool(t)
	events := map[string]int64{"none": s.event}
	add := func(name string, fields map[string]any) {
		t.Helper()
		s.event = s.newEvent(t)
		events[name] = s.event
		if fields != nil {
			s.newNote(t, fields)
		}
	}
	add("staff", map[string]any{"contents": "a"})
	s.newNote(t, map[string]any{"contents": "b"})
	add("pupils", map[string]any{"contents": "a", "visible_staff": false, "visible_pupil": true})
	add("guests", map[string]any{"contents": "a", "visible_staff": false, "visible_guest": true})
	add("own", map[string]any{"contents": "a", "visible_staff": false})
	add("gone", map[string]any{"contents": "a", "visible_pupil": true, "visible_guest": true})
	s.clients["author"].Delete(t, fmt.Sprint("/api/events/", s.event)).Must(t, http.StatusOK)
	s.category = s.confidential(t)
	add("confidential", map[string]any{"contents": "a", "visible_pupil": true, "visible_guest": true})

	query := fmt.Sprint("/api/notes?events=", 1<<40)
	for _, id := range events {
		query += fmt.Sprint(",%20", id)
	}
	for _, c := range s.clients {
		a := c.Get(t, query).Must(t, http.StatusOK)
		var got struct{ Events []int64 }
		a.Decode(t, &got)
		told := map[int64]bool{}
		for _, id := range got.Events {
			told[id] = true
		}
		valuetest.Same(t, len(told), len(got.Events), "an event is told twice: %s", a.Body)
		for name, id := range events {
			list := c.Get(t, fmt.Sprintf("/api/events/%d/notes", id))
			valuetest.Same(t, told[id], list.Code == http.StatusOK && strings.Contains(list.Body, `"contents"`),
				"%s: told of notes; %d %s", name, list.Code, list.Body)
		}
	}
	s.clients["guest"].Get(t, fmt.Sprint("/api/notes?events=", events["none"])).
		Want(t, http.StatusOK, ok("events", "[]"))
	for _, bad := range []string{"", "?events=", "?events=x", "?events=" + strings.TrimSuffix(longList(201), ",")} {
		s.clients["head"].Get(t, "/api/notes"+bad).WantCode(t, http.StatusBadRequest, "%.40s", bad)
	}
	s.clients["head"].Get(t, "/api/notes?events="+strings.TrimSuffix(longList(200), ",")).Must(t, http.StatusOK)
}

// longList is the first n ids, with a comma after each.
func longList(n int) (text string) {
	for id := range n {
		text += fmt.Sprint(id+1, ",")
	}
	return text
}
