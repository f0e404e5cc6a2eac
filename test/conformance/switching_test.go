package conformance_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// revertPath is the path of a revert.
const revertPath = "/api/sessions/1/revert"

// switched logs in a new user with can_su and switches to a new user without can_api. It returns both users, the
// client, and a client with the cookie from before the switch.
func (s *School) switched(t *testing.T) (original, effective User, c, before *servicetest.Client) {
	t.Helper()
	original, effective = s.User(t, "can_su"), s.UserWith(t, nil)
	c = s.Login(t, original)
	before = c.Copy()
	c.Put(t, "/api/sessions/1", switchTo(effective)).Want(t, http.StatusOK, okBody)
	return original, effective, c, before
}

func TestPart3_3_Row4_SwitchMakesANewSession(t *testing.T) {
	proves(t, "3.3 row 4: switch to another by a user with can_su who is not switched: switched, with a new cookie",
		"4.5 switch: PUT /api/sessions/1 with user_id as a string: OK",
		"5 rule 7: switch and revert reset the session; the new cookie replaces the old one", "decisions 2 rotation",
		"decisions 2 switch can_api: the target needs no can_api")
	_, effective, c, before := school.switched(t)
	equal(t, "the cookie is a new one", c.Cookie(t) != before.Cookie(t), true)
	isUser(t, c, &effective, "after the switch")
	isUser(t, before, nil, "with the cookie from before the switch")
	original := school.User(t, "can_su")
	c = school.Login(t, original)
	c.Put(t, "/api/sessions/1", object{"session": object{"user_id": effective.ID}}).Want(t, http.StatusOK, okBody)
	isUser(t, c, &effective, "after a switch by a number")
}

func TestPart3_3_Row5_SwitchToTheOriginalUserIsARevert(t *testing.T) {
	proves(t, "3.3 row 5: switched, switch to the original user: as revert, with a new cookie",
		"5 rule 10: no nested switches; to the original user is a revert")
	original, _, c, _ := school.switched(t)
	before := c.Copy()
	c.Put(t, "/api/sessions/1", switchTo(original)).Want(t, http.StatusOK, okBody)
	equal(t, "the cookie is a new one", c.Cookie(t) != before.Cookie(t), true)
	isUser(t, c, &original, "after the switch back")
	isUser(t, before, nil, "with the switched session's cookie")
	c.Get(t, "/api/users").WantCode(t, http.StatusOK) // can_su is back
}

func TestPart3_3_Row6_NestedSwitchesAreRejected(t *testing.T) {
	proves(t, "3.3 row 6: switched, switch to any other user: rejected", "5 rule 10", "decisions 2 switch can_su")
	original, effective := school.User(t, "can_su"), school.User(t, "can_su")
	c := school.Login(t, original)
	c.Put(t, "/api/sessions/1", switchTo(effective)).Want(t, http.StatusOK, okBody)
	held := c.Cookie(t)
	for _, target := range []User{school.User(t), effective} {
		a := c.Put(t, "/api/sessions/1", switchTo(target))
		a.Want(t, http.StatusForbidden, forbidden)
		equal(t, "cookies set by a rejected switch", len(a.Cookies()), 0)
	}
	equal(t, "the cookie stays", c.Cookie(t) == held, true)
	isUser(t, c, &effective, "after rejected switches")
}

func TestPart3_3_Row7_RevertReturnsToTheOriginalUser(t *testing.T) {
	proves(t, "3.3 row 7: switched, revert: logged in as the original user, with a new cookie",
		"4.5 revert: PUT /api/sessions/1/revert with {}: OK", "5 rule 7",
		"5 rule 9: the service remembers the original user", "decisions 2 rotation")
	original, _, c, _ := school.switched(t)
	before := c.Copy()
	c.Put(t, revertPath, object{}).Want(t, http.StatusOK, okBody)
	equal(t, "the cookie is a new one", c.Cookie(t) != before.Cookie(t), true)
	isUser(t, c, &original, "after the revert")
	isUser(t, before, nil, "with the switched session's cookie")
	// so it is not switched any more
	c.Put(t, "/api/sessions/1", switchTo(school.User(t))).Want(t, http.StatusOK, okBody)
	c.Put(t, revertPath, nil).Want(t, http.StatusOK, okBody) // without a body
	isUser(t, c, &original, "after the revert without a body")
}

func TestPart3_3_Row8_WithoutCanSUAllIsForbidden(t *testing.T) {
	proves(t, "3.3 row 8: without can_su, lookup and switch: Forbidden, the state unchanged",
		"5 rule 5: without can_su: lookup, switch and revert are Forbidden",
		"7.1 Forbidden: Forbidden: a switch call without can_su", "decisions 2 switch can_su",
		"decisions 1 403: signed in but not allowed: 403, one text for all")
	u := school.User(t, "can_add_events", "privileged", "edit_all_events")
	c := school.Login(t, u)
	c.Get(t, "/api/users").Want(t, http.StatusForbidden, forbidden)
	c.Get(t, "/api/users?email="+u.Email).Want(t, http.StatusForbidden, forbidden)
	c.Put(t, "/api/sessions/1", switchTo(school.User(t))).Want(t, http.StatusForbidden, forbidden)
	c.Put(t, revertPath, object{}).Want(t, http.StatusForbidden, forbidden)
	isUser(t, c, &u, "after forbidden calls")
}

// TestPart5_Rule08_WhileSwitchedTheEffectiveUserDecides has an original user with every permission except admin,
// and effective users with few.
func TestPart5_Rule08_WhileSwitchedTheEffectiveUserDecides(t *testing.T) {
	proves(t, "5 rule 8 rest: while switched, the effective user's permissions decide everything else",
		"5 rule 11: notes by permission, events by edit rights or ownership, notes changed by owners; other "+
			"permissions: not shown, see decisions 8")
	original := school.User(t, allBut("admin")...)
	own := school.Login(t, original)
	event := school.Event(t, own, nil).Int(t, "event.id")
	add := notesPath(event)
	note := object{"note": object{"contents": "x"}}

	none := school.UserWith(t, nil)
	own.Put(t, "/api/sessions/1", switchTo(none)).Want(t, http.StatusOK, okBody)
	own.Get(t, "/api/users").Want(t, http.StatusForbidden, forbidden)
	school.TryEvent(t, own, nil).Want(t, http.StatusForbidden, forbidden)
	own.Post(t, add, note).Want(t, http.StatusForbidden, forbidden)
	own.Delete(t, eventPath(event)).Want(t, http.StatusForbidden, forbidden)
	own.Get(t, categoryPath(school.Privileged.ID)).Want(t, http.StatusForbidden, forbidden)
	own.Put(t, revertPath, object{}).Want(t, http.StatusOK, okBody)

	booker := school.UserWith(t, nil, "can_add_events", "can_add_notes")
	own.Put(t, "/api/sessions/1", switchTo(booker)).Want(t, http.StatusOK, okBody)
	made := school.Event(t, own, nil)
	own.Get(t, pathIn(t, made)).Equal(t, "event.owner", booker.List())
	added := own.Post(t, add, note)
	added.Equal(t, "note.owner", booker.List())
	own.Delete(t, notePaths(added.Int(t, "note.id"))[0]).Want(t, http.StatusOK, okBody)
	its := addNote(t, school.Login(t, school.User(t, "can_add_notes")), event, object{})
	own.Delete(t, notePaths(its)[0]).Want(t, http.StatusForbidden, forbidden)
}

func TestPart5_Rule08_WhileSwitchedTheOriginalUsersCanAPICounts(t *testing.T) {
	proves(t, "5 rule 8 API: while switched, the original user's can_api decides on the API")
	original, effective, c, _ := school.switched(t)
	isUser(t, c, &effective, "as one without can_api, while switched") // the original user's counts
	school.change(t, original, object{"permissions": object{"can_api": false}})
	withinASecond(t, "the switched session is 401 when the original user loses can_api",
		func() bool { return c.Get(t, "/sessions/1/whoami").Code == http.StatusUnauthorized })
}

func TestDecisionsPart2_ReasonsAgainstASwitch(t *testing.T) {
	proves(t, "decisions 2 switch no id: user_id absent or invalid: 400",
		"decisions 2 switch unknown: unknown user: 404", "decisions 2 switch self: to oneself: 403",
		"decisions 2 switch admin: to an admin, by a user who is not one: 403",
		"decisions 2 switch inactive: to an inactive user: 403",
		"decisions 2 switch order: the reasons are checked in that order",
		"decisions 2 switch can_su: without can_su, or switched: 403, except to the original user")
	su, plain := school.User(t, "can_su"), school.User(t)
	admin, inactive := school.User(t, "admin"), school.UserWith(t, object{"active": false})
	inactiveAdmin := school.UserWith(t, object{"active": false}, "admin")
	session := func(id any) any { return object{"session": object{"user_id": id}} }
	const noID = `{"status":"Bad request","message":"user_id is missing or not an id"}`
	const noWrapper = `{"status":"Bad request","message":"session is missing"}`
	const noJSON = `{"status":"Bad request","message":"the body is not a JSON object"}`
	for _, c := range []struct {
		why    string
		caller User
		body   any
		code   int
		want   string
	}{
		{"no can_su comes before no id", plain, object{}, http.StatusForbidden, forbidden},
		{"no can_su comes before unknown", plain, session(int64(noSuchID)), http.StatusForbidden, forbidden},
		{"no wrapper", su, object{"user_id": plain.ID}, http.StatusBadRequest, noWrapper},
		{"none", su, object{"session": object{}}, http.StatusBadRequest, noID},
		{"not JSON", su, `{"session":`, http.StatusBadRequest, noJSON},
		{"absent", su, session(nil), http.StatusBadRequest, noID},
		{"a word", su, session("ann"), http.StatusBadRequest, noID},
		{"a wrapper that is no object", su, object{"session": plain.ID}, http.StatusBadRequest, noWrapper},
		{"a sign", su, session("-1"), http.StatusBadRequest, noID},
		{"unknown", su, session(int64(noSuchID)), http.StatusNotFound, missing("Not found", "User", noSuchID)},
		{"oneself", su, switchTo(su), http.StatusForbidden, forbidden},
		{"an admin", su, switchTo(admin), http.StatusForbidden, forbidden},
		{"an inactive user", su, switchTo(inactive), http.StatusForbidden, forbidden},
		{"an inactive admin", su, switchTo(inactiveAdmin), http.StatusForbidden, forbidden},
	} {
		client := school.Login(t, c.caller)
		a := client.Put(t, "/api/sessions/1", c.body)
		equal(t, "switch: "+c.why, fmt.Sprint(a.Code, " ", a.Body), fmt.Sprint(c.code, " ", c.want))
		isUser(t, client, &c.caller, "after a refused switch: "+c.why)
	}
	client := school.Login(t, school.User(t, "admin"))
	client.Put(t, "/api/sessions/1", switchTo(admin)).Want(t, http.StatusOK, okBody)
	isUser(t, client, &admin, "after an admin's switch to an admin")
	client = school.Login(t, school.User(t, "admin"))
	client.Put(t, "/api/sessions/1", switchTo(inactive)).Want(t, http.StatusForbidden, forbidden)
}

func TestDecisionsPart2_RevertWithoutASwitch(t *testing.T) {
	proves(t, "decisions 2 revert: not switched but can_su: 200, nothing changes; else 403")
	u := school.User(t, "can_su")
	c := school.Login(t, u)
	a := c.Put(t, revertPath, object{})
	a.Want(t, http.StatusOK, okBody)
	equal(t, "cookies set", len(a.Cookies()), 0)
	isUser(t, c, &u, "after a revert without a switch")
	school.As(t).Put(t, revertPath, object{}).Want(t, http.StatusForbidden, forbidden)
	school.Client().Put(t, revertPath, object{}).Want(t, http.StatusUnauthorized, accessDenied)
}

// withinASecond ends the test unless asked returns true within a second from now.
func withinASecond(t *testing.T, what string, asked func() bool) {
	t.Helper()
	timetest.Eventually(t, what, time.Second, asked)
}

// TestDecisionsPart1_ARevertWithABodyThatIsNoJSON: no field of the body is read, but it must be JSON.
func TestDecisionsPart1_ARevertWithABodyThatIsNoJSON(t *testing.T) {
	proves(t, "decisions 1 400 JSON", "decisions 1 trailing garbage", "decisions 2 revert")
	su, other := school.As(t, "can_su"), school.User(t)
	for _, body := range []string{"{}{}", "x", "[]", `"a"`, "\ufeff{}", "{"} {
		su.Do(t, http.MethodPut, revertPath, body).WantCode(t, http.StatusBadRequest)
	}
	su.Put(t, "/api/sessions/1", wrapped("session", "user_id", other.ID)).Must(t, http.StatusOK)
	su.Do(t, http.MethodPut, revertPath, "{}{}").WantCode(t, http.StatusBadRequest)
	su.Get(t, "/api/sessions/1/whoami").Equal(t, "user_id", fmt.Sprint(other.ID))
	for _, body := range []any{nil, " ", "null", object{"x": 1}} {
		su.Do(t, http.MethodPut, revertPath, body).WantCode(t, http.StatusOK)
	}
}
