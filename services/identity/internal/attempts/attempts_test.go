package attempts

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// replicas returns two counters of one deployment.
func replicas(t *testing.T) [2]*Counter {
	t.Helper()
	client, prefix := storetest.Redis(t)
	return [2]*Counter{New(client, prefix), New(client, prefix)}
}

// failAll fails n logins at once, by turns on both replicas, and returns how many were counted and the longest wait
// of the others.
func failAll(t *testing.T, k [2]*Counter, n int, address func(i int) string) (counted int, longest time.Duration) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range n {
		wg.Go(func() {
			wait, err := k[i%2].Fail(context.WithoutCancel(t.Context()), address(i))
			errortest.Report(t, err)
			mu.Lock()
			defer mu.Unlock()
			if wait == 0 {
				counted++
			}
			longest = max(longest, wait)
		})
	}
	wg.Wait()
	return counted, longest
}

// wantFail fails the test unless a failed login from address is counted, or is over a limit.
func wantFail(t *testing.T, k *Counter, address string, counted bool) {
	t.Helper()
	if wait, err := k.Fail(t.Context(), address); err != nil || (wait == 0) != counted || wait > window {
		t.Errorf("a failure from %s waits %v, %v; want it counted: %t", address, wait, err, counted)
	}
}

func TestDecisionsPart2_TenFailuresFromOneAddressExactOverReplicas(t *testing.T) {
	k := replicas(t)
	counted, longest := failAll(t, k, 40, func(int) string { return "192.0.2.1" })
	valuetest.Same(t, counted, 10, "failures were counted")
	valuetest.Holds(t, longest > 50*time.Second && longest <= time.Minute, "to wait %v, want nearly a minute", longest)
	wantFail(t, k[0], "192.0.2.1", false)
	wantFail(t, k[1], "::ffff:192.0.2.1", false)
	wantFail(t, k[1], "192.0.2.2", true)
}

func TestHardToBreak_Row05_ASixtyFourIsOneAddress(t *testing.T) {
	k := replicas(t)
	counted, _ := failAll(t, k, 40, func(i int) string { return fmt.Sprintf("2001:db8:1:2:%x::%x", i, i) })
	valuetest.Same(t, counted, 10, "failures were counted")
	wantFail(t, k[0], "2001:db8:1:2::ffff", false)
	wantFail(t, k[1], "2001:db8:1:3::ffff", true)
}

func TestHardToBreak_Row05_AHundredFailuresFromOneNetworkRefuseFurtherOnesThereAlone(t *testing.T) {
	k := replicas(t)
	counted, longest := failAll(t, k, 240, func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i) })
	if counted != 100 || longest <= 0 || longest > time.Minute {
		t.Errorf("%d failures were counted, longest wait %v; want 100 and at most a minute", counted, longest)
	}
	wantFail(t, k[0], "2001:db8:1:ffff::1", false)
	wantFail(t, k[0], "2001:db8:2::1", true)
	wantFail(t, k[1], "192.0.2.1", true)
}

func TestHardToBreak_Row05_ThereIsNoLimitOverTheDeployment(t *testing.T) {
	k := replicas(t)
	counted, _ := failAll(t, k, 250, func(i int) string { return fmt.Sprint("192.0.2.", i) })
	valuetest.Same(t, counted, 250, "failures of as many addresses were counted")
}

// TestHardToBreak_Row05_AFailureLeavesAfterAMinute moves the counted failures back in time.
func TestHardToBreak_Row05_AFailureLeavesAfterAMinute(t *testing.T) {
	client, prefix := storetest.Redis(t)
	k := New(client, prefix)
	const address = "2001:db8:1:2::1"
	failAll(t, [2]*Counter{k, k}, 10, func(int) string { return address })
	for _, s := range k.sets(address) {
		first, err := client.ZRange(t.Context(), s.key, 0, 0).Result()
		valuetest.MustHold(t, err == nil && len(first) == 1, "%s: %v, %v", s.key, first, err)
		errortest.None(t, client.ZIncrBy(t.Context(), s.key, -float64(window.Milliseconds()), first[0]).Err())
	}
	wantFail(t, k, address, true)
	wantFail(t, k, address, false)
}

func TestHardToBreak_Row05_WhatIsFullIsRemembered(t *testing.T) {
	k := replicas(t)
	const address = "2001:db8:1:2::1"
	withoutRedis, cancel := context.WithCancel(t.Context())
	cancel()
	wantKnown := func(k *Counter, address string, known bool) {
		t.Helper()
		if wait, err := k.Fail(withoutRedis, address); (wait > 0 && err == nil) != known || wait > window {
			t.Errorf("without Redis %s waits %v, %v; want it known that it is full: %t", address, wait, err, known)
		}
	}
	for range 10 {
		wantFail(t, k[0], address, true)
	}
	wantKnown(k[0], address, false)
	wantFail(t, k[0], address, false)
	wantKnown(k[0], address, true)
	wantKnown(k[0], "2001:db8:1:3::1", false)
	wantKnown(k[1], address, false)
	failAll(t, k, 240, func(i int) string { return fmt.Sprintf("2001:db8:2:%x::1", i) })
	for _, one := range k {
		wantKnown(one, "2001:db8:2:ffff::1", true)
		wantKnown(one, "2001:db8:3::1", false)
	}
}

func TestHardToBreak_Row05_WhatIsRememberedHasABound(t *testing.T) {
	var f full
	begun := time.Now()
	for i := range 2 * mostFull {
		f.put(fmt.Sprint(i), begun, time.Minute)
	}
	if len(f.until) != mostFull || f.wait("0") == 0 || f.wait(fmt.Sprint(mostFull)) != 0 {
		t.Errorf("%d sets are remembered", len(f.until))
	}
	f.put("0", begun, time.Hour)
	f.put("later", begun.Add(2*time.Minute), time.Minute)
	if len(f.until) != 2 || f.wait("0") <= time.Minute || f.wait("later") == 0 {
		t.Errorf("%d sets are remembered after those whose time is over are forgotten", len(f.until))
	}
}

func TestRefusedFailuresDoNotProlongTheWait(t *testing.T) {
	k := replicas(t)
	failAll(t, k, 10, func(int) string { return "192.0.2.1" })
	before, err := k[0].Fail(t.Context(), "192.0.2.1")
	if err != nil || before == 0 {
		t.Fatal(before, err)
	}
	failAll(t, k, 20, func(int) string { return "192.0.2.1" })
	if after, err := k[1].Fail(t.Context(), "192.0.2.1"); err != nil || after == 0 || after > before {
		t.Errorf("the wait went from %v to %v, %v", before, after, err)
	}
}

func TestNothingStaysBehind(t *testing.T) {
	client, prefix := storetest.Redis(t)
	k := New(client, prefix)
	for _, address := range []string{"192.0.2.1", "2001:db8::1", "no address"} {
		wantFail(t, k, address, true)
	}
	keys, err := client.Keys(t.Context(), prefix+"*").Result()
	if err != nil || len(keys) != 4 {
		t.Fatalf("keys %v, %v; want those of three addresses and a network", keys, err)
	}
	for _, key := range keys {
		if left, err := client.PTTL(t.Context(), key).Result(); err != nil || left <= 0 || left > window {
			t.Errorf("%s lives %v, %v", key, left, err)
		}
	}
}
