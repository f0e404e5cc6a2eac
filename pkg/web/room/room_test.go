package room

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// waits says whether taking so much still waits after a short time. It succeeds later.
func waits(t *testing.T, h *Hold, bytes int64, others ...*Hold) {
	t.Helper()
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := h.Take(short, bytes); !problem.Is(err, problem.Unavailable) || problem.As(err).RetryAfter == 0 {
		t.Fatalf("without room: %v", err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		errortest.Report(t, h.Take(t.Context(), bytes))
	})
	for _, other := range others {
		other.Release()
	}
	wg.Wait()
}

// takes says whether the request holds so much after a short time.
func takes(t *testing.T, h *Hold, bytes int64) bool {
	t.Helper()
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	return h.Take(short, bytes) == nil
}

func TestHardToBreak_Row02_WhatIsHeldStaysWithinTheRoom(t *testing.T) {
	r := New(Options{Bytes: 100, Each: 60})
	one, same, other, none := r.For(1), r.For(1), r.For(2), r.For(0)
	valuetest.Holds(t, takes(t, one, 50) && !takes(t, same, 20), "a user may hold 60 bytes")
	valuetest.Holds(t, takes(t, other, 50) && !takes(t, none, 1), "all may hold 100 bytes")
	one.Shrink(40)
	valuetest.Holds(t, takes(t, none, 10) && none.Size() == 10 && takes(t, same, 0), "what is given back may be taken")
	waits(t, same, 20, other)
	valuetest.Same(t, same.Size(), 20, "holds")
	for _, h := range []*Hold{one, same, none} {
		h.Release()
	}
	if len(r.users) != 0 || !r.all.TryAcquire(100) {
		t.Errorf("something is left: %v", r.users)
	}
}

func TestHardToBreak_Row02_MoreThanOneMayHoldCountsAsSoMuch(t *testing.T) {
	r := New(Options{Bytes: 100, Each: 60})
	h := r.For(1)
	if err := h.Take(t.Context(), 1000); err != nil || h.Size() != 60 {
		t.Errorf("holds %d, %v", h.Size(), err)
	}
	errortest.Report(t, h.Take(t.Context(), 60))
	h.Release()
	if small := Of(t.Context()); small.Take(t.Context(), 1000) != nil {
		t.Error("a request with small answers takes no room")
	}
}

// A request that read two large answers at once waited for its own room, or left some taken for ever.
func TestHardToBreak_Row02_ARequestNeverWaitsForItself(t *testing.T) {
	r := New(Options{Bytes: 100, Each: 60})
	h, one, other := r.For(1), r.For(2), r.For(3)
	valuetest.MustHold(t, takes(t, one, 60) && takes(t, other, 40), "all may hold 100 bytes")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var both sync.WaitGroup
	for _, size := range []int64{40, 50} {
		both.Go(func() { errortest.Report(t, h.Take(ctx, size)) })
	}
	time.Sleep(20 * time.Millisecond) // both wait
	one.Release()
	other.Release()
	both.Wait()
	valuetest.Same(t, h.Size(), 50, "holds")
	h.Release()
	valuetest.Holds(t, r.all.TryAcquire(100), "something is left")
}
