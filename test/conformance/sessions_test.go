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

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// The answers that hold only a status.
const (
	okBody       = `{"status":"OK"}`
	accessDenied = `{"status":"Access denied"}`
	notFound     = `{"status":"Not found"}`
)

// isUser fails the test unless the client's cookie is a session of the user; nil: of nobody.
func isUser(t *testing.T, c *servicetest.Client, u *User, when string) {
	t.Helper()
	a := c.Get(t, "/sessions/1/whoami")
	want := accessDenied
	if u != nil {
		want = fmt.Sprintf(`{"status":"OK","user_id":%d}`, u.ID)
	}
	equal(t, "whoami "+when, a.Body, want)
}

// badUUID is the uuid of nobody, with the length of a real one.
const badUUID = "00000000-0000-4000-8000-00000000dead"

func TestPart3_3_Row1_AValidUUIDLogsIn(t *testing.T) {
	proves(t, "3.3 row 1", "4.5 login", "4.5 whoami", "5 rule 1", "1 cookie")
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
	proves(t, "3.3 row 2", "5 rule 2", "7.1 Access denied", "7.3 success", "decisions 2 failed login")
	u := school.User(t)
	c := school.Login(t, u)
	a := tryLogin(t, c, badUUID)
	a.Want(t, http.StatusUnauthorized, accessDenied)
	equal(t, "cookies set by the failed login", len(a.Cookies()), 0)
	isUser(t, c, &u, "after the failed login")
}

func TestPart3_3_Row3_LogoutAlwaysLogsOut(t *testing.T) {
	proves(t, "3.3 row 3", "4.5 logout", "5 rule 3", "decisions 2 logout")
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
	proves(t, "4.5 whoami", "4.5 session id", "decisions 2 whoami", "decisions 2 session id")
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
	proves(t, "clients me")
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
	proves(t, "clients me schools")
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
	if a := alone.Get(t, "/api/me"); strings.Contains(a.Body, "schools") {
		t.Errorf("of somebody in no school: %s", a.Body)
	}
}

func TestPart4_5_UsersByEmail(t *testing.T) {
	proves(t, "4.5 users", "5 rule 6", "2.6 fields", "decisions 2 users case", "decisions 2 users no match",
		"decisions 2 users without email", "decisions 1 404 search")
	c := school.As(t, "can_su")
	first := school.User(t)
	second := school.UserWith(t, object{"email": strings.ToUpper(first.Email), "duplicate_email": true})
	const nobody = `{"status":"OK","users":[]}`
	both := fmt.Sprintf(`{"status":"OK","users":[%s,%s]}`, first.List(), second.List())
	c.Get(t, "/api/users?email="+first.Email).Want(t, http.StatusOK, both)
	c.Get(t, "/api/users?email="+second.Email).Want(t, http.StatusOK, both)
	c.Get(t, "/api/users").Want(t, http.StatusOK, nobody)
	c.Get(t, "/api/users?email=").Want(t, http.StatusOK, nobody)
	for _, email := range []string{"nobody." + first.Email, first.Email[1:], "%25", "%00", ".*", first.Email + "%00"} {
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
	proves(t, "5 rule 4", "decisions 2 rotation")
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
	proves(t, "decisions 2 cookie name", "decisions 2 cookie attributes", "decisions 2 cookie value")
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
	proves(t, "decisions 2 uid")
	u, c := school.User(t), school.Client()
	tryLoginAt(t, c, "/api/login?uid="+u.UUID).Want(t, http.StatusOK, okBody)
	isUser(t, c, &u, "after a login with uid")
}

func TestClients_ALoginByPOSTIsTheLogin(t *testing.T) {
	proves(t, "clients login body")
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
	proves(t, "decisions 2 who may log in")
	inactive, without := school.UserWith(t, object{"active": false}, "can_api"),
		school.UserWith(t, nil, "can_su", "can_add_events")
	var first string
	for what, uuid := range map[string]string{"nobody": badUUID, "an inactive user": inactive.UUID,
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

func TestDecisionsPart2_TakingCanAPIEndsSessions(t *testing.T) {
	proves(t, "decisions 2 live can_api")
	u := school.User(t, "can_su")
	c := school.Login(t, u)
	c.Get(t, "/api/users").Want(t, http.StatusOK, `{"status":"OK","users":[]}`)
	school.change(t, u, object{"permissions": object{"can_api": false}})
	withinASecond(t, "a session of a user without can_api is 401",
		func() bool { return c.Get(t, "/api/users").Code == http.StatusUnauthorized })
}

func TestDecisionsPart2_DeactivatingEndsSessions(t *testing.T) {
	proves(t, "decisions 2 live active")
	for how, end := range map[string]func(User){
		"deactivated": func(u User) { school.change(t, u, object{"active": false}) },
		"deleted":     func(u User) { school.Admin().Delete(t, userPath(u)).Want(t, http.StatusOK, okBody) },
	} {
		u := school.User(t)
		c := school.Login(t, u)
		end(u)
		withinASecond(t, "a session of a user who was "+how+" is 401",
			func() bool { return c.Get(t, "/sessions/1/whoami").Code == http.StatusUnauthorized })
	}
}

func TestDecisionsPart2_OtherPermissionsLimitSessions(t *testing.T) {
	proves(t, "decisions 2 live others")
	u := school.User(t, "can_add_events")
	c := school.Login(t, u)
	school.Event(t, c, nil)
	school.change(t, u, object{"permissions": object{"can_add_events": false}})
	withinASecond(t, "creating without can_add_events is 403",
		func() bool { return school.TryEvent(t, c, nil).Code == http.StatusForbidden })
	school.change(t, u, object{"permissions": object{"can_add_events": true}})
	withinASecond(t, "creating with can_add_events again is 200",
		func() bool { return school.TryEvent(t, c, nil).Code == http.StatusOK })
}

func TestDecisionsPart2_CrossSiteRequestsAreRefused(t *testing.T) {
	proves(t, "decisions 2 cross-site")
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
	proves(t, "decisions 2 own origin")
	u := school.User(t, "can_add_events")
	c := school.Login(t, u)
	event := pathIn(t, school.Event(t, c, nil))
	own, err := url.Parse(school.options.URL)
	if err != nil {
		t.Fatal(err)
	}
	origin := own.Scheme + "://" + own.Host
	for _, headers := range [][]string{{}, {"Origin", origin}, {"Origin", origin, "Sec-Fetch-Site", "same-origin"}} {
		c.Do(t, http.MethodPatch, event, object{"event": object{}}, headers...).WantCode(t, http.StatusOK)
		c.Do(t, http.MethodGet, "/api/login?uuid="+u.UUID, nil, headers...).WantCode(t, http.StatusOK)
	}
	c.Do(t, http.MethodPatch, event, object{"event": object{}}, "Origin",
		origin+".elsewhere.example").Want(t, http.StatusForbidden, forbidden)
}

func TestDecisionsPart2_AFurtherLoginEndsTheSessionUnusedLongest(t *testing.T) {
	proves(t, "decisions 2 twenty sessions")
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
	provesLast(t, "decisions 2 limit", "decisions 2 limit forwarded", "decisions 2 limit right uuid", "decisions 1 429")
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
		if failed == 10 {
			t.Fatalf("eleven logins failed within seconds, and none was answered 429")
		}
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
