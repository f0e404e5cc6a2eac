package mongostore_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestWithLease_OneAtATimeAndTheNextAtOnce(t *testing.T) {
	leases := storetest.Mongo(t).Collection("leases")
	const workers = 16
	var at, done atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for range workers {
		all.Go(func() {
			err := mongostore.WithLease(t.Context(), leases, "x", func(context.Context) error {
				valuetest.Same(t, at.Add(1), 1, "two at once")
				time.Sleep(2 * time.Millisecond)
				at.Add(-1)
				done.Add(1)
				return nil
			})
			errortest.Report(t, err)
		})
	}
	all.Wait()
	valuetest.Same(t, done.Load(), workers, "did their work")
	// A poll every twentieth of 30 s would take twice as long.
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("%d pieces of work of 2 ms took %v", workers, took)
	}
}

func TestWithLease_ReturnsTheErrorOfTheWorkAndOfAContextThatEndsWhileItWaits(t *testing.T) {
	leases := storetest.Mongo(t).Collection("leases")
	failed := errors.New("failed")
	err := mongostore.WithLease(t.Context(), leases, "x", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		waited := mongostore.WithLease(ctx, leases, "x", func(context.Context) error {
			t.Error("it has the lease while another holds it")
			return nil
		})
		if !errors.Is(waited, context.DeadlineExceeded) || !mongostore.Unavailable(waited) {
			t.Errorf("the one that waited: %v", waited)
		}
		return failed
	})
	errortest.Is(t, err, failed)
}
