// Package auditlog keeps a service's audit: the collection SERVICE_audit, to which entries are appended and never changed or removed.
//
// A write leaves its entry in the array audit of its own document (package audit), so there is never one without the other. [Log.Run] moves
// the entries from there, at least once and by their ids, so a process may die at any point and no entry is lost or doubled. [Log.Find] moves
// what waits before it reads: a change that was answered is in every later answer.
package auditlog

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/outbox"
	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	// moveInterval is how long an entry may wait in its document that nobody asks for.
	moveInterval = time.Second
	// moveBatch is how many documents are emptied at a time.
	moveBatch = 200
	// moveTries is how often a batch is tried again that stood in another's way.
	moveTries = 20
	// firstRetry and longestRetry bound the pause between two tries while the store is away.
	firstRetry   = 2 * time.Second
	longestRetry = 5 * time.Second
)

// Log is the audit of one service. It is safe for concurrent use, by any number of processes.
type Log struct {
	entries *mongo.Collection
	sources []*mongo.Collection
}

// New returns the audit of the service, whose entries come from the documents of the sources. They have [Index].
func New(db *mongo.Database, service string, sources ...*mongo.Collection) *Log {
	return &Log{entries: db.Collection(service + "_audit"), sources: sources}
}

// Index is the index that a source needs. Only documents with an entry waiting are in it.
func Index() mongostore.Index {
	return mongostore.Index{Name: "audit", Keys: bson.D{{Key: audit.Field + ".id", Value: 1}}, Where: waiting()}
}

// waiting matches the documents with an entry. It is the condition of the index too: it must stay the same.
func waiting() bson.D {
	return bson.D{{Key: audit.Field + ".id", Value: bson.D{{Key: "$gt", Value: ""}}}}
}

// NoneWaits is the condition that a document has no entry waiting: one that must hold before it is removed.
func NoneWaits() bson.E {
	return bson.E{Key: audit.Field + ".0", Value: bson.D{{Key: "$exists", Value: false}}}
}

// indexes of the entries. Ids are in the order of time.
func indexes() []mongostore.Index {
	return []mongostore.Index{
		{Name: "about", Keys: bson.D{{Key: "about", Value: 1}, {Key: "_id", Value: -1}}},
		{Name: "actors", Keys: bson.D{{Key: "actors", Value: 1}, {Key: "_id", Value: -1}}},
	}
}

// Prepare makes the indexes. It may run in several processes at once.
func (l *Log) Prepare(ctx context.Context) error {
	return mongostore.EnsureIndexes(ctx, l.entries, indexes())
}

// document is an entry as it is kept.
type document struct {
	ID          string `bson:"_id"`
	audit.Entry `bson:",inline"`
	Actors      []int64 `bson:"actors,omitempty"` // the effective and the original user
}

func documentOf(e audit.Entry) document {
	d := document{ID: e.ID, Entry: e}
	for _, user := range []int64{e.User, e.Original} {
		if user != 0 {
			d.Actors = append(d.Actors, user)
		}
	}
	return d
}

// Record appends entries at once: those of what leaves no document, such as a login. One round trip.
func (l *Log) Record(ctx context.Context, entries ...audit.Entry) error {
	documents := make([]document, len(entries))
	for i, e := range entries {
		documents[i] = documentOf(e)
	}
	return l.append(ctx, documents)
}

// append is idempotent: an entry that is there already stays as it is.
func (l *Log) append(ctx context.Context, documents []document) error {
	_, err := mongostore.InsertAll(ctx, l.entries, documents)
	return err
}

// Run returns the loop that moves entries until its context ends. While the store is away it tries again with growing pauses.
func (l *Log) Run(log *slog.Logger) func(ctx context.Context) error {
	loop := background.New(background.Options{
		Name: "the audit", Log: log, Step: l.Move, Every: moveInterval, Retry: firstRetry, LongestRetry: longestRetry,
	})
	return func(ctx context.Context) error { return loop.Run(outbox.Unsampled(ctx)) }
}

// Move moves all entries that wait. For each source one indexed read; with entries two writes for each 200 documents.
func (l *Log) Move(ctx context.Context) error {
	for _, source := range l.sources {
		for more, conflicts := true, 0; more; {
			moved, err := l.moveFrom(ctx, source)
			if mongostore.Conflicted(err) && conflicts < moveTries { // with a writer, or another who moves: what was not done is found again
				conflicts++
				continue
			}
			if err != nil {
				return err
			}
			more = moved == moveBatch
		}
	}
	return nil
}

// source is what is read of a document with entries.
type source struct {
	ID      int64         `bson:"_id"`
	Version int64         `bson:"version"`
	Deleted bool          `bson:"deleted"`
	Audit   []audit.Entry `bson:"audit"`
}

// moveFrom moves the entries of up to 200 documents and tells how many it found. It takes out what it has appended and nothing else, and
// leaves the documents' versions alone, so that it never makes a writer start over.
func (l *Log) moveFrom(ctx context.Context, from *mongo.Collection) (int, error) {
	projection := bson.D{{Key: "version", Value: 1}, {Key: "deleted", Value: 1}, {Key: audit.Field, Value: 1}}
	found, err := mongostore.Find[source](ctx, from, waiting(), options.Find().SetProjection(projection).SetLimit(moveBatch))
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return 0, nil
	}
	var documents []document
	takings := make([]mongo.WriteModel, 0, len(found))
	for _, f := range found {
		ids := make([]string, len(f.Audit))
		for i, e := range f.Audit {
			ids[i] = e.ID
			documents = append(documents, documentOf(e))
		}
		takings = append(takings, taking(f, ids)...)
	}
	if err := l.append(ctx, documents); err != nil {
		return 0, err
	}
	if _, err := from.BulkWrite(ctx, takings); err != nil {
		return 0, fmt.Errorf("take the audit out of %s: %w", from.Name(), err)
	}
	return len(found), nil
}

// taking takes the entries out of their document. A tombstone goes, unless it has a message left to carry: then its relay deletes it.
func taking(s source, ids []string) []mongo.WriteModel {
	moved := bson.D{{Key: "id", Value: bson.D{{Key: "$in", Value: ids}}}}
	take := mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: s.ID}}).
		SetUpdate(bson.D{{Key: "$pull", Value: bson.D{{Key: audit.Field, Value: moved}}}})
	if !s.Deleted {
		return []mongo.WriteModel{take}
	}
	same := append(outbox.Tombstone(s.ID, outbox.Field), bson.E{Key: "version", Value: s.Version})
	return []mongo.WriteModel{
		mongo.NewDeleteOneModel().SetFilter(same),
		take,
		mongo.NewDeleteOneModel().SetFilter(outbox.Tombstone(s.ID, outbox.Field, audit.Field)), // the messages may have been taken meanwhile
	}
}
