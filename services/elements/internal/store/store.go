// Package store keeps elements and memberships in MongoDB: one document for an element, its administrators in it, and one for a
// group and a member, with all days of the membership. Every write is one document, guarded by its version or by a unique index.
package store

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// Store implements element.Store. It is safe for concurrent use, by any number of processes.
type Store struct {
	elements    *mongo.Collection
	memberships *mongo.Collection
	ids         *mongostore.IDs
	audit       *auditlog.Log
}

// New returns the store in the database. Prepare must have run on it once.
func New(db *mongo.Database, ids *mongostore.IDs) *Store {
	s := &Store{elements: db.Collection("elements"), memberships: db.Collection("memberships"), ids: ids}
	s.audit = auditlog.New(db, "elements", s.elements, s.memberships)
	return s
}

// Audit is the elements' part of the audit.
func (s *Store) Audit() *auditlog.Log { return s.audit }

// schema is the shape of this release's documents.
const schema = 1

var elementIndexes = []mongostore.Index{
	{Name: "key", Keys: bson.D{{Key: "key", Value: 1}}, Unique: true, Where: exists("key")},
	{Name: "uuid", Keys: bson.D{{Key: "uuid", Value: 1}}, Unique: true},
	{Name: "entity", Keys: bson.D{{Key: "entity_type", Value: 1}, {Key: "entity_id", Value: 1}}, Unique: true},
	{Name: "name", Keys: bson.D{{Key: "name", Value: 1}}},
	// The name behind the gram lets a search that has many hits read only those it returns.
	{Name: "grams", Keys: bson.D{{Key: "grams", Value: 1}, {Key: "name", Value: 1}, {Key: "_id", Value: 1}}},
	{Name: "administrators", Keys: bson.D{{Key: "administrators", Value: 1}}},
	{Name: "type", Keys: bson.D{{Key: "entity_type", Value: 1}, {Key: "current", Value: 1}, {Key: "_id", Value: 1}}},
	auditlog.Index(),
}

var membershipIndexes = []mongostore.Index{
	{Name: "pair", Keys: bson.D{{Key: "group", Value: 1}, {Key: "member", Value: 1}}, Unique: true},
	{Name: "up", Keys: bson.D{{Key: "member", Value: 1}, {Key: "last", Value: 1}}},
	{Name: "down", Keys: bson.D{{Key: "group", Value: 1}, {Key: "last", Value: 1}}},
	auditlog.Index(),
}

func exists(field string) bson.D {
	return bson.D{{Key: field, Value: bson.D{{Key: "$exists", Value: true}}}}
}

// Prepare makes the indexes. It may run in several processes at once.
func Prepare(ctx context.Context, db *mongo.Database) error {
	return errors.Join(
		mongostore.EnsureIndexes(ctx, db.Collection("elements"), elementIndexes),
		mongostore.EnsureIndexes(ctx, db.Collection("memberships"), membershipIndexes),
		mongostore.EnsureIndexes(ctx, db.Collection("feeds"), feedIndexes),
		New(db, nil).audit.Prepare(ctx))
}

// in is the filter for a field that has one of the values.
func in[T any](field string, values []T) bson.E {
	return bson.E{Key: field, Value: bson.D{{Key: "$in", Value: values}}}
}

// insertAll inserts documents, each by itself, and returns the positions of those that a unique index kept out, in order.
func insertAll[T any](ctx context.Context, collection *mongo.Collection, documents []T) ([]int, error) {
	refused, err := mongostore.InsertAll(ctx, collection, documents)
	var taken []int
	for _, r := range refused {
		taken = append(taken, r.Index)
	}
	return taken, err
}

// replaceAll replaces documents that are still at the version before theirs, and says whether all were.
func replaceAll(ctx context.Context, collection *mongo.Collection, heads []mongostore.Head, documents []any) (bool, error) {
	models := make([]mongo.WriteModel, len(documents))
	for i, h := range heads {
		models[i] = mongo.NewReplaceOneModel().
			SetFilter(bson.D{{Key: "_id", Value: h.ID}, {Key: "version", Value: h.Version - 1}}).
			SetReplacement(documents[i])
	}
	result, err := collection.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	if mongostore.Conflicted(err) { // with another writer, or with who moves what is told to the audit
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("replace in %s: %w", collection.Name(), err)
	}
	return result.MatchedCount == int64(len(documents)), nil
}
