// Package storetest connects tests to their stores: a real server with MongoDB's protocol and a real Redis, never
// mocks. Each test has a database and a key prefix of its own.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// patience bounds an operation on the stores, and the removal of what a test left there. It is not what the services
// have: a busy machine must fail no test.
const patience = 2 * time.Minute

// URIs returns the addresses of the stores: MONGODB_URI and REDIS_URL where they are set, else those that "make
// stores" runs for this checkout. Without either it returns an error: a test without stores fails and is never
// skipped.
func URIs() (mongoURI, redisURL string, err error) {
	mongoURI, redisURL = os.Getenv("MONGODB_URI"), os.Getenv("REDIS_URL")
	if mongoURI != "" && redisURL != "" {
		return mongoURI, redisURL, nil
	}
	root, err := checkout.Root()
	if err != nil {
		return "", "", err
	}
	var running struct {
		MongoURI string `json:"mongodb_uri"`
		RedisURL string `json:"redis_url"`
	}
	text, err := os.ReadFile(filepath.Join(root, ".local", "stores", "running.json"))
	if err == nil {
		err = json.Unmarshal(text, &running)
	}
	if err != nil {
		return "", "", errors.New("no stores to test with: run \"make stores\", or set MONGODB_URI and REDIS_URL")
	}
	if mongoURI == "" {
		mongoURI = running.MongoURI
	}
	if redisURL == "" {
		redisURL = running.RedisURL
	}
	return mongoURI, redisURL, nil
}

// sequence makes the names within one process unique.
var sequence atomic.Int64

// unique returns a name that no other test has, in this process or another, short enough for a database.
func unique() string {
	return fmt.Sprintf("t%x_%x_%x", time.Now().UnixMicro(), os.Getpid(), sequence.Add(1))
}

// Mongo returns an empty database of the test's own, with the services' connection options. It is dropped when the
// test ends.
func Mongo(t testing.TB) *mongo.Database {
	t.Helper()
	db, drop, err := NewMongo(t.Context())
	errortest.None(t, err)
	atEnd(t, drop)
	return db
}

// atEnd calls drop when the test ends.
func atEnd(t testing.TB, drop func() error) {
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
}

// NewMongo is Mongo for callers without a testing.TB. drop drops the database and disconnects.
func NewMongo(ctx context.Context) (db *mongo.Database, drop func() error, err error) {
	uri, _, err := URIs()
	if err != nil {
		return nil, nil, err
	}
	client, err := mongostore.Connect(ctx, patient(uri), mongostore.Options{AppName: "belfry-test"})
	if err != nil {
		return nil, nil, err
	}
	db = client.Database(unique())
	return db, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return errors.Join(db.Drop(ctx), client.Disconnect(ctx))
	}, nil
}

// patient returns the URI with the time that an operation may take, unless it says so itself.
func patient(uri string) string {
	const name = "timeoutMS="
	if strings.Contains(uri, name) {
		return uri
	}
	separator := "&"
	if !strings.Contains(uri, "?") {
		separator = "?"
		if strings.Count(uri, "/") < len("///") { // no slash after the hosts
			separator = "/?"
		}
	}
	return uri + separator + name + strconv.FormatInt(patience.Milliseconds(), 10)
}

// Redis returns a client and a prefix. A test uses only keys that begin with the prefix. They are deleted when it
// ends.
func Redis(t testing.TB) (client *redis.Client, prefix string) {
	t.Helper()
	client, prefix, drop, err := NewRedis(t.Context())
	errortest.None(t, err)
	atEnd(t, drop)
	return client, prefix
}

// RedisAt returns a client of the Redis at an address, until the test ends.
func RedisAt(t testing.TB, address string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(address)
	errortest.None(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// RedisLosing is Redis with a client that loses an answer after each call of lose: the server executes the command, but
// the connection breaks before its answer, and the library sends the command again. Scripts must be in the server.
func RedisLosing(t testing.TB) (client *redis.Client, prefix string, lose func()) {
	t.Helper()
	whole, prefix := Redis(t)
	options := *whole.Options()
	var lost atomic.Bool
	dial := options.Dialer
	options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return losing{c, &lost}, err
	}
	client = redis.NewClient(&options)
	t.Cleanup(func() { _ = client.Close() })
	return client, prefix, func() { lost.Store(true) }
}

// losing is a connection that breaks in place of its next answer once lost is set.
type losing struct {
	net.Conn
	lost *atomic.Bool
}

func (c losing) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.lost.CompareAndSwap(true, false) {
		return 0, errors.Join(io.EOF, c.Close())
	}
	return n, err
}

// NewRedis is Redis for callers without a testing.TB. drop deletes the keys and closes the client.
func NewRedis(ctx context.Context) (client *redis.Client, prefix string, drop func() error, err error) {
	_, url, err := URIs()
	if err != nil {
		return nil, "", nil, err
	}
	options, err := redis.ParseURL(url)
	if err != nil {
		// the library's error holds the address with its password
		return nil, "", nil, errors.New("REDIS_URL is not a redis:// address")
	}
	client = redis.NewClient(options)
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, "", nil, errors.Join(fmt.Errorf("redis does not answer: %w", err), client.Close())
	}
	prefix = unique() + ":"
	return client, prefix, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return errors.Join(removeKeys(ctx, client, prefix), client.Close())
	}, nil
}

func removeKeys(ctx context.Context, client *redis.Client, prefix string) error {
	keys := client.Scan(ctx, 0, prefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := client.Del(ctx, keys.Val()).Err(); err != nil {
			return err
		}
	}
	return keys.Err()
}
