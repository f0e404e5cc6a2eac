package store

import (
	"context"
	"testing"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// A user gets all that it may hold, and fields of a later release at every level. Then all that this release writes
// to it runs.
func TestHardToBreak_Row09_NoWriteLosesWhatItDoesNotKnow(t *testing.T) {
	s, db := open(t)
	ctx := audit.WithActor(t.Context(), audit.Actor{User: 7})
	p := person(1)
	insert(t, s, p)
	change := func(decide func(*user.User)) {
		t.Helper()
		if _, err := s.Change(ctx, p.ID, func(u *user.User) error { decide(u); return nil }); err != nil {
			t.Error(err)
		}
	}
	lead := func() {
		t.Helper()
		if err := s.WithLease(ctx, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	end := func(session string) {
		t.Helper()
		if err := s.MarkEnded(ctx, p.ID, session); err != nil {
			t.Error(err)
		}
	}
	change(func(u *user.User) { u.Permissions.CanSU = true }) // so that an entry and a message are pending
	use := func() {
		t.Helper()
		if err := s.MarkUsed(ctx, p.ID, 1); err != nil {
			t.Error(err)
		}
	}
	lead()
	end("one")
	use()
	kept := storetest.AddUnknown(t, db, storetest.Unknown{
		Filled:    []string{"users", "user_leases", "ended_sessions", "token_uses"},
		Unchanged: []string{"counters", "identity_audit"},
	})
	change(func(u *user.User) { u.Name += "!" })
	change(func(u *user.User) { u.Permissions.Admin = false })
	change(func(u *user.User) { u.Key, u.ImportHash, u.ElementID = "", "", 0 })
	lead()
	end("another")
	use()
	kept()
}
