package mongostore

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// duplicateKey is the server's code DuplicateKey.
const duplicateKey = 11000

// refusals are the errors with which the unique indexes of a collection would refuse documents now, for a dry run. A
// document with a stored one's id is that one as it would become. Two of the documents are not compared.
func refusals[T any](ctx context.Context, collection *mongo.Collection, documents []T) ([]mongo.WriteError, error) {
	indexes, err := readIndexes(ctx, collection)
	if err != nil {
		return nil, fmt.Errorf("list indexes of %s: %w", collection.Name(), err)
	}
	var refused []mongo.WriteError
	for n, document := range documents {
		text, err := bson.Marshal(document)
		if err != nil {
			return nil, fmt.Errorf("encode for %s: %w", collection.Name(), err)
		}
		for _, index := range indexes {
			filter := index.sameAs(text)
			if filter == nil {
				continue
			}
			taken, err := collection.CountDocuments(ctx, filter, options.Count().SetLimit(1))
			if err != nil {
				return nil, fmt.Errorf("try index %s of %s: %w", index.Name, collection.Name(), err)
			}
			if taken > 0 {
				refused = append(refused, mongo.WriteError{
					Index: n, Code: duplicateKey, // as MongoDB says it, for DuplicateIndex
					Message: fmt.Sprintf("duplicate key error collection: %s index: %s dup key", collection.Name(),
						index.Name),
				})
				break
			}
		}
	}
	return refused, nil
}

// sameAs is the filter of other documents with the same values in a unique index; nil where the document is not in it.
func (i Index) sameAs(document bson.Raw) bson.D {
	if !i.Unique {
		return nil
	}
	filter := bson.A{bson.D{{Key: "_id", Value: bson.D{{Key: "$ne", Value: document.Lookup("_id")}}}}}
	for _, key := range i.Keys {
		value, err := document.LookupErr(strings.Split(key.Key, ".")...)
		switch {
		case err == nil:
			filter = append(filter, bson.D{{Key: key.Key, Value: value}})
		case len(i.Where) > 0: // partial indexes are of documents that have the fields
			return nil
		default:
			filter = append(filter, bson.D{{Key: key.Key, Value: nil}})
		}
	}
	if len(i.Where) > 0 {
		filter = append(filter, i.Where)
	}
	return bson.D{{Key: "$and", Value: filter}}
}
