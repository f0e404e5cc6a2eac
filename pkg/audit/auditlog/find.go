package auditlog

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/audit"
)

// Query chooses entries. Zero fields choose all.
type Query struct {
	Record string   // Event:12, or Event for those of the type
	Among  []string // only what is found by one of these records; nil: all
	Choice
}

// Find returns entries, the newest first, and whether there are more. It moves pending entries first.
func (l *Log) Find(ctx context.Context, q Query) (entries []audit.Entry, more bool, err error) {
	if err := l.Move(ctx); err != nil {
		return nil, false, err
	}
	documents, more, err := FindNewest[document](ctx, l.entries, q.filter(), q.Limit)
	entries = make([]audit.Entry, len(documents))
	for i, d := range documents {
		entries[i] = d.Entry
	}
	return entries, more, err
}

func (q Query) filter() bson.D {
	filter := bson.D{}
	if q.Record != "" {
		filter = append(filter, bson.E{Key: "about", Value: q.Record})
	}
	if q.Among != nil && !slices.Contains(q.Among, q.Record) {
		among := bson.D{{Key: "about", Value: bson.D{{Key: "$in", Value: q.Among}}}}
		filter = append(filter, bson.E{Key: "$and", Value: bson.A{among}})
	}
	return q.Narrow(filter)
}
