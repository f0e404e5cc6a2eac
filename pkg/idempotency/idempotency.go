// Package idempotency is how a client repeats a POST whose answer it did not hear, without doing it twice (decisions, part 1: an
// Idempotency-Key). A ticket stands for one such request. It is plain data, so that domain packages can keep it with what they write: a
// record that was made or changed by a ticketed request carries the ticket in the same atomic write, and so a retry after a crash finds it.
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

// Ticket stands for a request that may be repeated. The zero ticket is that of a request without a key. The key itself is nowhere kept.
type Ticket struct {
	Key  string `json:"key" bson:"key"`   // SHA-256, in hexadecimal, of who asks, what for, and the key
	Body string `json:"body" bson:"body"` // SHA-256, in hexadecimal, of the request's body
}

// New returns the ticket of a request of that user. route is the method with the whole path: the same key on another path is another one.
func New(user int64, route, key string, body []byte) Ticket {
	return Ticket{Key: digest(fmt.Appendf(nil, "%d|%s|%s", user, route, key)), Body: digest(body)}
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Given says whether the request had a key.
func (t Ticket) Given() bool { return t.Key != "" }

// Repeats returns nil when t is the same request as the one with the earlier ticket, and a Conflict when it has another body.
func (t Ticket) Repeats(earlier Ticket) error {
	if t != earlier {
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
	return problem.Wrap(problem.Conflict, cause, "the request with this Idempotency-Key was done, but its answer can't be given again")
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

// Sweep returns background work that has forget remove, from now on and every ten minutes, the tickets that records keep from before a
// time: those older than Lifetime. Any number of replicas may do so.
func Sweep(log *slog.Logger, forget func(ctx context.Context, before time.Time) error) func(context.Context) error {
	step := func(ctx context.Context) error { return forget(ctx, time.Now().Add(-Lifetime)) }
	return background.New(background.Options{Name: "the sweep of old tickets", Log: log, Step: step, Every: sweepEvery}).Run
}
