package mongostore_test

import (
	"context"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestIDs_AreGivenOnceOverAllProcesses(t *testing.T) {
	db := storetest.Mongo(t)
	const processes, goroutines, each, batch = 4, 6, 60, 7
	var mu sync.Mutex
	given := map[int64]int{}
	note := func(first int64, n int) {
		mu.Lock()
		defer mu.Unlock()
		for i := range n {
			given[first+int64(i)]++
		}
	}
	var all sync.WaitGroup
	for range processes {
		ids := mongostore.NewIDs(db)
		for range goroutines {
			all.Go(func() {
				for n := range each {
					id, err := ids.Next(t.Context(), "events")
					if err != nil {
						t.Error(err)
						return
					}
					note(id, 1)
					if n%10 == 0 {
						first, err := ids.Take(t.Context(), "events", batch)
						if err != nil {
							t.Error(err)
							return
						}
						note(first, batch)
					}
				}
			})
		}
	}
	all.Wait()
	valuetest.Same(t, len(given), processes*goroutines*(each+each/10*batch), "distinct ids")
	for id, times := range given {
		valuetest.Holds(t, times == 1 && id >= 1, "id %d was given %d times", id, times)
	}
}

func TestIDs_RiseFromOneInAProcessAndEachNameCountsByItself(t *testing.T) {
	ids := mongostore.NewIDs(storetest.Mongo(t))
	for want := int64(1); want <= 120; want++ {
		if id, err := ids.Next(t.Context(), "notes"); err != nil || id != want {
			t.Fatalf("id %d, %v; want %d", id, err, want)
		}
	}
	if id, err := ids.Next(t.Context(), "events"); err != nil || id != 1 {
		t.Errorf("first id of another name: %d, %v", id, err)
	}
}

func TestIDs_AreNotGivenAgainAfterARestart(t *testing.T) {
	db := storetest.Mongo(t)
	before, err := mongostore.NewIDs(db).Next(t.Context(), "events")
	errortest.None(t, err)
	after, err := mongostore.NewIDs(db).Next(t.Context(), "events")
	valuetest.Holds(t, err == nil && after > before, "%d after %d, %v", after, before, err)
}

func TestIDs_ABatchHasAtLeastOne(t *testing.T) {
	ids := mongostore.NewIDs(storetest.Mongo(t))
	for _, n := range []int{0, -1} {
		first, err := ids.Take(t.Context(), "events", n)
		errortest.Some(t, err, "Take of %d gave %d", n, first)
	}
}

func TestIDs_AFailureLosesNothingAndHoldsNobodyUp(t *testing.T) {
	ids := mongostore.NewIDs(storetest.Mongo(t))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	id, err := ids.Next(cancelled, "events")
	errortest.Some(t, err, "id %d from a cancelled context", id)
	if id, err := ids.Next(t.Context(), "events"); err != nil || id != 1 {
		t.Errorf("after it: %d, %v", id, err)
	}
}
