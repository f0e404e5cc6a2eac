package conformance_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// permissions are those of a user in the order of their answers (decisions, part 8), each with a call that needs it and
// its answer then. can_api is needed for all of them.
var permissions = []struct {
	name, method, path string // of an event and a privileged category
	body               any
	code               int
}{
	{name: "can_api"},
	{"can_su", "GET", "/api/users", nil, http.StatusOK},
	{"can_add_events", "POST", "/api/events", wrapped("event"), http.StatusUnprocessableEntity},
	{"can_add_notes", "POST", "/api/events/EVENT/notes", wrapped("note"), http.StatusOK},
	{"edit_all_events", "PATCH", "/api/events/EVENT", wrapped("event"), http.StatusOK},
	{"privileged", "GET", "/api/eventcategories/CATEGORY", nil, http.StatusOK},
	{"admin", "GET", "/api/admin/users?limit=1", nil, http.StatusOK},
}

// allBut lists the permissions but for some, in their order.
func allBut(some ...string) (names []string) {
	for _, p := range permissions {
		if !slices.Contains(some, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// given is the object that shows which permissions a user has.
func given(names ...string) string {
	fields := make([]string, len(permissions))
	for i, p := range permissions {
		fields[i] = fmt.Sprintf("%q:%t", p.name, slices.Contains(names, p.name))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// allowed returns, in their order, the permissions whose call is allowed to the client.
func (s *School) allowed(t *testing.T, c *servicetest.Client, event int64) string {
	t.Helper()
	able := ""
	ids := strings.NewReplacer("EVENT", fmt.Sprint(event), "CATEGORY", fmt.Sprint(s.Privileged.ID))
	for _, call := range permissions[1:] {
		switch a := c.Do(t, call.method, ids.Replace(call.path), call.body); a.Code {
		case call.code:
			able += call.name + " "
		case http.StatusForbidden:
		default:
			t.Errorf("%s\n  expected: %d or 403\n  got:      %d %s", a.Request, call.code, a.Code, a.Body)
		}
	}
	return able
}

func TestDecisionsPart8_EachPermissionAllowsItsOwn(t *testing.T) {
	proves(t, "decisions 8 names: can_api, can_su, can_add_events, can_add_notes, edit_all_events, privileged, admin",
		"decisions 8 admin: admin implies every other permission", "5 rule 11")
	event := school.Event(t, school.Booker(t), nil).Int(t, "event.id")
	for _, permission := range allBut("can_api", "admin") {
		equal(t, "what can_api and "+permission+" allow", school.allowed(t, school.As(t, permission), event),
			permission+" ")
	}
	equal(t, "what can_api allows", school.allowed(t, school.As(t), event), "")
	equal(t, "what admin alone allows", school.allowed(t, school.Login(t, school.UserWith(t, nil, "admin")), event),
		strings.Join(allBut("can_api"), " ")+" ")
	lesser := school.UserWith(t, nil, allBut("can_api", "admin")...)
	tryLogin(t, school.Client(), lesser.UUID).Want(t, http.StatusUnauthorized, accessDenied)
}

func TestDecisionsPart8_KindsAndTheElementOfAUser(t *testing.T) {
	proves(t, "decisions 8 kinds: kind staff, pupil or guest; optionally the element that the user is")
	pupil := school.Pupil(t)
	for _, fields := range []object{{"kind": "staff"}, {"kind": "pupil", "element_id": pupil.ID}, {"kind": "guest"}} {
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
		object{"user": object{"name": school.Unique("User"), "email": "x@conformance.invalid", "kind": "robot"}})
	equal(t, "code and errors of an unknown kind", fmt.Sprint(a.Code, a.Keys(t, "user.errors")), "422kind")
}

func TestDecisionsPart8_AdminDoesNotImplyAdministrationNorOthersNotes(t *testing.T) {
	proves(t, "decisions 8 not implied: admin implies neither administration of an element nor changing others' notes")
	booker, admin := school.Booker(t), school.As(t, "admin")
	a := school.Event(t, booker, nil, school.Controlled(t))
	admin.Patch(t, commitmentIn(t, a, 0),
		wrapped("commitment", "status", "confirmed")).Want(t, http.StatusForbidden, forbidden)
	school.Event(t, admin, nil, school.Controlled(t)).Equal(t, "event.commitments.0.status", `"requested"`)
	note := booker.Post(t, pathIn(t, a)+"/notes", wrapped("note", "visible_staff", false)).Int(t, "note.id")
	path := notePath(note)
	admin.Get(t, path).WantCode(t, http.StatusOK)
	admin.Put(t, path, wrapped("note", "contents", "x")).Want(t, http.StatusForbidden, forbidden)
	admin.Delete(t, path).Want(t, http.StatusForbidden, forbidden)
}
