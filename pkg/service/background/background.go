// Package background repeats a step of work for as long as a process runs: what a service does without being asked,
// such as publishing messages or forgetting what is old. A loop tries again after a failure, and logs each outage
// once, not each failure.
package background

import (
	"context"
	"log/slog"
	"time"
)

// Options of a loop. Name and Step are needed.
type Options struct {
	// Name begins the sentences of the log: "outbox relay works again".
	Name string
	Log  *slog.Logger // nil: the default one

	// Step is the work. What it left undone because of an error, the next one does. It stops when its context ends.
	Step func(ctx context.Context) error

	// Every is the pause after a step that worked; Until, if set, says instead how long it is. A value from Wake
	// ends that pause.
	Every time.Duration
	Until func() time.Duration
	Wake  <-chan struct{}

	// Retry is the pause after a step that failed; it doubles with each further failure, up to LongestRetry. 0: as
	// after one that worked.
	Retry, LongestRetry time.Duration
}

// Loop repeats a step. It is not safe for concurrent use.
type Loop struct {
	Options
	failing bool
	retry   time.Duration // the next pause after a failure
}

// New returns a loop, which does nothing until Run.
func New(o Options) *Loop {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	o.LongestRetry = max(o.LongestRetry, o.Retry)
	return &Loop{Options: o, retry: o.Retry}
}

// Run repeats the step, at once and then after each pause, until ctx ends; then it returns nil, as a background
// part of package lifecycle does.
func (l *Loop) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		err := l.Step(ctx)
		switch {
		case ctx.Err() != nil: // it may have failed because it was stopped
		case err != nil:
			l.failed(ctx, err)
		default:
			l.Works(ctx)
			l.rest(ctx)
		}
	}
	return nil
}

// Works ends an outage. Run calls it after a step that worked; a step that goes on for long may call it once it got
// through.
func (l *Loop) Works(ctx context.Context) {
	if l.failing {
		l.Log.InfoContext(ctx, l.Name+" works again")
	}
	l.failing, l.retry = false, l.Retry
}

// failed notes a failure and waits until the step is to be tried again.
func (l *Loop) failed(ctx context.Context, err error) {
	if !l.failing {
		l.Log.WarnContext(ctx, l.Name+" is held up and goes on trying", "error", err)
	}
	l.failing = true
	if l.Retry == 0 {
		l.rest(ctx)
		return
	}
	Pause(ctx, l.retry)
	l.retry = min(2*l.retry, l.LongestRetry)
}

// rest is the pause after a step that worked.
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
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}
