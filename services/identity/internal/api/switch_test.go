package api_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func text(v any) string { return fmt.Sprint(v) }

func path(p person, rest string) string {
	return "/api/admin/users/" + strconv.FormatInt(p.ID, 10) + rest
}

func TestPart3_3_SwitchAndRevert(t *testing.T) {
	a, b := newPerson(t, "can_api", "can_su"), newPerson(t)
	for name, back := range map[string]func(c *servicetest.Client) servicetest.Answer{
		"by revert": func(c *servicetest.Client) servicetest.Answer {
			return c.Put(t, "/api/sessions/1/revert", map[string]any{})
		},
		"by a switch to the original user": func(c *servicetest.Client) servicetest.Answer { return switchTo(t, c, a.ID) },
		"by revert without a body":         func(c *servicetest.Client) servicetest.Answer { return c.Put(t, "/api/sessions/1/revert", nil) },
		"by a switch with a number as user": func(c *servicetest.Client) servicetest.Answer {
			return c.Put(t, "/api/sessions/7", map[string]any{"session": map[string]any{"user_id": a.ID}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := system.Login(t, a.UUID)
			before := c.Cookie(t)
			switchTo(t, c, b.ID).Want(t, 200, ok)
			switched := c.Cookie(t)
			wantUser(t, before, 0, "the session before the switch")
			wantUser(t, switched, b.ID, "the switched session")
			back(c).Want(t, 200, ok)
			wantUser(t, switched, 0, "the switched session after the revert")
			wantUser(t, c.Cookie(t), a.ID, "the reverted session")
			if c.Cookie(t) == before || c.Cookie(t) == switched {
				t.Error("a cookie was used again")
			}
		})
	}
}

func TestPart5_10_NestedSwitchesAreNotAllowed(t *testing.T) {
	a, b, third := newPerson(t, "can_api", "can_su"), newPerson(t, "can_api", "can_su"), newPerson(t)
	c := system.Login(t, a.UUID)
	switchTo(t, c, b.ID).Want(t, 200, ok)
	cookie := c.Cookie(t)
	switchTo(t, c, third.ID).Want(t, 403, forbidden)
	switchTo(t, c, b.ID).Want(t, 403, forbidden)
	if c.Cookie(t) != cookie {
		t.Error("a refused switch sent a cookie")
	}
	wantUser(t, cookie, b.ID, "after refused switches")
}

func TestDecisionsPart2_SwitchIsJudgedInOrder(t *testing.T) {
	su, plain, admin := newPerson(t, "can_api", "can_su"), newPerson(t, "can_api"), newPerson(t, "admin")
	inactive := newPerson(t)
	system.Admin(t).Delete(t, path(inactive, "")).Want(t, 200, ok)
	const noTarget = `{"status":"Bad request","message":"user_id is missing or no id"}`
	const unknown = `{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find User with 'id'=999999"}`
	for _, c := range []struct {
		name   string
		caller person
		path   string
		body   any
		code   int
		want   string
	}{
		{"no can_su, no target", plain, "/api/sessions/1", map[string]any{}, 403, forbidden},
		{"no can_su, unknown target", plain, "/api/sessions/1", switchBody(999999), 403, forbidden},
		{"no can_su", plain, "/api/sessions/1", switchBody(su.ID), 403, forbidden},
		{"no wrapper", su, "/api/sessions/1", map[string]any{"user_id": plain.ID}, 400, noTarget},
		{"no user_id", su, "/api/sessions/1", map[string]any{"session": map[string]any{}}, 400, noTarget},
		{"null user_id", su, "/api/sessions/1", map[string]any{"session": map[string]any{"user_id": nil}}, 400, noTarget},
		{"a name for user_id", su, "/api/sessions/1", map[string]any{"session": map[string]any{"user_id": "ann"}}, 400, noTarget},
		{"a signed user_id", su, "/api/sessions/1", map[string]any{"session": map[string]any{"user_id": "-1"}}, 400, noTarget},
		{"not JSON", su, "/api/sessions/1", `{"session":`, 400, noTarget},
		{"unknown target", su, "/api/sessions/1", switchBody(999999), 404, unknown},
		{"to itself", su, "/api/sessions/1", switchBody(su.ID), 403, forbidden},
		{"to an admin", su, "/api/sessions/1", switchBody(admin.ID), 403, forbidden},
		{"to an inactive user", su, "/api/sessions/1", switchBody(inactive.ID), 403, forbidden},
		{"the session id must be digits", su, "/api/sessions/x", switchBody(plain.ID), 404, notFound},
		{"the session id must be digits to revert", su, "/api/sessions/x/revert", map[string]any{}, 404, notFound},
		{"revert, not switched, can_su", su, "/api/sessions/1/revert", map[string]any{}, 200, ok},
		{"revert, not switched, no can_su", plain, "/api/sessions/1/revert", map[string]any{}, 403, forbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := system.Login(t, c.caller.UUID)
			cookie := client.Cookie(t)
			client.Put(t, c.path, c.body).Want(t, c.code, c.want)
			if client.Cookie(t) != cookie {
				t.Error("the cookie changed")
			}
			wantUser(t, cookie, c.caller.ID, "afterwards")
		})
	}
	c := system.Login(t, admin.UUID)
	switchTo(t, c, newPerson(t, "admin").ID).Want(t, 200, ok) // an admin may
	system.Client(t).Put(t, "/api/sessions/1", switchBody(plain.ID)).Want(t, 401, accessDenied)
	system.Client(t).Put(t, "/api/sessions/1/revert", nil).Want(t, 401, accessDenied)
}

func TestPart5_8_WhileSwitchedTheOriginalUsersCanAPICounts(t *testing.T) {
	a, b := newPerson(t, "can_api", "can_su"), newPerson(t, "can_su")
	c := system.Login(t, a.UUID)
	switchTo(t, c, b.ID).Want(t, 200, ok)
	c.Get(t, "/api/users").Want(t, 200, `{"status":"OK","users":[]}`) // B's can_su, A's can_api
	c.Get(t, "/api/admin/users").Want(t, 403, forbidden)
	system.Admin(t).Patch(t, path(a, ""), map[string]any{"user": map[string]any{"permissions": map[string]any{"can_api": false}}})
	c.Get(t, "/api/users").Want(t, 401, accessDenied)
}

func TestPart4_5_WhoAmI(t *testing.T) {
	p := newPerson(t, "can_api")
	c := system.Login(t, p.UUID)
	want := `{"status":"OK","user_id":` + strconv.FormatInt(p.ID, 10) + `}`
	for _, address := range []string{"/sessions/1/whoami", "/api/sessions/1/whoami", "/sessions/42/whoami"} {
		c.Get(t, address).Want(t, 200, want)
		system.Client(t).Get(t, address).Want(t, 401, accessDenied)
	}
	for _, address := range []string{"/sessions/x/whoami", "/api/sessions/01/whoami", "/sessions/1/whoami/", "/sessions//whoami"} {
		c.Get(t, address).Want(t, 404, notFound)
	}
}

func TestPart5_7_OfTwentySwitchesOfOneSessionOneSucceeds(t *testing.T) {
	a, b, third := newPerson(t, "can_api", "can_su"), newPerson(t), newPerson(t)
	first := system.Login(t, a.UUID)
	cookie := first.Cookie(t)
	var mu sync.Mutex
	codes := map[int]int{}
	var alive []string
	clients := make([]*servicetest.Client, 20)
	for i := range clients {
		clients[i] = replica(t, i%2)
	}
	parallel(len(clients), func(i int) {
		target := []person{b, third}[i%2]
		answer := clients[i].Do(t, "PUT", "/api/sessions/1", switchBody(target.ID), as(cookie)...)
		mu.Lock()
		defer mu.Unlock()
		codes[answer.Code]++
		if made := clients[i].Cookie(t); made != "" {
			alive = append(alive, made)
		}
	})
	if codes[200] != 1 || codes[401] != 19 || len(alive) != 1 {
		t.Fatalf("codes %v, %d cookies; want one 200 and nineteen 401", codes, len(alive))
	}
	wantUser(t, cookie, 0, "the old session")
	if a := system.Client(t).Do(t, "GET", "/sessions/1/whoami", nil, as(alive[0])...); a.Code != 200 {
		t.Errorf("the new session: %d %s", a.Code, a.Body)
	}
}

func TestPart5_5_UserLookup(t *testing.T) {
	su, plain := newPerson(t, "can_api", "can_su"), newPerson(t, "can_api")
	twin := system.Admin(t).Post(t, "/api/admin/users", map[string]any{"user": map[string]any{"name": "Twin <&>", "email": "PERSON-twin@school.example"}})
	second := system.Admin(t).Post(t, "/api/admin/users", map[string]any{"user": map[string]any{"name": "Twin", "email": "person-TWIN@school.example"}})
	var one, two struct{ User struct{ ID int64 } }
	twin.Decode(t, &one)
	second.Decode(t, &two)

	system.Client(t).Get(t, "/api/users?email=a@b.example").Want(t, 401, accessDenied)
	c := system.Login(t, plain.UUID)
	c.Get(t, "/api/users").Want(t, 403, forbidden)
	c.Get(t, "/api/users?email="+su.Email).Want(t, 403, forbidden)
	c = system.Login(t, su.UUID)
	const none = `{"status":"OK","users":[]}`
	const missing = `{"status":"Not found","users":[]}`
	c.Get(t, "/api/users").Want(t, 200, none)
	c.Get(t, "/api/users?email=").Want(t, 200, none)
	for _, email := range []string{"nobody@school.example", "person-twin", "%25", "%00", ".*", "person-twin@school.example%00"} {
		c.Get(t, "/api/users?email="+email).Want(t, 404, missing)
	}
	c.Get(t, "/api/users?email=%ff").Want(t, 400, `{"status":"Bad request","message":"email is not UTF-8"}`)
	c.Get(t, "/api/users?email=person-twin@SCHOOL.example").Want(t, 200, fmt.Sprintf(
		`{"status":"OK","users":[{"id":%d,"name":"Twin \u003c\u0026\u003e","email":"PERSON-twin@school.example","valid":true},{"id":%d,"name":"Twin","email":"person-TWIN@school.example","valid":true}]}`,
		one.User.ID, two.User.ID))
	c.Do(t, "HEAD", "/api/users", nil).Want(t, 200, "")
	if a := c.Post(t, "/api/users", map[string]any{}); a.Code != 405 || a.Body != `{"status":"Method not allowed"}` || a.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %s, Allow %q", a.Code, a.Body, a.Header.Get("Allow"))
	}
}
