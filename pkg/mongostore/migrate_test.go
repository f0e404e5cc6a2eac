package mongostore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

// journal records which migrations ran, in order.
type journal struct {
	mu   sync.Mutex
	runs []string
}

func (j *journal) migration(name string, up func(context.Context) error) mongostore.Migration {
	return mongostore.Migration{Name: name, Up: func(ctx context.Context, _ *mongo.Database) error {
		j.mu.Lock()
		j.runs = append(j.runs, name)
		j.mu.Unlock()
		if up == nil {
			return nil
		}
		return up(ctx)
	}}
}

func (j *journal) want(t *testing.T, runs ...string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Equal(j.runs, runs) {
		t.Errorf("ran %v, want %v", j.runs, runs)
	}
}

func TestMigrate_RunsEachOnceInOrder(t *testing.T) {
	db := storetest.Mongo(t)
	var j journal
	first, second, third := j.migration("0001", nil), j.migration("0002", nil), j.migration("0003", nil)
	for _, migrations := range [][]mongostore.Migration{nil, {first, second}, {first, second}, {first, second, third}} {
		if err := mongostore.Migrate(t.Context(), db, "events", migrations); err != nil {
			t.Fatal(err)
		}
	}
	j.want(t, "0001", "0002", "0003")
	if err := mongostore.Migrate(t.Context(), db, "notes", []mongostore.Migration{first}); err != nil {
		t.Fatal(err)
	}
	j.want(t, "0001", "0002", "0003", "0001")
}

func TestMigrate_ManyPodsAtOnceRunEachOnce(t *testing.T) {
	db := storetest.Mongo(t)
	var j journal
	var working atomic.Int32
	alone := func(context.Context) error {
		if working.Add(1) != 1 {
			t.Error("two pods migrate at once")
		}
		defer working.Add(-1)
		time.Sleep(50 * time.Millisecond)
		return nil
	}
	migrations := []mongostore.Migration{j.migration("0001", alone), j.migration("0002", alone),
		j.migration("0003", alone)}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if err := mongostore.MigrateWithTTL(t.Context(), db, "events", migrations, 5*time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	j.want(t, "0001", "0002", "0003")
}

func TestMigrate_AFailureStopsAndTheNextStartResumesThere(t *testing.T) {
	db := storetest.Mongo(t)
	var j journal
	broken := errors.New("broken")
	fail := true
	migrations := []mongostore.Migration{
		j.migration("0001", nil),
		j.migration("0002", func(context.Context) error {
			if fail {
				return broken
			}
			return nil
		}),
		j.migration("0003", nil),
	}
	err := mongostore.Migrate(t.Context(), db, "events", migrations)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "0002") {
		t.Errorf("error %v", err)
	}
	fail = false
	// The lease is free: the next holder need not wait until it expires.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := mongostore.Migrate(ctx, db, "events", migrations); err != nil {
		t.Error(err)
	}
	j.want(t, "0001", "0002", "0002", "0003")
}

// leaveLease stores the lease of a process that died.
func leaveLease(t *testing.T, db *mongo.Database) {
	t.Helper()
	_, err := db.Collection("migrations").InsertOne(t.Context(),
		bson.D{{Key: "_id", Value: "events"}, {Key: "holder", Value: "dead"}, {Key: "beat", Value: int64(41)}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMigrate_TakesOverFromAPodThatDied(t *testing.T) {
	db := storetest.Mongo(t)
	leaveLease(t, db)
	var j journal
	started := time.Now()
	const ttl = 600 * time.Millisecond
	err := mongostore.MigrateWithTTL(t.Context(), db, "events", []mongostore.Migration{j.migration("0001", nil)}, ttl)
	if err != nil {
		t.Fatal(err)
	}
	j.want(t, "0001")
	if took := time.Since(started); took < ttl {
		t.Errorf("it took the lease after %v, before it ran out", took)
	}
}

func TestMigrate_WaitsForTheContextWhileAnotherHoldsTheLease(t *testing.T) {
	db := storetest.Mongo(t)
	leaveLease(t, db)
	var j journal
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err := mongostore.Migrate(ctx, db, "events", []mongostore.Migration{j.migration("0001", nil)})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	j.want(t)
}

func TestMigrate_ALongMigrationKeepsItsLease(t *testing.T) {
	db := storetest.Mongo(t)
	var j journal
	const ttl = 800 * time.Millisecond
	long := []mongostore.Migration{j.migration("0001", func(context.Context) error {
		time.Sleep(2 * ttl)
		return nil
	})}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if err := mongostore.MigrateWithTTL(t.Context(), db, "events", long, ttl); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	j.want(t, "0001")
}

func TestMigrate_ALostLeaseEndsTheWorkAndRecordsNothing(t *testing.T) {
	db := storetest.Mongo(t)
	var j journal
	ended := false
	robbed := []mongostore.Migration{j.migration("0001", func(ctx context.Context) error {
		_, err := db.Collection("migrations").UpdateByID(ctx, "events",
			bson.D{{Key: "$set", Value: bson.D{{Key: "holder", Value: "thief"}}}})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			ended = true
		case <-time.After(5 * time.Second):
		}
		return nil
	})}
	err := mongostore.MigrateWithTTL(t.Context(), db, "events", robbed, 400*time.Millisecond)
	if err == nil || !ended {
		t.Errorf("error %v, context ended: %v", err, ended)
	}
	n, err := db.Collection("migrations").CountDocuments(t.Context(), bson.D{{Key: "_id", Value: "events/0001"}})
	if err != nil || n != 0 {
		t.Errorf("%d records, %v", n, err)
	}
}

func TestMigrate_TwoOfOneNameAreRefused(t *testing.T) {
	var j journal
	err := mongostore.Migrate(t.Context(), storetest.Mongo(t), "events",
		[]mongostore.Migration{j.migration("0001", nil), j.migration("0001", nil)})
	if err == nil {
		t.Error("no error")
	}
	j.want(t)
}
