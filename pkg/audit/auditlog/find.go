package auditlog

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// Query chooses entries. Zero fields choose all.
type Query struct {
	Record string    // Event:12, or Event for those of the type
	User   int64     // who acted, or had switched to who acted
	Since  time.Time // not before
	After  string    // the id of the entry to go on after
	Limit  int       // at most
}

// Find returns entries, the newest first, and the id to continue after; "" when there are no more. It moves pending
// entries first.
func (l *Log) Find(ctx context.Context, q Query) (entries []audit.Entry, next string, err error) {
	if err := l.Move(ctx); err != nil {
		return nil, "", err
	}
	newest := options.Find().SetSort(bson.D{{Key: "_id", Value: -1}}).SetLimit(int64(q.Limit) + 1)
	documents, err := mongostore.Find[document](ctx, l.entries, q.filter(), newest)
	if err != nil {
		return nil, "", err
	}
	if len(documents) > q.Limit {
		documents = documents[:q.Limit]
		next = documents[q.Limit-1].ID
	}
	entries = make([]audit.Entry, len(documents))
	for i, d := range documents {
		entries[i] = d.Entry
	}
	return entries, next, nil
}

func (q Query) filter() bson.D {
	filter := bson.D{}
	if q.Record != "" {
		filter = append(filter, bson.E{Key: "about", Value: q.Record})
	}
	if q.User != 0 {
		filter = append(filter, bson.E{Key: "actors", Value: q.User})
	}
	ids := bson.D{{Key: "$gt", Value: ""}} // always there, so that the ids' index serves an audit as a whole
	if !q.Since.IsZero() {
		ids = bson.D{{Key: "$gte", Value: firstID(q.Since)}}
	}
	if q.After != "" {
		ids = append(ids, bson.E{Key: "$lt", Value: q.After})
	}
	return append(filter, bson.E{Key: "_id", Value: ids})
}

// firstID is the smallest id that an entry of that millisecond may have: ids begin with the milliseconds since 1970
// in 48 bits.
func firstID(t time.Time) string {
	var id uuid.UUID
	ms := max(t.UnixMilli(), 0)
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id.String()
}
