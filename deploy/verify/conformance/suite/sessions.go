package suite

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The answers that say no more than their status.
const (
	okBody       = `{"status":"OK"}`
	accessDenied = `{"status":"Access denied"}`
	notFound     = `{"status":"Not found"}`
)

// sessionChecks are those of parts 3.3, 4.5 and 5 and of decisions, part 2, but for switching.
func sessionChecks() []Check {
	return []Check{
		prove("TestPart3_3_Row1_AValidUUIDLogsIn", validUUIDLogsIn, "3.3 row 1", "4.5 login", "4.5 whoami", "5 rule 1", "1 cookie"),
		prove("TestPart3_3_Row2_AnInvalidUUIDLeavesTheSession", invalidUUIDLeavesTheSession, "3.3 row 2", "5 rule 2", "7.1 Access denied", "7.3 success", "decisions 2 failed login"),
		prove("TestPart3_3_Row3_LogoutAlwaysLogsOut", logoutAlwaysLogsOut, "3.3 row 3", "4.5 logout", "5 rule 3", "decisions 2 logout"),
		prove("TestPart4_5_WhoAmIByBothPathsAndAnySessionID", whoAmI, "4.5 whoami", "4.5 session id", "decisions 2 whoami", "decisions 2 session id"),
		prove("TestPart4_5_UsersByEmail", usersByEmail, "4.5 users", "5 rule 6", "2.6 fields", "decisions 2 users case", "decisions 2 users no match", "decisions 2 users without email", "decisions 1 404 search"),
		prove("TestPart5_Rule04_LoginEndsTheSessionThatCameWithIt", loginEndsTheSessionThatCameWithIt, "5 rule 4", "decisions 2 rotation"),
		prove("TestDecisionsPart2_TheCookie", theCookie, "decisions 2 cookie name", "decisions 2 cookie attributes", "decisions 2 cookie value"),
		prove("TestDecisionsPart2_LoginTakesUIDToo", loginTakesUID, "decisions 2 uid"),
		prove("TestDecisionsPart2_WhoMayLogIn", whoMayLogIn, "decisions 2 who may log in"),
		prove("TestDecisionsPart2_TakingCanAPIEndsSessions", takingCanAPIEndsSessions, "decisions 2 live can_api"),
		prove("TestDecisionsPart2_DeactivatingEndsSessions", deactivatingEndsSessions, "decisions 2 live active"),
		prove("TestDecisionsPart2_OtherPermissionsLimitSessions", otherPermissionsLimitSessions, "decisions 2 live others"),
		prove("TestDecisionsPart2_CrossSiteRequestsAreRefused", crossSiteRequestsAreRefused, "decisions 2 cross-site"),
		{Name: "TestDecisionsPart2_TenFailedLoginsInAMinute", Run: tenFailedLogins, Rules: []string{"decisions 2 limit", "decisions 1 429"}, Alone: true},
	}
}

// isUser fails the check unless the client's cookie is that of a session of the user; nil: of none.
func (t *T) isUser(c *Client, u *User, when string) {
	a := c.Get("/sessions/1/whoami")
	want := accessDenied
	if u != nil {
		want = fmt.Sprintf(`{"status":"OK","user_id":%d}`, u.ID)
	}
	t.Equal("whoami "+when, a.Body, want)
}

// badUUID is a login that nobody has, and as long as any.
const badUUID = "00000000-0000-4000-8000-00000000dead"

func validUUIDLogsIn(t *T) {
	u, c := t.User(), t.Client()
	c.Get("/api/elements").Want(http.StatusUnauthorized, accessDenied)
	a := c.TryLogin(u.UUID)
	a.Want(http.StatusOK, okBody)
	t.Equal("cookies set by the login", len(a.Cookies), 1)
	t.isUser(c, &u, "with the cookie")
	t.isUser(t.Client(), nil, "without the cookie")
	c.Get("/api/elements").Want(http.StatusOK, `{"status":"OK","elements":[]}`)
}

func invalidUUIDLeavesTheSession(t *T) {
	u := t.User()
	c := t.Login(u)
	a := c.TryLogin(badUUID)
	a.Want(http.StatusUnauthorized, accessDenied)
	t.Equal("cookies set by the failed login", len(a.Cookies), 0)
	t.isUser(c, &u, "after the failed login")
}

func logoutAlwaysLogsOut(t *T) {
	c := t.As()
	held := c.Copy()
	c.Get("/api/logout").Want(http.StatusOK, okBody)
	t.Equal("the client holds a cookie after logout", c.Cookie != nil, false)
	t.isUser(held, nil, "with the cookie from before the logout")
	held.Get("/api/logout").Want(http.StatusOK, okBody)
	t.Client().Get("/api/logout").Want(http.StatusOK, okBody)
	t.Client().Do(http.MethodGet, "/api/logout", nil, "Cookie", sessionCookie+"=nonsense").Want(http.StatusOK, okBody)
}

func whoAmI(t *T) {
	u := t.User()
	c := t.Login(u)
	want := fmt.Sprintf(`{"status":"OK","user_id":%d}`, u.ID)
	for _, path := range []string{"/sessions/1/whoami", "/api/sessions/1/whoami", "/sessions/42/whoami"} {
		c.Get(path).Want(http.StatusOK, want)
		t.Client().Get(path).Want(http.StatusUnauthorized, accessDenied)
	}
	for _, path := range []string{"/sessions/x/whoami", "/sessions/01/whoami", "/api/sessions/-1/whoami"} {
		c.Get(path).Want(http.StatusNotFound, notFound)
	}
	su := t.As("can_su")
	su.Put("/api/sessions/7/revert", map[string]any{}).Want(http.StatusOK, okBody)
	su.Put("/api/sessions/x/revert", map[string]any{}).Want(http.StatusNotFound, notFound)
	su.Put("/api/sessions/x", switchTo(u)).Want(http.StatusNotFound, notFound)
	su.Put("/api/sessions/9", switchTo(u)).Want(http.StatusOK, okBody)
	t.isUser(su, &u, "after a switch by session 9")
}

func usersByEmail(t *T) {
	c := t.As("can_su")
	first := t.User()
	second := t.UserWith(map[string]any{"email": strings.ToUpper(first.Email)})
	const nobody = `{"status":"OK","users":[]}`
	both := fmt.Sprintf(`{"status":"OK","users":[%s,%s]}`, first.List(), second.List())
	c.Get("/api/users?email="+first.Email).Want(http.StatusOK, both)
	c.Get("/api/users?email="+second.Email).Want(http.StatusOK, both)
	c.Get("/api/users").Want(http.StatusOK, nobody)
	c.Get("/api/users?email=").Want(http.StatusOK, nobody)
	for _, email := range []string{"nobody." + first.Email, first.Email[1:], "%25"} {
		c.Get("/api/users?email="+email).Want(http.StatusNotFound, `{"status":"Not found","users":[]}`)
	}
	sample := t.UserWith(map[string]any{"name": "O'Neill <Head> & Co", "email": strings.ToLower(t.School.Prefix) + ".sample@conformance.invalid"})
	t.Golden(c.Get("/api/users?email="+sample.Email), http.StatusOK, "users.json", 10001, sample.ID, "head@school.example", sample.Email)
}

func loginEndsTheSessionThatCameWithIt(t *T) {
	first, second := t.User(), t.User()
	c := t.Login(first)
	held := c.Copy()
	c.TryLogin(second.UUID).Want(http.StatusOK, okBody)
	t.isUser(c, &second, "after the second login")
	t.isUser(held, nil, "with the first login's cookie")
	other := t.Login(second)
	t.isUser(c, &second, "after a login elsewhere")
	t.isUser(other, &second, "elsewhere")
}

func theCookie(t *T) {
	c := t.As()
	cookie := c.Cookie
	name := sessionCookie
	if cookie.Secure {
		name = secureSessionCookie
	}
	t.Equal("name, where Secure is "+strconv.FormatBool(cookie.Secure), cookie.Name, name)
	if strings.HasPrefix(t.School.url, "https:") {
		t.Equal("Secure over https", cookie.Secure, true)
	}
	t.Equal("HttpOnly", cookie.HttpOnly, true)
	t.Equal("SameSite=Lax", cookie.SameSite == http.SameSiteLaxMode, true)
	t.Equal("Path", cookie.Path, "/")
	t.Equal("Domain", cookie.Domain, "")
	id, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	t.Equal("bits of the id", fmt.Sprint(len(id)*8, err), "256 <nil>")
	t.Equal("the same id at another login", t.As().Cookie.Value == cookie.Value, false)
}

func loginTakesUID(t *T) {
	u, c := t.User(), t.Client()
	c.patiently(func() Answer { return c.Get("/api/login?uid=" + u.UUID) }).Want(http.StatusOK, okBody)
	t.isUser(c, &u, "after a login with uid")
}

func whoMayLogIn(t *T) {
	inactive, without := t.UserWith(map[string]any{"active": false}, "can_api"), t.UserWith(nil, "can_su", "can_add_events")
	var first string
	for what, uuid := range map[string]string{"nobody": badUUID, "an inactive user": inactive.UUID, "a user without can_api": without.UUID} {
		a := t.Client().TryLogin(uuid)
		a.Want(http.StatusUnauthorized, accessDenied)
		for _, name := range []string{"Date", "X-Request-Id"} { // which differ in every answer
			a.Header.Del(name)
		}
		if looks := fmt.Sprint(a.Header); first == "" {
			first = looks
		} else {
			t.Equal("headers of the answer to "+what, looks, first)
		}
	}
	admin := t.UserWith(nil, "admin")
	t.isUser(t.Login(admin), &admin, "after the login of an admin without can_api of its own")
}

func takingCanAPIEndsSessions(t *T) {
	u := t.User("can_su")
	c := t.Login(u)
	c.Get("/api/users").Want(http.StatusOK, `{"status":"OK","users":[]}`)
	t.change(u, map[string]any{"permissions": map[string]any{"can_api": false}})
	t.withinASecond("a session of a user without can_api is 401", func() bool { return c.Get("/api/users").Code == http.StatusUnauthorized })
}

func deactivatingEndsSessions(t *T) {
	for how, end := range map[string]func(User){
		"deactivated": func(u User) { t.change(u, map[string]any{"active": false}) },
		"deleted":     func(u User) { t.Admin().Delete(userPath(u)).Want(http.StatusOK, okBody) },
	} {
		u := t.User()
		c := t.Login(u)
		end(u)
		t.withinASecond("a session of a user who was "+how+" is 401", func() bool { return c.Get("/sessions/1/whoami").Code == http.StatusUnauthorized })
	}
}

func otherPermissionsLimitSessions(t *T) {
	u := t.User("can_add_events")
	c := t.Login(u)
	t.Event(c, nil)
	t.change(u, map[string]any{"permissions": map[string]any{"can_add_events": false}})
	t.withinASecond("creating without can_add_events is 403", func() bool { return t.TryEvent(c, nil).Code == http.StatusForbidden })
	t.change(u, map[string]any{"permissions": map[string]any{"can_add_events": true}})
	t.withinASecond("creating with can_add_events again is 200", func() bool { return t.TryEvent(c, nil).Code == http.StatusOK })
}

func crossSiteRequestsAreRefused(t *T) {
	u := t.User("can_su", "can_add_events", "can_add_notes")
	c := t.Login(u)
	id := t.Event(c, nil).Int("event.id")
	event := fmt.Sprintf("/api/events/%d", id)
	for _, call := range [][2]string{
		{http.MethodGet, "/api/login?uuid=" + u.UUID}, {http.MethodGet, "/api/logout"},
		{http.MethodPost, "/api/events"}, {http.MethodPost, event + "/add"}, {http.MethodPatch, event}, {http.MethodDelete, event}, {http.MethodPost, event + "/notes"},
		{http.MethodPut, "/api/sessions/1"}, {http.MethodPut, "/api/sessions/1/revert"}, {http.MethodDelete, "/notes/1"}, {http.MethodPut, "/api/notes/1"},
		{http.MethodDelete, "/api/commitments/1"}, {http.MethodPost, "/api/admin/users"}, {http.MethodPost, "/api/admin/elements"},
	} {
		c.Do(call[0], call[1], map[string]any{}, "Sec-Fetch-Site", "cross-site").Want(http.StatusForbidden, forbidden)
	}
	t.isUser(c, &u, "after refused calls")
	c.Do(http.MethodGet, event, nil, "Sec-Fetch-Site", "cross-site").WantCode(http.StatusOK)
	for _, site := range []string{"same-origin", "same-site", "none"} {
		c.Do(http.MethodPatch, event, map[string]any{"event": map[string]any{}}, "Sec-Fetch-Site", site).WantCode(http.StatusOK)
	}
}

// tenFailedLogins comes last and alone: for up to a minute after it, nobody can log in from this address.
func tenFailedLogins(t *T) {
	u := t.User()
	for failed := 0; ; failed++ {
		a := t.Client().Get("/api/login?uuid=" + badUUID)
		if a.Code == http.StatusTooManyRequests {
			a.Want(http.StatusTooManyRequests, `{"status":"Too many requests"}`)
			seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
			t.Equal("Retry-After "+a.Header.Get("Retry-After")+" is 1 to 60 seconds", err == nil && seconds >= 1 && seconds <= 60, true)
			break
		}
		a.Want(http.StatusUnauthorized, accessDenied)
		if failed == 10 {
			t.Fatalf("eleven logins failed within seconds, and none was answered 429")
		}
	}
	t.Client().Get("/api/login?uuid=" + u.UUID).WantCode(http.StatusTooManyRequests)
}

func switchTo(u User) map[string]any {
	return map[string]any{"session": map[string]any{"user_id": strconv.FormatInt(u.ID, 10)}}
}

func userPath(u User) string { return "/api/admin/users/" + strconv.FormatInt(u.ID, 10) }

// change changes fields of a user's record as the administrator.
func (t *T) change(u User, fields map[string]any) {
	t.Admin().Patch(userPath(u), map[string]any{"user": fields}).Must(http.StatusOK)
}
