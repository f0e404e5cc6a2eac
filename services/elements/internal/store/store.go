// Package store keeps elements and memberships in MongoDB: one document for an element, its administrators in it, and one for a
// group and a member, with all days of the membership. Every write is one document, guarded by its version or by a unique index.
package store

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// Store implements element.Store. It is safe for concurrent use, by any number of processes.
type Store struct {
	elements    *journal.Collection[elementDocument, element.Element]
	memberships *journal.Collection[membershipDocument, element.Membership]
	ids         *mongostore.IDs
	audit       *auditlog.Log
}

// New returns the store in the database. Prepare must have run on it once.
func New(db *mongo.Database, ids *mongostore.IDs) *Store {
	elements, memberships := db.Collection("elements"), db.Collection("memberships")
	return &Store{
		elements: journal.New(journal.Options[elementDocument, element.Element]{
			Collection: elements, Record: (*elementDocument).element, Set: (*elementDocument).set, Entry: elementEntry,
		}),
		memberships: journal.New(journal.Options[membershipDocument, element.Membership]{
			Collection: memberships, Record: (*membershipDocument).membership, Set: (*membershipDocument).set, Entry: membershipEntry,
		}),
		ids: ids, audit: auditlog.New(db, "elements", elements, memberships),
	}
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

// positions returns the positions of the records that a unique index kept out, in order.
func positions(refused []mongo.WriteError, err error) ([]int, error) {
	var taken []int
	for _, r := range refused {
		taken = append(taken, r.Index)
	}
	return taken, err
}
