// Package storetest gives tests the real stores: a database of their own in the document store, and a prefix of their own in Redis.
//
// The stores are those that MONGODB_URI and REDIS_URL name, else those that `go run ./deploy/stores/cmd/stores up` left running for
// this checkout. Where there are none, a test fails and says so: it is never skipped.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Addresses are where the stores are.
type Addresses struct {
	MongoDB string `json:"mongodb_uri"`
	Redis   string `json:"redis_url"`
}

// howTo is what a test without stores tells.
const howTo = "start the stores with `go run ./deploy/stores/cmd/stores up` in the checkout, or set MONGODB_URI and REDIS_URL"

// patience is how long a store may take to answer; those of a test are on the same machine.
const patience = 5 * time.Second

// URIs returns where the stores are, for a test that hands them to a process. It does not ask them anything.
func URIs(t testing.TB) Addresses {
	t.Helper()
	a := Addresses{MongoDB: os.Getenv("MONGODB_URI"), Redis: os.Getenv("REDIS_URL")}
	if a.MongoDB != "" && a.Redis != "" {
		return a
	}
	running, err := left(".")
	if err != nil {
		t.Fatalf("no stores to test with: %s (%v)", howTo, err)
	}
	if a.MongoDB == "" {
		a.MongoDB = running.MongoDB
	}
	if a.Redis == "" {
		a.Redis = running.Redis
	}
	return a
}

// left reads what the command left in the checkout that dir is in.
func left(dir string) (Addresses, error) {
	var a Addresses
	dir, err := filepath.Abs(dir)
	if err != nil {
		return a, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return a, fmt.Errorf("no go.work here or above")
		}
		dir = filepath.Dir(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".local", "stores", "running.json"))
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(text, &a)
}

// sequence makes the names of one process differ.
var sequence atomic.Int64

// unique is a name that no other test has, in this process or another, short enough for a database.
func unique() string {
	return fmt.Sprintf("t%x_%x_%x", time.Now().UnixMicro(), os.Getpid(), sequence.Add(1))
}

// Mongo returns a database that is empty and this test's own; it is dropped when the test ends. It costs a few milliseconds: the
// connection is the test's too, and a collection is made by the first write to it.
func Mongo(t testing.TB) *mongo.Database {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(URIs(t).MongoDB).SetServerSelectionTimeout(patience))
	if err != nil {
		t.Fatalf("MONGODB_URI cannot be used: %s", howTo) // the driver's error may hold the address and so a password
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := client.Ping(ctx, nil); err != nil {
		t.Fatalf("the document store does not answer: %s (%v)", howTo, err)
	}
	db := client.Database(unique())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
		defer cancel()
		if err := db.Drop(ctx); err != nil {
			t.Errorf("dropping the test's database: %v", err)
		}
		if err := client.Disconnect(ctx); err != nil {
			t.Errorf("closing the connection to the document store: %v", err)
		}
	})
	return db
}

// Redis returns a client and a prefix. A test touches only keys that begin with the prefix: they are deleted when it ends.
func Redis(t testing.TB) (client *redis.Client, prefix string) {
	t.Helper()
	settings, err := redis.ParseURL(URIs(t).Redis)
	if err != nil {
		t.Fatalf("REDIS_URL cannot be used: %s", howTo) // the parser's error holds the address and so a password
	}
	client = redis.NewClient(settings)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		t.Fatalf("Redis does not answer: %s (%v)", howTo, err)
	}
	prefix = unique() + ":"
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := deleteKeys(ctx, client, prefix); err != nil {
			t.Errorf("deleting the test's keys: %v", err)
		}
		if err := client.Close(); err != nil {
			t.Errorf("closing the connection to Redis: %v", err)
		}
	})
	return client, prefix
}

func deleteKeys(ctx context.Context, client *redis.Client, prefix string) error {
	keys := client.Scan(ctx, 0, prefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := client.Unlink(ctx, keys.Val()).Err(); err != nil {
			return err
		}
	}
	return keys.Err()
}
