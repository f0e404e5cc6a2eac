package session_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// perUser is how many sessions a user has at most (decisions, part 2).
const perUser = 20

// living returns how many of the sessions are there. It counts as their use.
func living(t *testing.T, s *session.Store, tokens []session.Token) int {
	t.Helper()
	n := 0
	for _, token := range tokens {
		switch _, err := s.Load(t.Context(), token); {
		case err == nil:
			n++
		case !errors.Is(err, session.ErrNone):
			t.Fatal(err)
		}
	}
	return n
}

// members returns how many sessions the set of a user has, dead ones included.
func members(t *testing.T, client redis.UniversalClient, prefix, user string) int64 {
	t.Helper()
	n, err := client.SCard(t.Context(), prefix+"user:"+user).Result()
	errortest.None(t, err)
	return n
}

func TestHardToBreak_Row10_AFurtherLoginEndsTheSessionUnusedLongest(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	other := create(t, s, session.Record{User: subject(2, 1)}, session.Token{})
	var tokens []session.Token
	for range perUser {
		tokens = append(tokens, create(t, s, session.Record{User: subject(1, 1)}, session.Token{}))
	}
	if n := living(t, s, tokens[:1]); n != 1 { // the oldest is used, so the second is unused longest
		t.Fatal("the first session ended too early")
	}
	fresh := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	wantNone(t, s, tokens[1], "the session unused longest")
	rest := append([]session.Token{tokens[0], fresh, other}, tokens[2:]...)
	valuetest.Same(t, living(t, s, rest), len(rest), "other sessions are there")
}

func TestHardToBreak_Row10_ManyLoginsAtOnceOverTwoReplicasLeaveTwentySessions(t *testing.T) {
	client, prefix := storetest.Redis(t)
	o := session.Options{Prefix: prefix, Idle: time.Hour, Absolute: time.Hour}
	replicas := []*session.Store{session.NewStore(client, o), session.NewStore(client, o)}
	tokens := make([]session.Token, 200)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() {
			token, err := replicas[i%2].Create(context.WithoutCancel(t.Context()),
				session.Record{User: subject(1, 1)}, session.Token{})
			errortest.Report(t, err)
			tokens[i] = token
		})
	}
	wg.Wait()
	valuetest.Same(t, living(t, replicas[0], tokens), perUser, "sessions are there")
	valuetest.Same(t, members(t, client, prefix, "1"), perUser, "members of the set of the user")
}

// TestHardToBreak_Row10_ASwitchedSessionIsOneOfWhoSwitched: a user loses no sessions because others switch to it.
func TestHardToBreak_Row10_ASwitchedSessionIsOneOfWhoSwitched(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	original := subject(1, 1)
	original.Permissions.CanSU = true
	own := create(t, s, session.Record{User: subject(2, 1)}, session.Token{})
	var switched []session.Token
	for range perUser + 5 {
		login := create(t, s, session.Record{User: original}, session.Token{})
		token, err := s.Rotate(t.Context(), session.Record{User: subject(2, 1), Original: &original}, login)
		errortest.None(t, err)
		switched = append(switched, token)
	}
	valuetest.Same(t, living(t, s, switched), perUser, "switched sessions are there")
	valuetest.Same(t, living(t, s, switched[5:]), perUser, "of the newest %d switched sessions are there", perUser)
	for range perUser - 1 {
		create(t, s, session.Record{User: subject(2, 1)}, session.Token{})
	}
	if living(t, s, []session.Token{own}) != 1 || living(t, s, switched[5:]) != perUser {
		t.Error("logins of the user switched to ended a session within their limit")
	}
}

func TestHardToBreak_Row10_ALoginRemovesDeadMembers(t *testing.T) {
	const idle = 200 * time.Millisecond
	client, prefix := storetest.Redis(t)
	s := session.NewStore(client, session.Options{Prefix: prefix, Idle: idle, Absolute: time.Hour})
	for range 5 {
		create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	}
	time.Sleep(2 * idle)
	create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	valuetest.Same(t, members(t, client, prefix, "1"), 1, "members of the set of the user, want the living one")
}

// TestHardToBreak_Row10_ASweepRemovesDeadMembers has more users than one script checks; half of them are the
// original user of a switched session, which is in two sets.
func TestHardToBreak_Row10_ASweepRemovesDeadMembers(t *testing.T) {
	const idle, users = time.Second, 250
	client, prefix := storetest.Redis(t)
	s := session.NewStore(client, session.Options{Prefix: prefix, Idle: idle, Absolute: time.Hour})
	for id := range int64(users) {
		r := session.Record{User: subject(id+2, 1)}
		if id%2 == 0 {
			original := subject(id+2+users, 1)
			r.Original = &original
		}
		create(t, s, r, session.Token{})
	}
	used := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	for end := time.Now().Add(2 * idle); time.Now().Before(end); time.Sleep(idle / 10) {
		valuetest.MustSame(t, living(t, s, []session.Token{used}), 1, "the used session ended")
	}
	removed, err := s.Sweep(t.Context())
	if want := users + users/2 + 1; err != nil || removed != want {
		t.Errorf("removed %d members, %v; want %d", removed, err, want)
	}
	sets, err := client.Keys(t.Context(), prefix+"user:*").Result()
	if err != nil || len(sets) != 1 || members(t, client, prefix, "1") != 1 {
		t.Errorf("sets %v, %v; want that of the user with a living session, with one member", sets, err)
	}
	// The live session is checked again when it may have expired; then nothing is left to check.
	time.Sleep(2 * idle)
	if removed, err := s.Sweep(t.Context()); err != nil || removed != 1 {
		t.Errorf("removed %d members, %v; want the last one", removed, err)
	}
	if keys, err := client.Keys(t.Context(), prefix+"*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("keys %v, %v stay behind", keys, err)
	}
}
