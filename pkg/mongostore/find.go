package mongostore

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

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
