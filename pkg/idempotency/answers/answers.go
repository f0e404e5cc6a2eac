// Package answers remembers in Redis what was answered to requests that carry an Idempotency-Key, so that a retry
// gets the same answer and nothing is done twice. An answer may hold what must be shown once (a user's uuid): it is
// sealed with AES-256-GCM under a key that Redis does not know. While the first try is under way Redis holds a lock
// in the answer's place, which expires when its holder dies.
//
// Keys, all below the store's prefix: answer:<ID of the idempotency.Key>, a JSON text.
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
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/settings"
)

// maxBody bounds the answers that are remembered: Redis holds the sessions too, and must not fill up. A retry of
// what had a longer one is decided by what the records themselves say.
const maxBody = 64 << 10

// Answer is what a client was sent.
type Answer struct {
	Code int    `json:"code"`
	Body []byte `json:"body"`
}

// Store is the answers of a deployment. It is safe for concurrent use by any number of processes. When Redis is
// away its calls are Unavailable.
type Store struct {
	redis  redis.UniversalClient
	prefix string
	secret settings.Secret
}

// Options are what a Store is made of.
type Options struct {
	Redis  redis.UniversalClient
	Prefix string          // of the keys in Redis
	Secret settings.Secret // what answers are sealed with: the same in every process
}

// New returns the answers that Redis holds.
func New(o Options) *Store { return &Store{o.Redis, o.Prefix, o.Secret} }

// entry is what Redis holds: a lock, or an answer.
type entry struct {
	Body   string `json:"body"`             // hash of the request's body
	Holder string `json:"holder,omitempty"` // of a lock: tells it from any other
	Sealed []byte `json:"sealed,omitempty"` // the answer
}

// Lock is the right to answer a request for the first time.
type Lock struct {
	key  idempotency.Key
	text string
}

func (s *Store) name(k idempotency.Key) string { return s.prefix + "answer:" + k.ID }

// begin returns what there is, or takes the lock. KEYS: the entry; ARGV: the lock, how long it holds in milliseconds.
var begin = redis.NewScript(`
local stored = redis.call('GET', KEYS[1])
if not stored then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return stored`)

// Begin returns the answer that the request got before; or, for the first try, nil and a lock that holds for that
// long. Conflict when the key was used with another body or its first try is under way. One round trip.
func (s *Store) Begin(ctx context.Context, k idempotency.Key, hold time.Duration) (*Answer, Lock, error) {
	lock, err := json.Marshal(entry{Body: k.Body, Holder: rand.Text()})
	if err != nil {
		return nil, Lock{}, fmt.Errorf("encode a lock: %w", err)
	}
	text, err := begin.Run(ctx, s.redis, []string{s.name(k)}, lock, hold.Milliseconds()).Text()
	if errors.Is(err, redis.Nil) {
		return nil, Lock{k, string(lock)}, nil
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

// replace puts an entry, or nothing, in a lock's place, unless the lock has expired. KEYS: the entry; ARGV: the
// lock, the new entry or ”, how long it is kept in milliseconds.
var replace = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`)

// Keep remembers the answer for idempotency.Lifetime and releases the lock; an answer that is too long is not
// remembered. One round trip.
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
	return s.replace(ctx, l, string(kept))
}

// Release releases the lock without an answer: the next try is a first one. One round trip.
func (s *Store) Release(ctx context.Context, l Lock) error { return s.replace(ctx, l, "") }

func (s *Store) replace(ctx context.Context, l Lock, kept string) error {
	if err := replace.Run(ctx, s.redis, []string{s.name(l.key)}, l.text, kept,
		idempotency.Lifetime.Milliseconds()).Err(); err != nil {
		return problem.Wrap(problem.Unavailable, err, "")
	}
	return nil
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

// open returns a sealed answer. One of before a change of the secret can't be read: it is a Conflict, for what was
// asked for is done.
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

// aead has a cipher key for each idempotency.Key, and puts a random nonce before what it seals.
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
