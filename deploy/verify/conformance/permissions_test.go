package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// allowed returns, in a fixed order, the actions with a permission that the client may do.
func (s *School) allowed(t *testing.T, c *servicetest.Client, event int64) string {
	t.Helper()
	path := fmt.Sprintf("/api/events/%d", event)
	able := ""
	for _, call := range []struct {
		permission, method, path string
		body                     any
		code                     int
	}{
		{"can_su", "GET", "/api/users", nil, http.StatusOK},
		{"can_add_events", "POST", "/api/events", wrapped("event"), http.StatusUnprocessableEntity},
		{"can_add_notes", "POST", path + "/notes", wrapped("note"), http.StatusOK},
		{"edit_all_events", "PATCH", path, wrapped("event"), http.StatusOK},
		{"privileged", "GET", fmt.Sprintf("/api/eventcategories/%d", s.Privileged.ID), nil, http.StatusOK},
		{"admin", "GET", "/api/admin/users?limit=1", nil, http.StatusOK},
	} {
		switch a := c.Do(t, call.method, call.path, call.body); a.Code {
		case call.code:
			able += call.permission + " "
		case http.StatusForbidden:
		default:
			t.Errorf("%s\n  expected: %d or 403\n  got:      %d %s", a.Request, call.code, a.Code, a.Body)
		}
	}
	return able
}

func TestDecisionsPart8_EachPermissionAllowsItsOwn(t *testing.T) {
	proves(t, "decisions 8 names", "5 rule 11")
	event := school.Event(t, school.Booker(t), nil).Int(t, "event.id")
	for _, permission := range []string{"can_su", "can_add_events", "can_add_notes", "edit_all_events", "privileged"} {
		equal(t, "what can_api and "+permission+" allow", school.allowed(t, school.As(t, permission), event),
			permission+" ")
	}
	equal(t, "what can_api allows", school.allowed(t, school.As(t), event), "")
	tryLogin(t, school.Client(), school.UserWith(t, nil, "can_su", "can_add_events", "can_add_notes", "edit_all_events",
		"privileged").UUID).Want(t, http.StatusUnauthorized, accessDenied)
}

func TestDecisionsPart8_KindsAndTheElementOfAUser(t *testing.T) {
	proves(t, "decisions 8 kinds")
	pupil := school.Pupil(t)
	for _, fields := range []map[string]any{{"kind": "staff"}, {"kind": "pupil", "element_id": pupil.ID},
		{"kind": "guest"}} {
		u := school.UserWith(t, fields)
		a := school.Admin().Get(t, userPath(u))
		a.Equal(t, "user.kind", quoted(fields["kind"].(string)))
		want := "null"
		if fields["element_id"] != nil {
			want = fmt.Sprint(pupil.ID)
		}
		a.Equal(t, "user.element_id", want)
	}
	a := school.Admin().Post(t, "/api/admin/users",
		map[string]any{"user": map[string]any{"name": school.Unique("User"), "email": "x@conformance.invalid",
			"kind": "robot"}})
	equal(t, "code and errors of an unknown kind", fmt.Sprint(a.Code, a.Keys(t, "user.errors")), "422kind")
}

func TestDecisionsPart8_AdminImpliesEveryOther(t *testing.T) {
	proves(t, "decisions 8 admin")
	event := school.Event(t, school.Booker(t), nil).Int(t, "event.id")
	equal(t, "what admin alone allows", school.allowed(t, school.Login(t, school.UserWith(t, nil, "admin")), event),
		"can_su can_add_events can_add_notes edit_all_events privileged admin ")
}

func TestDecisionsPart8_AdminDoesNotImplyAdministrationNorOthersNotes(t *testing.T) {
	proves(t, "decisions 8 not implied")
	booker, admin := school.Booker(t), school.As(t, "admin")
	a := school.Event(t, booker, nil, school.Controlled(t))
	admin.Patch(t, fmt.Sprintf("/api/commitments/%d", a.Int(t, "event.commitments.0.id")),
		wrapped("commitment", "status", "confirmed")).Want(t, http.StatusForbidden, forbidden)
	school.Event(t, admin, nil, school.Controlled(t)).Equal(t, "event.commitments.0.status", `"requested"`)
	note := booker.Post(t, fmt.Sprintf("/api/events/%d/notes", a.Int(t, "event.id")),
		wrapped("note", "visible_staff", false)).Int(t, "note.id")
	path := fmt.Sprintf("/api/notes/%d", note)
	admin.Get(t, path).WantCode(t, http.StatusOK)
	admin.Put(t, path, wrapped("note", "contents", "x")).Want(t, http.StatusForbidden, forbidden)
	admin.Delete(t, path).Want(t, http.StatusForbidden, forbidden)
}
