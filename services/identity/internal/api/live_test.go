package api_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/identity/internal/store"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// TestDecisionsPart2_PermissionsAreReadLive allows no time at all: the sessions follow before a change is answered.
func TestDecisionsPart2_PermissionsAreReadLive(t *testing.T) {
	type step struct {
		act  act
		code int // of a user lookup afterwards
	}
	steps := map[string]step{
		"nothing":         {changing(), 200},
		"name":            {changing(map[string]any{"name": "Other"}), 200},
		"given already":   {changing(granted("can_su", true)), 200},
		"can_su":          {changing(granted("can_su", false)), 403},
		"can_su and back": {changing(granted("can_su", false), granted("can_su", true)), 200},
	}
	for name, end := range endings {
		steps[name] = step{end, 401}
	}
	for name, c := range steps {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, "can_api", "can_su")
			session := system(t).Login(t, p.UUID)
			c.act(t, system(t).Admin(t), p)
			session.Get(t, "/api/users").WantCode(t, c.code)
		})
	}
}

func TestDecisionsPart2_ASwitchThatIsNoLongerAllowedEnds(t *testing.T) {
	for name, c := range map[string]struct {
		act        act
		ofOriginal bool
	}{
		"the original user loses can_su":      {changing(granted("can_su", false)), true},
		"the effective user becomes an admin": {changing(granted("admin", true)), false},
		"the effective user is deleted":       {endings["deleted"], false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := newPerson(t, "can_api", "can_su"), newPerson(t)
			client, of := system(t).Login(t, a.UUID), b
			if c.ofOriginal {
				of = a
			}
			switchTo(t, client, b.ID).Want(t, 200, ok)
			c.act(t, system(t).Admin(t), of)
			wantUser(t, client.Cookie(t), 0, "the switched session")
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
			errortest.None(t,
				errortest.Of(users.Change(t.Context(), p.ID, func(u *user.User) error { change(u); return nil })))
			begun := time.Now()
			for session.Get(t, "/sessions/1/whoami").Code == 200 {
				valuetest.MustHold(t, time.Since(begun) <= 10*time.Second, "the session lives on")
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
	c := system(t).Login(t, system(t).Admin(t).Post(t, path(p, "/uuid"), nil).Text(t, "uuid"))
	for range 3 {
		before := confirmed(t)
		timetest.Eventually(t, "sessions are confirmed", time.Minute, func() bool { return confirmed(t) != before })
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
