package mongostore

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// batch is how many documents come at once where there may be many: the server sends up to 16 MiB of them.
const batch = 1000

// Reader is the part of a collection that only reads. *mongo.Collection is one.
type Reader interface {
	Name() string
	Find(ctx context.Context, filter any, opts ...options.Lister[options.FindOptions]) (*mongo.Cursor, error)
	FindOne(ctx context.Context, filter any, opts ...options.Lister[options.FindOneOptions]) *mongo.SingleResult
	CountDocuments(ctx context.Context, filter any, opts ...options.Lister[options.CountOptions]) (int64, error)
}

// Find returns all documents of a collection that match a filter, nil when there is none. Callers that may match many
// pass a limit.
func Find[Document any](ctx context.Context, collection Reader, filter bson.D,
	opts ...options.Lister[options.FindOptions]) ([]Document, error) {
	cursor, err := collection.Find(ctx, filter, opts...)
	if err != nil {
		return nil, fmt.Errorf("find in %s: %w", collection.Name(), err)
	}
	var documents []Document
	if err := cursor.All(ctx, &documents); err != nil {
		return nil, fmt.Errorf("read from %s: %w", collection.Name(), err)
	}
	return documents, nil
}

// FindUpTo is Find that stops when it has read that many bytes of documents, and says whether there are more.
func FindUpTo[Document any](ctx context.Context, collection Reader, most int, filter bson.D,
	opts ...options.Lister[options.FindOptions]) (documents []Document, more bool, err error) {
	cursor, err := collection.Find(ctx, filter, append(opts, options.Find().SetBatchSize(batch))...)
	if err != nil {
		return nil, false, fmt.Errorf("find in %s: %w", collection.Name(), err)
	}
	defer func() { _ = cursor.Close(ctx) }() // the server ends it by itself
	for size := 0; cursor.Next(ctx); {
		if size += len(cursor.Current); size > most {
			return documents, true, nil
		}
		var d Document
		if err := cursor.Decode(&d); err != nil {
			return nil, false, fmt.Errorf("read from %s: %w", collection.Name(), err)
		}
		documents = append(documents, d)
	}
	if err := cursor.Err(); err != nil {
		return nil, false, fmt.Errorf("read from %s: %w", collection.Name(), err)
	}
	return documents, false, nil
}
