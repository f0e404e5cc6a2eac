// Package lifecycle starts the components of a process in order. It stops them in reverse order, within a deadline,
// when the context ends or one of them fails. Readiness is false before anything is stopped.
package lifecycle

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Component is a part that runs as long as the process: a listener, a relay, a connection.
type Component struct {
	Name string
	// Start starts the component and returns once it works. It may keep failed, to report once that the component
	// failed later.
	Start func(ctx context.Context, failed func(error)) error
	// Stop stops the component before ctx ends. nil: there is nothing to stop.
	Stop func(ctx context.Context) error
}

// Background makes a component of a function that runs until its context ends. When it returns before, even without
// an error, the component has failed. Stop cancels the context and waits until the function has returned. The context
// is Unsampled: work that deserves a trace begins one of its own.
func Background(name string, run func(ctx context.Context) error) Component {
	var cancel context.CancelFunc
	done := make(chan struct{})
	return Component{
		Name: name,
		Start: func(ctx context.Context, failed func(error)) error {
			var running context.Context
			running, cancel = context.WithCancel(Unsampled(context.WithoutCancel(ctx)))
			go func() {
				defer close(done)
				err := run(running)
				if running.Err() == nil {
					failed(errors.Join(err, errors.New("ended by itself")))
				}
			}()
			return nil
		},
		Stop: func(ctx context.Context) error {
			cancel()
			select {
			case <-done:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}
}

// Unsampled returns a context with a parent span that is not sampled. Samplers follow it, so polling without result
// makes no traces.
func Unsampled(ctx context.Context) context.Context {
	var traceID trace.TraceID
	var spanID trace.SpanID
	// crypto/rand never fails.
	_, _ = rand.Read(traceID[:])
	_, _ = rand.Read(spanID[:])
	return trace.ContextWithSpanContext(ctx,
		trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID}))
}

// Readiness says whether the process accepts traffic. Its zero value is not ready; it is safe for concurrent use.
type Readiness struct{ ready atomic.Bool }

// Ready reports the state.
func (r *Readiness) Ready() bool { return r.ready.Load() }

// Options of Run.
type Options struct {
	Log       *slog.Logger
	Readiness *Readiness
	// DrainDelay is how long the process still serves after readiness is false, until no traffic is routed to it.
	DrainDelay time.Duration
	// StopDeadline bounds the stopping of all components together, after the drain delay.
	StopDeadline time.Duration
}

// Run starts the components in order, sets readiness, and waits until ctx ends or a component fails. Then it
// drains, and stops the components in reverse order. When a component does not start, it stops those before it. It
// returns nil only when ctx ended and every component stopped without error.
func Run(ctx context.Context, o Options, components ...Component) error {
	failures := make(chan error, len(components))
	var started []Component
	var cause error
	for _, component := range components {
		err := component.Start(ctx, func(err error) { failures <- fmt.Errorf("%s: %w", component.Name, err) })
		if err != nil {
			cause = fmt.Errorf("start %s: %w", component.Name, err)
			break
		}
		o.Log.Debug("component started", "component", component.Name)
		started = append(started, component)
	}
	if cause == nil {
		o.Readiness.ready.Store(true)
		o.Log.Info("ready")
		select {
		case <-ctx.Done():
			o.Log.Info("draining", "delay", o.DrainDelay.String())
			o.Readiness.ready.Store(false)
			time.Sleep(o.DrainDelay)
		case cause = <-failures:
			o.Readiness.ready.Store(false)
		}
	}
	return errors.Join(cause, stop(ctx, o, started))
}

func stop(ctx context.Context, o Options, started []Component) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.StopDeadline)
	defer cancel()
	var faults []error
	for _, component := range slices.Backward(started) {
		if component.Stop == nil {
			continue
		}
		if err := component.Stop(ctx); err != nil {
			faults = append(faults, fmt.Errorf("stop %s: %w", component.Name, err))
		}
	}
	return errors.Join(faults...)
}
