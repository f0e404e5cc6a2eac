// Package lifecycle starts the components of a process in order, and stops them in reverse order, within a
// deadline, when the process is to end or one of them fails. Readiness turns false before anything is stopped.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// Component is something that runs as long as the process: a listener, a relay, a connection.
type Component struct {
	Name string
	// Start brings the component up and returns once it works. It may keep failed to report, once, that the
	// component broke later on.
	Start func(ctx context.Context, failed func(error)) error
	// Stop ends the component before ctx does; nil when there is nothing to end.
	Stop func(ctx context.Context) error
}

// Background makes a component of a function that runs until its context ends. A return before that, even without
// an error, is a failure of the component. Stop cancels the context and waits for the function to return.
func Background(name string, run func(ctx context.Context) error) Component {
	var cancel context.CancelFunc
	done := make(chan struct{})
	return Component{
		Name: name,
		Start: func(ctx context.Context, failed func(error)) error {
			var running context.Context
			running, cancel = context.WithCancel(context.WithoutCancel(ctx))
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

// Readiness says whether the process wants traffic. Its zero value is not ready; it is safe for concurrent use.
type Readiness struct{ ready atomic.Bool }

// Ready reports the state.
func (r *Readiness) Ready() bool { return r.ready.Load() }

// Options of Run.
type Options struct {
	Log       *slog.Logger
	Readiness *Readiness
	// DrainDelay is how long the process goes on serving after readiness has turned false, so that whoever routes
	// to it can notice.
	DrainDelay time.Duration
	// StopDeadline bounds the stopping of all components together, after the drain delay.
	StopDeadline time.Duration
}

// Run starts the components in order, becomes ready, and waits until ctx ends or a component fails. Then it drains
// and stops the components in reverse order. When a component does not start, those before it are stopped. It
// returns nil only for an orderly end after ctx ended.
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
	for i := len(started) - 1; i >= 0; i-- {
		if started[i].Stop == nil {
			continue
		}
		if err := started[i].Stop(ctx); err != nil {
			faults = append(faults, fmt.Errorf("stop %s: %w", started[i].Name, err))
		}
	}
	return errors.Join(faults...)
}
