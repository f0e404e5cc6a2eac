package api_test

import (
	"fmt"
	"strings"
	"testing"
)

var staffOnly = [3]bool{false, true, false}

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
	if a := author.Get(t, paths(id)[0]); !strings.Contains(a.Body, `"visible_guest":false`) {
		t.Error("an invalid change is stored")
	}
	// About the longest body that a client may send, of characters that JSON may write in six bytes, on its way
	// through two services.
	raw := `{"note":{"visible_guest":true,"contents":"` + strings.Repeat("<", 1_000_000) + `"}}`
	author.Post(t, fmt.Sprintf("/api/events/%d/notes", s.event), raw).Want(t, 422,
		invalid("null", strings.Repeat("<", 1_000_000), "", tooLong))
}
