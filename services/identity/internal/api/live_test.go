package api_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/identity/internal/store"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// patch changes a user as the administrator.
func patch(t *testing.T, p person, fields map[string]any) {
	t.Helper()
	if a := system(t).Admin(t).Patch(t, path(p, ""), map[string]any{"user": fields}); a.Code != 200 {
		t.Fatalf("patch: %d %s", a.Code, a.Body)
	}
}

func grant(t *testing.T, p person, permission string, value bool) {
	t.Helper()
	patch(t, p, map[string]any{"permissions": map[string]any{permission: value}})
}

// TestDecisionsPart2_PermissionsAreReadLive allows no time at all: the sessions follow before a change is answered.
func TestDecisionsPart2_PermissionsAreReadLive(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(t *testing.T, p person)
		code int // of a user lookup afterwards
	}{
		"nothing":       {func(*testing.T, person) {}, 200},
		"name":          {func(t *testing.T, p person) { patch(t, p, map[string]any{"name": "Other"}) }, 200},
		"given already": {func(t *testing.T, p person) { grant(t, p, "can_su", true) }, 200},
		"can_su":        {func(t *testing.T, p person) { grant(t, p, "can_su", false) }, 403},
		"can_su and back": {func(t *testing.T, p person) {
			grant(t, p, "can_su", false)
			grant(t, p, "can_su", true)
		}, 200},
		"can_api":     {func(t *testing.T, p person) { grant(t, p, "can_api", false) }, 401},
		"deactivated": {func(t *testing.T, p person) { patch(t, p, map[string]any{"active": false}) }, 401},
		"active again": {func(t *testing.T, p person) {
			patch(t, p, map[string]any{"active": false})
			patch(t, p, map[string]any{"active": true})
		}, 401},
		"deleted": {func(t *testing.T, p person) { system(t).Admin(t).Delete(t, path(p, "")).Want(t, 200, ok) },
			401},
		"new uuid": {func(t *testing.T, p person) { system(t).Admin(t).Post(t, path(p, "/uuid"), nil) }, 401},
		"sessions ended": {func(t *testing.T,
			p person) {
			system(t).Admin(t).Delete(t, path(p, "/sessions")).Want(t, 200, ok)
		}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, "can_api", "can_su")
			session := system(t).Login(t, p.UUID)
			c.act(t, p)
			if a := session.Get(t, "/api/users"); a.Code != c.code {
				t.Errorf("got %d %s, want %d", a.Code, a.Body, c.code)
			}
		})
	}
}

func TestDecisionsPart2_ASwitchThatIsNoLongerAllowedEnds(t *testing.T) {
	for name, act := range map[string]func(t *testing.T, original, effective person){
		"the original user loses can_su": func(t *testing.T, original,
			_ person) {
			grant(t, original, "can_su", false)
		},
		"the effective user becomes an admin": func(t *testing.T, _,
			effective person) {
			grant(t, effective, "admin", true)
		},
		"the effective user is deleted": func(t *testing.T, _, effective person) {
			system(t).Admin(t).Delete(t, path(effective, "")).Want(t, 200, ok)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := newPerson(t, "can_api", "can_su"), newPerson(t)
			c := system(t).Login(t, a.UUID)
			switchTo(t, c, b.ID).Want(t, 200, ok)
			act(t, a, b)
			wantUser(t, c.Cookie(t), 0, "the switched session")
		})
	}
}

// TestDecisionsPart2_ADeathBetweenTheStoresDelaysSessionsByASecond writes what identity writes, and then does not
// refresh the sessions, as a process does that dies in between.
func TestDecisionsPart2_ADeathBetweenTheStoresDelaysSessionsByASecond(t *testing.T) {
	users := store.New(system(t).DB, mongostore.NewIDs(system(t).DB), nil, nil)
	for name, change := range map[string]func(*user.User){
		"deactivated": func(u *user.User) { u.Active = false },
		"can_api":     func(u *user.User) { u.Permissions.CanAPI = false },
		"new uuid": func(u *user.User) {
			u.UUIDHash, u.SessionsSince = user.HashUUID("another-uuid-of-"+u.Email), u.Version+1
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, "can_api")
			session := system(t).Login(t, p.UUID)
			if _, err := users.Change(t.Context(), p.ID,
				func(u *user.User) error { change(u); return nil }); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			for session.Get(t, "/sessions/1/whoami").Code == 200 {
				if time.Since(begun) > 10*time.Second {
					t.Fatal("the session lives on")
				}
				time.Sleep(20 * time.Millisecond)
			}
			if late := time.Since(begun); late > 2*time.Second {
				t.Errorf("the session ended after %v", late)
			}
		})
	}
}

// TestHardToBreak_Row07_AConfirmationSparesSessionsBegunSince lets sessions be confirmed after the user has logged in
// with a new uuid.
func TestHardToBreak_Row07_AConfirmationSparesSessionsBegunSince(t *testing.T) {
	p := newPerson(t, "can_api")
	var renewed struct{ UUID string }
	system(t).Admin(t).Post(t, path(p, "/uuid"), nil).Decode(t, &renewed)
	c := system(t).Login(t, renewed.UUID)
	for range 3 {
		before := confirmed(t)
		for deadline := time.Now().Add(time.Minute); confirmed(t) == before; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("no sessions are confirmed")
			}
		}
	}
	wantUser(t, c.Cookie(t), p.ID, "the session of the new uuid")
}

// confirmed is what Redis has of the last confirmation.
func confirmed(t *testing.T) string {
	t.Helper()
	text, err := system(t).Redis.Get(t.Context(), system(t).Prefix+"confirmed").Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	return text
}
