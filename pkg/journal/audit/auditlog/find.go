package auditlog

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Query chooses entries. Zero fields choose all.
type Query struct {
	Record string   // Event:12, or Event for those of the type
	Among  []string // only what is found by one of these records; nil: all
	Batch  int64    // beside Among, the batches of imports by this user; 0: none
	Choice
}

// Find returns entries, newest first, and the id after which to continue, "" at the end. It moves pending entries
// first.
func (l *Log) Find(ctx context.Context, q Query) (entries []audit.Entry, next string, err error) {
	if err := l.Move(ctx); err != nil {
		return nil, "", err
	}
	return l.read(ctx, q)
}

// read is Find among the entries that have been moved.
func (l *Log) read(ctx context.Context, q Query) (entries []audit.Entry, next string, err error) {
	documents, next, err := FindNewest(ctx, l.entries, q.filter(), q.Limit, func(d document) string { return d.ID })
	return entriesOf(documents), next, err
}

// FindActions returns the entries of one action on these records themselves, in no order, up to some megabytes; more
// says that there are others. Pending entries are not among them.
func (l *Log) FindActions(
	ctx context.Context, action audit.Action, records []audit.Record,
) (entries []audit.Entry, more bool, err error) {
	if len(records) == 0 {
		return nil, false, nil
	}
	documents, more, err := mongostore.FindUpTo[document](ctx, l.entries, mostRead, actionsFilter(action, records))
	return entriesOf(documents), more, err
}

func actionsFilter(action audit.Action, records []audit.Record) bson.D {
	texts := sequence.Map(records, func(r audit.Record) string { return r.String() })
	among := bson.D{{Key: "$in", Value: texts}}
	return bson.D{{Key: "about", Value: among}, {Key: "record", Value: among}, {Key: "action", Value: action}}
}

func entriesOf(documents []document) []audit.Entry {
	return sequence.Map(documents, func(d document) audit.Entry { return d.Entry })
}

func (q Query) filter() bson.D {
	filter := bson.D{}
	if q.Record != "" {
		filter = append(filter, bson.E{Key: "about", Value: q.Record})
	}
	if q.Among != nil && !slices.Contains(q.Among, q.Record) {
		among := bson.D{{Key: "about", Value: bson.D{{Key: "$in", Value: q.Among}}}}
		if q.Batch != 0 {
			imported := bson.D{{Key: "about", Value: audit.Batches}, {Key: "actors", Value: q.Batch}}
			among = bson.D{{Key: "$or", Value: bson.A{among, imported}}}
		}
		filter = append(filter, bson.E{Key: "$and", Value: bson.A{among}})
	}
	return q.Narrow(filter)
}
