package background_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// run runs a loop for that long. Its steps return the given errors in turn, and the last one from then on. It
// returns when each step began, in seconds, and the lines of the log.
func run(t *testing.T, o background.Options, long time.Duration, answers ...error) (at []float64, log []string) {
	t.Helper()
	begun := time.Now()
	var text bytes.Buffer
	o.Name = "work"
	timeless := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	o.Log = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: timeless}))
	o.Step = func(context.Context) error {
		answer := answers[min(len(at), len(answers)-1)]
		at = append(at, time.Since(begun).Seconds())
		return answer
	}
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	errortest.Report(t, background.New(o).Run(ctx))
	return at, strings.Split(strings.TrimSpace(text.String()), "\n")
}

var errAway = errors.New("away")

func TestRun_RepeatsTheStepAtOnceAndThenAfterEachPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, log := run(t, background.Options{Every: time.Second}, 2500*time.Millisecond, nil)
		valuetest.List(t, at, []float64{0, 1, 2})
		valuetest.List(t, log, []string{""}, "logged")
	})
}

func TestRun_BacksOffDuringAnOutageAndLogsItsBeginningAndItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := background.Options{Every: 10 * time.Second, Retry: time.Second, LongestRetry: 4 * time.Second}
		at, log := run(t, o, 30*time.Second, nil, errAway, errAway, errAway, errAway, nil, errAway, nil)
		valuetest.List(t, at, []float64{0, 10, 11, 13, 17, 21})
		want := []string{
			`level=WARN msg="work failed and is retried" error=away`,
			`level=INFO msg="work works again"`,
		}
		valuetest.List(t, log, want, "logged")
		at, log = run(t, o, 30*time.Second, errAway, errAway, nil, errAway, nil)
		// The second outage begins with the short pause.
		valuetest.List(t, at, []float64{0, 1, 3, 13, 14, 24})
		valuetest.List(t, log, slices.Concat(want, want), "logged")
	})
}

func TestRun_WithoutARetryAFailureChangesNoPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, _ := run(t, background.Options{Every: time.Minute}, 150*time.Second, errAway)
		valuetest.List(t, at, []float64{0, 60, 120})
	})
}

func TestRun_WakeEndsThePauseOfAStepThatWorkedAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		wake <- struct{}{}
		o := background.Options{Every: time.Minute, Wake: wake, Retry: 5 * time.Second, LongestRetry: 5 * time.Second}
		at, _ := run(t, o, 20*time.Second, errAway, nil)
		valuetest.List(t, at, []float64{0, 5, 5})
	})
}

func TestRun_UntilSaysHowLongThePauseIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := time.Duration(0)
		until := func() time.Duration { pause += time.Second; return pause }
		at, _ := run(t, background.Options{Until: until}, 5*time.Second, nil)
		valuetest.List(t, at, []float64{0, 1, 3})
	})
}

func TestRun_AStepThatIsStoppedIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		step := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		log := slog.New(slog.NewTextHandler(&text, nil))
		loop := background.New(background.Options{Name: "work", Log: log, Step: step, Retry: time.Hour})
		if err := loop.Run(ctx); err != nil || text.Len() > 0 {
			t.Errorf("%v, logged %s", err, &text)
		}
	})
}

func TestWorks_EndsAnOutageWhileTheStepGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var loop *background.Loop
		tries := 0
		loop = background.New(background.Options{
			Name: "work", Log: slog.New(slog.NewTextHandler(&text, nil)), Retry: time.Second, LongestRetry: time.Second,
			Step: func(ctx context.Context) error {
				if tries++; tries == 1 {
					return errAway
				}
				loop.Works(ctx)
				<-ctx.Done()
				return ctx.Err()
			},
		})
		if err := loop.Run(ctx); err != nil || tries != 2 || !strings.Contains(text.String(), "work works again") {
			t.Errorf("%v, %d tries, logged %s", err, tries, &text)
		}
	})
}
