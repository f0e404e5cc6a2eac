package session_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func newStore(t *testing.T, idle, absolute time.Duration) *session.Store {
	t.Helper()
	client, prefix := storetest.Redis(t)
	return session.NewStore(client, session.Options{Prefix: prefix, Idle: idle, Absolute: absolute})
}

func subject(id, version int64) session.Subject {
	return session.Subject{UserID: id, Version: version, Kind: principal.Staff, ElementID: 11,
		Permissions: principal.Permissions{CanAPI: true, CanAddNotes: true}, Active: true}
}

func create(t *testing.T, s *session.Store, r session.Record, replaces session.Token) session.Token {
	t.Helper()
	token, err := s.Create(t.Context(), r, replaces)
	errortest.None(t, err)
	return token
}

func wantNone(t *testing.T, s *session.Store, token session.Token, why string) {
	t.Helper()
	errortest.Is(t, errortest.Of(s.Load(t.Context(), token)), session.ErrNone, "%s, want ErrNone", why)
}

func TestDecisionsPart2_ASessionCarriesThePermissions(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	token := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	r, err := s.Load(t.Context(), token)
	errortest.None(t, err)
	p := r.Principal()
	if p.UserID != 1 || p.Switched() || !p.MayUseAPI || !p.Permissions.CanAddNotes || p.Permissions.CanSU ||
		p.ElementID != 11 {
		t.Errorf("principal %+v", p)
	}
}

func TestPart5_8_WhileSwitchedTheOriginalUserDecidesOnTheAPI(t *testing.T) {
	noAPI := subject(2, 1)
	noAPI.Permissions.CanAPI = false
	original := subject(1, 1)
	p := session.Record{User: noAPI, Original: &original}.Principal()
	valuetest.Holds(t, p.MayUseAPI && p.OriginalID == 1 && p.UserID == 2, "principal %+v", p)
	if p := (session.Record{User: noAPI}).Principal(); p.MayUseAPI {
		t.Error("a user without can_api may use the API")
	}
}

func TestDecisionsPart2_ANewSessionEndsTheOldOne(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	old := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	fresh := create(t, s, session.Record{User: subject(1, 1)}, old)
	wantNone(t, s, old, "the replaced session")
	errortest.Report(t, errortest.Of(s.Load(t.Context(), fresh)))
	for _, holder := range []int64{1, 0} { // the second time it has ended
		held, err := s.Find(t.Context(), fresh)
		errortest.None(t, err)
		valuetest.Same(t, held.UserID, holder, "whose session it is")
		errortest.None(t, s.End(t.Context(), fresh.Hash()))
		wantNone(t, s, fresh, "the ended session")
	}
}

func TestDecisionsPart2_IdleAndAbsoluteEnd(t *testing.T) {
	const idle, absolute = 300 * time.Millisecond, 700 * time.Millisecond
	s := newStore(t, idle, absolute)
	unused := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	used := create(t, s, session.Record{User: subject(2, 1)}, session.Token{})
	begun := time.Now()
	uses := 0
	for {
		_, err := s.Load(t.Context(), used)
		if errors.Is(err, session.ErrNone) {
			break
		}
		errortest.None(t, err)
		if uses++; time.Since(begun) > 10*absolute {
			t.Fatal("use keeps a session beyond its absolute end")
		}
		time.Sleep(idle / 10)
	}
	if lived := time.Since(begun); lived < idle {
		t.Errorf("a used session ended after %v, before even its idle time", lived)
	}
	wantNone(t, s, unused, "an unused session")
}

// A switch or a revert began another absolute lifetime, so a user with can_su could stay logged in for ever.
func TestDecisionsPart2_ASwitchKeepsTheAbsoluteEnd(t *testing.T) {
	const absolute = 500 * time.Millisecond
	s := newStore(t, time.Hour, absolute)
	token := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	for begun := time.Now(); time.Since(begun) < 4*absolute; time.Sleep(absolute / 10) {
		next, err := s.Rotate(t.Context(), session.Record{User: subject(1, 1)}, token)
		if errors.Is(err, session.ErrNone) {
			wantNone(t, s, token, "a session at its absolute end")
			return
		}
		errortest.None(t, err)
		token = next
	}
	t.Error("switches keep a session beyond its absolute end")
}

// ownAndSwitched returns a session of user 1, and one in which that user, as original, acts as user 2.
func ownAndSwitched(t *testing.T, s *session.Store) (own, switched session.Token, original session.Subject) {
	t.Helper()
	own = create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	original = subject(1, 1)
	original.Permissions.CanSU = true
	switched = create(t, s, session.Record{User: subject(2, 1), Original: &original}, session.Token{})
	return own, switched, original
}

func TestDecisionsPart2_PermissionsAreReadLive(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	own, switched, _ := ownAndSwitched(t, s)
	other := create(t, s, session.Record{User: subject(3, 1)}, session.Token{})

	lesser := subject(1, 2)
	lesser.Permissions = principal.Permissions{CanSU: true}
	if touched, err := s.Refresh(t.Context(), lesser); err != nil || touched != 2 {
		t.Fatalf("touched %d, %v", touched, err)
	}
	for name, token := range map[string]session.Token{"own": own, "switched": switched} {
		if r, err := s.Load(t.Context(), token); err != nil || r.Principal().MayUseAPI {
			t.Errorf("%s: still may use the API (%v)", name, err)
		}
	}
	if r, err := s.Load(t.Context(), switched); err != nil || !reflect.DeepEqual(r.User, subject(2, 1)) {
		t.Errorf("the effective user changed: %+v, %v", r.User, err)
	}
	inactive := lesser
	inactive.Version, inactive.Active = 3, false
	if touched, err := s.Refresh(t.Context(), inactive); err != nil || touched != 2 {
		t.Fatalf("touched %d, %v", touched, err)
	}
	wantNone(t, s, own, "a session of an inactive user")
	wantNone(t, s, switched, "a session that an inactive user switched")
	errortest.Report(t, errortest.Of(s.Load(t.Context(), other)), "another user's session")
}

func TestALoginThatReadTheUserBeforeAChangeIsRefused(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	_, err := s.Refresh(t.Context(), subject(1, 5))
	errortest.None(t, err)
	_, err = s.Create(t.Context(), session.Record{User: subject(1, 4)}, session.Token{})
	errortest.Is(t, err, session.ErrStale, "want ErrStale")
	token := create(t, s, session.Record{User: subject(1, 5)}, session.Token{})
	late := subject(1, 4)
	late.Active = false
	if touched, err := s.Refresh(t.Context(), late); err != nil || touched != 0 {
		t.Errorf("an older version touched %d sessions, %v", touched, err)
	}
	errortest.Report(t, errortest.Of(s.Load(t.Context(), token)))
}

func TestARotationRacedByManyLeavesNoSecondOldSession(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	old := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	tokens := make([]session.Token, 20)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() {
			token, err := s.Create(context.WithoutCancel(t.Context()), session.Record{User: subject(1, 1)}, old)
			errortest.Report(t, err)
			tokens[i] = token
		})
	}
	wg.Wait()
	wantNone(t, s, old, "the rotated session")
	over := subject(1, 2)
	over.Since = 2
	if ended, err := s.Refresh(t.Context(), over); err != nil || ended != len(tokens) {
		t.Errorf("ended %d sessions, %v; want %d", ended, err, len(tokens))
	}
}

func TestPart5_7_OfManyRotationsOfOneSessionOneSucceeds(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	old := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	var made, refused atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			switch _, err := s.Rotate(context.WithoutCancel(t.Context()), session.Record{User: subject(1, 1)}, old); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, session.ErrNone):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || refused.Load() != 19 {
		t.Errorf("%d succeeded and %d were refused; want 1 and 19", made.Load(), refused.Load())
	}
	wantNone(t, s, old, "the rotated session")
}

// The library sends a command again whose answer is lost. The second time, the session to be replaced has ended, so a
// switch was answered with 401, and its user had no session any more.
func TestPart5_7_ASwitchWhoseAnswerFromRedisIsLostGivesTheNewSession(t *testing.T) {
	client, prefix, lose := storetest.RedisLosing(t)
	s := session.NewStore(client, session.Options{Prefix: prefix, Idle: time.Hour, Absolute: time.Hour})
	old := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	lose()
	original := subject(1, 1)
	fresh, err := s.Rotate(t.Context(), session.Record{User: subject(2, 1), Original: &original}, old)
	errortest.None(t, err)
	wantNone(t, s, old, "the replaced session")
	errortest.Report(t, errortest.Of(s.Load(t.Context(), fresh)))
}

func TestSessionsOlderThanSinceEnd_AndARepeatSparesNewerOnes(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	own, switched, original := ownAndSwitched(t, s)
	changed := original
	changed.Version, changed.Since = 2, 2
	if touched, err := s.Refresh(t.Context(), changed); err != nil || touched != 2 {
		t.Fatalf("touched %d, %v", touched, err)
	}
	wantNone(t, s, own, "a session from before")
	wantNone(t, s, switched, "a switched session from before")
	fresh := create(t, s, session.Record{User: changed}, session.Token{})
	later := changed
	later.Version = 3
	for _, again := range []session.Subject{changed, later, later} {
		errortest.None(t, errortest.Of(s.Refresh(t.Context(), again)))
	}
	errortest.Report(t, errortest.Of(s.Load(t.Context(), fresh)), "a session from after it")
}

func TestDecisionsPart2_ASwitchThatIsNoLongerAllowedEnds(t *testing.T) {
	type change func(user, original *session.Subject) *session.Subject
	for name, c := range map[string]struct {
		change change
		ends   bool
	}{
		"the original user loses can_su": {
			func(_, o *session.Subject) *session.Subject { o.Permissions.CanSU = false; return o }, true},
		"the original user loses can_su but is an admin": {func(_, o *session.Subject) *session.Subject {
			o.Permissions.CanSU, o.Permissions.Admin = false, true
			return o
		}, false},
		"the effective user becomes an admin": {
			func(u, _ *session.Subject) *session.Subject { u.Permissions.Admin = true; return u }, true},
		"the effective user loses everything": {
			func(u, _ *session.Subject) *session.Subject { u.Permissions = principal.Permissions{}; return u }, false},
		"the original user loses something minor": {
			func(_, o *session.Subject) *session.Subject { o.Permissions.CanAddNotes = false; return o }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, time.Hour, time.Hour)
			user, original := subject(2, 1), subject(1, 1)
			original.Permissions.CanSU = true
			token := create(t, s, session.Record{User: user, Original: &original}, session.Token{})
			changed := *c.change(&user, &original)
			changed.Version++
			if touched, err := s.Refresh(t.Context(), changed); err != nil || touched != 1 {
				t.Fatalf("touched %d, %v", touched, err)
			}
			_, err := s.Load(t.Context(), token)
			valuetest.Same(t, errors.Is(err, session.ErrNone), c.ends, "got %v; ends: %t", err, c.ends)
		})
	}
}

func TestTokensAreOpaqueAndOnlyHashedInTheStore(t *testing.T) {
	client, prefix := storetest.Redis(t)
	s := session.NewStore(client, session.Options{Prefix: prefix, Idle: time.Hour, Absolute: time.Hour})
	token := create(t, s, session.Record{User: subject(1, 1)}, session.Token{})
	if parsed, ok := session.ParseToken(token.Reveal()); !ok || parsed != token {
		t.Error("a token does not parse back")
	}
	valuetest.Lacks(t, fmt.Sprintf("%v %+v %#v %s", token, token, token, token), token.Reveal(),
		"a token prints itself")
	for _, bad := range []string{"", "x", token.Reveal() + "A", token.Reveal()[1:], strings.Repeat("!", 43),
		strings.Repeat("A", 42) + "B"} {
		if _, ok := session.ParseToken(bad); ok {
			t.Errorf("%q passes as a token", bad)
		}
	}
	keys, err := client.Keys(t.Context(), prefix+"*").Result()
	valuetest.MustHold(t, err == nil && len(keys) != 0, "keys %v, %v", keys, err)
	for _, key := range keys {
		valuetest.Lacks(t, key, token.Reveal(), "a key holds the raw id")
	}
}
