// Package store keeps elements, memberships and calendar feeds in MongoDB. An element with its administrators is one
// document; so is each pair of a group and a member, with all days of the membership. Every write is to one document,
// guarded by its version or by a unique index.
package store

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/audit/accesslog"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Store has the stores of the service. They are safe for concurrent use by any number of processes.
type Store struct {
	Elements    *elements
	Memberships *memberships
	Feeds       *feeds
	Erasures    *erasures
	Audit       *auditlog.Log  // of elements, memberships and feeds
	Changes     *changelog.Log // of elements and memberships
}

// Options of New.
type Options struct {
	DB        *mongo.Database
	IDs       *mongostore.IDs
	Directory journal.Directory
	Memory    *directory.Memory // nil: nothing is kept in memory
	Keep      time.Duration     // of changes
}

// New returns the stores in the database. Prepare must have run on it once.
func New(o Options) *Store {
	db := o.DB
	return &Store{
		Elements: newElements(o), Memberships: newMemberships(o), Feeds: newFeeds(db, o.IDs),
		Erasures: newErasures(db),
		Audit:    auditOf(db), Changes: changesOf(db, o.Keep),
	}
}

// service is the name of this one.
const service = "elements"

// The versions of the documents' shapes: elementSchema for elements, schema for all others.
const (
	schema        = 1
	elementSchema = 2
)

var elementIndexes = []mongostore.Index{
	{Name: "key", Keys: mongostore.By("key"), Unique: true, Where: mongostore.Exists("key")},
	{Name: "uuid", Keys: mongostore.By("uuid"), Unique: true},
	{Name: "entity", Keys: mongostore.By("entity_type", "entity_id"), Unique: true},
	{Name: "name", Keys: mongostore.By("name")},
	// With the name after the gram, a search with many hits reads only those that it returns.
	{Name: "grams", Keys: mongostore.By("grams", "name", "_id")},
	{Name: "administrators", Keys: mongostore.By("administrators")},
	{Name: "school", Keys: mongostore.By("details.school"), Where: mongostore.Exists("details.school")},
	{Name: "type", Keys: mongostore.By("entity_type", "current", "_id")},
	// With the name after these, a list of a type reads only what it returns.
	{Name: "type_name", Keys: mongostore.By("entity_type", "current", "name", "_id")},
	auditlog.Index(),
	changelog.Index(),
}

var membershipIndexes = []mongostore.Index{
	{Name: "pair", Keys: mongostore.By("group", "member"), Unique: true},
	{Name: "up", Keys: mongostore.By("member", "last")},
	{Name: "down", Keys: mongostore.By("group", "last")},
	auditlog.Index(),
	changelog.Index(),
}

// Prepare makes the indexes. It may run in several processes at once.
func Prepare(ctx context.Context, db *mongo.Database) error {
	return errors.Join(
		mongostore.EnsureIndexes(ctx, db.Collection("elements"), elementIndexes),
		mongostore.EnsureIndexes(ctx, db.Collection("memberships"), membershipIndexes),
		mongostore.EnsureIndexes(ctx, db.Collection("feeds"), feedIndexes),
		mongostore.EnsureIndexes(ctx, db.Collection("erasures"), erasureIndexes),
		auditOf(db).Prepare(ctx), changesOf(db, 0).Prepare(ctx),
		accesslog.Prepare(ctx, db, service))
}

func auditOf(db *mongo.Database) *auditlog.Log {
	return auditlog.New(db, service, db.Collection("elements"), db.Collection("memberships"), db.Collection("feeds"))
}

func changesOf(db *mongo.Database, keep time.Duration) *changelog.Log {
	return changelog.New(changelog.Options{
		DB: db, Service: service, Keep: keep, Entries: auditOf(db).Record,
		Sources: []*mongo.Collection{db.Collection("elements"), db.Collection("memberships")},
	})
}

// in is the condition that a field has one of the values.
func in[T any](field string, values []T) bson.E {
	return bson.E{Key: field, Value: bson.D{{Key: "$in", Value: values}}}
}

// positions returns the positions of the records that a unique index refused, in order.
func positions(refused []mongo.WriteError, err error) ([]int, error) {
	return sequence.Map(refused, func(r mongo.WriteError) int { return r.Index }), err
}
