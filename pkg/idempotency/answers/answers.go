// Package answers remembers in Redis what was answered to requests that carry an Idempotency-Key, so that a retry gets the same answer
// and nothing is done twice. An answer may hold what must be shown once (a user's uuid): it is sealed with AES-256-GCM under a key
// that Redis does not know. While the first try is under way Redis holds a claim in the answer's place, which runs out when its holder dies.
//
// Keys, all below the store's prefix: answer:<hash of the ticket's key>, a JSON text.
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

// maxBody bounds the answers that are remembered: Redis holds the sessions too, and must not fill up. A retry of what had a longer one is
// decided by what the records themselves say.
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

// New returns the answers that client holds. secret is what they are sealed with; it is the same in every process.
func New(client redis.UniversalClient, prefix string, secret settings.Secret) *Store {
	return &Store{client, prefix, secret}
}

// entry is what Redis holds: a claim, or an answer.
type entry struct {
	Body   string `json:"body"`             // hash of the request's body
	Holder string `json:"holder,omitempty"` // of a claim: tells it from any other
	Sealed []byte `json:"sealed,omitempty"` // the answer
}

// Claim is the right to answer a request for the first time.
type Claim struct {
	ticket idempotency.Ticket
	text   string
}

func (s *Store) key(t idempotency.Ticket) string { return s.prefix + "answer:" + t.Key }

// begin gives what there is, or makes the claim. KEYS: the entry; ARGV: the claim, how long it holds in milliseconds.
var begin = redis.NewScript(`
local known = redis.call('GET', KEYS[1])
if not known then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return known`)

// Begin returns the answer that the request got before; or, for the first try, nil and a claim that holds for that long. Conflict when
// the key was used with another body or its first try is under way. One round trip.
func (s *Store) Begin(ctx context.Context, t idempotency.Ticket, hold time.Duration) (*Answer, Claim, error) {
	claim, err := json.Marshal(entry{Body: t.Body, Holder: rand.Text()})
	if err != nil {
		return nil, Claim{}, fmt.Errorf("encode a claim: %w", err)
	}
	text, err := begin.Run(ctx, s.redis, []string{s.key(t)}, claim, hold.Milliseconds()).Text()
	if errors.Is(err, redis.Nil) {
		return nil, Claim{t, string(claim)}, nil
	}
	if err != nil {
		return nil, Claim{}, problem.Wrap(problem.Unavailable, err, "")
	}
	var known entry
	if err := json.Unmarshal([]byte(text), &known); err != nil {
		return nil, Claim{}, fmt.Errorf("decode an answer: %w", err)
	}
	if err := t.Repeats(idempotency.Ticket{Key: t.Key, Body: known.Body}); err != nil {
		return nil, Claim{}, err
	}
	if known.Sealed == nil {
		return nil, Claim{}, idempotency.InProgress()
	}
	answer, err := s.open(t, known.Sealed)
	return answer, Claim{}, err
}

// settle puts an entry in a claim's place, or nothing, unless the claim has run out. KEYS: the entry; ARGV: the claim, the new entry or ”,
// how long it is kept in milliseconds.
var settle = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`)

// Keep remembers the answer for idempotency.Lifetime and gives the claim up; an answer that is too long is not remembered. One round trip.
func (s *Store) Keep(ctx context.Context, c Claim, a Answer) error {
	if len(a.Body) > maxBody {
		return s.Release(ctx, c)
	}
	sealed, err := s.seal(c.ticket, a)
	if err != nil {
		return err
	}
	kept, err := json.Marshal(entry{Body: c.ticket.Body, Sealed: sealed})
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	return s.settle(ctx, c, string(kept))
}

// Release gives the claim up without an answer: the next try is a first one. One round trip.
func (s *Store) Release(ctx context.Context, c Claim) error { return s.settle(ctx, c, "") }

func (s *Store) settle(ctx context.Context, c Claim, kept string) error {
	if err := settle.Run(ctx, s.redis, []string{s.key(c.ticket)}, c.text, kept, idempotency.Lifetime.Milliseconds()).Err(); err != nil {
		return problem.Wrap(problem.Unavailable, err, "")
	}
	return nil
}

func (s *Store) seal(t idempotency.Ticket, a Answer) ([]byte, error) {
	aead, err := s.aead(t)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	return aead.Seal(nil, nil, text, nil), nil //nolint:gosec // the nonce is not nil: this cipher draws it by itself
}

// open returns a sealed answer. One of before a change of the secret can't be read: it is a Conflict, for what was asked for is done.
func (s *Store) open(t idempotency.Ticket, sealed []byte) (*Answer, error) {
	aead, err := s.aead(t)
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

// aead has a key for each ticket, and puts a random nonce before what it seals.
func (s *Store) aead(t idempotency.Ticket) (cipher.AEAD, error) {
	mac := hmac.New(sha256.New, []byte(s.secret.Reveal()))
	mac.Write([]byte("answer|" + t.Key))
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
