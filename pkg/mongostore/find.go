package mongostore

import (
	"context"
	"errors"
	"fmt"
	"math"

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
	Distinct(ctx context.Context, field string, filter any,
		opts ...options.Lister[options.DistinctOptions]) *mongo.DistinctResult
	CountDocuments(ctx context.Context, filter any, opts ...options.Lister[options.CountOptions]) (int64, error)
}

// wholeBatch is how many documents one answer of the server may hold: more than any caller reads. The server's own
// bound is 16 MiB. With its default, 101, longer results always take a second request.
const wholeBatch = 1_000_000

// Find returns all documents of a collection that match a filter, empty when there is none. Callers that may match many
// pass a limit.
func Find[Document any](ctx context.Context, collection Reader, filter bson.D,
	opts ...options.Lister[options.FindOptions]) ([]Document, error) {
	documents, _, err := FindUpTo[Document](ctx, collection, math.MaxInt, filter, opts...)
	return documents, err
}

// Weighty is a document that takes much more memory than it has bytes in the store.
type Weighty interface {
	Weight() int // in bytes, with what the caller makes of it
}

// FindUpTo is Find that stops when it has read that many bytes of documents, with the weights of those that are
// Weighty, and says whether there are more.
func FindUpTo[Document any](ctx context.Context, collection Reader, most int, filter bson.D,
	opts ...options.Lister[options.FindOptions]) (documents []Document, more bool, err error) {
	all := options.Find().SetBatchSize(wholeBatch)
	cursor, err := collection.Find(ctx, filter, append([]options.Lister[options.FindOptions]{all}, opts...)...)
	if err != nil {
		return nil, false, fmt.Errorf("find in %s: %w", collection.Name(), err)
	}
	defer func() { _ = cursor.Close(ctx) }() // the server ends it by itself
	// Not cursor.All: it makes a buffered reader for each document.
	var none Document
	documents = make([]Document, 0, min(cursor.RemainingBatchLength(), most/(1+weight(&none))))
	for size := 0; cursor.Next(ctx); {
		if size += len(cursor.Current); size > most {
			return documents, true, nil
		}
		documents = append(documents, none)
		last := &documents[len(documents)-1]
		if err := decode(cursor.Current, last); err != nil {
			return nil, false, fmt.Errorf("decode from %s: %w", collection.Name(), err)
		}
		if size += weight(last); size > most {
			return documents[:len(documents)-1], true, nil
		}
	}
	if err := cursor.Err(); err != nil {
		return nil, false, fmt.Errorf("read from %s: %w", collection.Name(), err)
	}
	return documents, false, nil
}

func weight(document any) int {
	if w, ok := document.(Weighty); ok {
		return w.Weight()
	}
	return 0
}

// decode decodes a document. One that decodes itself is handed the bytes of the cursor, which it must not keep;
// bson.Unmarshal would read it once to copy it.
func decode(raw bson.Raw, document any) error {
	if own, ok := document.(bson.Unmarshaler); ok {
		return own.UnmarshalBSON(raw)
	}
	return bson.Unmarshal(raw, document)
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

// Exists is the condition that a document has the field, such as that of a partial index.
func Exists(field string) bson.D {
	return bson.D{{Key: field, Value: bson.D{{Key: "$exists", Value: true}}}}
}

// WhereExists compares a field by that operator ("$eq", "$in", …). The filter has the condition of Exists too, without
// which servers would not use the partial index of the field.
func WhereExists(field, operator string, value any) bson.D {
	return bson.D{{Key: field, Value: bson.D{{Key: operator, Value: value}, {Key: "$exists", Value: true}}}}
}
