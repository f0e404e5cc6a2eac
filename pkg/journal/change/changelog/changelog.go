// Package changelog keeps a service's log of changes: the collection SERVICE_changes, to which pages of changes are
// appended.
//
// A write leaves its change in the array changes of its own document (package change), so there is never one without
// the other. Changes of records that are created together wait in one document ([Batches]), which is stored before the
// records. [Log.Flush] moves changes from there to the log. A page is one document, whose id is the last page's plus
// one: of several processes that append at once, one wins and the others start over. So there are no gaps, and a client
// that has read up to a page misses nothing by continuing there.
//
// [Log.Read] flushes before it reads. So each change acknowledged before is in the answer or before the given position,
// or the answer says that there is more. Pages are read with read concern majority: no position names a page that a new
// primary may roll back.
package changelog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"golang.org/x/sync/singleflight"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	// flushInterval is the pause between two flushes while there are changes, and quietInterval while there are none.
	// The latter bounds how long a change stays in its document without readers.
	flushInterval = time.Second
	quietInterval = 5 * time.Second
	// openInterval is the pause of the loop between two checks of open batches, whose writers may have died.
	openInterval = 10 * time.Second
	// firstRetry and longestRetry bound the pause between two tries while the store is away.
	firstRetry   = 2 * time.Second
	longestRetry = 5 * time.Second

	// pagesRead and bytesRead bound what is read of the log at a time.
	pagesRead = 256
	bytesRead = 4 << 20
)

// Log is the log of changes of one service. It is safe for concurrent use, by any number of processes.
type Log struct {
	Options
	pages   *mongo.Collection
	batches *Batches
	most    int64
	turns   singleflight.Group
	atWork  chan struct{}             // held by the turn that is at work
	oldest  atomic.Pointer[time.Time] // of the oldest pending change, at the last check; nil: none
	known   atomic.Int64              // the number of a page that was the last one
	checked time.Time                 // when Run last checked open batches
	swept   time.Time                 // by Run
}

// Options of New.
type Options struct {
	DB      *mongo.Database
	Service string
	Sources []*mongo.Collection // where the documents are; they have [Index]
	Keep    time.Duration       // how long changes are kept; 0: until there are too many
	// Entries appends the audit entries that wait in the same documents to the audit, so that one write empties the
	// documents of both. It may be called with the same entries again.
	Entries func(ctx context.Context, entries ...audit.Entry) error
}

// mostKept bounds the changes of a log; older ones are deleted, in whole pages, whatever Keep says.
const mostKept = 4_000_000

// New returns the log of a service.
func New(o Options) *Log {
	pages := o.DB.Collection(o.Service+"_changes", options.Collection().SetReadConcern(readconcern.Majority()))
	return &Log{
		Options: o, pages: pages, batches: NewBatches(o.DB, o.Service), most: mostKept, atWork: make(chan struct{}, 1),
	}
}

// Index is the index that a source needs.
func Index() mongostore.Index { return mongostore.PendingChanges.Index() }

// indexes are the indexes of the pages.
func indexes() []mongostore.Index {
	return []mongostore.Index{
		{Name: "changes", Keys: mongostore.By("changes.id")},
		{Name: "at", Keys: mongostore.By("at")},
		{Name: "total", Keys: mongostore.By("total")},
	}
}

// page is a stored page. A log begins with an empty one.
type page struct {
	Number  int64         `bson:"_id"`
	Mark    int64         `bson:"mark"`
	At      time.Time     `bson:"at"`
	Total   int64         `bson:"total"` // changes up to and with this page
	Changes []change.Item `bson:"changes"`
}

func newPage(number, total int64, changes []change.Item) page {
	return page{
		Number: number, Mark: int64(rand.Uint32()), At: time.Now().UTC().Truncate(time.Millisecond),
		Total: total, Changes: changes,
	}
}

// Prepare makes the indexes and the first page. It may run in several processes at once.
func (l *Log) Prepare(ctx context.Context) error {
	if err := mongostore.EnsureIndexes(ctx, l.pages, indexes()); err != nil {
		return err
	}
	_, err := l.last(ctx, noChanges)
	if !errors.Is(err, record.ErrNotFound) {
		return err
	}
	_, err = l.append(ctx, newPage(0, 0, nil))
	return err
}

// append says whether the page is in the log: false when another has its number.
func (l *Log) append(ctx context.Context, p page) (bool, error) {
	_, err := l.pages.InsertOne(ctx, p)
	if mongostore.IsDuplicateKey(err) || mongostore.Conflicted(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("append to %s: %w", l.pages.Name(), err)
	}
	return true, nil
}

var (
	newestFirst = mongostore.By("-_id")
	noChanges   = bson.D{{Key: "changes", Value: 0}}
)

func from(page int64) bson.D { return bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: page}}}} }

// last returns the last page, with the given fields; record.ErrNotFound when there is none. It reads from the last
// known page on, since not every server finds the greatest id without reading all.
func (l *Log) last(ctx context.Context, fields bson.D) (page, error) {
	find := options.FindOne().SetSort(newestFirst).SetProjection(fields)
	p, err := mongostore.First[page](ctx, l.pages, from(l.known.Load()), find)
	if errors.Is(err, record.ErrNotFound) { // there is no page, or the log was set back
		p, err = mongostore.First[page](ctx, l.pages, from(0), find)
	}
	if errors.Is(err, record.ErrNotFound) {
		return p, fmt.Errorf("%s has no page: %w", l.pages.Name(), err)
	}
	l.known.Store(p.Number)
	return p, err
}

// Run returns the loop that moves changes, and deletes old ones, until its context ends. While the store is away it
// tries again with growing pauses.
func (l *Log) Run(log *slog.Logger) func(ctx context.Context) error {
	return background.New(background.Options{
		Name: "the log of changes", Log: log, Step: l.step, Until: l.pause,
		Retry: firstRetry, LongestRetry: longestRetry,
	}).Run
}

func (l *Log) pause() time.Duration {
	if l.oldest.Load() == nil {
		return quietInterval
	}
	return flushInterval
}

func (l *Log) step(ctx context.Context) error {
	open := time.Since(l.checked) > openInterval
	if err := l.flush(ctx, open); err != nil {
		return err
	}
	if open {
		l.checked = time.Now()
	}
	if time.Since(l.swept) < sweepInterval {
		return nil
	}
	if err := l.Sweep(ctx, time.Now()); err != nil {
		return err
	}
	l.swept = time.Now()
	return nil
}

// Answer answers the service that lists changes.
func (l *Log) Answer(ctx context.Context, q fact.ChangesQuestion) (change.Part, error) {
	return l.Read(ctx, q.After, q.Limit)
}

// Read returns up to limit changes after a position, in the order of the log; without one, the current position.
// Changes acknowledged before the call are among them or before, or there is More. If more changes wait than can be
// moved in half of the time that ctx has, the answer has those in the log by then, and Waits is set: pages are only
// appended, so waiting changes come after them all.
func (l *Log) Read(ctx context.Context, after *change.Position, limit int) (change.Part, error) {
	flushed, err := l.flushInTime(ctx)
	if err != nil {
		return change.Part{}, err
	}
	var part change.Part
	if after == nil {
		part, err = l.now(ctx)
	} else {
		part, err = l.after(ctx, *after, limit)
	}
	if !flushed && err == nil && !part.Gone {
		part.More, part.Waits = true, true
	}
	return part, err
}

// flushInTime flushes for half of the time that ctx has, and says whether all was moved by then. The work goes on
// afterwards, and the next reader shares it.
func (l *Log) flushInTime(ctx context.Context) (bool, error) {
	flushing, cancel := ctx, context.CancelFunc(func() {})
	if deadline, bounded := ctx.Deadline(); bounded {
		flushing, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	defer cancel()
	err := l.Flush(flushing)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// after returns the part of the log after a position.
func (l *Log) after(ctx context.Context, after change.Position, limit int) (change.Part, error) {
	most := min(limit+1, pagesRead)
	found, cut, err := mongostore.FindUpTo[page](ctx, l.pages, bytesRead,
		from(after.Page),
		options.Find().SetSort(mongostore.By("_id")).SetLimit(int64(most)))
	if err != nil {
		return change.Part{}, err
	}
	if !holds(found, after) {
		return change.Part{Gone: true}, nil
	}
	part := change.Part{More: cut || len(found) == most}
	for _, p := range found {
		shown := change.Page{Number: p.Number, Mark: uint32(p.Mark), Changes: p.Changes}
		if p.Number == after.Page {
			shown.Skipped, shown.Changes = after.Read, p.Changes[after.Read:]
		}
		if len(shown.Changes) > limit {
			shown.Changes, part.More = shown.Changes[:limit], true
		}
		if len(shown.Changes) > 0 {
			part.Pages = append(part.Pages, shown)
		}
		if limit -= len(shown.Changes); limit == 0 && p.Number != found[len(found)-1].Number {
			part.More = true
			break
		}
	}
	return part, nil
}

// holds says whether the pages that were found begin with that of the position and lack none.
func holds(found []page, after change.Position) bool {
	if len(found) == 0 || uint32(found[0].Mark) != after.Mark || after.Read < 0 || after.Read > len(found[0].Changes) {
		return false
	}
	for i, p := range found {
		if p.Number != after.Page+int64(i) {
			return false
		}
	}
	return true
}

// now returns the position after the last change.
func (l *Log) now(ctx context.Context) (change.Part, error) {
	p, err := l.last(ctx, nil)
	if err != nil {
		return change.Part{}, err
	}
	return change.Part{Now: change.Position{Page: p.Number, Mark: uint32(p.Mark), Read: len(p.Changes)}}, nil
}

// sweepInterval is the pause between two deletions of old changes.
const sweepInterval = 10 * time.Minute

// Sweep deletes changes older than Keep, if that is set, and the oldest pages above mostKept. The newest page of these
// stays: a client that had read to its end when it was the last can continue, however long nothing has changed.
func (l *Log) Sweep(ctx context.Context, now time.Time) error {
	last, err := l.last(ctx, noChanges)
	if err != nil {
		return err
	}
	var first int64
	if l.Keep > 0 {
		if first, err = l.newestUpTo(ctx, "at", now.Add(-l.Keep)); err != nil {
			return err
		}
	}
	excess, err := l.newestUpTo(ctx, "total", last.Total-l.most)
	if err != nil {
		return err
	}
	if first = max(first, excess); first == 0 {
		return nil
	}
	_, err = l.pages.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: first}}}})
	if err != nil {
		return fmt.Errorf("give up pages of %s: %w", l.pages.Name(), err)
	}
	return nil
}

// newestUpTo returns the number of the newest page whose field is not above a value; 0 when there is none.
func (l *Log) newestUpTo(ctx context.Context, field string, value any) (int64, error) {
	p, err := mongostore.First[page](ctx, l.pages, bson.D{{Key: field, Value: bson.D{{Key: "$lte", Value: value}}}},
		options.FindOne().SetSort(mongostore.By("-"+field)).SetProjection(noChanges))
	if errors.Is(err, record.ErrNotFound) {
		err = nil
	}
	return p.Number, err
}
