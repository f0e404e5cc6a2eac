package suite

import (
	"fmt"
	"net/http"
)

// permissionChecks are those of decisions, part 8.
func permissionChecks() []Check {
	return []Check{
		prove("TestDecisionsPart8_EachPermissionAllowsItsOwn", eachPermissionAllowsItsOwn, "decisions 8 names", "5 rule 11"),
		prove("TestDecisionsPart8_KindsAndTheElementOfAUser", kindsOfUsers, "decisions 8 kinds"),
		prove("TestDecisionsPart8_AdminImpliesEveryOther", adminImpliesEveryOther, "decisions 8 admin"),
		prove("TestDecisionsPart8_AdminDoesNotImplyAdministrationNorOthersNotes", whatAdminDoesNotImply, "decisions 8 not implied"),
	}
}

// allowed are what a client may do of the things that need a permission, in a fixed order.
func (t *T) allowed(c *Client, event int64) string {
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
		{"privileged", "GET", fmt.Sprintf("/api/eventcategories/%d", t.School.Privileged.ID), nil, http.StatusOK},
		{"admin", "GET", "/api/admin/users?limit=1", nil, http.StatusOK},
	} {
		switch a := c.Do(call.method, call.path, call.body); a.Code {
		case call.code:
			able += call.permission + " "
		case http.StatusForbidden:
		default:
			t.Errorf("%s\n  expected: %d or 403\n  got:      %d %s", a.request, call.code, a.Code, a.Body)
		}
	}
	return able
}

func eachPermissionAllowsItsOwn(t *T) {
	event := t.Event(t.Booker(), nil).Int("event.id")
	for _, permission := range []string{"can_su", "can_add_events", "can_add_notes", "edit_all_events", "privileged"} {
		t.Equal("what can_api and "+permission+" allow", t.allowed(t.As(permission), event), permission+" ")
	}
	t.Equal("what can_api allows", t.allowed(t.As(), event), "")
	t.Client().TryLogin(t.UserWith(nil, "can_su", "can_add_events", "can_add_notes", "edit_all_events", "privileged").UUID).Want(http.StatusUnauthorized, accessDenied)
}

func kindsOfUsers(t *T) {
	pupil := t.Pupil()
	for _, fields := range []map[string]any{{"kind": "staff"}, {"kind": "pupil", "element_id": pupil.ID}, {"kind": "guest"}} {
		u := t.UserWith(fields)
		a := t.Admin().Get(userPath(u))
		a.Equal("user.kind", quoted(fields["kind"].(string)))
		want := "null"
		if fields["element_id"] != nil {
			want = fmt.Sprint(pupil.ID)
		}
		a.Equal("user.element_id", want)
	}
	a := t.Admin().Post("/api/admin/users", map[string]any{"user": map[string]any{"name": t.Unique("User"), "email": "x@conformance.invalid", "kind": "robot"}})
	t.Equal("code and errors of an unknown kind", fmt.Sprint(a.Code, a.Keys("user.errors")), "422kind")
}

func adminImpliesEveryOther(t *T) {
	event := t.Event(t.Booker(), nil).Int("event.id")
	t.Equal("what admin alone allows", t.allowed(t.Login(t.UserWith(nil, "admin")), event), "can_su can_add_events can_add_notes edit_all_events privileged admin ")
}

func whatAdminDoesNotImply(t *T) {
	booker, admin := t.Booker(), t.As("admin")
	a := t.Event(booker, nil, t.Controlled())
	admin.Patch(fmt.Sprintf("/api/commitments/%d", a.Int("event.commitments.0.id")), wrapped("commitment", "status", "confirmed")).Want(http.StatusForbidden, forbidden)
	t.Event(admin, nil, t.Controlled()).Equal("event.commitments.0.status", `"requested"`)
	note := booker.Post(fmt.Sprintf("/api/events/%d/notes", a.Int("event.id")), wrapped("note", "visible_staff", false)).Int("note.id")
	path := fmt.Sprintf("/api/notes/%d", note)
	admin.Get(path).WantCode(http.StatusOK)
	admin.Put(path, wrapped("note", "contents", "x")).Want(http.StatusForbidden, forbidden)
	admin.Delete(path).Want(http.StatusForbidden, forbidden)
}
