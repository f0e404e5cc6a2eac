// Package idempotency lets a client repeat a POST whose answer was lost, without doing it twice (decisions part 1,
// Idempotency-Key). A Key identifies one such request. It is plain data: domain packages store it in the record
// that the request made or changed, in the same atomic write, so that a retry after a crash finds it. Package web
// reads the header, package answers stores the answers.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	// Lifetime is the least time for which a key is stored.
	Lifetime = 24 * time.Hour

	maxKey     = 255
	sweepEvery = 10 * time.Minute
)

// Key identifies a request that may be repeated. The zero Key is that of a request without the header. The header's
// value itself is not stored.
type Key struct {
	// ID is the SHA-256, in hexadecimal, of the user, the route and the header.
	ID string `json:"key" bson:"key,omitempty"`
	// Body is the SHA-256, in hexadecimal, of the request's body.
	Body string `json:"body" bson:"body_hash,omitempty"`
}

// New returns the Key of a request of that user. The route is the method and the whole path: the same header on
// another path is another Key.
func New(user int64, route, header string, body []byte) Key {
	return Key{ID: digest(fmt.Appendf(nil, "%d|%s|%s", user, route, header)), Body: digest(body)}
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Given reports whether the request had the header.
func (k Key) Given() bool { return k.ID != "" }

// Repeats returns nil when k has the same body as the earlier Key, and Conflict otherwise.
func (k Key) Repeats(earlier Key) error {
	if k != earlier {
		return problem.New(problem.Conflict, "the Idempotency-Key was used with another body")
	}
	return nil
}

// InProgress returns the Conflict for a request whose first try is still in progress. It says when to retry.
func InProgress() error {
	p := problem.New(problem.Conflict, "the request with this Idempotency-Key is in progress")
	p.RetryAfter = time.Second
	return p
}

// Lost returns the Conflict for a request that was done before, but whose answer is no longer available.
func Lost(cause error) error {
	return problem.Wrap(problem.Conflict, cause,
		"the request with this Idempotency-Key was already done, but its answer can't be given again")
}

// CheckKey returns Malformed unless key has 1 to 255 visible ASCII characters.
func CheckKey(key string) error {
	visible := len(key) >= 1 && len(key) <= maxKey
	for _, c := range []byte(key) {
		visible = visible && c > ' ' && c < 0x7f
	}
	if !visible {
		return problem.New(problem.Malformed, "an Idempotency-Key has 1 to %d visible ASCII characters", maxKey)
	}
	return nil
}

// Sweep returns background work that calls forget at the start and every ten minutes. Forget removes Keys from before a
// time, Lifetime ago, from the records. Any number of replicas may run it.
func Sweep(log *slog.Logger, forget func(ctx context.Context, before time.Time) error) func(context.Context) error {
	step := func(ctx context.Context) error { return forget(ctx, time.Now().Add(-Lifetime)) }
	return background.New(background.Options{Name: "the sweep of old idempotency keys", Log: log, Step: step,
		Every: sweepEvery}).Run
}
