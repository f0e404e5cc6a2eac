package answers_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/redisstore"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const hold = time.Minute

func open(t *testing.T) (*answers.Store, *redis.Client, string) {
	t.Helper()
	client, prefix := storetest.Redis(t)
	s := answers.New(answers.Options{Redis: client, Keys: redisstore.Keys{Prefix: prefix},
		Secret: settings.NewSecret("the-secret")})
	return s, client, prefix
}

func key(key, body string) idempotency.Key {
	return idempotency.New(1, "POST /api/events", key, []byte(body))
}

// lock begins a request and ends the test unless it is the first try.
func lock(t *testing.T, s *answers.Store, k idempotency.Key, hold time.Duration) answers.Lock {
	t.Helper()
	answer, c, err := s.Begin(t.Context(), 1, k, hold)
	valuetest.MustHold(t, answer == nil && err == nil, "no first try: %+v, %v", answer, err)
	return c
}

func TestDecisionsPart1_ARetryGetsTheSameAnswer(t *testing.T) {
	s, client, prefix := open(t)
	want := answers.Answer{Code: 201, Body: []byte(`{"status":"Created","uuid":"something-secret"}`)}
	k := key("k", "a")
	errortest.None(t, s.Keep(t.Context(), lock(t, s, k, hold), want))
	got, _, err := s.Begin(t.Context(), 1, k, hold)
	errortest.None(t, err)
	valuetest.Equal(t, &want, got)
	if _, _, err := s.Begin(t.Context(), 1, key("k", "b"), hold); !problem.Is(err, problem.Conflict) {
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
	if _, _, err := s.Begin(t.Context(), 1, k, hold); !problem.Is(err, problem.Conflict) ||
		problem.As(err).RetryAfter <= 0 {
		t.Errorf("in progress: %v", err)
	}
	errortest.None(t, s.Release(t.Context(), released))
	late := lock(t, s, k, time.Millisecond)
	time.Sleep(20 * time.Millisecond)
	now := lock(t, s, k, hold)
	// An expired lock does not replace the entry of the lock's new holder.
	errortest.None(t, s.Keep(t.Context(), late, answers.Answer{Code: 200}))
	errortest.None(t, s.Release(t.Context(), late))
	if _, _, err := s.Begin(t.Context(), 1, k, hold); !problem.Is(err, problem.Conflict) {
		t.Errorf("the late one ended with: %v", err)
	}
	errortest.None(t, s.Keep(t.Context(), now, answers.Answer{Code: 200, Body: []byte("mine")}))
	if got, _, err := s.Begin(t.Context(), 1, k, hold); err != nil || string(got.Body) != "mine" {
		t.Errorf("%+v, %v", got, err)
	}
}

// The library sends a command again whose answer is lost. It then found its own lock, which no one ended.
func TestDecisionsPart1_ARequestWhoseLockIsAnsweredLateIsNotInItsOwnWay(t *testing.T) {
	client, prefix, lose := storetest.RedisLosing(t)
	s := answers.New(answers.Options{Redis: client, Keys: redisstore.Keys{Prefix: prefix},
		Secret: settings.NewSecret("the-secret")})
	lock(t, s, key("another", "a"), hold) // the server has the script
	lose()
	k := key("k", "a")
	errortest.None(t, s.Release(t.Context(), lock(t, s, k, hold)))
	lock(t, s, k, hold)
}

func TestALongAnswerIsNotRemembered(t *testing.T) {
	s, _, _ := open(t)
	k := key("k", "a")
	errortest.None(t, s.Keep(t.Context(), lock(t, s, k, hold), answers.Answer{Code: 200, Body: make([]byte, 64<<10+1)}))
	lock(t, s, k, hold)
}

func TestAnAnswerOfBeforeAChangeOfTheSecretIsDoneButLost(t *testing.T) {
	s, client, prefix := open(t)
	k := key("k", "a")
	errortest.None(t, s.Keep(t.Context(), lock(t, s, k, hold), answers.Answer{Code: 200}))
	other := answers.New(answers.Options{Redis: client, Keys: redisstore.Keys{Prefix: prefix},
		Secret: settings.NewSecret("another")})
	if _, _, err := other.Begin(t.Context(), 1, k, hold); !problem.Is(err, problem.Conflict) {
		t.Error(err)
	}
}

// keepOf keeps an answer of that many bytes for a user.
func keepOf(t *testing.T, s *answers.Store, user int64, header string, size int) idempotency.Key {
	t.Helper()
	k := idempotency.New(user, "POST /api/events", header, nil)
	answer, l, err := s.Begin(t.Context(), user, k, hold)
	if err == nil && answer == nil {
		err = s.Keep(t.Context(), l, answers.Answer{Code: 200, Body: make([]byte, size)})
	}
	errortest.None(t, err)
	return k
}

// memory is what Redis takes for all below the prefix.
func memory(t *testing.T, client *redis.Client, prefix string) (bytes int64) {
	t.Helper()
	for keys := client.Scan(t.Context(), 0, prefix+"*", 1000).Iterator(); keys.Next(t.Context()); {
		bytes += client.MemoryUsage(t.Context(), keys.Val(), 0).Val()
	}
	return bytes
}

func TestHardToBreak_Row03_TheAnswersOfAUserTakeAMebibyteAndTheOldestGoFirst(t *testing.T) {
	for size, kept := range map[int][2]int{10: {800, 2000}, 64 << 10: {8, 9}} {
		s, client, prefix := open(t)
		other := keepOf(t, s, 2, "k", 64<<10)
		var keys []idempotency.Key
		for i := range 2 * kept[1] {
			keys = append(keys, keepOf(t, s, 1, fmt.Sprint(i), size))
		}
		stored := func(k idempotency.Key) bool { return client.Exists(t.Context(), prefix+"answer:"+k.ID).Val() == 1 }
		n := 0
		for i, k := range keys {
			if stored(k) {
				n++
			} else if n > 0 {
				t.Errorf("%d bytes: answer %d is gone, an older one is not", size, i)
			}
		}
		if n < kept[0] || n > kept[1] || !stored(other) {
			t.Errorf("%d bytes: %d answers are kept, another user's: %t", size, n, stored(other))
		}
		bytes := memory(t, client, prefix) // with the other user's
		t.Logf("answers of %d bytes: %d are kept, Redis takes %d bytes", size, n, bytes)
		valuetest.Holds(t, bytes <= 1<<20+256<<10, "%d bytes: Redis takes %d", size, bytes)
		lock(t, s, key("0", ""), hold) // what is gone is a first try again: the record says that it was done
	}
}

// usedMemory is what a server says that it takes, in bytes.
func usedMemory(t *testing.T, client *redis.Client) (bytes int64) {
	t.Helper()
	info, err := client.InfoMap(t.Context(), "memory").Result()
	if err == nil {
		bytes, err = strconv.ParseInt(info["Memory"]["used_memory"], 10, 64)
	}
	errortest.None(t, err)
	return bytes
}

// TestHardToBreak_Row03_AHostileHourAddsLittle has users repeat the worst that one user can do, until more adds
// nothing: answers of all lengths, each under a key of its own. Time adds nothing either, since answers are kept for
// longer than an hour. Ten users stand for the forty of the promise.
func TestHardToBreak_Row03_AHostileHourAddsLittle(t *testing.T) {
	const users, limit = 10, 64 << 20 * 10 / 40
	client := storetest.StartRedis(t).Client()
	s := answers.New(answers.Options{Redis: client, Secret: settings.NewSecret("the-secret")})
	before, most := usedMemory(t, client), int64(0)
	for round, size := range []int{64 << 10, 48 << 10, 30 << 10, 64 << 10, 16 << 10, 4 << 10} {
		for user := range int64(users) {
			for i := range 3 << 20 / (size + 4096) / 2 { // more than the user may keep
				keepOf(t, s, 1+user, fmt.Sprint(round, i), size)
			}
		}
		most = max(most, usedMemory(t, client)-before)
	}
	t.Logf("%d users add %d bytes at most", users, most)
	valuetest.Holds(t, most <= limit, "Redis took %d bytes more, %d are allowed", most, limit)
}

func TestHardToBreak_Row03_AnswersThatExpiredTakeNothing(t *testing.T) {
	s, client, prefix := open(t)
	list := prefix + "answers:1"
	again := keepOf(t, s, 1, "again", 10)
	client.Del(t.Context(), list, list+":bytes")
	client.RPush(t.Context(), list, "1000 1048576 "+prefix+"answer:"+again.ID) // in 1970
	client.Set(t.Context(), list+":bytes", 1<<20, 0)
	next := keepOf(t, s, 1, "next", 10)
	for _, k := range []idempotency.Key{again, next} { // a request under the same key that came since has its answer
		valuetest.Same(t, client.Exists(t.Context(), prefix+"answer:"+k.ID).Val(), 1, "a young answer is gone")
	}
	bytes, err := client.Get(t.Context(), list+":bytes").Int()
	if err != nil || bytes > 2000 || client.LLen(t.Context(), list).Val() != 1 {
		t.Errorf("the old one still takes %d bytes, %v", bytes, err)
	}
	for _, name := range []string{list, list + ":bytes"} {
		if left := client.PTTL(t.Context(), name).Val(); left <= 0 || left > 24*time.Hour {
			t.Errorf("%s is kept for %v", name, left)
		}
	}
}
