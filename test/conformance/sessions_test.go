package conformance_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The answers that hold only a status.
const (
	okBody       = `{"status":"OK"}`
	accessDenied = `{"status":"Access denied"}`
	notFound     = `{"status":"Not found"}`
)

// isUser fails the test unless the client's cookie is a session of the user; nil: of no user.
func isUser(t *testing.T, c *servicetest.Client, u *User, when string) {
	t.Helper()
	a := c.Get(t, "/sessions/1/whoami")
	want := accessDenied
	if u != nil {
		want = fmt.Sprintf(`{"status":"OK","user_id":%d}`, u.ID)
	}
	equal(t, "whoami "+when, a.Body, want)
}

// badUUID is the uuid of no user, with the length of a real one.
const badUUID = "00000000-0000-4000-8000-00000000dead"

func TestPart3_3_Row1_AValidUUIDLogsIn(t *testing.T) {
	proves(t, "3.3 row 1: login with a valid uuid: logged in, with a session cookie",
		"4.5 login: GET /api/login?uuid=: OK", "4.5 whoami", "5 rule 1",
		"1 cookie: the session is the cookie that came with the login")
	u, c := school.User(t), school.Client()
	c.Get(t, "/api/elements").Want(t, http.StatusUnauthorized, accessDenied)
	a := tryLogin(t, c, u.UUID)
	a.Want(t, http.StatusOK, okBody)
	equal(t, "cookies set by the login", len(a.Cookies()), 1)
	isUser(t, c, &u, "with the cookie")
	isUser(t, school.Client(), nil, "without the cookie")
	c.Get(t, "/api/elements").Want(t, http.StatusOK, `{"status":"OK","elements":[]}`)
}

func TestPart3_3_Row2_AnInvalidUUIDLeavesTheSession(t *testing.T) {
	proves(t, "3.3 row 2: login with an invalid uuid: 401 Access denied, the state unchanged",
		"5 rule 2: a failed login: 401 and Access denied", "7.1 Access denied: Access denied: a failed login, 401",
		"7.3 success: a successful call returns 200, a failed login 401",
		"decisions 2 failed login: a failed login leaves an existing session alone")
	u := school.User(t)
	c := school.Login(t, u)
	a := tryLogin(t, c, badUUID)
	a.Want(t, http.StatusUnauthorized, accessDenied)
	equal(t, "cookies set by the failed login", len(a.Cookies()), 0)
	isUser(t, c, &u, "after the failed login")
}

func TestPart3_3_Row3_LogoutAlwaysLogsOut(t *testing.T) {
	proves(t, "3.3 row 3: logout, always: logged out, 200", "4.5 logout: GET /api/logout: OK",
		"5 rule 3: logout: 200 and OK, always, also when not logged in", "decisions 2 logout: logout ends the session")
	c := school.As(t)
	held := c.Copy()
	c.Get(t, "/api/logout").Want(t, http.StatusOK, okBody)
	equal(t, "the client holds a cookie after logout", c.SessionCookie() != nil, false)
	isUser(t, held, nil, "with the cookie from before the logout")
	held.Get(t, "/api/logout").Want(t, http.StatusOK, okBody)
	school.Client().Get(t, "/api/logout").Want(t, http.StatusOK, okBody)
	_, _, c, _ = school.switched(t) // to a user without can_api
	held = c.Copy()
	c.Get(t, "/api/logout").Want(t, http.StatusOK, okBody)
	isUser(t, held, nil, "with the switched session's cookie from before the logout")
	school.Client().Do(t, http.MethodGet, "/api/logout", nil, "Cookie", servicetest.SessionCookie+"=nonsense").Want(t,
		http.StatusOK, okBody)
}

func TestPart4_5_WhoAmIByBothPathsAndAnySessionID(t *testing.T) {
	proves(t, "4.5 whoami: GET /sessions/1/whoami, without /api: OK and user_id, an integer",
		"4.5 session id: the session id in a path is ignored",
		"decisions 2 whoami: any logged-in user, with and without /api; the effective user's id",
		"decisions 2 session id: the session id in a path must be digits")
	u := school.User(t)
	c := school.Login(t, u)
	want := fmt.Sprintf(`{"status":"OK","user_id":%d}`, u.ID)
	for _, path := range []string{"/sessions/1/whoami", "/api/sessions/1/whoami", "/sessions/42/whoami"} {
		c.Get(t, path).Want(t, http.StatusOK, want)
		school.Client().Get(t, path).Want(t, http.StatusUnauthorized, accessDenied)
	}
	for _, path := range []string{"/sessions/x/whoami", "/sessions/01/whoami", "/api/sessions/-1/whoami",
		"/sessions/1/whoami/"} {
		c.Get(t, path).Want(t, http.StatusNotFound, notFound)
	}
	su := school.As(t, "can_su")
	su.Put(t, "/api/sessions/7/revert", object{}).Want(t, http.StatusOK, okBody)
	su.Put(t, "/api/sessions/x/revert", object{}).Want(t, http.StatusNotFound, notFound)
	su.Put(t, "/api/sessions/x", switchTo(u)).Want(t, http.StatusNotFound, notFound)
	su.Put(t, "/api/sessions/9", switchTo(u)).Want(t, http.StatusOK, okBody)
	isUser(t, su, &u, "after a switch by session 9")
}

func TestClients_MeIsTheEffectiveUserWithItsElement(t *testing.T) {
	proves(t, "clients me: GET /api/me: the effective user, its kind, element and permissions")
	staff := school.Staff(t)
	u := school.UserWith(t, object{"kind": "staff", "element_id": staff.ID}, "can_api", "can_add_notes")
	want := func(u User, kind, element, permissions string) string {
		return fmt.Sprintf(`{"status":"OK","user":%s,"kind":"%s","element":%s,"permissions":%s}`, u.List(), kind,
			element, permissions)
	}
	notes := given("can_api", "can_add_notes")
	c := school.Login(t, u)
	c.Get(t, "/api/me").Want(t, http.StatusOK, want(u, "staff", staff.List(), notes))
	c.Get(t, "/api/me.json").Want(t, http.StatusOK, want(u, "staff", staff.List(), notes))
	school.Client().Get(t, "/api/me").Want(t, http.StatusUnauthorized, accessDenied)
	admin := school.UserWith(t, object{"kind": "guest"}, "admin")
	c = school.Login(t, admin)
	c.Get(t, "/api/me").Want(t, http.StatusOK, want(admin, "guest", "null", given(allBut()...)))
	c.Put(t, "/api/sessions/1", switchTo(u)).Want(t, http.StatusOK, okBody)
	c.Get(t, "/api/me").Want(t, http.StatusOK, want(u, "staff", staff.List(), notes))
}

func TestClients_MeHasTheSchoolsOfItsElement(t *testing.T) {
	proves(t, "clients me schools: GET /api/me: the schools that the element belongs to today, where there are any")
	house := func(members ...Element) Element {
		return school.withMembers(t, school.Element(t, object{"entity_type": "Group",
			"name": school.Unique("School"), "school": true}), members)
	}
	staff, elsewhere := school.Staff(t), school.Staff(t)
	before := house()
	school.Member(t, before, staff, "", school.today().AddDate(0, 0, -2).Format(time.DateOnly))
	first, second := house(school.Group(t, staff)), house(staff, elsewhere)
	c := school.Login(t, school.UserWith(t, object{"element_id": staff.ID}, "can_api"))
	c.Get(t, "/api/me").Must(t, http.StatusOK).Equal(t, "schools", "["+first.List()+","+second.List()+"]")
	alone := school.Login(t, school.UserWith(t, object{"element_id": school.Staff(t).ID}, "can_api"))
	valuetest.Lacks(t, alone.Get(t, "/api/me").Body, "schools", "of a user in no school")
}

func TestPart4_5_UsersByEmail(t *testing.T) {
	proves(t, "4.5 users: GET /api/users?email=: OK and the users",
		"5 rule 6: lookup needs can_su; the email matches the users with that address",
		"2.6 fields: a user: id, name, email, valid",
		"decisions 2 users case: letter case in the address does not matter",
		"decisions 2 users no match: 404, users []", "decisions 2 users without email: OK, []",
		"decisions 1 404 search: search without a hit: 404 with elements [] or users []")
	c := school.As(t, "can_su")
	first := school.User(t)
	second := school.UserWith(t, object{"email": strings.ToUpper(first.Email), "duplicate_email": true})
	const none = `{"status":"OK","users":[]}`
	both := fmt.Sprintf(`{"status":"OK","users":[%s,%s]}`, first.List(), second.List())
	c.Get(t, "/api/users?email="+first.Email).Want(t, http.StatusOK, both)
	c.Get(t, "/api/users?email="+second.Email).Want(t, http.StatusOK, both)
	c.Get(t, "/api/users").Want(t, http.StatusOK, none)
	c.Get(t, "/api/users?email=").Want(t, http.StatusOK, none)
	for _, email := range []string{"unknown." + first.Email, first.Email[1:], "%25", "%00", ".*", first.Email + "%00"} {
		c.Get(t, "/api/users?email="+email).Want(t, http.StatusNotFound, `{"status":"Not found","users":[]}`)
	}
	c.Get(t, "/api/users?email=%ff").Want(t, http.StatusBadRequest,
		`{"status":"Bad request","message":"email is not UTF-8"}`)
	c.Do(t, http.MethodHead, "/api/users", nil).Want(t, http.StatusOK, "")
	sample := school.UserWith(t, object{"name": "O'Neill <Head> & Co",
		"email": strings.ToLower(school.Prefix) + ".sample@conformance.invalid"})
	school.Golden(t, c.Get(t, "/api/users?email="+sample.Email), http.StatusOK, "users.json", 10001, sample.ID,
		"head@school.example", sample.Email)
}

func TestPart5_Rule04_LoginEndsTheSessionThatCameWithIt(t *testing.T) {
	proves(t, "5 rule 4: one session at a time: a new login ends the session that came with it",
		"decisions 2 rotation: each login, switch and revert makes a new id; the old one is 401 from then on")
	first, second := school.User(t), school.User(t)
	c := school.Login(t, first)
	held := c.Copy()
	tryLogin(t, c, second.UUID).Want(t, http.StatusOK, okBody)
	isUser(t, c, &second, "after the second login")
	isUser(t, held, nil, "with the first login's cookie")
	other := school.Login(t, second)
	isUser(t, c, &second, "after a login elsewhere")
	isUser(t, other, &second, "elsewhere")
}

func TestDecisionsPart2_TheCookie(t *testing.T) {
	proves(t, "decisions 2 cookie name: scheduling_session, or __Host-scheduling_session where cookies are Secure",
		"decisions 2 cookie attributes: HttpOnly, SameSite=Lax, Path=/",
		"decisions 2 cookie value: an opaque id of 256 bits")
	c := school.As(t)
	cookie := c.SessionCookie()
	name := servicetest.SessionCookie
	if cookie.Secure {
		name = servicetest.SecureSessionCookie
	}
	equal(t, "name, where Secure is "+strconv.FormatBool(cookie.Secure), cookie.Name, name)
	if strings.HasPrefix(school.options.URL, "https:") {
		equal(t, "Secure over https", cookie.Secure, true)
	}
	equal(t, "HttpOnly", cookie.HttpOnly, true)
	equal(t, "SameSite=Lax", cookie.SameSite == http.SameSiteLaxMode, true)
	equal(t, "Path", cookie.Path, "/")
	equal(t, "Domain", cookie.Domain, "")
	id, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	equal(t, "bits of the id", fmt.Sprint(len(id)*8, err), "256 <nil>")
	equal(t, "the same id at another login", school.As(t).Cookie(t) == cookie.Value, false)
}

func TestDecisionsPart2_LoginTakesUIDToo(t *testing.T) {
	proves(t, "decisions 2 uid: login takes uid too")
	u, c := school.User(t), school.Client()
	tryLoginBy(t, c, http.MethodGet, "/api/login?uid="+u.UUID, nil).Want(t, http.StatusOK, okBody)
	isUser(t, c, &u, "after a login with uid")
}

func TestClients_ALoginByPOSTIsTheLogin(t *testing.T) {
	proves(t, "clients login body: POST /api/login with the uuid in the body is the login")
	u, other, c := school.User(t), school.User(t), school.Client()
	a := tryLoginByBody(t, c, object{"uuid": u.UUID})
	a.Want(t, http.StatusOK, okBody)
	equal(t, "cookies set by the login", len(a.Cookies()), 1)
	isUser(t, c, &u, "after a login by POST")
	held := c.Copy()
	tryLoginByBody(t, c, object{"uuid": other.UUID}).Want(t, http.StatusOK, okBody)
	isUser(t, c, &other, "after a second one")
	isUser(t, held, nil, "with the cookie of the first")
	for _, body := range []any{object{"uuid": badUUID}, object{}, object{"uuid": nil}} {
		a := tryLoginByBody(t, c, body)
		a.Want(t, http.StatusUnauthorized, accessDenied)
		equal(t, "cookies set by the failed login", len(a.Cookies()), 0)
	}
	isUser(t, c, &other, "after failed logins")
	for _, body := range []string{"", "{", `["` + u.UUID + `"]`, `"` + u.UUID + `"`} {
		a := c.Do(t, http.MethodPost, "/api/login", body)
		a.Want(t, http.StatusBadRequest, `{"status":"Bad request","message":"the body is not a JSON object"}`)
	}
	c.Do(t, http.MethodPost, "/api/login", "uuid="+u.UUID, "Content-Type", "application/x-www-form-urlencoded").
		WantCode(t, http.StatusUnsupportedMediaType)
}

func TestDecisionsPart2_WhoMayLogIn(t *testing.T) {
	proves(t, "decisions 2 who may log in: the user must exist, be active and have can_api; all failures look the same")
	inactive, without := school.UserWith(t, object{"active": false}, "can_api"),
		school.UserWith(t, nil, "can_su", "can_add_events")
	var first string
	for what, uuid := range map[string]string{"an unknown user": badUUID, "an inactive user": inactive.UUID,
		"a user without can_api": without.UUID} {
		a := tryLogin(t, school.Client(), uuid)
		a.Want(t, http.StatusUnauthorized, accessDenied)
		for _, name := range []string{"Date", "X-Request-Id"} { // which differ in every answer
			a.Header.Del(name)
		}
		if looks := fmt.Sprint(a.Header); first == "" {
			first = looks
		} else {
			equal(t, "headers of the answer to "+what, looks, first)
		}
	}
	admin := school.UserWith(t, nil, "admin")
	isUser(t, school.Login(t, admin), &admin, "after the login of an admin without can_api of its own")
}

// TestDecisionsPart2_WhatEndsSessions: the user's sessions end within a second, and none of them works again. Another
// login works where the user may still log in.
func TestDecisionsPart2_WhatEndsSessions(t *testing.T) {
	proves(t, "decisions 2 live active: deactivating or deleting a user ends its sessions within a second",
		"administration end sessions: DELETE …/sessions ends them",
		"administration delete user: DELETE makes a user inactive and ends its sessions; its events keep their owner",
		"administration new uuid: POST …/uuid: a new one, shown once; the old one and all sessions end",
		"decisions 2 secret: the uuid shows in no answer but the one to its creation; nor in logs, traces and "+
			"metrics (tests of the services)")
	admin := school.Admin()
	for how, one := range map[string]struct {
		end func(u *User)
		in  bool // whether the user may log in afterwards
	}{
		"who was deactivated": {func(u *User) { school.change(t, *u, object{"active": false}) }, false},
		"who was deleted": {func(u *User) {
			for range 2 { // repeating it is no error
				admin.Delete(t, userPath(*u)).Want(t, http.StatusOK, okBody)
			}
			admin.Get(t, userPath(*u)).Equal(t, "user.active", "false")
		}, false},
		"whose sessions were ended": {func(u *User) {
			admin.Delete(t, userPath(*u)+"/sessions").Want(t, http.StatusOK, okBody)
		}, true},
		"who has another uuid": {func(u *User) {
			a, old := admin.Post(t, userPath(*u)+"/uuid", nil), u.UUID
			u.UUID = a.Text(t, "uuid")
			a.Want(t, http.StatusCreated, fmt.Sprintf(`{"status":"Created","uuid":%q}`, u.UUID))
			tryLogin(t, school.Client(), old).Want(t, http.StatusUnauthorized, accessDenied)
			equal(t, "uuid in the record", admin.Get(t, userPath(*u)).Has("user.uuid"), false)
		}, true},
	} {
		u := school.User(t, "can_add_events")
		first, second := school.Login(t, u), school.Login(t, u)
		event := pathIn(t, school.Event(t, first, nil))
		one.end(&u)
		withinASecond(t, "both sessions of a user "+how+" are 401", func() bool {
			return first.Get(t, "/sessions/1/whoami").Code == http.StatusUnauthorized &&
				second.Get(t, event).Code == http.StatusUnauthorized
		})
		school.As(t).Get(t, event).Equal(t, "event.owner", u.List())
		if !one.in {
			tryLogin(t, school.Client(), u.UUID).Want(t, http.StatusUnauthorized, accessDenied)
			school.change(t, u, object{"active": true})
		}
		isUser(t, school.Login(t, u), &u, "after another login of a user "+how)
		isUser(t, first, nil, "with a session from before of a user "+how)
	}
}

func TestDecisionsPart2_OtherPermissionsLimitSessions(t *testing.T) {
	proves(t, "decisions 2 live others: other permissions limit the sessions within a second",
		"decisions 2 live can_api: taking can_api from a user ends its sessions within a second")
	u := school.User(t, "can_add_events")
	c := school.Login(t, u)
	school.Event(t, c, nil)
	school.change(t, u, object{"permissions": object{"can_add_events": false}})
	withinASecond(t, "creating without can_add_events is 403",
		func() bool { return school.TryEvent(t, c, nil).Code == http.StatusForbidden })
	school.change(t, u, object{"permissions": object{"can_add_events": true}})
	withinASecond(t, "creating with can_add_events again is 200",
		func() bool { return school.TryEvent(t, c, nil).Code == http.StatusOK })
	school.change(t, u, object{"permissions": object{"can_api": false}})
	withinASecond(t, "a session of a user without can_api is 401",
		func() bool { return school.TryEvent(t, c, nil).Code == http.StatusUnauthorized })
	tryLogin(t, school.Client(), u.UUID).Want(t, http.StatusUnauthorized, accessDenied)
}

func TestDecisionsPart2_CrossSiteRequestsAreRefused(t *testing.T) {
	proves(t,
		"decisions 2 cross-site: Sec-Fetch-Site other than same-origin or none, or another Origin, to a "+
			"state-changing call, login or logout: 403")
	u := school.User(t, "can_su", "can_add_events", "can_add_notes")
	c := school.Login(t, u)
	id := school.Event(t, c, nil).Int(t, "event.id")
	event := eventPath(id)
	for _, call := range [][2]string{
		{http.MethodGet, "/api/login?uuid=" + u.UUID}, {http.MethodGet, "/api/logout"},
		{http.MethodPost, "/api/login"}, {http.MethodPost, "/api/events"}, {http.MethodPost, event + "/add"},
		{http.MethodPatch, event}, {http.MethodDelete, event}, {http.MethodPost, event + "/notes"},
		{http.MethodPut, "/api/sessions/1"}, {http.MethodPut, "/api/sessions/1/revert"},
		{http.MethodDelete, "/notes/1"}, {http.MethodPut, "/api/notes/1"}, {http.MethodDelete, "/api/commitments/1"},
		{http.MethodPost, "/api/admin/users"}, {http.MethodPost, "/api/admin/elements"},
	} {
		for _, headers := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://elsewhere.example"},
			{"Origin", "null"}, {"Sec-Fetch-Site", "same-origin", "Origin", "https://elsewhere.example"},
			{"Sec-Fetch-Site", "same-site", "Content-Type", ""},
			{"Origin", "https://elsewhere.example", "Content-Type", ""},
		} {
			c.Do(t, call[0], call[1], object{}, headers...).Want(t, http.StatusForbidden, forbidden)
		}
	}
	isUser(t, c, &u, "after refused calls")
	c.Do(t, http.MethodGet, event, nil, "Sec-Fetch-Site", "cross-site").WantCode(t, http.StatusOK)
	c.Do(t, http.MethodGet, event, nil, "Origin", "https://elsewhere.example").WantCode(t, http.StatusOK)
	for _, site := range []string{"same-origin", "none"} {
		c.Do(t, http.MethodPatch, event, object{"event": object{}}, "Sec-Fetch-Site", site).WantCode(t, http.StatusOK)
	}
}

func TestDecisionsPart2_AnOriginThatIsTheAddressIsAllowed(t *testing.T) {
	proves(t, "decisions 2 own origin: an Origin equal to the requested address, or none, is allowed")
	u := school.User(t, "can_add_events")
	c := school.Login(t, u)
	event := pathIn(t, school.Event(t, c, nil))
	own, err := url.Parse(school.options.URL)
	errortest.None(t, err)
	origin := own.Scheme + "://" + own.Host
	for _, headers := range [][]string{{}, {"Origin", origin}, {"Origin", origin, "Sec-Fetch-Site", "same-origin"}} {
		c.Do(t, http.MethodPatch, event, object{"event": object{}}, headers...).WantCode(t, http.StatusOK)
		c.Do(t, http.MethodGet, "/api/login?uuid="+u.UUID, nil, headers...).WantCode(t, http.StatusOK)
	}
	c.Do(t, http.MethodPatch, event, object{"event": object{}}, "Origin",
		origin+".elsewhere.example").Want(t, http.StatusForbidden, forbidden)
}

func TestDecisionsPart2_AFurtherLoginEndsTheSessionUnusedLongest(t *testing.T) {
	proves(t,
		"decisions 2 twenty sessions: a user has at most 20 sessions; a further login ends the one unused longest")
	u := school.User(t)
	var clients []*servicetest.Client
	for range 20 {
		clients = append(clients, school.Login(t, u))
	}
	isUser(t, clients[0], &u, "in the oldest of twenty sessions")
	clients = append(clients, school.Login(t, u))
	isUser(t, clients[1], nil, "in the session unused longest")
	for _, c := range append(clients[:1:1], clients[2:]...) {
		isUser(t, c, &u, "in one of the twenty other sessions")
	}
}

// TestDecisionsPart2_TenFailedLoginsInAMinute runs last and alone: for up to a minute after it, wrong logins from this
// address are refused, whatever a client says that its address is.
func TestDecisionsPart2_TenFailedLoginsInAMinute(t *testing.T) {
	provesLast(t, "decisions 2 limit: ten failed logins in a minute from one address: 429 for further wrong ones there",
		"decisions 2 limit forwarded: a client's own X-Forwarded-For does not change the address that its failed "+
			"logins count for",
		"decisions 2 limit right uuid: a correct uuid is never refused, whatever else fails at the same time",
		"decisions 1 429: 429 carries Retry-After")
	u := school.User(t)
	for failed := 0; ; failed++ {
		a := school.Client().Do(t, http.MethodGet, "/api/login?uuid="+badUUID, nil, "X-Forwarded-For",
			fmt.Sprintf("198.51.100.%d", failed))
		if a.Code == http.StatusTooManyRequests {
			a.Want(t, http.StatusTooManyRequests, `{"status":"Too many requests"}`)
			seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
			equal(t, "Retry-After "+a.Header.Get("Retry-After")+" is 1 to 60 seconds",
				err == nil && seconds >= 1 && seconds <= 60, true)
			break
		}
		a.Want(t, http.StatusUnauthorized, accessDenied)
		valuetest.MustHold(t, failed != 10, "eleven logins failed within seconds, and none was answered 429")
	}
	school.Client().Get(t, "/api/login?uuid="+u.UUID).WantCode(t, http.StatusOK)
}

func switchTo(u User) object {
	return object{"session": object{"user_id": strconv.FormatInt(u.ID, 10)}}
}

// change changes fields of a user as the administrator.
func (s *School) change(t *testing.T, u User, fields object) {
	t.Helper()
	s.Admin().Patch(t, userPath(u), object{"user": fields}).Must(t, http.StatusOK)
}
