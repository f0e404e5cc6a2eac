// Package answers stores in Redis the answers to requests with an Idempotency-Key, so that a retry gets the same
// answer and nothing is done twice. An answer may hold a secret that is shown once, such as a user's uuid. It is
// encrypted with AES-256-GCM; the key is not in Redis. While the first try is in progress, Redis holds a lock in
// place of the answer. The lock expires when its holder dies.
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

// maxBody is the largest body in bytes that is stored: Redis holds the sessions too and must not fill up. After a
// longer answer, the idempotency records in the documents decide on a retry.
const maxBody = 64 << 10

// Answer is an answer as it was sent.
type Answer struct {
	Code int    `json:"code"`
	Body []byte `json:"body"`
}

// Store holds the answers of a deployment. It is safe for concurrent use by any number of processes. Its calls
// return Unavailable when Redis cannot be reached.
type Store struct {
	redis  redis.UniversalClient
	prefix string
	secret settings.Secret
}

// Options of New. All are required.
type Options struct {
	Redis  redis.UniversalClient
	Prefix string          // of the keys in Redis
	Secret settings.Secret // encrypts the answers: the same in every process
}

// New returns the store of the answers in that Redis.
func New(o Options) *Store { return &Store{o.Redis, o.Prefix, o.Secret} }

// entry is what Redis holds: a lock, or an answer.
type entry struct {
	Body   string `json:"body"`             // hash of the request's body
	Holder string `json:"holder,omitempty"` // of a lock: unique to it
	Sealed []byte `json:"sealed,omitempty"` // the answer
}

// Lock is held by the process that answers a request for the first time.
type Lock struct {
	key  idempotency.Key
	text string
}

func (s *Store) name(k idempotency.Key) string { return s.prefix + "answer:" + k.ID }

// begin returns the entry, or takes the lock when there is none. KEYS: the entry; ARGV: the lock, its lifetime in
// ms.
var begin = redis.NewScript(`
local stored = redis.call('GET', KEYS[1])
if not stored then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return stored`)

// Begin returns the stored answer to the request or, for the first try, nil and a lock that expires after hold. It
// returns Conflict when the key was used with another body, or when the first try is still in progress.
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

// replace replaces the lock by an entry, or removes it, unless it has expired. KEYS: the entry; ARGV: the lock, the
// new entry or ”, its lifetime in ms.
var replace = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`)

// Keep stores the answer for idempotency.Lifetime and releases the lock. An answer that is too long is not stored.
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

// Release releases the lock without an answer: the next try counts as the first one.
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
