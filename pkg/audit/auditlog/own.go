package auditlog

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Own says which part of a service's audit an administrator of schools reads: what is found by its own records.
type Own struct {
	// Records returns its own records: their ids, by type. A type of which it has none is there all the same.
	Records func(ctx context.Context, p principal.Principal) (map[string][]int64, error)
	// Many is a type of which there are too many to list, such as Event; "" where there is none.
	Many string
	// OfMany returns those of the records of that type that are its own, in no order.
	OfMany func(ctx context.Context, p principal.Principal, ids []int64) ([]int64, error)
}

// With a type of which there are too many to list, entries are read in windows and those left out that are not the
// caller's own. The windows of one call are bounded, so an answer may have fewer entries than its limit, even none,
// and not be the last one: an administrator of one school of a hundred finds its entries among those of all.
const (
	window     = 500
	maxWindows = 4
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
	if recordType, _, one := strings.Cut(q.Record, ":"); one && recordType == own.Many {
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
	}
	return l.walk(ctx, q, &o)
}

// walk reads windows of entries until as many are the caller's own as it asks for.
func (l *Log) walk(ctx context.Context, q Query, o *owner) (found []audit.Entry, next string, err error) {
	limit := q.Limit
	q.Limit = window
	for range maxWindows {
		entries, after, err := l.read(ctx, q)
		if err != nil {
			return nil, "", err
		}
		var records []string
		for _, e := range entries {
			records = append(records, e.About...)
		}
		if err := o.ask(ctx, records); err != nil {
			return nil, "", err
		}
		for i, e := range entries {
			if !o.owns(e) {
				continue
			}
			if found = append(found, e); len(found) == limit && (i+1 < len(entries) || after != "") {
				return found, e.ID, nil
			}
		}
		if after == "" {
			return found, "", nil
		}
		q.After = after
	}
	return found, q.After, nil
}

// owner is an administrator of schools, with what is known to be its own.
type owner struct {
	p     principal.Principal
	own   Own
	types []string        // of own.Records
	is    map[string]bool // whether a record is its own: of the listed ones, and of the many that were asked about
}

// list finds out which of the records that can be listed are its own.
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

// ask finds out which of the records of the type of which there are many are its own. It asks about each once.
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

// owns says whether an entry is its own: it is about a record of its own, or a batch that it imported.
func (o *owner) owns(e audit.Entry) bool {
	if slices.Contains(e.About, audit.Batches) {
		return e.User == o.p.UserID || e.Original == o.p.UserID
	}
	return slices.ContainsFunc(e.About, func(record string) bool { return o.is[record] })
}

// mayAsk says whether it may ask for the entries that are found by a record: for those of a type, of what is no type of
// own, and of its own ones.
func (o *owner) mayAsk(record string) bool {
	recordType, _, one := strings.Cut(record, ":")
	return !one || o.is[record] || recordType != o.own.Many && !slices.Contains(o.types, recordType)
}
