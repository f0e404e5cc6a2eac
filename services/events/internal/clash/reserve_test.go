package clash

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// slow is reservations of which each takes a while to remove.
type slow struct {
	world
	removed *atomic.Int32
}

func (s slow) Delete(ctx context.Context, _ int64, _ string, _ ...int64) error {
	select {
	case <-time.After(50 * time.Millisecond):
		s.removed.Add(1)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A booking of 600 elements left half of its reservations, which the next bookings had to wait for.
func TestClashes_ABookingOfManyElementsLeavesNoReservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const elements = 600
		s := slow{removed: new(atomic.Int32)}
		b := New(Options{Reservations: s}).booking(event.Event{ID: 1})
		for id := range int64(elements) {
			b.held = append(b.held, id)
		}
		b.release(t.Context())
		valuetest.Same(t, s.removed.Load(), elements, "were removed")
	})
}

// What is found out inside the write, such as an If-Match that no longer holds, left the reservations.
func TestClashes_ARefusedWriteLeavesNoReservation(t *testing.T) {
	for kind, want := range map[problem.Kind]bool{
		problem.Conflict: true, problem.Invalid: true, problem.PreconditionFailed: true, problem.Forbidden: true,
		problem.NotFound: true, problem.Unavailable: false, problem.Internal: false,
	} {
		err := fmt.Errorf("write: %w", problem.New(kind, ""))
		valuetest.Same(t, refusedWrite(err), want, "%v", kind)
	}
	valuetest.Holds(t, !refusedWrite(errors.New("no answer")), "the event may be stored")
}
