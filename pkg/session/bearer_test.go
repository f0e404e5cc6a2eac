package session_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

const aToken = principal.TokenPrefix + "MFRGGZDFMZTWQ2LKMNWG23TPOBYXE43UOV3HO6DZPI2DKNRXHA4T"

// A token is known until its user changes: then identity is asked again, and an answer from before the change is not
// kept.
func TestTokens_WhatChangesAUserEndsWhatIsKnownOfItsTokens(t *testing.T) {
	s := newStore(t, time.Hour, time.Hour)
	token, is := session.ParseBearer(aToken)
	if !is {
		t.Fatal("it is no token")
	}
	asked := 0
	s.OpenTokensBy(func(context.Context, string, string) (session.Opened, error) {
		asked++
		return session.Opened{}, nil
	})
	acts := func() bool {
		t.Helper()
		opened, err := s.LoadBearer(t.Context(), token, "192.0.2.1")
		errortest.None(t, err)
		return opened.Record != nil && opened.Record.Principal().Token.ID == 17
	}
	keep := func(version int64, ends time.Time) error {
		r := session.Record{User: subject(1, version), Token: principal.Token{ID: 17, Scope: principal.Read}}
		return s.KeepBearer(t.Context(), token.Hash(), r, ends)
	}
	later := time.Now().Add(time.Hour)
	if acts() || asked != 1 {
		t.Error("an unknown token acts")
	}
	if err := keep(1, later); err != nil || !acts() || asked != 1 {
		t.Errorf("the token does not act: %v", err)
	}
	errortest.Is(t, errortest.Of(s.Load(t.Context(), token)), session.ErrNone, "it is a session too")
	errortest.None(t, errortest.Of(s.Refresh(t.Context(), subject(1, 2))))
	if acts() || asked != 2 {
		t.Error("it acts as the user was before")
	}
	if err := keep(1, later); !errors.Is(err, session.ErrStale) || acts() {
		t.Errorf("an old answer is kept: %v", err)
	}
	errortest.None(t, keep(2, time.Now().Add(-time.Hour)))
	timetest.Eventually(t, "its end", 10*time.Second, func() bool { return !acts() })
}

func TestTokens_OnlyTextsOfTheirFormAreTokens(t *testing.T) {
	for _, text := range []string{
		"", "belfry_", aToken + "A", aToken[:len(aToken)-1] + "1", "Belfry_" + aToken[7:], aToken[7:],
	} {
		if _, is := session.ParseBearer(text); is {
			t.Errorf("%q is one", text)
		}
	}
	if token, is := session.ParseBearer(aToken); !is || token.String() == aToken {
		t.Error("a token is none, or prints")
	}
}
