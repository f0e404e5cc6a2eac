package turn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

func TestOneAtATime(t *testing.T) {
	client, prefix := storetest.Redis(t)
	var at, done atomic.Int64
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			err := New(client, prefix).Take(context.WithoutCancel(t.Context()), "x", func(context.Context) error {
				if at.Add(1) != 1 {
					t.Error("two at once")
				}
				time.Sleep(2 * time.Millisecond)
				at.Add(-1)
				done.Add(1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done.Load() != 10 {
		t.Errorf("%d of 10 had their turn", done.Load())
	}
}

func TestATurnThatDoesNotComeInTimeIsAnError(t *testing.T) {
	client, prefix := storetest.Redis(t)
	turns := New(client, prefix)
	err := turns.Take(t.Context(), "x", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		return turns.Take(ctx, "x", func(context.Context) error {
			t.Error("had a turn while another lasted")
			return nil
		})
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestTheTurnOfOneWhoDiedRunsOut_AndALateReleaseSparesTheNext(t *testing.T) {
	client, prefix := storetest.Redis(t)
	turns := New(client, prefix)
	failure := errors.New("done")
	err := turns.Take(t.Context(), "x", func(ctx context.Context) error {
		if left, err := client.PTTL(ctx, prefix+"turn:x").Result(); err != nil || left <= 0 || left > lifetime {
			t.Errorf("the turn lasts %v, %v", left, err)
		}
		client.Set(ctx, prefix+"turn:x", "the next holder", lifetime) // as if this one had run out meanwhile
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	if holder := client.Get(t.Context(), prefix+"turn:x").Val(); holder != "the next holder" {
		t.Errorf("the turn is now %q's", holder)
	}
}
