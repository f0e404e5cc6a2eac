package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
)

// floorRead is the least that the store has to do for a request: one read of the documents that it shows, by their
// ids, or one write.
type floorRead struct {
	elements, events, users []int64
	notesOf                 []int64 // of these events
	writes                  bool
}

// any reports whether there is anything to do: a request without it needs no store.
func (r floorRead) any() bool {
	return len(r.elements)+len(r.events)+len(r.users)+len(r.notesOf) > 0 || r.writes
}

// floors measures what could not be less: what the store alone can do, by the bare driver in this process, and what
// the front door alone can do, in front of a server in this process that answers a constant.
type floors struct {
	client *mongo.Client
	db     *mongo.Database
	event  bson.M // what a write writes, but for its id
	door   *httptest.Server
	behind *httptest.Server
	bare   map[int]figures // of the front door, by clients
}

// scratchCollection takes what the floor of a write writes, and is dropped before and after.
const scratchCollection = "bench_floor"

func newFloors(ctx context.Context, s *school) (*floors, error) {
	client, err := mongo.Connect(options.Client().ApplyURI(s.stores.MongoURI))
	if err != nil {
		return nil, err
	}
	f := &floors{client: client, db: client.Database(database), bare: map[int]figures{}}
	f.behind = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"status":"OK"}`) // an error means that wrk has gone
	}))
	f.door = httptest.NewServer(frontdoor.New(routes.Table{Routes: []routes.Row{{Prefix: "/api", Service: "constant"}}},
		map[string][]string{"constant": {f.behind.Listener.Addr().String()}}, slog.New(slog.DiscardHandler)))
	if err := f.db.Collection("events").FindOne(ctx, bson.D{}).Decode(&f.event); err != nil {
		return nil, fmt.Errorf("read an event: %w", err)
	}
	delete(f.event, "_id")
	return f, f.db.Collection(scratchCollection).Drop(ctx)
}

func (f *floors) close() {
	f.door.Close()
	f.behind.Close()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	_ = f.db.Collection(scratchCollection).Drop(ctx) // the next run drops it too
	_ = f.client.Disconnect(ctx)
}

// bareDoor measures the front door before a constant, once for each number of clients.
func (f *floors) bareDoor(ctx context.Context, s *school, clients, seconds int) (figures, error) {
	if got, found := f.bare[clients]; found {
		return got, nil
	}
	got, err := wrk(ctx, s.scratch, f.door.URL, s.cookie,
		[]request{{method: http.MethodGet, path: "/api/constant"}}, clients, seconds)
	if err == nil {
		f.bare[clients] = got
	}
	return got, err
}

// store does the least reads of the requests in turn, with so many clients at a time. A call that needs no store
// gives no figures.
func (f *floors) store(ctx context.Context, c call, clients, seconds int) (figures, error) {
	reads := make([]floorRead, 0, len(c.requests))
	for _, r := range c.requests {
		if r.reads.any() {
			reads = append(reads, r.reads)
		}
	}
	if len(reads) == 0 {
		return figures{}, nil
	}
	begun := time.Now()
	end := begun.Add(time.Duration(seconds) * time.Second)
	var mu sync.Mutex
	var took []time.Duration
	working, ctx := errgroup.WithContext(ctx)
	for n := range clients {
		working.Go(func() error {
			var mine []time.Duration
			for i := n; time.Now().Before(end); i += clients {
				at := time.Now()
				if err := f.once(ctx, reads[i%len(reads)]); err != nil {
					return err
				}
				mine = append(mine, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			return nil
		})
	}
	if err := working.Wait(); err != nil {
		return figures{}, fmt.Errorf("the floor: %w", err)
	}
	slices.Sort(took)
	part := func(percent int) time.Duration { return took[(len(took)-1)*percent/100] }
	return figures{requests: len(took), elapsed: time.Since(begun), p50: part(50), p95: part(95), p99: part(99)}, nil
}

// once reads or writes as one request has to.
func (f *floors) once(ctx context.Context, r floorRead) error {
	if r.writes {
		_, err := f.db.Collection(scratchCollection).InsertOne(ctx, f.event)
		return err
	}
	collection, field, ids := "elements", "_id", r.elements
	switch {
	case len(r.events) > 0:
		collection, ids = "events", r.events
	case len(r.users) > 0:
		collection, ids = "users", r.users
	case len(r.notesOf) > 0:
		collection, field, ids = "notes", "event_id", r.notesOf
	}
	found, err := f.db.Collection(collection).Find(ctx, bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: ids}}}})
	if err != nil {
		return err
	}
	var documents []bson.Raw
	return found.All(ctx, &documents)
}
