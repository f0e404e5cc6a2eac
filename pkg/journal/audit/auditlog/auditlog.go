// Package auditlog keeps a service's audit: the collection SERVICE_audit, to which entries are appended and never
// removed. Nothing changes them but [Log.Erase].
//
// A write leaves its entry in the array audit of its own document (package audit), so there is never one without the
// other. [Log.Run] moves the entries to the collection, at least once and by their ids: a process may die at any
// point, and no entry is lost or doubled. [Log.Find] moves pending entries before it reads: a change that was
// answered is in every later answer.
package auditlog

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	// moveInterval is the pause between two moves while there are entries, and quietInterval while there are none. It
	// bounds how long an entry stays in its document while no one reads the audit.
	moveInterval  = time.Second
	quietInterval = 5 * time.Second
	// moveBatch is how many documents are read and emptied at a time.
	moveBatch = 200
	// firstRetry and longestRetry bound the pause between two tries while the store is away.
	firstRetry   = 2 * time.Second
	longestRetry = 5 * time.Second
)

// Log is the audit of one service. It is safe for concurrent use, by any number of processes.
type Log struct {
	entries *mongo.Collection
	sources []*mongo.Collection
	found   atomic.Bool // entries, in the last step
}

// New returns the audit of the service. Its entries come from the documents of the sources, which have [Index].
func New(db *mongo.Database, service string, sources ...*mongo.Collection) *Log {
	return &Log{entries: db.Collection(service + "_audit"), sources: sources}
}

// Index is the index that a source needs.
func Index() mongostore.Index { return mongostore.PendingAudit.Index() }

// indexes are those of the entries. Ids are in the order of time.
func indexes() []mongostore.Index {
	return []mongostore.Index{
		{Name: "about", Keys: mongostore.By("about", "-_id")},
		{Name: "actors", Keys: mongostore.By("actors", "-_id")},
	}
}

// Prepare makes the indexes. It may run in several processes at once.
func (l *Log) Prepare(ctx context.Context) error {
	return mongostore.EnsureIndexes(ctx, l.entries, indexes())
}

// document is a stored entry.
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

// Record appends entries at once: those of actions that change no document, such as a login. It is idempotent: an entry
// that is there already stays as it is.
func (l *Log) Record(ctx context.Context, entries ...audit.Entry) error {
	_, err := mongostore.InsertAll(ctx, l.entries, sequence.Map(entries, documentOf))
	return err
}

// Run returns the loop that moves entries until its context ends. While the store is away it tries again with
// growing pauses.
func (l *Log) Run(log *slog.Logger) func(ctx context.Context) error {
	return background.New(background.Options{
		Name: "the audit", Log: log, Step: l.step, Until: l.pause, Retry: firstRetry, LongestRetry: longestRetry,
	}).Run
}

// step leaves documents with waiting changes to the log of changes, which moves both at once.
func (l *Log) step(ctx context.Context) error {
	l.found.Store(false)
	return l.move(ctx, alone())
}

func (l *Log) pause() time.Duration {
	if l.found.Load() {
		return moveInterval
	}
	return quietInterval
}

func alone() bson.D { return mongostore.NonePending(mongostore.PendingAudit, mongostore.PendingOutbox) }

// Move moves all pending entries.
func (l *Log) Move(ctx context.Context) error { return l.move(ctx, nil) }

func (l *Log) move(ctx context.Context, filter bson.D) error {
	if record.IsDryRun(ctx) { // they would be taken out, and put nowhere
		return errors.New("a dry run moves no entries of the audit")
	}
	for _, source := range l.sources {
		for more := true; more; {
			var err error
			if more, err = l.moveFrom(ctx, source, filter); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveFrom moves the entries of up to 200 documents and says whether there may be more. It removes only what it has
// appended. It leaves the documents' versions alone, so that no writer has to start over.
func (l *Log) moveFrom(ctx context.Context, from *mongo.Collection, filter bson.D) (more bool, err error) {
	found, more, err := mongostore.FindPending[audit.Entry](ctx, from, mongostore.PendingAudit, filter, moveBatch)
	if err != nil || len(found) == 0 {
		return false, err
	}
	l.found.Store(true)
	var entries []audit.Entry
	copied := make([]mongostore.Copied, len(found))
	for i, f := range found {
		copied[i] = f.Copied(mongostore.PendingAudit, len(f.Items), func(e audit.Entry) string { return e.ID })
		entries = append(entries, f.Items...)
	}
	if err := l.Record(ctx, entries...); err != nil {
		return false, err
	}
	return more, mongostore.RemovePending(ctx, from, copied)
}
