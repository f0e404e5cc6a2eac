package absence

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// nights remembers in memory, and fails so many times first.
type nights struct {
	*school
	failures int
	done     []time.Time // due times, as they were recorded
	at       []time.Time // when
}

func (n *nights) Done(context.Context) (time.Time, error) {
	if n.failures > 0 {
		n.failures--
		return time.Time{}, errors.New("away")
	}
	if len(n.done) == 0 {
		return time.Time{}, nil
	}
	return n.done[len(n.done)-1], nil
}

func (n *nights) SetDone(_ context.Context, due time.Time) error {
	n.done, n.at = append(n.done, due), append(n.at, time.Now())
	return nil
}

// nightly runs the nightly check at a time of day for so long, from 2000-01-01T00:00:00Z on, and returns what was
// remembered.
func nightly(t *testing.T, at string, failures int, long time.Duration) *nights {
	t.Helper()
	n := &nights{school: &school{pupils: 1}, failures: failures}
	s := n.checker(t)
	s.Nights, s.Nightly.Days = n, 3
	errortest.None(t, s.Nightly.At.UnmarshalText([]byte(at)))
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	errortest.Report(t, s.Run(ctx))
	return n
}

func TestAbsences_EveryNightIsCheckedOnceAndTheOneBeforeTheStartIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		n := nightly(t, "03:00", 0, 51*time.Hour+time.Minute)
		first := time.Date(1999, 12, 31, 3, 0, 0, 0, time.UTC)
		due := []time.Time{first, first.AddDate(0, 0, 1), first.AddDate(0, 0, 2), first.AddDate(0, 0, 3)}
		when := []time.Time{began, due[1], due[2], due[3]}
		if !slices.EqualFunc(n.done, due, time.Time.Equal) || !slices.EqualFunc(n.at, when, time.Time.Equal) {
			t.Errorf("done %v at %v, want %v at %v", n.done, n.at, due, when)
		}
	})
}

func TestAbsences_ANightThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		n := nightly(t, "03:00", 3, time.Hour)
		if len(n.at) != 1 || n.at[0].Sub(began) != 7*time.Second { // after 1, 2 and 4
			t.Errorf("done at %v", n.at)
		}
	})
}

func TestAbsences_WithoutATimeNoNightIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if n := nightly(t, "", 1, 72*time.Hour); len(n.done) > 0 || n.failures == 0 {
			t.Errorf("%+v", n)
		}
	})
}

func TestNightlySettings(t *testing.T) {
	for days, want := range map[int]bool{0: false, 1: true, 92: true, 93: false, -1: false} {
		err := (&Nightly{At: wiretime.TimeOfDay{}, Days: days}).Check()
		valuetest.Same(t, err == nil, want, "%d days: %v", days, err)
	}
}
