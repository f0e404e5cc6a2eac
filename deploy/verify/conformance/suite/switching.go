package suite

import (
	"fmt"
	"net/http"
	"time"
)

// revertPath is the path of a revert.
const revertPath = "/api/sessions/1/revert"

// switchChecks are those of switching users, in parts 3.3, 4.5 and 5 and in decisions, part 2.
func switchChecks() []Check {
	return []Check{
		prove("TestPart3_3_Row4_SwitchMakesANewSession", switchMakesANewSession, "3.3 row 4", "4.5 switch", "5 rule 7", "decisions 2 rotation", "decisions 2 switch can_api"),
		prove("TestPart3_3_Row5_SwitchToTheOriginalUserIsARevert", switchToTheOriginalUser, "3.3 row 5", "5 rule 10"),
		prove("TestPart3_3_Row6_NestedSwitchesAreRejected", nestedSwitchesAreRejected, "3.3 row 6", "5 rule 10", "decisions 2 switch can_su"),
		prove("TestPart3_3_Row7_RevertReturnsToTheOriginalUser", revertReturns, "3.3 row 7", "4.5 revert", "5 rule 7", "5 rule 9", "decisions 2 rotation"),
		prove("TestPart3_3_Row8_WithoutCanSUAllIsForbidden", withoutCanSUAllIsForbidden, "3.3 row 8", "5 rule 5", "7.1 Forbidden", "decisions 2 switch can_su", "decisions 1 403"),
		prove("TestPart5_Rule08_WhileSwitchedTheEffectiveUserDecides", effectiveUserDecides, "5 rule 8 rest", "5 rule 11"),
		prove("TestPart5_Rule08_WhileSwitchedTheOriginalUsersCanAPICounts", originalUsersCanAPICounts, "5 rule 8 API"),
		prove("TestDecisionsPart2_ReasonsAgainstASwitch", reasonsAgainstASwitch,
			"decisions 2 switch no id", "decisions 2 switch unknown", "decisions 2 switch self", "decisions 2 switch admin", "decisions 2 switch inactive", "decisions 2 switch order", "decisions 2 switch can_su"),
		prove("TestDecisionsPart2_RevertWithoutASwitch", revertWithoutASwitch, "decisions 2 revert"),
	}
}

// switched logs a new user with can_su in, switches to a new user without can_api, and returns both, the client, and one with the cookie
// from before the switch.
func (t *T) switched() (original, effective User, c, before *Client) {
	original, effective = t.User("can_su"), t.UserWith(nil)
	c = t.Login(original)
	before = c.Copy()
	c.Put("/api/sessions/1", switchTo(effective)).Want(http.StatusOK, okBody)
	return original, effective, c, before
}

func switchMakesANewSession(t *T) {
	_, effective, c, before := t.switched()
	t.Equal("the cookie is a new one", c.Cookie.Value != before.Cookie.Value, true)
	t.isUser(c, &effective, "after the switch")
	t.isUser(before, nil, "with the cookie from before the switch")
	original := t.User("can_su")
	c = t.Login(original)
	c.Put("/api/sessions/1", map[string]any{"session": map[string]any{"user_id": effective.ID}}).Want(http.StatusOK, okBody)
	t.isUser(c, &effective, "after a switch by a number")
}

func switchToTheOriginalUser(t *T) {
	original, _, c, _ := t.switched()
	before := c.Copy()
	c.Put("/api/sessions/1", switchTo(original)).Want(http.StatusOK, okBody)
	t.Equal("the cookie is a new one", c.Cookie.Value != before.Cookie.Value, true)
	t.isUser(c, &original, "after the switch back")
	t.isUser(before, nil, "with the switched session's cookie")
	c.Get("/api/users").WantCode(http.StatusOK) // can_su is back
}

func nestedSwitchesAreRejected(t *T) {
	original, effective := t.User("can_su"), t.User("can_su")
	c := t.Login(original)
	c.Put("/api/sessions/1", switchTo(effective)).Want(http.StatusOK, okBody)
	held := c.Cookie.Value
	for _, target := range []User{t.User(), effective} {
		a := c.Put("/api/sessions/1", switchTo(target))
		a.Want(http.StatusForbidden, forbidden)
		t.Equal("cookies set by a rejected switch", len(a.Cookies), 0)
	}
	t.Equal("the cookie stays", c.Cookie.Value == held, true)
	t.isUser(c, &effective, "after rejected switches")
}

func revertReturns(t *T) {
	original, _, c, _ := t.switched()
	before := c.Copy()
	c.Put(revertPath, map[string]any{}).Want(http.StatusOK, okBody)
	t.Equal("the cookie is a new one", c.Cookie.Value != before.Cookie.Value, true)
	t.isUser(c, &original, "after the revert")
	t.isUser(before, nil, "with the switched session's cookie")
	c.Put("/api/sessions/1", switchTo(t.User())).Want(http.StatusOK, okBody) // so it is not switched any more
}

func withoutCanSUAllIsForbidden(t *T) {
	u := t.User("can_add_events", "privileged", "edit_all_events")
	c := t.Login(u)
	c.Get("/api/users").Want(http.StatusForbidden, forbidden)
	c.Get("/api/users?email="+u.Email).Want(http.StatusForbidden, forbidden)
	c.Put("/api/sessions/1", switchTo(t.User())).Want(http.StatusForbidden, forbidden)
	c.Put(revertPath, map[string]any{}).Want(http.StatusForbidden, forbidden)
	t.isUser(c, &u, "after forbidden calls")
}

// effectiveUserDecides has an original user who may do everything but administer, and effective ones who may do little.
func effectiveUserDecides(t *T) {
	original := t.User("can_su", "can_add_events", "can_add_notes", "edit_all_events", "privileged")
	own := t.Login(original)
	event := t.Event(own, nil).Int("event.id")
	add := fmt.Sprintf("/api/events/%d/notes", event)
	note := map[string]any{"note": map[string]any{"contents": "x"}}

	none := t.UserWith(nil)
	own.Put("/api/sessions/1", switchTo(none)).Want(http.StatusOK, okBody)
	own.Get("/api/users").Want(http.StatusForbidden, forbidden)
	t.TryEvent(own, nil).Want(http.StatusForbidden, forbidden)
	own.Post(add, note).Want(http.StatusForbidden, forbidden)
	own.Delete(fmt.Sprintf("/api/events/%d", event)).Want(http.StatusForbidden, forbidden)
	own.Get(fmt.Sprintf("/api/eventcategories/%d", t.School.Privileged.ID)).Want(http.StatusForbidden, forbidden)
	own.Put(revertPath, map[string]any{}).Want(http.StatusOK, okBody)

	booker := t.UserWith(nil, "can_add_events", "can_add_notes")
	own.Put("/api/sessions/1", switchTo(booker)).Want(http.StatusOK, okBody)
	made := t.Event(own, nil)
	own.Get(fmt.Sprintf("/api/events/%d", made.Int("event.id"))).Equal("event.owner", booker.List())
	own.Post(add, note).Equal("note.owner", booker.List())
}

func originalUsersCanAPICounts(t *T) {
	original, effective, c, _ := t.switched()
	t.isUser(c, &effective, "as one without can_api, while switched") // the original user's counts
	t.change(original, map[string]any{"permissions": map[string]any{"can_api": false}})
	t.withinASecond("the switched session is 401 when the original user loses can_api", func() bool { return c.Get("/sessions/1/whoami").Code == http.StatusUnauthorized })
}

func reasonsAgainstASwitch(t *T) {
	su, plain := t.User("can_su"), t.User()
	admin, inactive := t.User("admin"), t.UserWith(map[string]any{"active": false})
	inactiveAdmin := t.UserWith(map[string]any{"active": false}, "admin")
	session := func(id any) any { return map[string]any{"session": map[string]any{"user_id": id}} }
	const noID = `{"status":"Bad request","message":"user_id is missing or no id"}`
	for _, c := range []struct {
		why    string
		caller User
		body   any
		code   int
		want   string
	}{
		{"no can_su comes before no id", plain, map[string]any{}, http.StatusForbidden, forbidden},
		{"no can_su comes before unknown", plain, session(int64(noSuchID)), http.StatusForbidden, forbidden},
		{"no wrapper", su, map[string]any{"user_id": plain.ID}, http.StatusBadRequest, noID},
		{"absent", su, session(nil), http.StatusBadRequest, noID},
		{"a word", su, session("ann"), http.StatusBadRequest, noID},
		{"a sign", su, session("-1"), http.StatusBadRequest, noID},
		{"unknown", su, session(int64(noSuchID)), http.StatusNotFound, missing("Not found", "User", noSuchID)},
		{"oneself", su, switchTo(su), http.StatusForbidden, forbidden},
		{"an admin", su, switchTo(admin), http.StatusForbidden, forbidden},
		{"an inactive user", su, switchTo(inactive), http.StatusForbidden, forbidden},
		{"an inactive admin", su, switchTo(inactiveAdmin), http.StatusForbidden, forbidden},
	} {
		client := t.Login(c.caller)
		a := client.Put("/api/sessions/1", c.body)
		t.Equal("switch: "+c.why, fmt.Sprint(a.Code, " ", a.Body), fmt.Sprint(c.code, " ", c.want))
		t.isUser(client, &c.caller, "after a refused switch: "+c.why)
	}
	client := t.Login(t.User("admin"))
	client.Put("/api/sessions/1", switchTo(admin)).Want(http.StatusOK, okBody)
	t.isUser(client, &admin, "after an admin's switch to an admin")
	client = t.Login(t.User("admin"))
	client.Put("/api/sessions/1", switchTo(inactive)).Want(http.StatusForbidden, forbidden)
}

func revertWithoutASwitch(t *T) {
	u := t.User("can_su")
	c := t.Login(u)
	a := c.Put(revertPath, map[string]any{})
	a.Want(http.StatusOK, okBody)
	t.Equal("cookies set", len(a.Cookies), 0)
	t.isUser(c, &u, "after a revert without a switch")
	t.As().Put(revertPath, map[string]any{}).Want(http.StatusForbidden, forbidden)
	t.Client().Put(revertPath, map[string]any{}).Want(http.StatusUnauthorized, accessDenied)
}

// withinASecond fails the check unless what is asked comes true within a second of now.
func (t *T) withinASecond(what string, asked func() bool) {
	for deadline := time.Now().Add(time.Second); !asked(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("expected within a second: %s", what)
			return
		}
	}
}
