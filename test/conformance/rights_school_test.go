package conformance_test

import (
	"fmt"
	"net/http"
	"testing"
)

// A right over a school ends in existing sessions too, and no longer covers what has left the school.
func TestAdministration_AnAdministratorOfASchoolIsOneOnThatDayAlone(t *testing.T) {
	proves(t,
		"administration school: a user with admin_of administers what belongs to those schools on that day, and "+
			"nothing else")
	house := school.Element(t, object{"entity_type": "Group", "name": school.Unique("School"), "school": true})
	year, kai := school.Group(t), school.Pupil(t)
	school.Member(t, house, year, "", "")
	school.Member(t, year, kai, "", "")
	head := school.UserWith(t, object{"admin_of": []int64{house.ID}}, "can_api")
	client := school.Login(t, head)
	path := func(e Element) string { return elementAdmin(e) }
	want := func(what string, code int) {
		t.Helper()
		client.Get(t, path(kai)).WantCode(t, code, what)
	}
	want("a pupil in a year of the school", http.StatusOK)

	// Its own creations begin in the school.
	made := client.Post(t, "/api/admin/elements", object{"element": object{"entity_type": "Pupil",
		"forename": "Ida", "surname": school.Unique("Pupil")}})
	ida := Element{ID: made.Must(t, http.StatusCreated).Int(t, "element.id")}
	client.Get(t, path(ida)).Must(t, http.StatusOK)

	// Moved to another school, by an administrator of both.
	other := school.Element(t, object{"entity_type": "Group", "name": school.Unique("School"), "school": true})
	member := object{"members": []any{object{"element_id": kai.ID}}}
	client.Post(t, path(other)+"/members", member).Must(t, http.StatusForbidden)
	school.Admin().Post(t, path(other)+"/members", member).Must(t, http.StatusCreated)
	school.Admin().Delete(t, fmt.Sprintf("%s/members/%d", path(year), kai.ID)).Must(t, http.StatusOK)
	want("a pupil that has left", http.StatusForbidden)
	client.Post(t, path(house)+"/members", member).Must(t, http.StatusForbidden)

	// An element that is no longer a school has no administrator of a school.
	school.Admin().Patch(t, path(house), wrapped("element", "school", false)).Must(t, http.StatusOK)
	client.Get(t, path(ida)).Must(t, http.StatusForbidden)
	school.Admin().Patch(t, path(house), wrapped("element", "school", true)).Must(t, http.StatusOK)
	client.Get(t, path(ida)).Must(t, http.StatusOK)

	// The right is another school's from the answer on, in the same session.
	school.change(t, head, object{"admin_of": []int64{other.ID}})
	client.Get(t, path(ida)).Must(t, http.StatusForbidden)
	want("a pupil of the school that it administers now", http.StatusOK)
	school.change(t, head, object{"admin_of": nil})
	want("without the right", http.StatusForbidden)
	school.Admin().Patch(t, userPath(head), wrapped("user", "admin_of", []int64{year.ID})).Must(t,
		http.StatusUnprocessableEntity)
}

// Only an admin acts as an administrator of a school.
func TestAdministration_OnlyAnAdminSwitchesToAnAdministratorOfASchool(t *testing.T) {
	proves(t, "administration school switch: only an admin switches to a user with admin_of; an earlier switch ends")
	house := school.Element(t, object{"entity_type": "Group", "name": school.Unique("School"), "school": true})
	head, su := school.User(t), school.User(t, "can_su")
	client := school.Login(t, su)
	into := func() int {
		return client.Put(t, "/api/sessions/1", wrapped("session", "user_id", fmt.Sprint(head.ID))).Code
	}
	equal(t, "while it administers none", into(), http.StatusOK)
	school.change(t, head, object{"admin_of": []int64{house.ID}})
	equal(t, "the switched session", client.Get(t, "/api/me").Code, http.StatusUnauthorized)
	client = school.Login(t, su)
	equal(t, "once it administers a school", into(), http.StatusForbidden)
}
