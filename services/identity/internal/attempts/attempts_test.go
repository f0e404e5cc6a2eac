package attempts

import (
	"context"
	"fmt"
	"sync"
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

// failAll fails n logins at once, by turns on both replicas, and returns how many were counted and the longest wait
// of the others.
func failAll(t *testing.T, k [2]*Counter, n int, address func(i int) string) (counted int, longest time.Duration) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range n {
		wg.Go(func() {
			wait, err := k[i%2].Fail(context.WithoutCancel(t.Context()), address(i))
			if err != nil {
				t.Error(err)
			}
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

// wantWait fails the test unless all logins from address have to wait, or have not to.
func wantWait(t *testing.T, k *Counter, address string, waits bool) {
	t.Helper()
	if wait, err := k.Wait(t.Context(), address); err != nil || (wait > 0) != waits || wait > window {
		t.Errorf("%s waits %v, %v; want a wait: %t", address, wait, err, waits)
	}
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
	if counted != 10 {
		t.Errorf("%d failures were counted, want 10", counted)
	}
	if longest <= 50*time.Second || longest > time.Minute {
		t.Errorf("to wait %v, want nearly a minute", longest)
	}
	wantWait(t, k[0], "192.0.2.1", true)
	wantWait(t, k[1], "::ffff:192.0.2.1", true)
	wantWait(t, k[0], "192.0.2.2", false)
	wantFail(t, k[1], "192.0.2.2", true)
}

func TestHardToBreak_Row05_ASixtyFourIsOneAddress(t *testing.T) {
	k := replicas(t)
	counted, _ := failAll(t, k, 40, func(i int) string { return fmt.Sprintf("2001:db8:1:2:%x::%x", i, i) })
	if counted != 10 {
		t.Errorf("%d failures were counted, want 10", counted)
	}
	wantWait(t, k[0], "2001:db8:1:2::ffff", true)
	wantWait(t, k[1], "2001:db8:1:3::ffff", false)
	wantFail(t, k[1], "2001:db8:1:3::ffff", true)
}

func TestHardToBreak_Row05_AHundredFailuresFromOneNetworkRefuseWrongLoginsThereAlone(t *testing.T) {
	k := replicas(t)
	counted, longest := failAll(t, k, 240, func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i) })
	if counted != 100 || longest <= 0 || longest > time.Minute {
		t.Errorf("%d failures were counted, longest wait %v; want 100 and at most a minute", counted, longest)
	}
	wantFail(t, k[0], "2001:db8:1:ffff::1", false)
	wantWait(t, k[1], "2001:db8:1:ffff::1", false) // a right uuid is not refused for the failures of others
	wantFail(t, k[0], "2001:db8:2::1", true)
	wantFail(t, k[1], "192.0.2.1", true)
}

func TestHardToBreak_Row05_ThereIsNoLimitOverTheDeployment(t *testing.T) {
	k := replicas(t)
	if counted, _ := failAll(t, k, 250, func(i int) string { return fmt.Sprint("192.0.2.", i) }); counted != 250 {
		t.Errorf("%d of 250 failures of as many addresses were counted", counted)
	}
}

// TestHardToBreak_Row05_AFailureLeavesAfterAMinute moves the counted failures back in time.
func TestHardToBreak_Row05_AFailureLeavesAfterAMinute(t *testing.T) {
	client, prefix := storetest.Redis(t)
	k := New(client, prefix)
	const address = "2001:db8:1:2::1"
	failAll(t, [2]*Counter{k, k}, 10, func(int) string { return address })
	for _, s := range k.sets(address) {
		first, err := client.ZRange(t.Context(), s.key, 0, 0).Result()
		if err != nil || len(first) != 1 {
			t.Fatalf("%s: %v, %v", s.key, first, err)
		}
		if err := client.ZIncrBy(t.Context(), s.key, -float64(window.Milliseconds()), first[0]).Err(); err != nil {
			t.Fatal(err)
		}
	}
	wantWait(t, k, address, false)
	wantFail(t, k, address, true)
	wantFail(t, k, address, false)
}

// wantRefused fails the test unless it is remembered that all logins from address, or wrong ones, are refused.
func wantRefused(t *testing.T, k *Counter, address string, all, wrong bool) {
	t.Helper()
	a, w := k.Refused(address)
	if (a > 0) != all || (w > 0) != wrong || a > window || w > window {
		t.Errorf("%s: all are refused for %v, wrong ones for %v; want %t, %t", address, a, w, all, wrong)
	}
}

func TestHardToBreak_Row05_WhatIsFullIsRemembered(t *testing.T) {
	k := replicas(t)
	const address = "2001:db8:1:2::1"
	for range 10 {
		wantFail(t, k[0], address, true)
	}
	wantRefused(t, k[0], address, false, false) // Redis alone knows
	wantWait(t, k[0], address, true)
	wantRefused(t, k[0], address, true, true)
	wantRefused(t, k[0], "2001:db8:1:3::1", false, false)
	wantRefused(t, k[1], address, false, false)
	failAll(t, k, 240, func(i int) string { return fmt.Sprintf("2001:db8:2:%x::1", i) })
	for _, one := range k {
		wantRefused(t, one, "2001:db8:2:ffff::1", false, true)
		wantRefused(t, one, "2001:db8:3::1", false, false)
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
	before, err := k[0].Wait(t.Context(), "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	failAll(t, k, 20, func(int) string { return "192.0.2.1" })
	if after, err := k[0].Wait(t.Context(), "192.0.2.1"); err != nil || after == 0 || after > before {
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
