// Package accesslog records which user has read whose personal data, in the collection SERVICE_accesses. Old entries
// are deleted.
//
// A read never waits for it. [Log.Record] puts an entry into a queue of this process, and [Log.Run] writes the queue
// every second. A process that is killed loses what it has not written; a process that is stopped writes it first.
// While the store is away the queue fills, and entries that find it full are lost and counted.
package accesslog

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	// writeInterval bounds how long an entry waits for others to be written with.
	writeInterval = time.Second
	// mostQueued bounds the waiting entries, and batch is how many are written at once.
	mostQueued, batch = 10_000, 1000
	// once is how long reads of one kind by one user of one element make one entry.
	once = time.Hour
	// mostKnown bounds the reads of the hour that are remembered.
	mostKnown = 50_000
	// firstRetry and longestRetry bound the pause between two tries while the store is away.
	firstRetry   = 2 * time.Second
	longestRetry = 5 * time.Second
	// lastWrite bounds the write when a process is stopped.
	lastWrite = 5 * time.Second
	// forgetInterval is how often old entries are deleted.
	forgetInterval = time.Hour

	day = 24 * time.Hour
)

// Entry is one line of the log.
type Entry struct {
	ID       string     `bson:"_id"` // a version 7 UUID: unique, and in the order of time
	At       time.Time  `bson:"at"`  // UTC, to the second
	User     int64      `bson:"user"`
	Original int64      `bson:"original,omitempty"` // who had switched to the user; 0: none
	Actors   []int64    `bson:"actors"`             // the two
	Element  int64      `bson:"element"`
	What     audit.Read `bson:"what"`
	From     string     `bson:"from,omitempty"` // address of the client
}

// read is what tells the entries of an hour apart.
type read struct {
	user, original, element int64
	what                    audit.Read
	from                    string
}

// Options of New; all are needed.
type Options struct {
	DB      *mongo.Database
	Service string
	Days    int // how long entries are kept; 0: nothing is recorded, and what there is goes
	Meter   metric.MeterProvider
}

// Log is the log of one service. It is safe for concurrent use, by any number of processes.
type Log struct {
	entries *mongo.Collection
	days    int
	counter metric.Int64Counter
	queue   chan Entry

	mu    sync.Mutex
	hour  time.Time
	known map[read]struct{} // of that hour

	writing sync.Mutex
	taken   []Entry // from the queue, and not yet written

	forgotten time.Time
}

// New returns the log of the service.
func New(o Options) (*Log, error) {
	counter, err := o.Meter.Meter("github.com/belfry-schools/belfry/pkg/journal/audit/accesslog").Int64Counter(
		"belfry.access.entries",
		metric.WithDescription("Entries of the access log, by outcome: written, or dropped"))
	if err != nil {
		return nil, fmt.Errorf("make the counter of accesses: %w", err)
	}
	return &Log{
		entries: collection(o.DB, o.Service), days: o.Days, counter: counter, queue: make(chan Entry, mostQueued),
		known: map[read]struct{}{},
	}, nil
}

func collection(db *mongo.Database, service string) *mongo.Collection {
	return db.Collection(service + "_accesses")
}

// Prepare makes the indexes. It may run in several processes at once.
func Prepare(ctx context.Context, db *mongo.Database, service string) error {
	return mongostore.EnsureIndexes(ctx, collection(db, service), []mongostore.Index{
		{Name: "element", Keys: mongostore.By("element", "-_id")},
		{Name: "actors", Keys: mongostore.By("actors", "-_id")},
	})
}

// Record records that the context's actor has read data of elements. Equal reads from one address are one entry an hour
// in each process. It returns at once.
func (l *Log) Record(ctx context.Context, what audit.Read, elements ...int64) {
	if l.days <= 0 {
		return
	}
	a, at := audit.ActorOf(ctx), time.Now().UTC().Truncate(time.Second)
	for _, id := range elements {
		seen := read{a.User, a.Original, id, what, a.From}
		if !l.isNew(seen, at) {
			continue
		}
		e := Entry{
			ID: uuid.Must(uuid.NewV7()).String(), // fails only where there is no randomness
			At: at, User: a.User, Original: a.Original, Actors: []int64{a.User}, Element: id, What: what, From: a.From,
		}
		if a.Original != 0 {
			e.Actors = append(e.Actors, a.Original)
		}
		select {
		case l.queue <- e:
		default:
			l.forgetRead(seen)
			l.count(ctx, "dropped", 1)
		}
	}
}

// isNew says whether a read is the first of the hour, and adds it.
func (l *Log) isNew(seen read, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if hour := at.Truncate(once); !hour.Equal(l.hour) || len(l.known) >= mostKnown {
		l.hour, l.known = hour, map[read]struct{}{}
	}
	if _, known := l.known[seen]; known {
		return false
	}
	l.known[seen] = struct{}{}
	return true
}

// forgetRead makes the next read of that kind an entry.
func (l *Log) forgetRead(seen read) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, seen)
}

func (l *Log) count(ctx context.Context, outcome string, n int) {
	if n > 0 {
		l.counter.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
	}
}

// Run returns the loop that writes entries, and deletes old ones, until its context ends; then it writes what is left.
// While the store is away it tries again with growing pauses.
func (l *Log) Run(log *slog.Logger) func(ctx context.Context) error {
	loop := background.New(background.Options{
		Name: "the access log", Log: log, Step: l.step, Every: writeInterval, Retry: firstRetry,
		LongestRetry: longestRetry,
	})
	return func(ctx context.Context) error {
		err := loop.Run(ctx)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
		defer cancel()
		if failed := l.write(last); failed != nil {
			lost := l.waiting()
			l.count(last, "dropped", lost)
			log.WarnContext(last, "the last entries of the access log are lost", "entries", lost, "error", failed)
		}
		return err
	}
}

func (l *Log) step(ctx context.Context) error {
	if err := l.write(ctx); err != nil {
		return err
	}
	if time.Since(l.forgotten) < forgetInterval {
		return nil
	}
	err := l.forget(ctx, time.Now())
	if err == nil {
		l.forgotten = time.Now()
	}
	return err
}

// write writes the queue, in batches. After an error the entries stay; writing one again is harmless.
func (l *Log) write(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	for {
		for more := true; more && len(l.taken) < batch; {
			select {
			case e := <-l.queue:
				l.taken = append(l.taken, e)
			default:
				more = false
			}
		}
		if len(l.taken) == 0 {
			return nil
		}
		if _, err := mongostore.InsertAll(ctx, l.entries, l.taken); err != nil {
			return fmt.Errorf("write the access log: %w", err)
		}
		l.count(ctx, "written", len(l.taken))
		l.taken = nil
	}
}

// waiting is how many entries are not written yet.
func (l *Log) waiting() int {
	l.writing.Lock()
	defer l.writing.Unlock()
	return len(l.taken) + len(l.queue)
}

// forget deletes the entries that are older than the retention.
func (l *Log) forget(ctx context.Context, now time.Time) error {
	before := mongostore.FirstUUID(now.Add(-time.Duration(l.days) * day))
	_, err := l.entries.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: before}}}})
	if err != nil {
		return fmt.Errorf("delete old entries of the access log: %w", err)
	}
	return nil
}

// Erase is the log's part of an erasure: it deletes the entries on reads of the person, and the network addresses in
// those on reads by the person's users.
func (l *Log) Erase(p erasure.Person) erasure.Part {
	return func(ctx context.Context, _ string) (next string, changed int, err error) {
		if err := l.write(ctx); err != nil { // other processes write theirs within a second
			return "", 0, err
		}
		gone, err := l.entries.DeleteMany(ctx, bson.D{{Key: "element", Value: p.ElementID}})
		if err != nil {
			return "", 0, fmt.Errorf("erase accesses: %w", err)
		}
		changed = int(gone.DeletedCount)
		if len(p.UserIDs) == 0 {
			return "", changed, nil
		}
		bare, err := l.entries.UpdateMany(ctx,
			bson.D{
				{Key: "actors", Value: bson.D{{Key: "$in", Value: p.UserIDs}}},
				{Key: "from", Value: bson.D{{Key: "$exists", Value: true}}},
			},
			bson.D{{Key: "$unset", Value: bson.D{{Key: "from", Value: ""}}}})
		if err != nil {
			return "", changed, fmt.Errorf("erase addresses of accesses: %w", err)
		}
		return "", changed + int(bare.ModifiedCount), nil
	}
}
