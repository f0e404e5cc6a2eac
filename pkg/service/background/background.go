// Package background repeats a step of work as long as a process runs: work without a request, such as publishing
// messages or deleting old data. A loop retries after a failure, and logs each outage once, not each failure.
package background

import (
	"context"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Options of a loop. Name and Step are required.
type Options struct {
	// Name begins the log messages: "outbox relay works again".
	Name string
	Log  *slog.Logger // nil: the default one

	// Step is the work. After an error, the next Step does what is left. It returns when its context ends.
	Step func(ctx context.Context) error

	// Every is the pause after a step without error. Until, if set, returns that pause instead. A value from Wake
	// ends it.
	Every time.Duration
	Until func() time.Duration
	Wake  <-chan struct{}

	// Retry is the pause after a step that failed. It doubles with each further failure, up to LongestRetry. 0: the
	// same pause as after a step without error.
	Retry, LongestRetry time.Duration
}

// Loop repeats a step. It is not safe for concurrent use.
type Loop struct {
	Options
	failing bool
	pauses  backoff.ExponentialBackOff // after failures
}

// New returns a loop. Run starts it.
func New(o Options) *Loop {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	l := &Loop{Options: o, pauses: backoff.ExponentialBackOff{
		InitialInterval: o.Retry, Multiplier: 2, MaxInterval: max(o.LongestRetry, o.Retry)}}
	l.pauses.Reset()
	return l
}

// Run calls the step at once and then after each pause, until ctx ends. Then it returns nil, as
// lifecycle.Background needs it.
func (l *Loop) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		err := l.Step(ctx)
		switch {
		case ctx.Err() != nil: // it may have failed because the context ended
		case err != nil:
			l.failed(ctx, err)
		default:
			l.Works(ctx)
			l.rest(ctx)
		}
	}
	return nil
}

// Works ends an outage. Run calls it after a step without error. A long step may call it as soon as its first call
// has succeeded.
func (l *Loop) Works(ctx context.Context) {
	if l.failing {
		l.Log.InfoContext(ctx, l.Name+" works again")
	}
	l.failing = false
	l.pauses.Reset()
}

// failed records a failure and waits until the next try.
func (l *Loop) failed(ctx context.Context, err error) {
	if !l.failing {
		l.Log.WarnContext(ctx, l.Name+" failed and is retried", "error", err)
	}
	l.failing = true
	if l.Retry == 0 {
		l.rest(ctx)
		return
	}
	Pause(ctx, l.pauses.NextBackOff())
}

// rest pauses after a step without error.
func (l *Loop) rest(ctx context.Context) {
	pause := l.Every
	if l.Until != nil {
		pause = l.Until()
	}
	wait(ctx, pause, l.Wake)
}

// Pause waits for d or until ctx ends.
func Pause(ctx context.Context, d time.Duration) { wait(ctx, d, nil) }

func wait(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-wake:
	case <-ctx.Done():
	}
}
