package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// document is like those of the services.
type document struct {
	mongostore.Head `bson:",inline"`
	Title           string    `bson:"title"`
	Deleted         bool      `bson:"deleted,omitempty"`
	Outbox          []Message `bson:"outbox,omitempty"`
}

// records is an empty collection with the index.
func records(t *testing.T) *mongo.Collection {
	t.Helper()
	collection := storetest.Mongo(t).Collection("records")
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), collection, []mongostore.Index{Index()}))
	return collection
}

// open returns such a collection, and a client and a stream of Redis.
func open(t *testing.T) (collection *mongo.Collection, client *redis.Client, stream string) {
	t.Helper()
	client, prefix := storetest.Redis(t)
	return records(t), client, Stream(prefix, "records")
}

// put stores a document with messages of those kinds.
func put(t *testing.T, collection *mongo.Collection, id int64, kinds ...string) {
	t.Helper()
	doc := document{Head: mongostore.Head{ID: id}, Title: "kept"}
	for _, kind := range kinds {
		doc.Outbox = append(doc.Outbox, NewMessage(t.Context(), kind, id))
	}
	errortest.None(t, mongostore.Insert(t.Context(), collection, &doc))
}

// silent returns a log that discards everything.
func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// inbox is a handler that keeps the messages it gets.
type inbox struct {
	mu   sync.Mutex
	got  []Message
	fail func(Message) error
}

func (b *inbox) handle(_ context.Context, m Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, m)
	if b.fail != nil {
		return b.fail(m)
	}
	return nil
}

// consumer hands the messages of a stream to the inbox, as a member of the group notes; claimAfter 0: the usual time.
func (b *inbox) consumer(client redis.UniversalClient, stream string, claimAfter time.Duration) *Consumer {
	return NewConsumer(ConsumerOptions{Redis: client, Stream: stream, Group: "notes", Handle: b.handle, Log: silent(),
		ClaimAfter: claimAfter})
}

// times returns how often each message was delivered, by "kind subject".
func (b *inbox) times() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	times := map[string]int{}
	for _, m := range b.got {
		times[fmt.Sprint(m.Kind, " ", m.Subject)]++
	}
	return times
}

// start calls run, and ends it when the test ends or stop is called.
func start(t *testing.T, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-ended:
				errortest.Report(t, err, "Run ended")
			case <-time.After(10 * time.Second):
				t.Error("Run goes on after its context ended")
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// eventually waits until holds returns true.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	timetest.Eventually(t, what, 15*time.Second, holds)
}

// entries reads the messages in a stream.
func entries(t *testing.T, client redis.UniversalClient, stream string) []Message {
	t.Helper()
	read, err := client.XRange(t.Context(), stream, "-", "+").Result()
	errortest.None(t, err)
	messages := make([]Message, len(read))
	for i, entry := range read {
		messages[i], err = parse(entry.Values)
		errortest.None(t, err)
	}
	return messages
}
