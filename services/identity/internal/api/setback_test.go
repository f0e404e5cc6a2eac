package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// revocation is a way in which a session loses what it may do.
type revocation struct {
	permissions []string
	revoke      func(t *testing.T, admin *servicetest.Client, p person, c *servicetest.Client)
	path        string // answers code from then on
	code        int
}

// changed is the revocation by an act of an administrator.
func changed(address string, code int, act act, permissions ...string) revocation {
	return revocation{permissions, func(t *testing.T, admin *servicetest.Client, p person, _ *servicetest.Client) {
		t.Helper()
		act(t, admin, p)
	}, address, code}
}

// acted is the revocation by what the user does with the session.
func acted(revoke func(t *testing.T, p person, c *servicetest.Client)) revocation {
	return revocation{[]string{"can_api", "can_su"},
		func(t *testing.T, _ *servicetest.Client, p person, c *servicetest.Client) {
			t.Helper()
			revoke(t, p, c)
		},
		"/api/users", 401}
}

func revocations(other person) map[string]revocation {
	all := map[string]revocation{
		"admin deactivated": changed("/api/users", 401, endings["deactivated"], "can_api", "admin"),
		"can_su taken":      changed("/api/users", 403, changing(granted("can_su", false)), "can_api", "can_su"),
		"admin taken":       changed("/api/admin/users", 403, changing(granted("admin", false)), "can_api", "admin"),
		"logout": acted(func(t *testing.T, _ person, c *servicetest.Client) {
			t.Helper()
			c.Get(t, "/api/logout").Must(t, 200)
		}),
		"another login": acted(func(t *testing.T, p person, c *servicetest.Client) {
			t.Helper()
			login(t, c, p.UUID).Must(t, 200)
		}),
		"switch": acted(func(t *testing.T, _ person, c *servicetest.Client) {
			t.Helper()
			switchTo(t, c, other.ID).Must(t, 200)
		}),
	}
	for name, end := range endings {
		all[name] = changed("/api/users", 401, end, "can_api")
	}
	return all
}

// setback is a way in which Redis goes back. prepare is called before the revocations; it returns what sets Redis
// back, and gives the Redis that answers from then on.
type setback struct {
	prepare func(t *testing.T, r *storetest.RedisServer) func() *storetest.RedisServer
	restart bool // identity restarts meanwhile
	empty   bool // Redis has nothing then
}

func restored(t *testing.T, r *storetest.RedisServer) func() *storetest.RedisServer {
	t.Helper()
	r.Save(t)
	return func() *storetest.RedisServer { r.SetBack(t); return r }
}

func promoted(t *testing.T, r *storetest.RedisServer) func() *storetest.RedisServer {
	t.Helper()
	replica := r.Replica(t)
	replica.CutOff(t)
	return func() *storetest.RedisServer { replica.Promote(t, r); return replica }
}

func flushed(t *testing.T, r *storetest.RedisServer) func() *storetest.RedisServer {
	t.Helper()
	return func() *storetest.RedisServer {
		errortest.None(t, r.Client().FlushAll(t.Context()).Err())
		return r
	}
}

// TestHardToBreak_Row07_WhatWasRevokedStaysRevokedWhenRedisGoesBack has two replicas of identity and a Redis of its
// own, which goes back five seconds.
func TestHardToBreak_Row07_WhatWasRevokedStaysRevokedWhenRedisGoesBack(t *testing.T) {
	for name, c := range map[string]setback{
		"restored from a file":                  {prepare: restored},
		"restored, and identity restarts":       {prepare: restored, restart: true},
		"a replica that missed the last writes": {prepare: promoted},
		"such a replica, and identity restarts": {prepare: promoted, restart: true},
		"flushed":                               {prepare: flushed, empty: true},
		"flushed, and identity restarts":        {prepare: flushed, restart: true, empty: true},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.run(t) })
	}
}

func (c setback) run(t *testing.T) {
	r := storetest.StartRedis(t)
	own := servicetest.Start(t, servicetest.Options{Services: []string{"identity"}, Replicas: 2,
		Env: map[string]string{"REDIS_URL": r.URL()}})
	admin := own.Admin(t)
	other := personOf(t, admin)
	bystander := own.Login(t, personOf(t, admin, "can_api").UUID)
	type held struct {
		revocation
		person
		client *servicetest.Client
		cookie string // of before
	}
	sessions := map[string]held{}
	for name, v := range revocations(other) {
		p := personOf(t, admin, v.permissions...)
		client := own.Login(t, p.UUID)
		sessions[name] = held{v, p, client, client.Cookie(t)}
	}
	programs := own.Login(t, personOf(t, admin, "can_api").UUID)
	ended, endedToken := newToken(t, programs, myTokens, "read")
	_, validToken := newToken(t, programs, myTokens, "read")
	code := func(token string) int {
		t.Helper()
		return own.Client(t).Do(t, "GET", "/api/me", nil, by(token)...).Code
	}
	valuetest.MustHold(t, code(endedToken) == 200 && code(validToken) == 200, "a token is refused")
	back := c.prepare(t, r)
	since := time.Now()
	for name, h := range sessions {
		h.revoke(t, admin, h.person, h.client)
		a := own.Client(t).Do(t, "GET", h.path, nil, as(h.cookie)...)
		valuetest.MustSame(t, a.Code, h.code, name)
	}
	programs.Delete(t, fmt.Sprint(myTokens, "/", ended)).Must(t, 200)
	time.Sleep(time.Until(since.Add(5 * time.Second))) // this is how far Redis goes back

	if c.restart {
		own.Kill(t, "identity")
	}
	now := back()
	if c.restart {
		for name, h := range sessions {
			hash := sha256.Sum256([]byte(h.cookie))
			key := own.Prefix + "session:" + hex.EncodeToString(hash[:])
			if n, err := now.Client().Exists(t.Context(), key).Result(); err != nil || n == 1 == c.empty {
				t.Errorf("%s: %d sessions are there again, %v: this proves nothing", name, n, err)
			}
		}
		own.Restart(t, "identity")
	}
	begun := time.Now()
	for name, h := range sessions {
		want := h.code
		if c.empty {
			want = 401
		}
		timetest.Eventually(t, fmt.Sprintf("%s: answers %d after Redis went back", name, want), time.Minute,
			func() bool { return own.Client(t).Do(t, "GET", h.path, nil, as(h.cookie)...).Code == want })
	}
	timetest.Eventually(t, "the token that was ended is invalid again", time.Minute,
		func() bool { return code(endedToken) == 401 })
	valuetest.Same(t, code(validToken), 200, "the other token answers")
	t.Logf("all %d are revoked again %v after Redis answered", len(sessions), time.Since(begun).Round(time.Millisecond))
	a := bystander.Get(t, "/api/users")
	valuetest.Same(t, a.Code == 401, c.empty, "the session of another user answers %d", a.Code)
}
