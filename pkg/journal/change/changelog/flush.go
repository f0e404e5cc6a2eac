package changelog

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

const (
	// moveBatch is how many documents of a source are read and emptied at a time, and pageSize how many changes a page
	// has at most.
	moveBatch = 500
	pageSize  = 1000
	// appendTries bounds how often a page is appended after others were first.
	appendTries = 200
	longestTurn = 10 * time.Second
	// longestWait bounds the pause before a page is appended again.
	longestWait = 20 * time.Millisecond
)

// Flush moves all changes to the log that were written before the call, acknowledged or not. Concurrent callers share
// the work. When it fails, some changes may be in the log; the rest stay where they were.
func (l *Log) Flush(ctx context.Context) error { return l.flush(ctx, true) }

// flush is Flush. Without open, changes may stay in open batches. One goroutine of a process works at a time, for all
// callers that came before it began.
func (l *Log) flush(ctx context.Context, open bool) error {
	kind := strconv.FormatBool(open)
	turn := l.turns.DoChan(kind, func() (any, error) {
		l.atWork <- struct{}{}
		defer func() { <-l.atWork }()
		l.turns.Forget(kind) // a later caller may have written since, and needs another turn
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestTurn)
		defer cancel()
		return nil, l.move(ctx, open)
	})
	select {
	case done := <-turn:
		return done.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// move moves changes that wait in documents and in batches. A record of a batch may have changed since: that change is
// in its document, and the earlier batch must be moved first. So documents are read before batches, and if one of them
// has a waiting change, no batch is skipped.
func (l *Log) move(ctx context.Context, open bool) error {
	for more := true; more; {
		found := make([]pending, len(l.Sources))
		more = false
		waiting := false
		for i, source := range l.Sources {
			var err error
			if found[i], err = l.findPending(ctx, source); err != nil {
				return err
			}
			more = more || found[i].more
			waiting = waiting || len(found[i].items) > 0
		}
		batches, err := l.batches.list(ctx)
		if err != nil {
			return err
		}
		l.saw(found, batches)
		for _, b := range batches {
			if b.Open && !open && !waiting {
				continue
			}
			if err := l.moveBatch(ctx, b.ID); err != nil {
				return err
			}
		}
		if err := l.moveAll(ctx, found); err != nil {
			return err
		}
	}
	l.oldest.Store(nil)
	return nil
}

// pending is what was read of the changes that wait in a source, and of the audit's entries beside them.
type pending struct {
	items   []change.Item
	entries []audit.Entry
	copied  []mongostore.Copied
	more    bool
}

func (l *Log) findPending(ctx context.Context, from *mongo.Collection) (p pending, err error) {
	found, more, err := mongostore.FindPending[change.Item](ctx, from, mongostore.PendingChanges, nil, moveBatch,
		mongostore.PendingAudit)
	p.more = more
	for _, f := range found {
		n := min(len(f.Items), pageSize-len(p.items))
		p.more = p.more || n < len(f.Items)
		if n == 0 {
			break
		}
		copied := f.Copied(mongostore.PendingChanges, n, func(i change.Item) string { return i.ID })
		var entries []audit.Entry
		if err := f.Also(mongostore.PendingAudit, &entries); err != nil {
			return p, err
		}
		for _, e := range entries {
			copied.Items[mongostore.PendingAudit] = append(copied.Items[mongostore.PendingAudit], e.ID)
		}
		p.items, p.entries = append(p.items, f.Items[:n]...), append(p.entries, entries...)
		p.copied = append(p.copied, copied)
	}
	return p, err
}

// moveAll appends the changes and entries found to the log and to the audit, and removes them from the documents.
func (l *Log) moveAll(ctx context.Context, found []pending) error {
	for i, p := range found {
		if len(p.items) == 0 {
			continue
		}
		if err := l.copy(ctx, p); err != nil {
			return err
		}
		if err := mongostore.RemovePending(ctx, l.Sources[i], p.copied); err != nil {
			return err
		}
	}
	return nil
}

// copy makes sure that the changes and entries found are in the log and in the audit.
func (l *Log) copy(ctx context.Context, p pending) error {
	if err := l.record(ctx, p.items); err != nil || len(p.entries) == 0 {
		return err
	}
	return l.Entries(ctx, p.entries...)
}

// record makes sure that the changes are in the log. Some may be there already, moved by another process, or by one
// that died before it had removed them from their documents. They are searched for after the number of the last page is
// known: had another page been appended since, this one's number would be taken.
//
// Those of a record are in the order of its versions in a document, and none leaves it before it is in the log. So they
// are in that order in the log, too.
func (l *Log) record(ctx context.Context, items []change.Item) error {
	inTime(items)
	err := mongostore.Retry(ctx, func() (done bool, err error) {
		last, err := l.last(ctx, noChanges)
		if err != nil {
			return false, err
		}
		fresh, err := l.missing(ctx, items)
		if err != nil || len(fresh) == 0 {
			return true, err
		}
		return l.append(ctx, newPage(last.Number+1, last.Total+int64(len(fresh)), fresh))
	}, backoff.WithMaxTries(appendTries), backoff.WithBackOff(mongostore.Pauses(longestWait)))
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.pages.Name(), err)
	}
	return nil
}

// missing returns the changes that are not in the log.
func (l *Log) missing(ctx context.Context, items []change.Item) ([]change.Item, error) {
	ids := sequence.Map(items, func(item change.Item) string { return item.ID })
	found, err := mongostore.Find[page](ctx, l.pages,
		bson.D{{Key: "changes.id", Value: bson.D{{Key: "$in", Value: ids}}}},
		options.Find().SetProjection(bson.D{{Key: "changes.id", Value: 1}}))
	if err != nil || len(found) == 0 {
		return items, err
	}
	there := map[string]bool{}
	for _, p := range found {
		for _, c := range p.Changes {
			there[c.ID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(items), func(i change.Item) bool { return there[i.ID] }), nil
}

// inTime sorts changes by their time. Clocks of replicas differ: a change of a record counts as no earlier than the
// record's previous one.
func inTime(items []change.Item) {
	type of struct {
		kind   change.Kind
		record int64
	}
	latest := map[of]time.Time{}
	for i := range items {
		r := of{items[i].Kind, items[i].Record}
		if items[i].At.Before(latest[r]) {
			items[i].At = latest[r]
		}
		latest[r] = items[i].At
	}
	slices.SortStableFunc(items, func(a, b change.Item) int { return a.At.Compare(b.At) })
}

// saw records the age of the oldest pending change. Changes of open batches don't count, since they may never happen.
func (l *Log) saw(found []pending, batches []batch) {
	var oldest *time.Time
	earlier := func(t time.Time) {
		if oldest == nil || t.Before(*oldest) {
			oldest = &t
		}
	}
	for _, p := range found {
		for i := range p.items {
			earlier(p.items[i].At)
		}
	}
	for _, b := range batches {
		if !b.Open {
			earlier(b.Begun)
		}
	}
	l.oldest.Store(oldest)
}
