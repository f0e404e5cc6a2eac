package outbox

import (
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/trace"
)

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// health follows whether a loop's stores answer. It logs each change once, not each failure, and spaces the tries.
type health struct {
	log   *slog.Logger
	name  string
	pause time.Duration // of the next failure; 0 while all is well
}

func newHealth(log *slog.Logger, name string, attributes ...any) *health {
	if log == nil {
		log = slog.Default()
	}
	return &health{log: log.With(attributes...), name: name}
}

// failed notes a failed try and gives the pause before the next one.
func (h *health) failed(ctx context.Context, err error) time.Duration {
	if ctx.Err() != nil {
		return 0 // it failed because we stop
	}
	if h.pause == 0 {
		h.log.WarnContext(ctx, h.name+" is held up and goes on trying", "error", err)
		h.pause = firstPause
	}
	pause := h.pause/2 + mathrand.N(h.pause/2)
	h.pause = min(2*h.pause, longestPause)
	return pause
}

// fine notes a try that worked.
func (h *health) fine(ctx context.Context) {
	if h.pause != 0 {
		h.log.InfoContext(ctx, h.name+" works again")
		h.pause = 0
	}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Unsampled keeps the stores' instrumentation from making a trace of each idle look: it puts a parent into ctx that was not
// sampled, which samplers follow.
func Unsampled(ctx context.Context) context.Context {
	var traceID trace.TraceID
	var spanID trace.SpanID
	// crypto/rand never fails.
	_, _ = rand.Read(traceID[:])
	_, _ = rand.Read(spanID[:])
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID}))
}
