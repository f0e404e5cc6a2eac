// Package answers stores in Redis the answers to requests with an Idempotency-Key, so that a retry gets the same
// answer and nothing is done twice. An answer may hold a secret that is shown once, such as a user's uuid. It is
// encrypted with AES-256-GCM; the key is not in Redis. While the first try is in progress, Redis holds a lock in
// place of the answer. The lock expires when its holder dies.
//
// The answers kept for a user take at most a mebibyte of Redis; the oldest are dropped first. Without the answer, the
// records decide on a retry, as when Redis was lost.
//
// Keys, in a cluster all those of a user on one node: answer:<ID of the idempotency.Key>, a JSON text; answers:<user>,
// the list of a user's answers, the oldest first; answers:<user>:bytes, what they take.
package answers

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/redisstore"
	"github.com/belfry-schools/belfry/pkg/service/settings"
)

// maxBody is the largest body in bytes that is stored: Redis holds the sessions too and must not fill up. After a
// longer answer, the idempotency records in the documents decide on a retry.
const maxBody = 64 << 10

const (
	maxKept  = 1 << 20 // bytes of Redis for the answers of one user
	overhead = 384     // bytes that Redis takes for an answer besides its text, in the list too
)

// Answer is what a client was sent.
type Answer struct {
	Code int                 `json:"code"`
	Body []byte              `json:"body"`
	By   principal.Principal `json:"by"` // as it was when it got the answer

	Location string `json:"location,omitempty"`
}

// Store holds the answers of a deployment. It is safe for concurrent use by any number of processes. Its calls
// return Unavailable when Redis cannot be reached.
type Store struct {
	redis  redis.UniversalClient
	keys   redisstore.Keys
	secret settings.Secret
}

// Options of New. All are required.
type Options struct {
	Redis  redis.UniversalClient
	Keys   redisstore.Keys // of the deployment
	Secret settings.Secret // encrypts the answers: the same in every process
}

// New returns the store of the answers in that Redis.
func New(o Options) *Store { return &Store{o.Redis, o.Keys, o.Secret} }

// entry is what Redis holds: a lock, or an answer.
type entry struct {
	Body   string `json:"body"`             // hash of the request's body
	Holder string `json:"holder,omitempty"` // of a lock: unique to it
	Sealed []byte `json:"sealed,omitempty"` // the answer
}

// Lock is held by the process that answers a request for the first time.
type Lock struct {
	user int64
	key  idempotency.Key
	text string
}

// prefix is that of all keys of a user.
func (s *Store) prefix(user int64) string { return s.keys.Together(fmt.Sprintf("answers:%d", user)) }

func (s *Store) name(user int64, k idempotency.Key) string { return s.prefix(user) + "answer:" + k.ID }

// begin returns the entry, or takes the lock when there is none. When its answer is lost, the library sends it again:
// then the entry is this lock. KEYS: the entry; ARGV: the lock, its lifetime in ms.
var begin = redis.NewScript(`
local stored = redis.call('GET', KEYS[1])
if stored == ARGV[1] then return false end
if not stored then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return stored`)

// Begin returns the answer that the user's request got before or, for the first try, nil and a lock with that lifetime.
// Conflict when the key was used with another body or its first try is under way.
func (s *Store) Begin(ctx context.Context, user int64, k idempotency.Key, hold time.Duration) (*Answer, Lock, error) {
	lock, err := json.Marshal(entry{Body: k.Body, Holder: rand.Text()})
	if err != nil {
		return nil, Lock{}, fmt.Errorf("encode a lock: %w", err)
	}
	text, err := begin.Run(ctx, s.redis, []string{s.name(user, k)}, lock, hold.Milliseconds()).Text()
	if errors.Is(err, redis.Nil) {
		return nil, Lock{user, k, string(lock)}, nil
	}
	if err != nil {
		return nil, Lock{}, problem.Wrap(problem.Unavailable, err, "")
	}
	var stored entry
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return nil, Lock{}, fmt.Errorf("decode an answer: %w", err)
	}
	if err := k.Repeats(idempotency.Key{ID: k.ID, Body: stored.Body}); err != nil {
		return nil, Lock{}, err
	}
	if stored.Sealed == nil {
		return nil, Lock{}, idempotency.InProgress()
	}
	answer, err := s.open(k, stored.Sealed)
	return answer, Lock{}, err
}

// keep replaces a lock by an answer, unless the lock has expired, and drops the user's oldest answers while all take
// too much. KEYS: the entry, the user's list, its bytes; ARGV: the lock, the answer, how long it is kept in
// milliseconds, the overhead of one, how much they may take.
var keep = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local size = #ARGV[2] + ARGV[4]
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('RPUSH', KEYS[2], string.format('%.0f %d %s', now + ARGV[3], size, KEYS[1]))
local total = redis.call('INCRBY', KEYS[3], size)
while true do
  local expires, taken, name = string.match(redis.call('LINDEX', KEYS[2], 0) or '', '^(%d+) (%d+) (.*)$')
  if not name then break end
  local expired = tonumber(expires) <= now
  if not expired and total <= tonumber(ARGV[5]) then break end
  if not expired then redis.call('DEL', name) end
  redis.call('LPOP', KEYS[2])
  total = redis.call('DECRBY', KEYS[3], taken)
end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('PEXPIRE', KEYS[3], ARGV[3])
return 1`)

// release removes a lock unless it has expired. KEYS: the entry; ARGV: the lock.
var release = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`)

// Keep remembers the answer for idempotency.Lifetime and releases the lock; an answer that is too long is not
// remembered. The user's oldest answers are dropped while all of them take too much.
func (s *Store) Keep(ctx context.Context, l Lock, a Answer) error {
	if len(a.Body) > maxBody {
		return s.Release(ctx, l)
	}
	sealed, err := s.seal(l.key, a)
	if err != nil {
		return err
	}
	kept, err := json.Marshal(entry{Body: l.key.Body, Sealed: sealed})
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	list := fmt.Sprintf("%sanswers:%d", s.prefix(l.user), l.user)
	keys := []string{s.name(l.user, l.key), list, list + ":bytes"}
	lifetime := idempotency.Lifetime.Milliseconds()
	return unavailable(keep.Run(ctx, s.redis, keys, l.text, string(kept), lifetime, overhead, maxKept).Err())
}

// Release releases the lock without an answer: the next try is a first one.
func (s *Store) Release(ctx context.Context, l Lock) error {
	return unavailable(release.Run(ctx, s.redis, []string{s.name(l.user, l.key)}, l.text).Err())
}

// unavailable turns an error of Redis into the problem that clients see.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return problem.Wrap(problem.Unavailable, err, "")
}

func (s *Store) seal(k idempotency.Key, a Answer) ([]byte, error) {
	aead, err := s.aead(k)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	return aead.Seal(nil, nil, text, nil), nil //nolint:gosec // the nonce is not nil: this cipher draws it by itself
}

// open decrypts an answer. When it was encrypted with an earlier secret, open returns Conflict, since the request
// has been done.
func (s *Store) open(k idempotency.Key, sealed []byte) (*Answer, error) {
	aead, err := s.aead(k)
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, idempotency.Lost(err)
	}
	var a Answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, fmt.Errorf("decode an answer: %w", err)
	}
	return &a, nil
}

// aead returns the cipher for an idempotency.Key. Each Key has a cipher key of its own. A random nonce precedes the
// ciphertext.
func (s *Store) aead(k idempotency.Key) (cipher.AEAD, error) {
	mac := hmac.New(sha256.New, []byte(s.secret.Reveal()))
	mac.Write([]byte("answer|" + k.ID))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		return nil, fmt.Errorf("make a cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make a cipher: %w", err)
	}
	return aead, nil
}

// kept returns the names of a user's answers, and each one's entry after it. KEYS: the user's list.
var kept = redis.NewScript(`
local all, i = {}, 0
while true do
  local line = redis.call('LINDEX', KEYS[1], i)
  if not line then return all end
  local name = string.match(line, '^%d+ %d+ (.*)$')
  local text = name and redis.call('GET', name)
  if text then
    table.insert(all, name)
    table.insert(all, text)
  end
  i = i + 1
end`)

// Erase drops those of a user's answers in whose body something is found, and returns how many. The records then decide
// on a retry. Answers that were kept with an earlier secret can't be read.
func (s *Store) Erase(ctx context.Context, user int64, in func(body []byte) bool) (int, error) {
	list := fmt.Sprintf("%sanswers:%d", s.prefix(user), user)
	all, err := kept.Run(ctx, s.redis, []string{list}).StringSlice()
	if err != nil {
		return 0, problem.Wrap(problem.Unavailable, err, "")
	}
	forgotten := 0
	for i := 0; i+1 < len(all); i += 2 {
		name, text := all[i], all[i+1]
		var stored entry
		if err := json.Unmarshal([]byte(text), &stored); err != nil || stored.Sealed == nil {
			continue
		}
		answer, err := s.open(idempotency.Key{ID: strings.TrimPrefix(name, s.prefix(user)+"answer:")}, stored.Sealed)
		if err != nil || !in(answer.Body) {
			continue
		}
		if err := s.redis.Del(ctx, name).Err(); err != nil {
			return forgotten, problem.Wrap(problem.Unavailable, err, "")
		}
		forgotten++
	}
	return forgotten, nil
}
