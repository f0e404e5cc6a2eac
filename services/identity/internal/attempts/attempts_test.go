package attempts

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

// replicas returns two counters of one deployment.
func replicas(t *testing.T) [2]*Counter {
	t.Helper()
	client, prefix := storetest.Redis(t)
	return [2]*Counter{New(client, prefix), New(client, prefix)}
}

// tryAll makes n attempts at once, by turns on both replicas, and returns how many were counted and the longest wait
// of the others.
func tryAll(t *testing.T, k [2]*Counter, n int, address func(i int) string) (counted int64, longest time.Duration) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var count atomic.Int64
	for i := range n {
		wg.Go(func() {
			_, wait, err := k[i%2].Begin(context.WithoutCancel(t.Context()), address(i))
			if err != nil {
				t.Error(err)
			}
			if wait == 0 {
				count.Add(1)
			}
			mu.Lock()
			defer mu.Unlock()
			longest = max(longest, wait)
		})
	}
	wg.Wait()
	return count.Load(), longest
}

func TestDecisionsPart2_TenFailuresFromOneAddressExactOverReplicas(t *testing.T) {
	k := replicas(t)
	counted, longest := tryAll(t, k, 40, func(int) string { return "192.0.2.1" })
	if counted != 10 {
		t.Errorf("%d attempts were let through, want 10", counted)
	}
	if longest <= 50*time.Second || longest > time.Minute {
		t.Errorf("to wait %v, want nearly a minute", longest)
	}
	if _, wait, err := k[0].Begin(t.Context(), "192.0.2.2"); wait != 0 || err != nil {
		t.Errorf("another address waits %v, %v", wait, err)
	}
}

func TestDecisionsPart2_FiftyFailuresASecondOverTheDeployment(t *testing.T) {
	k := replicas(t)
	begun := time.Now()
	counted, longest := tryAll(t, k, 120, func(i int) string { return fmt.Sprint("192.0.2.", i) })
	if took := time.Since(begun); took > allWindow {
		t.Fatalf("120 attempts took %v: too slow to say anything about a second", took)
	}
	if counted != 50 || longest <= 0 || longest > time.Second {
		t.Errorf("%d attempts were let through, longest wait %v; want 50 and at most a second", counted, longest)
	}
	time.Sleep(longest)
	if _, wait, err := k[1].Begin(t.Context(), "192.0.2.250"); wait != 0 || err != nil {
		t.Errorf("after the wait: %v, %v", wait, err)
	}
}

func TestDecisionsPart2_SuccessesDoNotCount(t *testing.T) {
	k := replicas(t)
	for i := range 100 {
		attempt, wait, err := k[i%2].Begin(t.Context(), "192.0.2.1")
		if err != nil || wait != 0 {
			t.Fatalf("login %d: wait %v, %v", i, wait, err)
		}
		if err := k[i%2].Forgive(t.Context(), "192.0.2.1", attempt); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefusedAttemptsDoNotProlongTheWait(t *testing.T) {
	k := replicas(t)
	tryAll(t, k, 10, func(int) string { return "192.0.2.1" })
	_, before, err := k[0].Begin(t.Context(), "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	tryAll(t, k, 20, func(int) string { return "192.0.2.1" })
	if _, after, err := k[0].Begin(t.Context(), "192.0.2.1"); err != nil || after > before {
		t.Errorf("the wait grew from %v to %v, %v", before, after, err)
	}
}

func TestNothingStaysBehind(t *testing.T) {
	client, prefix := storetest.Redis(t)
	k := New(client, prefix)
	if _, _, err := k.Begin(t.Context(), "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	for key, most := range map[string]time.Duration{k.addressKey("192.0.2.1"): addressWindow, k.allKey(): allWindow} {
		if left, err := client.PTTL(t.Context(), key).Result(); err != nil || left <= 0 || left > most {
			t.Errorf("%s lives %v, %v", key, left, err)
		}
	}
}
