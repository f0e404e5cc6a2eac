// Package idempotency lets a client repeat a POST whose answer it did not hear, without doing it twice (decisions,
// part 1: an Idempotency-Key). A Key stands for one such request. It is plain data: domain packages store it with
// the record that the request made or changed, in the same atomic write, so that a retry after a crash finds it.
// Package web reads the header, package answers remembers what was answered.
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
	// Lifetime is how long a key is remembered at least.
	Lifetime = 24 * time.Hour

	maxKey     = 255
	sweepEvery = 10 * time.Minute
)

// Key stands for a request that may be repeated. The zero Key is that of a request without the header. What the
// header said is not stored.
type Key struct {
	ID   string `json:"key"`  // SHA-256, in hexadecimal, of the user, the route and the header
	Body string `json:"body"` // SHA-256, in hexadecimal, of the request's body
}

// New returns the Key of a request of that user. Route is the method with the whole path: the same header on
// another path is another Key.
func New(user int64, route, header string, body []byte) Key {
	return Key{ID: digest(fmt.Appendf(nil, "%d|%s|%s", user, route, header)), Body: digest(body)}
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Given says whether the request had the header.
func (k Key) Given() bool { return k.ID != "" }

// Repeats returns nil when k is the same request as the one with the earlier Key, and a Conflict when it has
// another body.
func (k Key) Repeats(earlier Key) error {
	if k != earlier {
		return problem.New(problem.Conflict, "the Idempotency-Key was used with another body")
	}
	return nil
}

// InProgress is the answer to a request whose first try is still under way: a Conflict that says when to ask again.
func InProgress() error {
	p := problem.New(problem.Conflict, "the request with this Idempotency-Key is in progress")
	p.RetryAfter = time.Second
	return p
}

// Lost is the answer to a request that was done before, but whose answer can't be given again: a Conflict.
func Lost(cause error) error {
	return problem.Wrap(problem.Conflict, cause,
		"the request with this Idempotency-Key was done, but its answer can't be given again")
}

// CheckKey returns a Malformed problem unless key has 1 to 255 visible ASCII characters.
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

// Sweep returns background work that calls forget now and every ten minutes, to remove the Keys that records have
// from before a time: those older than Lifetime. Any number of replicas may run it.
func Sweep(log *slog.Logger, forget func(ctx context.Context, before time.Time) error) func(context.Context) error {
	step := func(ctx context.Context) error { return forget(ctx, time.Now().Add(-Lifetime)) }
	return background.New(background.Options{Name: "the sweep of old idempotency keys", Log: log, Step: step,
		Every: sweepEvery}).Run
}
