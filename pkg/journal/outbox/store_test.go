package outbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
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
	if err := mongostore.EnsureIndexes(t.Context(), collection, []mongostore.Index{Index()}); err != nil {
		t.Fatal(err)
	}
	return collection
}

// put stores a document with messages of those kinds.
func put(t *testing.T, collection *mongo.Collection, id int64, kinds ...string) {
	t.Helper()
	doc := document{Head: mongostore.Head{ID: id}, Title: "kept"}
	for _, kind := range kinds {
		doc.Outbox = append(doc.Outbox, NewMessage(t.Context(), kind, id))
	}
	if err := mongostore.Insert(t.Context(), collection, &doc); err != nil {
		t.Fatal(err)
	}
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
				if err != nil {
					t.Errorf("Run ended with %v", err)
				}
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
	for deadline := time.Now().Add(15 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// entries reads the messages in a stream.
func entries(t *testing.T, client redis.UniversalClient, stream string) []Message {
	t.Helper()
	read, err := client.XRange(t.Context(), stream, "-", "+").Result()
	if err != nil {
		t.Fatal(err)
	}
	messages := make([]Message, len(read))
	for i, entry := range read {
		if messages[i], err = parse(entry.Values); err != nil {
			t.Fatal(err)
		}
	}
	return messages
}

// gate is a TCP proxy to a store. While it is shut, the store is unavailable.
type gate struct {
	t      *testing.T
	target string
	addr   string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	g := &gate{t: t, target: target, addr: "127.0.0.1:0", conns: map[net.Conn]bool{}}
	g.open()
	t.Cleanup(g.shut)
	return g
}

func (g *gate) open() {
	listener, err := net.Listen("tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener, g.addr = listener, listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go g.carry(conn)
		}
	}()
}

// shut refuses new connections and closes those that are open.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		g.t.Error(err)
	}
	for conn := range g.conns {
		_ = conn.Close() // it may be closed already
	}
	clear(g.conns)
}

func (g *gate) carry(client net.Conn) {
	server, err := net.Dial("tcp", g.target)
	if err != nil {
		_ = client.Close()
		return
	}
	g.mu.Lock()
	g.conns[client], g.conns[server] = true, true
	g.mu.Unlock()
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close()
		}()
	}
}
