package lifecycle_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/lifecycle"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) write(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) component(name string, startFault error) lifecycle.Component {
	return lifecycle.Component{
		Name:  name,
		Start: func(context.Context, func(error)) error { j.write("start " + name); return startFault },
		Stop:  func(context.Context) error { j.write("stop " + name); return nil },
	}
}

func options(r *lifecycle.Readiness) lifecycle.Options {
	return lifecycle.Options{Log: slog.New(slog.DiscardHandler), Readiness: r, StopDeadline: time.Second}
}

func TestRun_StopsInReverseAndTurnsUnreadyFirst(t *testing.T) {
	var j journal
	var ready lifecycle.Readiness
	ctx, cancel := context.WithCancel(t.Context())
	last := lifecycle.Component{
		Name: "listener",
		Start: func(context.Context, func(error)) error {
			go func() {
				for !ready.Ready() {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
			return nil
		},
		Stop: func(context.Context) error {
			valuetest.Holds(t, !ready.Ready(), "the listener is stopped while the process still claims to be ready")
			j.write("stop listener")
			return nil
		},
	}
	errortest.None(t, lifecycle.Run(ctx, options(&ready), j.component("store", nil), j.component("relay", nil), last))
	want := []string{"start store", "start relay", "stop listener", "stop relay", "stop store"}
	valuetest.List(t, j.lines, want)
}

func TestRun_APartThatDoesNotStartStopsThoseBeforeIt(t *testing.T) {
	var j journal
	var ready lifecycle.Readiness
	err := lifecycle.Run(t.Context(), options(&ready), j.component("store", nil),
		j.component("listener", errors.New("port taken")), j.component("never", nil))
	valuetest.MustHold(t, err != nil && strings.Contains(err.Error(), "start listener: port taken"), "got %v", err)
	valuetest.List(t, j.lines, []string{"start store", "start listener", "stop store"})
	valuetest.Holds(t, !ready.Ready(), "ready although a component did not start")
}

func TestRun_ABackgroundPartThatEndsByItselfEndsTheProcess(t *testing.T) {
	var j journal
	var ready lifecycle.Readiness
	broken := lifecycle.Background("relay", func(context.Context) error { return errors.New("boom") })
	err := lifecycle.Run(t.Context(), options(&ready), j.component("store", nil), broken)
	valuetest.MustHold(t, err != nil && strings.Contains(err.Error(), "relay: boom"), "got %v", err)
	valuetest.Holds(t, slices.Contains(j.lines, "stop store"), "the store was left open")
}

func TestRun_AStopThatHangsIsCutAtTheDeadline(t *testing.T) {
	var ready lifecycle.Readiness
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := options(&ready)
	o.StopDeadline = 20 * time.Millisecond
	hanging := lifecycle.Component{
		Name:  "server",
		Start: func(context.Context, func(error)) error { return nil },
		Stop:  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	}
	errortest.Is(t, lifecycle.Run(ctx, o, hanging), context.DeadlineExceeded, "want the deadline")
}
