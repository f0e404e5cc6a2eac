package auditlog

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Own says which part of a service's audit an administrator of schools reads: the entries found by its own records.
type Own struct {
	// Records returns its own records: their ids, by type. A type of which it has none has an empty list.
	Records func(ctx context.Context, p principal.Principal) (map[string][]int64, error)
	// Many is a type of which there are too many to list, such as Event; "" where there is none.
	Many string
	// OfMany returns those of the records of that type that are its own, in no order.
	OfMany func(ctx context.Context, p principal.Principal, ids []int64) ([]int64, error)
}

// For a type with too many records to list, entries are read in windows, and those that are not the caller's own are
// left out. A call reads until its page is full, or until the beginning of a block of time, some blocks after its
// cursor. So the end of a page depends on the caller's own entries and the clock, never on the number of others'
// entries, and a page may be short or empty without being the last.
const (
	window = 2000
	block  = 6 * time.Hour // in UTC
	blocks = 4
)

// FindOwn is Find for an administrator of schools. Forbidden when the question is for a record of one of the types of
// own that is not its own.
func (l *Log) FindOwn(ctx context.Context, p principal.Principal, q Query, own Own) (
	entries []audit.Entry, next string, err error,
) {
	if err := l.Move(ctx); err != nil { // first: whose a deleted record was is asked of the audit itself
		return nil, "", err
	}
	o := owner{p: p, own: own, is: map[string]bool{}}
	recordType, _, one := strings.Cut(q.Record, ":")
	if one && recordType == own.Many {
		err = o.ask(ctx, []string{q.Record})
	} else {
		err = o.list(ctx)
	}
	switch {
	case err != nil:
		return nil, "", err
	case !o.mayAsk(q.Record):
		return nil, "", problem.New(problem.Forbidden, "")
	case own.Many == "":
		q.Among = slices.AppendSeq([]string{}, maps.Keys(o.is)) // not nil, which would be all
		q.Batch = p.UserID
		return l.read(ctx, q)
	case one: // few entries are about one record
		entries, next, _, err := l.walk(ctx, q, &o)
		return entries, next, err
	}
	return l.walkBlocks(ctx, q, &o)
}

// walk reads windows of entries until it has as many of the caller's own as q asks for; full says whether it has.
func (l *Log) walk(ctx context.Context, q Query, o *owner) (found []audit.Entry, next string, full bool, err error) {
	limit := q.Limit
	q.Limit = window
	for {
		entries, after, err := l.read(ctx, q)
		if err != nil {
			return nil, "", false, err
		}
		var records []string
		for _, e := range entries {
			records = append(records, e.About...)
		}
		if err := o.ask(ctx, records); err != nil {
			return nil, "", false, err
		}
		for _, e := range entries {
			if !o.owns(e) {
				continue
			}
			if found = append(found, e); len(found) == limit {
				return found, e.ID, true, nil
			}
		}
		if after == "" {
			return found, "", false, nil
		}
		q.After = after
	}
}

// walkBlocks walks through the blocks of one call. About others' entries it reveals only when the log begins.
func (l *Log) walkBlocks(ctx context.Context, q Query, o *owner) ([]audit.Entry, string, error) {
	since, bottom := q.Since, bottomOf(q.After)
	if bottom.After(since) {
		q.Since = bottom
	}
	found, next, full, err := l.walk(ctx, q, o)
	if err != nil || full || !bottom.After(since) {
		return found, next, err
	}
	after := mongostore.FirstUUID(bottom)
	older, _, err := l.read(ctx, Query{Choice: Choice{After: after, Limit: 1}})
	if err != nil || len(older) == 0 {
		return found, "", err
	}
	return found, after, nil
}

// bottomOf returns the beginning of the blocks of a call that continues after the entry of an id or, without one, from
// now.
func bottomOf(after string) time.Time {
	from := time.Now()
	if id, err := uuid.Parse(after); err == nil {
		from = time.UnixMilli(int64(binary.BigEndian.Uint64(id[:half]) >> 16)) // a version 7 UUID begins with its time
	}
	return from.Add(-time.Millisecond).Truncate(block).Add(-(blocks - 1) * block)
}

// owner is an administrator of schools, with what is known to be its own.
type owner struct {
	p     principal.Principal
	own   Own
	types []string        // of own.Records
	is    map[string]bool // whether a record is its own: of the listed ones, and of the many that were asked about
}

// list reads which of the records that can be listed are its own.
func (o *owner) list(ctx context.Context) error {
	byType, err := o.own.Records(ctx, o.p)
	for recordType, ids := range byType {
		o.types = append(o.types, recordType)
		for _, id := range ids {
			o.is[audit.RecordOf(recordType, id).String()] = true
		}
	}
	return err
}

// ask finds out which records of the type with many are its own. It asks about each once.
func (o *owner) ask(ctx context.Context, records []string) error {
	var ids []int64
	for _, record := range records {
		recordType, text, _ := strings.Cut(record, ":")
		if _, known := o.is[record]; known || recordType != o.own.Many {
			continue
		}
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			o.is[record] = false
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	own, err := o.own.OfMany(ctx, o.p, ids)
	for _, id := range own {
		o.is[audit.RecordOf(o.own.Many, id).String()] = true
	}
	return err
}

// owns says whether an entry is its own: about a record of its own, or a batch that it imported.
func (o *owner) owns(e audit.Entry) bool {
	if slices.Contains(e.About, audit.Batches) {
		return e.User == o.p.UserID || e.Original == o.p.UserID
	}
	return slices.ContainsFunc(e.About, func(record string) bool { return o.is[record] })
}

// mayAsk says whether it may ask for the entries of a record: of a whole type, of a record whose type is not in own,
// and of its own records.
func (o *owner) mayAsk(record string) bool {
	recordType, _, one := strings.Cut(record, ":")
	return !one || o.is[record] || recordType != o.own.Many && !slices.Contains(o.types, recordType)
}
