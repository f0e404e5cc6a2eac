package openid_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

var people sync.Once

// withPeople makes the users of Belfry whom the providers know too.
func withPeople(t *testing.T) {
	t.Helper()
	people.Do(func() {
		for _, name := range []string{"teacher", "double", "unverified", "inactive", "kelvin"} {
			ids[name] = makeUser(t, system, map[string]any{"email": name + "@school.example"})
		}
		ids["head"] = makeUser(t, system, map[string]any{"email": "head@district.example",
			"permissions": map[string]bool{"can_api": true, "can_su": true}})
		makeUser(t, system, map[string]any{"email": "consumer@district.example"})
		makeUser(t, system, map[string]any{"email": "teacher@mail.example"})
		makeUser(t, system, map[string]any{"email": "without@school.example", "permissions": map[string]bool{}})
		for range 2 {
			makeUser(t, system, map[string]any{"email": "shared@school.example", "duplicate_email": true})
		}
		system.Admin(t).Delete(t, fmt.Sprintf("/api/admin/users/%d", ids["inactive"])).Must(t, 200)
	})
}

// ids are those of users by the subject.
var ids = map[string]int64{}

func TestOpenID_APersonLogsInWithTheAccountOfTheSchool(t *testing.T) {
	withPeople(t)
	for name, subject := range map[string]string{"school": "teacher", "district": "head"} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t, system)
			back := b.signIn(name, subject, "/api/me?a=b")
			b.headers = map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
				"Sec-Fetch-Dest": "document"}
			a := b.get(back + "&scope=openid+email&authuser=0&hd=x&prompt=none&session_state=y&iss=z")
			b.headers = nil
			if a.code != 302 || a.location != "/api/me?a=b" || a.header.Get("Warning") != "" {
				t.Fatalf("%d to %q, %q: %s", a.code, a.location, a.header.Get("Warning"), a.body)
			}
			var session *http.Cookie
			for _, c := range (&http.Response{Header: a.header}).Cookies() {
				if c.Name == servicetest.SecureSessionCookie {
					session = c
				} else if !strings.HasPrefix(c.Name, "__Host-belfry_login_") || c.MaxAge >= 0 {
					t.Errorf("the cookie %s stays", c)
				}
			}
			if session == nil || !session.HttpOnly || !session.Secure || session.SameSite != http.SameSiteLaxMode {
				t.Errorf("the session's cookie is %s", session)
			}
			valuetest.Same(t, b.whoAmI(), ids[subject], "the session is of user")
			entries := system.Admin(t).AuditTexts(t, "identity", fmt.Sprintf("?record=User:%d", ids[subject]))
			valuetest.Has(t, strings.Join(entries, "\n"), "login", "the audit has no login")
		})
	}
}

// TestOpenID_LoginsInTwoTabsBothEnd, whichever comes back first, and what comes back to no login ends none.
func TestOpenID_LoginsInTwoTabsBothEnd(t *testing.T) {
	withPeople(t)
	b := newBrowser(t, system)
	first, second := b.signIn("school", "teacher", "/first"), b.signIn("school", "double", "/second")
	valuetest.Same(t, b.get(with("state", strings.Repeat("0", 64))(t, b, first)).code, 400, "an unknown state")
	for _, back := range []string{second, first} {
		a := b.get(back)
		valuetest.Same(t, a.code, 302, a.body)
	}
	valuetest.Same(t, b.whoAmI(), ids["teacher"], "the session is of user")
}

func TestOpenID_ALoginEndsTheSessionBeforeIt(t *testing.T) {
	withPeople(t)
	b := signedIn(t, system, "school", "teacher")
	u, _ := url.Parse(home)
	before := b.Jar.Cookies(u)
	b.get(b.signIn("school", "double", "/"))
	valuetest.Same(t, b.whoAmI(), ids["double"], "the session is of user")
	old := newBrowser(t, system)
	old.Jar.SetCookies(u, before)
	valuetest.Same(t, old.whoAmI(), 0, "the session before lives, of user")
}

// TestOpenID_AnotherUserWithTheAddressLocksNoOneOut: an administrator of a school may give a user of its own the
// address of anyone, by duplicate_email.
func TestOpenID_AnotherUserWithTheAddressLocksNoOneOut(t *testing.T) {
	withPeople(t)
	makeUser(t, system, map[string]any{"email": "DOUBLE@school.example", "duplicate_email": true})
	valuetest.Same(t, signedIn(t, system, "school", "double").whoAmI(), ids["double"], "the session is of user")
}

// failure is a login that must fail.
type failure struct {
	name    string
	subject string
	at      string // the provider; school when empty
	prepare func(t *testing.T)
	change  func(t *testing.T, b *browser, back string) string // the address at which the browser comes back
	code    int
	says    string
}

func changed(claim string, value any) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		school.forging(t, func(claims map[string]any) { claims[claim] = value }, school.key)
	}
}

func answers(code int, body map[string]any) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		school.answering(t, func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(body)
		})
	}
}

func with(name, value string) func(*testing.T, *browser, string) string {
	return func(t *testing.T, _ *browser, back string) string {
		t.Helper()
		u, err := url.Parse(back)
		errortest.None(t, err)
		query := u.Query()
		query.Set(name, value)
		u.RawQuery = query.Encode()
		return u.String()
	}
}

// usedCode takes the code of a login that has ended into another one.
func usedCode(t *testing.T, b *browser, back string) string {
	t.Helper()
	a := b.get(back)
	valuetest.MustSame(t, a.code, 302, "the first login fails %s", a.body)
	u, _ := url.Parse(back)
	return with("code", u.Query().Get("code"))(t, b, b.signIn("school", "teacher", "/"))
}

func otherKey(t *testing.T) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	errortest.None(t, err)
	school.forging(t, func(map[string]any) {}, key)
}

// keysAway lets the provider sign with a key that Belfry does not know, and not say which one.
func keysAway(t *testing.T) {
	t.Helper()
	otherKey(t)
	school.noKeys.Store(true)
	t.Cleanup(func() { school.noKeys.Store(false) })
}

// hangs lets the provider answer nothing as long as the test lasts.
func hangs(t *testing.T) {
	t.Helper()
	ended := make(chan struct{})
	school.answering(t, func(http.ResponseWriter, map[string]any) { <-ended })
	t.Cleanup(func() { close(ended) })
}

func failures() []failure {
	hour := time.Hour
	return []failure{
		{name: "the callback is replayed", subject: "teacher", code: 400, says: "has expired",
			change: func(_ *testing.T, b *browser, back string) string { b.get(back); return back }},
		{name: "a code is replayed", subject: "teacher", code: 400, says: "takes each sign-in once", change: usedCode},
		{name: "no code", subject: "teacher", code: 400, says: "takes each sign-in once", change: with("code", "")},
		{name: "a wrong state", subject: "teacher", code: 400, says: "has expired",
			change: with("state", strings.Repeat("0", 64))},
		{name: "no state", subject: "teacher", code: 400, says: "has expired", change: with("state", "")},
		{name: "another browser", subject: "teacher", code: 400, says: "another browser",
			change: func(t *testing.T, b *browser, back string) string {
				t.Helper()
				b.Jar = newBrowser(t, system).Jar
				return back
			}},
		{name: "another provider's callback", subject: "teacher", code: 400, says: "has expired",
			change: func(_ *testing.T, _ *browser, back string) string {
				return strings.Replace(back, "/school/", "/district/", 1)
			}},
		{name: "a wrong nonce", subject: "teacher", code: 400, says: "does not belong", prepare: changed("nonce", "x")},
		{name: "no nonce", subject: "teacher", code: 400, says: "does not belong", prepare: changed("nonce", nil)},
		{name: "a wrong audience", subject: "teacher", code: 502, says: "not valid", prepare: changed("aud", "other")},
		{name: "another party", subject: "teacher", code: 502, says: "not valid", prepare: changed("azp", "other")},
		{name: "other parties", subject: "teacher", code: 502, says: "not valid",
			prepare: changed("azp", []string{"other"})},
		{name: "no subject", subject: "teacher", code: 502, says: "not valid", prepare: changed("sub", nil)},
		{name: "a wrong issuer", subject: "teacher", code: 502, says: "not valid",
			prepare: changed("iss", "https://issuer.example")},
		{name: "an expired token", subject: "teacher", code: 502, says: "not valid",
			prepare: changed("exp", time.Now().Add(-hour).Unix())},
		{name: "a wrong signature", subject: "teacher", code: 502, says: "not valid", prepare: otherKey},
		{name: "keys that are away", subject: "teacher", code: 503, says: "in a few minutes", prepare: keysAway},
		{name: "no token", subject: "teacher", code: 502, says: "not valid",
			prepare: answers(200, map[string]any{"access_token": "x", "token_type": "Bearer"})},
		{name: "the provider refuses Belfry", subject: "teacher", code: 502, says: "refuses",
			prepare: answers(401, map[string]any{"error": "invalid_client"})},
		{name: "the provider fails", subject: "teacher", code: 503, says: "in a few minutes",
			prepare: answers(500, map[string]any{"error": "server_error"})},
		{name: "the provider hangs", subject: "teacher", code: 503, says: "in a few minutes", prepare: hangs},
		{name: "cancelled", code: 403, says: "cancelled"},
		{name: "unverified", subject: "unverified", code: 403, says: "not verified"},
		{name: "verified by half", subject: "teacher", code: 403, says: "not verified",
			prepare: changed("email_verified", "perhaps")},
		{name: "no address", subject: "addressless", code: 403, says: "no e-mail address"},
		{name: "a private address", subject: "private", code: 403, says: "not with a private one"},
		{name: "no hosted domain", subject: "consumer", at: "district", code: 403, says: "not with a private one"},
		{name: "unknown", subject: "stranger", code: 403, says: "does not know you"},
		{name: "an address that folds to another's", subject: "kelvin", code: 403, says: "does not know you"},
		{name: "inactive", subject: "inactive", code: 403, says: "not active"},
		{name: "without can_api", subject: "without", code: 403, says: "no permission"},
		{name: "an address of two users", subject: "shared", code: 403, says: "Several users"},
	}
}

func TestOpenID_EachFailureIsAPageThatSaysWhatToDo(t *testing.T) {
	withPeople(t)
	for _, f := range failures() {
		t.Run(f.name, func(t *testing.T) {
			if f.prepare != nil {
				f.prepare(t)
			}
			if f.at == "" {
				f.at = "school"
			}
			b := newBrowser(t, system)
			back := b.signIn(f.at, f.subject, "/")
			if f.change != nil {
				back = f.change(t, b, back)
			}
			before := b.whoAmI()
			wantPage(t, b.get(back), f.code, f.says)
			valuetest.Same(t, b.whoAmI(), before, "the user of the session")
		})
	}
	for name, f := range map[string]failure{
		"/api/login/oidc/away":              {code: 503, says: "in a few minutes"},
		"/api/login/oidc/nothing":           {code: 404, says: "No such sign-in"},
		"/api/login/oidc/nothing/callback":  {code: 404, says: "No such sign-in"},
		"/api/login/oidc/school/callback":   {code: 400, says: "has expired"},
		"/api/login/oidc/school?return=x":   {code: 400, says: "another site"},
		"/api/login/oidc/school?return=//x": {code: 400, says: "another site"},
	} {
		wantPage(t, newBrowser(t, system).get(home+name), f.code, f.says)
	}
	wantNoSecrets(t)
}

// TestOpenID_AnotherAttemptReturnsToWhereTheFirstWould: the page of a failure led to the first page of all.
func TestOpenID_AnotherAttemptReturnsToWhereTheFirstWould(t *testing.T) {
	again := func(name string) string {
		return `href="/api/login/oidc/` + name + `?return=%2Fsearch%3Fq%3Da%26b"`
	}
	b := newBrowser(t, system)
	wantPage(t, b.get(b.signIn("school", "", "/search?q=a&b")), 403, again("school"))
	wantPage(t, b.get(home+"/api/login/oidc/away?return=%2Fsearch%3Fq%3Da%26b"), 503, again("away"))
}

// wantPage fails the test unless a browser shows a page of Belfry, alone and with an id that the log has too.
func wantPage(t *testing.T, a answer, code int, says string) {
	t.Helper()
	id := a.header.Get("X-Request-Id")
	if a.code != code || !strings.Contains(a.body, says) || !strings.Contains(a.body, "<code>"+id+"</code>") {
		t.Errorf("%d, want %d with %q and the id %s: %s", a.code, code, says, id, a.body)
	}
	policy := a.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(a.body, "<script") ||
		!strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v of %s", a.header, a.body)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // it comes through a pipe
		for line := range strings.Lines(system.Logs()) {
			if strings.Contains(line, "a login at a provider failed") && strings.Contains(line, id) {
				return
			}
		}
		valuetest.MustHold(t, !time.Now().After(deadline), "the log does not have the id %s", id)
	}
}

// wantNoSecrets fails the test where the log has an address or a secret.
func wantNoSecrets(t *testing.T) {
	t.Helper()
	logs := system.Logs()
	for _, text := range []string{"@school.example", "@School.example", "@district.example", "@mail.example", secret,
		"code=", "state=", "eyJ"} {
		valuetest.Lacks(t, logs, text, "the log has %q", text)
	}
}

func TestOpenID_OnlyTheCallbackMayComeFromElsewhere(t *testing.T) {
	withPeople(t)
	b := newBrowser(t, system)
	b.headers = map[string]string{"Sec-Fetch-Site": "cross-site"}
	for _, path := range []string{"/api/login/oidc/school", "/api/logout/oidc"} {
		a := b.get(home + path)
		valuetest.Same(t, a.code, 403, "%s from elsewhere %s", path, a.body)
	}
	b.headers = nil
	back := b.signIn("school", "teacher", "/")
	b.headers = map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}
	wantPage(t, b.get(back), 403, "within another page")
}

func TestOpenID_TheLimitOfFailedLoginsHolds(t *testing.T) {
	withPeople(t)
	failing, other := newBrowser(t, system), newBrowser(t, system)
	other.address = failing.address
	for range 10 {
		wantPage(t, failing.get(home+"/api/login/oidc/school/callback"), 400, "has expired")
	}
	a := failing.get(home + "/api/login/oidc/school/callback")
	wantPage(t, a, 429, "Too many")
	valuetest.Holds(t, a.header.Get("Retry-After") != "", "no Retry-After")
	if a := other.get(other.signIn("school", "teacher", "/")); a.code != 302 {
		t.Errorf("a right login from there: %d %s", a.code, a.body)
	}
}

func TestOpenID_UsersAreCreatedWhereADomainSaysSo(t *testing.T) {
	backs := make([]*browser, 4)
	at := make([]string, len(backs))
	for i := range backs { // of one person, at once
		backs[i] = newBrowser(t, system)
		at[i] = backs[i].signIn("district", "new", "/")
	}
	var wg sync.WaitGroup
	for i, b := range backs {
		wg.Go(func() {
			a := b.get(at[i])
			valuetest.Same(t, a.code, 302, a.body)
		})
	}
	wg.Wait()
	id := backs[0].whoAmI()
	for _, b := range backs {
		valuetest.Same(t, b.whoAmI(), id, "the user with the address of user %d", id)
	}
	u := system.Admin(t).Get(t, fmt.Sprintf("/api/admin/users/%d", id))
	u.Equal(t, "user.name", `"Nora New"`)
	u.Equal(t, "user.email", `"new@district.example"`)
	u.Equal(t, "user.kind", `"staff"`)
	u.Equal(t, "user.permissions.can_api", "true")
	u.Equal(t, "user.permissions.can_su", "false")
	pupil := signedIn(t, system, "district", "pupil")
	system.Admin(t).Get(t, fmt.Sprintf("/api/admin/users/%d", pupil.whoAmI())).Equal(t, "user.kind", `"pupil"`)
}

// logoutToken is one of the school's provider, changed.
func logoutToken(t *testing.T, change func(claims map[string]any)) string {
	t.Helper()
	return signed(t, school.key, func(claims map[string]any) {
		claims["iss"], claims["aud"], claims["jti"] = school.URL, client, rand.Text()
		claims["iat"], claims["exp"] = time.Now().Unix(), time.Now().Add(time.Minute).Unix()
		claims["events"] = map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}
		change(claims)
	}, "")
}

func (b *browser) backChannel(name, token string) answer {
	b.t.Helper()
	form := url.Values{"logout_token": {token}}
	r, err := http.NewRequest(http.MethodPost, home+"/api/login/oidc/"+name+"/logout", strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.do(r, err)
}

// withSID is a browser of a user whose session at the school's provider has that id.
func withSID(t *testing.T, subject, sid string) *browser {
	t.Helper()
	school.forging(t, func(claims map[string]any) { claims["sid"] = sid }, school.key)
	b := signedIn(t, system, "school", subject)
	school.forge.Store(nil)
	return b
}

func TestOpenID_ALogoutAtTheProviderEndsItsSessionsOnEveryReplica(t *testing.T) {
	withPeople(t)
	teachers := []*browser{signedIn(t, system, "school", "teacher"), signedIn(t, system, "school", "teacher")}
	first, second := withSID(t, "double", "one"), withSID(t, "double", "two")
	op := newBrowser(t, system)
	a := op.backChannel("school", logoutToken(t, func(c map[string]any) { c["sid"] = "one" }))
	valuetest.MustSame(t, a.code, 200, a.body)
	if first.whoAmI() != 0 || second.whoAmI() != ids["double"] || teachers[0].whoAmI() != ids["teacher"] {
		t.Errorf("users %d, %d and %d; only the first session had to end", first.whoAmI(), second.whoAmI(),
			teachers[0].whoAmI())
	}
	token := logoutToken(t, func(c map[string]any) { c["sub"] = "teacher" })
	for range 2 { // it may come again
		if a := op.backChannel("school", token); a.code != 200 || a.body != `{"status":"OK"}` {
			t.Fatalf("%d %s", a.code, a.body)
		}
	}
	for _, b := range teachers {
		valuetest.Same(t, b.whoAmI(), 0, "a session of the subject lives")
	}
	valuetest.Same(t, second.whoAmI(), ids["double"], "the session of another user has ended")
	again := signedIn(t, system, "school", "teacher")
	for _, spelled := range []string{token, token[:10] + " " + token[10:]} { // these are one token
		if a := op.backChannel("school", spelled); a.code != 200 || again.whoAmI() != ids["teacher"] {
			t.Errorf("a repeated logout, which is %d, ends a session that began since", a.code)
		}
	}
}

func TestOpenID_ALogoutAtTheProviderEndsSwitchedSessions(t *testing.T) {
	withPeople(t)
	b := signedIn(t, system, "district", "head")
	r, err := http.NewRequest(http.MethodPut, home+"/api/sessions/1",
		strings.NewReader(fmt.Sprintf(`{"session":{"user_id":%d}}`, ids["teacher"])))
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
	}
	b.do(r, err)
	valuetest.MustSame(t, b.whoAmI(), ids["teacher"], "the session is not switched")
	token := signed(t, district.key, func(claims map[string]any) {
		claims["iss"], claims["aud"], claims["jti"], claims["sub"] = district.URL, client, "x", "head"
		claims["exp"] = time.Now().Add(time.Minute).Unix()
		claims["events"] = map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}
	}, "")
	newBrowser(t, system).backChannel("district", token)
	valuetest.Same(t, b.whoAmI(), 0, "the switched session lives")
}

func TestOpenID_OtherLogoutTokensEndNothing(t *testing.T) {
	withPeople(t)
	b := signedIn(t, system, "school", "teacher")
	sub := func(name string, value any) string {
		return logoutToken(t, func(c map[string]any) { c["sub"], c[name] = "teacher", value })
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	errortest.None(t, err)
	for name, token := range map[string]string{
		"none": "", "no token": "x", "audience": sub("aud", "other"), "issuer": sub("iss", "https://x.example"),
		"expired": sub("exp", time.Now().Add(-time.Minute).Unix()), "nonce": sub("nonce", "x"),
		"no event": sub("events", map[string]any{}), "of nothing": logoutToken(t, func(map[string]any) {}),
		"signature": signed(t, other, func(map[string]any) {}, sub("a", 1)),
	} {
		a := newBrowser(t, system).backChannel("school", token)
		valuetest.Same(t, a.code, 400, "%s %s", name, a.body)
	}
	a := newBrowser(t, system).backChannel("nothing", sub("a", 1))
	valuetest.Same(t, a.code, 404, "another provider %s", a.body)
	if a := newBrowser(t, system).backChannel("away", sub("a", 1)); a.code != 503 {
		t.Errorf("a provider that is away: %d %s", a.code, a.body)
	}
	valuetest.Same(t, b.whoAmI(), ids["teacher"], "the session has ended")
}

// TestOpenID_ALogoutWhileTheKeysAreAwayMayComeAgain: it was answered 400, as if the token were wrong.
func TestOpenID_ALogoutWhileTheKeysAreAwayMayComeAgain(t *testing.T) {
	withPeople(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	errortest.None(t, err)
	school.noKeys.Store(true)
	t.Cleanup(func() { school.noKeys.Store(false) })
	token := signed(t, key, func(map[string]any) {}, logoutToken(t, func(c map[string]any) { c["sub"] = "teacher" }))
	op := newBrowser(t, system)
	for range 11 { // nor does it count as a failed login
		a := op.backChannel("school", token)
		valuetest.Same(t, a.code, 503, a.body)
	}
}

func TestOpenID_ALogoutGoesOnToTheProvider(t *testing.T) {
	withPeople(t)
	b := signedIn(t, system, "school", "teacher")
	a := b.get(home + "/api/logout/oidc")
	if a.code != 302 || !strings.HasPrefix(a.location, school.URL+"/end_session?") || b.whoAmI() != 0 {
		t.Fatalf("%d to %s, as user %d", a.code, a.location, b.whoAmI())
	}
	if a := b.get(a.location); a.location != home+"/" {
		t.Errorf("the provider sends the browser to %q: %d %s", a.location, a.code, a.body)
	}
	if a := b.get(home + "/api/logout/oidc"); a.code != 302 || a.location != "/" {
		t.Errorf("without a session: %d to %s", a.code, a.location)
	}
}

func TestOpenID_ALoginOutlivesARestart(t *testing.T) {
	withPeople(t)
	b := newBrowser(t, system)
	back := b.signIn("school", "teacher", "/")
	system.KillReplica(t, "identity", 0)
	system.KillReplica(t, "identity", 1)
	if a := b.get(back); a.code != 302 || b.whoAmI() != ids["teacher"] {
		t.Errorf("%d %s", a.code, a.body)
	}
}

func TestOpenID_TheWaysToLogInAreListed(t *testing.T) {
	system.Client(t).Get(t, "/api/login/providers").Want(t, 200, `{"status":"OK","providers":[`+
		`{"name":"school","title":"School account","login":"/api/login/oidc/school"},`+
		`{"name":"district","title":"District account","login":"/api/login/oidc/district"},`+
		`{"name":"away","title":"Away","login":"/api/login/oidc/away"}],"uuid_login":"all"}`)
}

// TestOpenID_UsersOfAProviderMayHaveToUseIt: all others, and those whose address is not theirs alone, log in by uuid.
func TestOpenID_UsersOfAProviderMayHaveToUseIt(t *testing.T) {
	own := servicetest.Start(t, options(map[string]string{"BELFRY_UUID_LOGIN": "others"}))
	for n, c := range []struct {
		fields map[string]any
		code   int
	}{
		{map[string]any{"email": "teacher@School.example"}, 401},
		{map[string]any{"email": "x@pupils.district.example"}, 401},
		{map[string]any{"email": "program@mail.example"}, 200},
		{map[string]any{"email": "x@sub.school.example"}, 200},
		{map[string]any{"email": "shared@school.example", "duplicate_email": true}, 200},
	} {
		uuid := fmt.Sprintf("%032d", n)
		c.fields["uuid"] = uuid
		makeUser(t, own, c.fields)
		own.Client(t).Post(t, "/api/login", map[string]any{"uuid": uuid}).WantCode(t, c.code)
	}
	own.Client(t).Get(t, "/api/login/providers").Equal(t, "uuid_login", `"others"`)
	signedIn(t, own, "school", "teacher")
}
