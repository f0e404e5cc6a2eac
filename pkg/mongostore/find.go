package mongostore

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/record"
)

// Reader is the part of a collection that only reads. *mongo.Collection is one.
type Reader interface {
	Name() string
	Find(ctx context.Context, filter any, opts ...options.Lister[options.FindOptions]) (*mongo.Cursor, error)
	FindOne(ctx context.Context, filter any, opts ...options.Lister[options.FindOneOptions]) *mongo.SingleResult
	CountDocuments(ctx context.Context, filter any, opts ...options.Lister[options.CountOptions]) (int64, error)
}

// wholeBatch is how many documents one answer of the server may hold: more than any caller reads. The server's own
// bound is 16 MiB. With its default, 101, whoever reads more would always ask again.
const wholeBatch = 1_000_000

// Find returns all documents of a collection that match a filter, empty when there is none. Callers that may match many
// pass a limit.
func Find[Document any](ctx context.Context, collection Reader, filter bson.D,
	opts ...options.Lister[options.FindOptions]) ([]Document, error) {
	all := options.Find().SetBatchSize(wholeBatch)
	cursor, err := collection.Find(ctx, filter, append([]options.Lister[options.FindOptions]{all}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("find in %s: %w", collection.Name(), err)
	}
	// Not cursor.All: it makes a buffered reader for each document.
	documents := make([]Document, 0, cursor.RemainingBatchLength())
	for cursor.Next(ctx) {
		var d Document
		if err := bson.Unmarshal(cursor.Current, &d); err != nil {
			return nil, errors.Join(fmt.Errorf("decode from %s: %w", collection.Name(), err), cursor.Close(ctx))
		}
		documents = append(documents, d)
	}
	if err := cursor.Err(); err != nil {
		return nil, fmt.Errorf("read from %s: %w", collection.Name(), err)
	}
	return documents, nil
}

// First returns the first document that matches a filter, record.ErrNotFound when there is none.
func First[Document any](ctx context.Context, collection Reader, filter bson.D,
	opts ...options.Lister[options.FindOneOptions]) (d Document, err error) {
	found, err := collection.FindOne(ctx, filter, opts...).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return d, record.ErrNotFound
	}
	if err != nil {
		return d, fmt.Errorf("find in %s: %w", collection.Name(), err)
	}
	if err := bson.Unmarshal(found, &d); err != nil {
		return d, fmt.Errorf("decode from %s: %w", collection.Name(), err)
	}
	return d, nil
}
