package answers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/settings"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

const hold = time.Minute

func open(t *testing.T) (*answers.Store, *redis.Client, string) {
	t.Helper()
	client, prefix := storetest.Redis(t)
	s := answers.New(answers.Options{Redis: client, Prefix: prefix, Secret: settings.NewSecret("the-secret")})
	return s, client, prefix
}

func key(key, body string) idempotency.Key {
	return idempotency.New(1, "POST /api/events", key, []byte(body))
}

// lock begins a request that must be a first try.
func lock(t *testing.T, s *answers.Store, k idempotency.Key, hold time.Duration) answers.Lock {
	t.Helper()
	answer, c, err := s.Begin(t.Context(), k, hold)
	if answer != nil || err != nil {
		t.Fatalf("no first try: %+v, %v", answer, err)
	}
	return c
}

func TestDecisionsPart1_ARetryGetsTheSameAnswer(t *testing.T) {
	s, client, prefix := open(t)
	want := answers.Answer{Code: 201, Body: []byte(`{"status":"Created","uuid":"something-secret"}`)}
	k := key("k", "a")
	if err := s.Keep(t.Context(), lock(t, s, k, hold), want); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.Begin(t.Context(), k, hold)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	if _, _, err := s.Begin(t.Context(), key("k", "b"), hold); !problem.Is(err, problem.Conflict) {
		t.Errorf("another body: %v", err)
	}
	lock(t, s, key("l", "a"), hold)

	stored, err := client.Get(t.Context(), prefix+"answer:"+k.ID).Result()
	if err != nil || strings.Contains(stored, "secret") || strings.Contains(stored, "Created") {
		t.Errorf("Redis shows the answer: %s, %v", stored, err)
	}
	left, err := client.PTTL(t.Context(), prefix+"answer:"+k.ID).Result()
	if err != nil || left > 24*time.Hour || left < 24*time.Hour-time.Minute {
		t.Errorf("kept for %v, %v", left, err)
	}
}

func TestDecisionsPart1_ARequestInProgressIsAConflictUntilItIsReleasedOrItsHolderHasDied(t *testing.T) {
	s, _, _ := open(t)
	k := key("k", "a")
	released := lock(t, s, k, hold)
	if _, _, err := s.Begin(t.Context(), k, hold); !problem.Is(err, problem.Conflict) ||
		problem.As(err).RetryAfter <= 0 {
		t.Errorf("in progress: %v", err)
	}
	if err := s.Release(t.Context(), released); err != nil {
		t.Fatal(err)
	}
	late := lock(t, s, k, time.Millisecond)
	time.Sleep(20 * time.Millisecond)
	now := lock(t, s, k, hold)
	// Whoever was too slow does not answer for the one who has the lock now.
	if err := s.Keep(t.Context(), late, answers.Answer{Code: 200}); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Begin(t.Context(), k, hold); !problem.Is(err, problem.Conflict) {
		t.Errorf("the late one settled: %v", err)
	}
	if err := s.Keep(t.Context(), now, answers.Answer{Code: 200, Body: []byte("mine")}); err != nil {
		t.Fatal(err)
	}
	if got, _, err := s.Begin(t.Context(), k, hold); err != nil || string(got.Body) != "mine" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestALongAnswerIsNotRemembered(t *testing.T) {
	s, _, _ := open(t)
	k := key("k", "a")
	if err := s.Keep(t.Context(), lock(t, s, k, hold),
		answers.Answer{Code: 200, Body: make([]byte, 64<<10+1)}); err != nil {
		t.Fatal(err)
	}
	lock(t, s, k, hold)
}

func TestAnAnswerOfBeforeAChangeOfTheSecretIsDoneButLost(t *testing.T) {
	s, client, prefix := open(t)
	k := key("k", "a")
	if err := s.Keep(t.Context(), lock(t, s, k, hold), answers.Answer{Code: 200}); err != nil {
		t.Fatal(err)
	}
	other := answers.New(answers.Options{Redis: client, Prefix: prefix, Secret: settings.NewSecret("another")})
	if _, _, err := other.Begin(t.Context(), k, hold); !problem.Is(err, problem.Conflict) {
		t.Error(err)
	}
}
