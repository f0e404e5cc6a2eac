package store

import (
	"context"
	"testing"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
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
		errortest.Report(t, errortest.Of(s.Change(ctx, p.ID, func(u *user.User) error { decide(u); return nil })))
	}
	lead := func() {
		t.Helper()
		errortest.Report(t, s.WithLease(ctx, func(context.Context) error { return nil }))
	}
	end := func(session string) {
		t.Helper()
		errortest.Report(t, s.MarkEnded(ctx, p.ID, session))
	}
	change(func(u *user.User) { u.Permissions.CanSU = true }) // so that an entry and a message are pending
	use := func() {
		t.Helper()
		errortest.Report(t, s.MarkUsed(ctx, p.ID, 1))
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
