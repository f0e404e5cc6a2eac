package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// newToken makes a token of the client's user and returns its id and its text.
func newToken(t *testing.T, c *servicetest.Client, path, scope string) (int64, string) {
	t.Helper()
	a := c.Post(t, path, wrappedToken("name", "A program", "scope", scope)).Must(t, 201)
	return a.Int(t, "token.id"), a.Text(t, "token.token")
}

func wrappedToken(pairs ...string) any {
	fields := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	return map[string]any{"token": fields}
}

func by(token string) []string { return []string{"Authorization", "Bearer " + token} }

const myTokens = "/api/me/tokens"

// wantAnswer asks both replicas who acts by a token.
func wantAnswer(t *testing.T, token string, code int, why string) {
	t.Helper()
	for i := range 2 {
		fresh := append(by(token), from(freshAddress())...) // a refused token counts as a failed login
		replica(t, i).Do(t, "GET", "/api/me", nil, fresh...).WantCode(t, code, "%s: replica %d answers", why, i)
	}
}

func TestTokens_ATokenIsShownOnceAndActsAsItsUser(t *testing.T) {
	p := newPerson(t, "can_api")
	c := system(t).Login(t, p.UUID)
	c.Get(t, myTokens).Want(t, 200, `{"status":"OK","tokens":[]}`)
	a := c.Post(t, myTokens, wrappedToken("name", " Registers ", "scope", "read")).Must(t, 201)
	token := a.Text(t, "token.token")
	if a.Header.Get("Location") != myTokens || a.Text(t, "token.name") != "Registers" {
		t.Errorf("%s %s", a.Header.Get("Location"), a.Body)
	}
	life := func(from, to string) time.Duration {
		begins, err1 := time.Parse(time.RFC3339, from)
		ends, err2 := time.Parse(time.RFC3339, to)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return ends.Sub(begins)
	}(a.Text(t, "token.created_at"), a.Text(t, "token.ends_at"))
	if days := life.Hours() / 24; days < 89 || days > 92 {
		t.Errorf("it lives %v days", days)
	}
	system(t).Client(t).Do(t, "GET", "/sessions/1/whoami", nil, by(token)...).
		Want(t, 200, fmt.Sprintf(`{"status":"OK","user_id":%d}`, p.ID))
	// The cookie beside it is ignored.
	other := newPerson(t, "can_api")
	system(t).Login(t, other.UUID).Do(t, "GET", "/sessions/1/whoami", nil, by(token)...).
		Want(t, 200, fmt.Sprintf(`{"status":"OK","user_id":%d}`, p.ID))
	list := c.Get(t, myTokens).Must(t, 200)
	valuetest.Holds(t, !strings.Contains(list.Body, token) && list.Text(t, "tokens.0.used_at") != "", list.Body)
	audit := system(t).Admin(t).AuditTexts(t, "identity", fmt.Sprintf("record=User:%d", p.ID))
	want := fmt.Sprintf("make_token User:%d: token → %d Registers (read)", p.ID, a.Int(t, "token.id"))
	valuetest.Same(t, audit[0], want, "the audit")
	valuetest.Lacks(t, system(t).Logs(), token, "the token is in the logs")
}

func TestTokens_AnInvalidTokenIsRefusedByField(t *testing.T) {
	c := system(t).Login(t, newPerson(t, "can_api").UUID)
	day := func(days int) string { return time.Now().AddDate(0, 0, days).Format(time.DateOnly) }
	named := func(name, scope string, more ...string) any {
		return wrappedToken(append([]string{"name", name, "scope", scope}, more...)...)
	}
	for want, body := range map[string]any{
		`{"name":["can't be blank"],"scope":["is not included in the list"]}`: wrappedToken(),
		`{"name":["is too long (maximum is 100 characters)"]}`:                named(strings.Repeat("x", 101), "read"),
		`{"scope":["is not included in the list"]}`:                           named("x", "everything"),
		`{"element_id":["can't be blank"]}`:                                   named("x", "read_element"),
		`{"element_id":["is only for the scope read_element"]}`:               named("x", "book", "element_id", "1"),
		`{"end_date":["is not a date (YYYY-MM-DD)"]}`:                         named("x", "read", "end_date", "soon"),
		`{"end_date":["must be from ` + day(0) + ` to ` + day(400) + `"]}`:    named("x", "read", "end_date", day(401)),
	} {
		a := c.Post(t, myTokens, body)
		if got := strings.ReplaceAll(a.Body, `\u0027`, "'"); a.Code != 422 || !strings.Contains(got, `"errors":`+want) {
			t.Errorf("%d %s\nwant %s", a.Code, got, want)
		}
	}
	c.Post(t, myTokens, map[string]any{}).WantCode(t, 400)
	c.Post(t, myTokens, wrappedToken("name", "x", "scope", "read", "end_date", day(400))).WantCode(t, 201)
	dry := c.Post(t, myTokens+"?dry_run=true", wrappedToken("name", "y", "scope", "read")).Must(t, 201)
	if dry.Has("token.token") || dry.At(t, "token.id") != "null" || c.Get(t, myTokens).Len(t, "tokens") != 1 {
		t.Error(dry.Body)
	}
}

func TestTokens_AUserHasTwentyAtMost(t *testing.T) {
	c := system(t).Login(t, newPerson(t, "can_api").UUID)
	parallel(24, func(int) {
		errortest.Report(t, errortest.Of(c.Try(t, "POST", myTokens, wrappedToken("name", "x", "scope", "read"))))
	})
	for full := 0; full < 20; {
		a := c.Post(t, myTokens, wrappedToken("name", "x", "scope", "read"))
		if full = c.Get(t, myTokens).Len(t, "tokens"); full < 20 {
			a.Must(t, 201) // of those at once some may have lost too often
		}
	}
	c.Post(t, myTokens, wrappedToken("name", "x", "scope", "read")).WantCode(t, 409)
	valuetest.Same(t, c.Get(t, myTokens).Len(t, "tokens"), 20, "tokens")
}

func TestTokens_ATokenEndsAtOnceOnEveryReplica(t *testing.T) {
	admin := system(t).Admin(t)
	ends := map[string]func(t *testing.T, p person, id int64){
		"ended by the user": func(t *testing.T, p person, id int64) {
			system(t).Login(t, p.UUID).Delete(t, fmt.Sprint(myTokens, "/", id)).Must(t, 200)
		},
		"ended by an administrator": func(t *testing.T, p person, id int64) {
			admin.Delete(t, path(p, fmt.Sprint("/tokens/", id))).Must(t, 200)
		},
	}
	for name, end := range endings {
		if name != "sessions ended" {
			ends[name] = func(t *testing.T, p person, _ int64) { end(t, admin, p) }
		}
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, "can_api")
			id, token := newToken(t, system(t).Login(t, p.UUID), myTokens, "book")
			wantAnswer(t, token, 200, "before")
			end(t, p, id)
			wantAnswer(t, token, 401, "afterwards")
		})
	}
	p := newPerson(t, "can_api")
	_, token := newToken(t, system(t).Login(t, p.UUID), myTokens, "book")
	wantAnswer(t, token, 200, "before")
	admin.Delete(t, path(p, "/sessions")).Must(t, 200)
	wantAnswer(t, token, 200, "after the end of the sessions")
}

func TestTokens_RightsFollowTheUser(t *testing.T) {
	p := newPerson(t, "can_api")
	_, token := newToken(t, system(t).Login(t, p.UUID), myTokens, "administer")
	users := func(code int) {
		t.Helper()
		system(t).Client(t).Do(t, "GET", "/api/admin/users", nil, by(token)...).WantCode(t, code)
	}
	users(403)
	admin := system(t).Admin(t)
	changing(granted("admin", true))(t, admin, p)
	users(200)
	changing(granted("admin", false))(t, admin, p)
	users(403)
}

func TestTokens_NoTokenMakesWhatOutlivesIt(t *testing.T) {
	p, other := newPerson(t, "can_api", "admin"), newPerson(t, "can_api", "can_su")
	id, token := newToken(t, system(t).Login(t, p.UUID), myTokens, "administer")
	c := system(t).Client(t)
	for _, call := range []string{
		"POST " + myTokens, "POST " + path(p, "/tokens"), "POST " + path(other, "/uuid"), "PUT /api/sessions/1",
		"PATCH /api/sessions/1", "PUT /api/sessions/1/revert",
	} {
		method, where, _ := strings.Cut(call, " ")
		a := c.Do(t, method, where, wrappedToken("name", "x", "scope", "read"), by(token)...)
		if want := `Bearer realm="Belfry", error="insufficient_scope"`; a.Code != 403 || a.Body != forbidden ||
			a.Header.Get("WWW-Authenticate") != want {
			t.Errorf("%s: %d %s %q", call, a.Code, a.Body, a.Header.Get("WWW-Authenticate"))
		}
	}
	_, reads := newToken(t, system(t).Login(t, p.UUID), myTokens, "read")
	c.Do(t, "GET", "/api/admin/users", nil, by(reads)...).
		Want(t, 403, `{"status":"Forbidden","message":"needs a token of scope administer"}`)
	// While switched no token is made either.
	switched := system(t).Login(t, other.UUID)
	switchTo(t, switched, newPerson(t, "can_api").ID).Must(t, 200)
	switched.Post(t, myTokens, wrappedToken("name", "x", "scope", "read")).Want(t, 403, forbidden)
	// It may end itself.
	c.Do(t, "DELETE", fmt.Sprint(myTokens, "/", id), nil, by(token)...).Want(t, 200, ok)
	again := append(by(token), from(freshAddress())...) // it counts as a failed login
	replica(t, 0).Do(t, "DELETE", fmt.Sprint(myTokens, "/", id), nil, again...).WantCode(t, 401)
	entries := system(t).Admin(t).Audit(t, "identity", fmt.Sprintf("record=User:%d", p.ID))
	if e := entries[0]; e.Action != "end_token" || e.Token == nil || e.Token.ID != id || e.Token.Name != "A program" {
		t.Errorf("the audit has %+v", e)
	}
}

// TestTokens_NoTokenGivesALogin, which would outlive it.
func TestTokens_NoTokenGivesALogin(t *testing.T) {
	_, token := newToken(t, system(t).Login(t, newPerson(t, "can_api", "admin").UUID), myTokens, "administer")
	c := system(t).Client(t)
	made := row(nil)
	user := map[string]any{"name": "Made", "email": made["email"], "uuid": made["uuid"]}
	create := func() servicetest.Answer {
		return c.Do(t, "POST", "/api/admin/users", map[string]any{"user": user}, by(token)...)
	}
	create().Must(t, 422).Equal(t, "user.errors.uuid", `["can't be given by a token"]`)
	delete(user, "uuid")
	if a := create(); a.Code != 201 || strings.Contains(a.Body, "uuid") {
		t.Errorf("a token is shown a login: %d %s", a.Code, a.Body)
	}
	record, err := json.Marshal(row(map[string]any{"uuid": made["uuid"]}))
	errortest.None(t, err)
	headers := append(by(token), "Content-Type", "application/x-ndjson")
	c.Do(t, "POST", importPath, string(record), headers...).Must(t, 200).
		Equal(t, "records.0.errors.uuid", `["can't be given by a token"]`)
}

func TestTokens_AWrongTokenIs401AndCountsAsAFailedLogin(t *testing.T) {
	c, address := replica(t, 0), freshAddress()
	_, right := newToken(t, system(t).Login(t, newPerson(t, "can_api").UUID), myTokens, "read")
	for _, token := range []string{"", "x", "belfry_x", system(t).AdminUUID, right + "A", strings.ToLower(right)} {
		a := c.Do(t, "GET", "/api/me", nil, append(by(token), from(freshAddress())...)...)
		if want := `Bearer realm="Belfry", error="invalid_token"`; a.Code != 401 || a.Body != accessDenied ||
			a.Header.Get("WWW-Authenticate") != want {
			t.Errorf("%d %s %q", a.Code, a.Body, a.Header.Get("WWW-Authenticate"))
		}
	}
	for i := range 11 {
		wrong := fmt.Sprintf("belfry_%052s", strings.Repeat(string(rune('A'+i)), 52))
		a := replica(t, i%2).Do(t, "GET", "/api/me", nil, append(by(wrong), from(address)...)...)
		if want := map[bool]int{true: 401, false: 429}[i < 10]; a.Code != want || want == 429 &&
			a.Header.Get("Retry-After") == "" {
			t.Errorf("wrong token %d: %d", i, a.Code)
		}
	}
	c.Do(t, "GET", "/api/me", nil, append(by(right), from(address)...)...).WantCode(t, 200)
	login(t, c, "wrong", from(address)...).WantCode(t, 429)
}

// A page of another origin has no token, so a call with one needs no check; where a token counts for nothing, it lifts
// no check.
func TestTokens_NeedNoOrigin(t *testing.T) {
	p := newPerson(t, "can_api")
	session := system(t).Login(t, p.UUID)
	id, token := newToken(t, session, myTokens, "administer")
	elsewhere := []string{"Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site"}
	for _, call := range []string{"GET /api/logout", "GET /api/login?uuid=" + p.UUID, "POST /api/login"} {
		method, where, _ := strings.Cut(call, " ")
		session.Do(t, method, where, nil, append(by(token), elsewhere...)...).WantCode(t, http.StatusForbidden)
	}
	system(t).Client(t).Do(t, "DELETE", fmt.Sprint(myTokens, "/", id), nil, append(by(token), elsewhere...)...).
		Want(t, 200, ok)
}

func TestTokens_AreMadeForUsersThatTheCallerAdministers(t *testing.T) {
	p := newPerson(t, "can_api")
	admin := system(t).Admin(t)
	id, token := newToken(t, admin, path(p, "/tokens"), "read")
	wantAnswer(t, token, 200, "made by an administrator")
	list := admin.Get(t, path(p, "/tokens")).Must(t, 200)
	valuetest.Same(t, list.Int(t, "tokens.0.id"), id, list.Body)
	admin.Post(t, "/api/admin/users/999999999/tokens", wrappedToken("name", "x", "scope", "read")).WantCode(t, 404)
	admin.Delete(t, path(p, "/tokens/999999999")).WantCode(t, 404)
	admin.Delete(t, path(p, "")).Must(t, 200)
	admin.Post(t, path(p, "/tokens"), wrappedToken("name", "x", "scope", "read")).WantCode(t, 409)
	admin.Get(t, path(p, "/tokens")).Want(t, 200, `{"status":"OK","tokens":[]}`)
}

func TestTokens_ARepeatedCreationIsTheSameToken(t *testing.T) {
	p := newPerson(t, "can_api")
	c := system(t).Login(t, p.UUID)
	key := []string{"Idempotency-Key", "once"}
	body := wrappedToken("name", "x", "scope", "read")
	first := c.Do(t, "POST", myTokens, body, key...).Must(t, 201)
	c.Do(t, "POST", myTokens, body, key...).Want(t, 201, first.Body)

	// A repeated request gave the token to a user who had switched to the first, and a uuid to a token.
	other := system(t).Login(t, newPerson(t, "can_api", "can_su").UUID)
	switchTo(t, other, p.ID).Must(t, 200)
	other.Do(t, "POST", myTokens, body, key...).WantCode(t, 409)
	other.Do(t, "POST", myTokens, body, "Idempotency-Key", "another").WantCode(t, 403)
	admin := system(t).Login(t, newPerson(t, "can_api", "admin").UUID)
	_, token := newToken(t, admin, myTokens, "administer")
	user := map[string]any{"user": map[string]any{"name": "Ann", "email": row(nil)["email"]}}
	admin.Do(t, "POST", "/api/admin/users", user, key...).Must(t, 201)
	system(t).Client(t).Do(t, "POST", "/api/admin/users", user, append(by(token), key...)...).WantCode(t, 409)

	c.Delete(t, fmt.Sprint(myTokens, "/", first.Int(t, "token.id"))).Must(t, 200)
	c.Do(t, "POST", myTokens, body, key...).WantCode(t, 409)
}
