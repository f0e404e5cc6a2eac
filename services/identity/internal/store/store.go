// Package store keeps the users in MongoDB, one document each.
package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/outbox"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// UserChanged is the kind of the message that a user's sessions have to be told of its new state; the subject is the user's id.
const UserChanged = "user.changed"

// uuidIndex is the name of the index that makes uuids unique; duplicates are told apart by it.
const (
	uuidIndex = "uuid_hash"
	keyIndex  = "import_key"
)

// Store is the collection of users. It is safe for concurrent use by any number of processes.
type Store struct {
	users *journal.Collection[document, user.User]
	ids   *mongostore.IDs
}

var _ user.Store = (*Store)(nil)

// New returns the users in db.
func New(db *mongo.Database, ids *mongostore.IDs) *Store {
	return &Store{journal.New(journal.Options[document, user.User]{
		Collection: Collection(db), Record: (*document).user, Set: (*document).set, Entry: entry, Messages: messages,
	}), ids}
}

// Collection is where the users and their outboxes are.
func Collection(db *mongo.Database) *mongo.Collection { return db.Collection("users") }

// Audit is identity's part of the audit.
func Audit(db *mongo.Database) *auditlog.Log { return auditlog.New(db, "identity", Collection(db)) }

// Lead runs work while no other request does, over all replicas: two governors who retire at once do it one after the other. It costs three round
// trips. A replica that dies meanwhile holds the others up for half a minute.
func Lead(ctx context.Context, db *mongo.Database, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, db.Collection("user_leases"), "governors", work)
}

// EnsureIndexes makes the indexes.
func EnsureIndexes(ctx context.Context, db *mongo.Database) error {
	return errors.Join(mongostore.EnsureIndexes(ctx, Collection(db), indexes()), Audit(db).Prepare(ctx))
}

func indexes() []mongostore.Index {
	return []mongostore.Index{
		{Name: uuidIndex, Keys: bson.D{{Key: "uuid_hash", Value: 1}}, Unique: true},
		{Name: keyIndex, Keys: bson.D{{Key: "key", Value: 1}}, Unique: true, Where: bson.D{{Key: "key", Value: bson.D{{Key: "$gt", Value: ""}}}}},
		{Name: "email", Keys: bson.D{{Key: "email_fold", Value: 1}, {Key: "_id", Value: 1}}},
		{Name: "governors", Keys: bson.D{{Key: "permissions.admin", Value: 1}, {Key: "active", Value: 1}}, Where: bson.D{{Key: "permissions.admin", Value: true}}},
		outbox.Index(),
		auditlog.Index(),
	}
}

// The filters of the reads, in one place, so that the test of the indexes asks what the service asks.

func withIDs(ids []int64) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
}

func withKeys(keys []string) bson.D {
	return bson.D{{Key: "key", Value: bson.D{{Key: "$in", Value: keys}, {Key: "$gt", Value: ""}}}} // $gt: the index's own condition
}

func withUUIDHashes(hashes []string) bson.D {
	return bson.D{{Key: "uuid_hash", Value: bson.D{{Key: "$in", Value: hashes}}}}
}

func withEmail(folded string) bson.D { return bson.D{{Key: "email_fold", Value: folded}} }

func above(id int64) bson.D { return bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: id}}}} }

func governing() bson.D {
	return bson.D{{Key: "permissions.admin", Value: true}, {Key: "active", Value: true}}
}

// ByIDs implements user.Store.
func (s *Store) ByIDs(ctx context.Context, ids []int64) ([]user.User, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return s.find(ctx, withIDs(ids), options.Find())
}

// ByKeys implements user.Store.
func (s *Store) ByKeys(ctx context.Context, keys []string) ([]user.User, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return s.find(ctx, withKeys(keys), options.Find())
}

// ByUUIDHashes implements user.Store.
func (s *Store) ByUUIDHashes(ctx context.Context, hashes []string) ([]user.User, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	return s.find(ctx, withUUIDHashes(hashes), options.Find())
}

// ByEmail implements user.Store.
func (s *Store) ByEmail(ctx context.Context, folded string) ([]user.User, error) {
	return s.find(ctx, withEmail(folded), options.Find().SetSort(byID()))
}

// After implements user.Store.
func (s *Store) After(ctx context.Context, after int64, limit int) ([]user.User, error) {
	return s.find(ctx, above(after), options.Find().SetSort(byID()).SetLimit(int64(limit)))
}

// Governors implements user.Store.
func (s *Store) Governors(ctx context.Context) ([]int64, error) {
	const enough = 2
	found, err := s.find(ctx, governing(), options.Find().SetLimit(enough))
	ids := make([]int64, len(found))
	for i, u := range found {
		ids[i] = u.ID
	}
	return ids, err
}

func byID() bson.D { return bson.D{{Key: "_id", Value: 1}} }

func (s *Store) find(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) ([]user.User, error) {
	return s.users.Find(ctx, filter, o)
}

// Insert implements user.Store: two round trips, whatever the number of users.
func (s *Store) Insert(ctx context.Context, users []*user.User) ([]error, error) {
	if len(users) == 0 {
		return nil, nil
	}
	first, err := s.ids.Take(ctx, "users", len(users))
	if err != nil {
		return nil, err
	}
	records := make([]user.User, len(users))
	for i, u := range users {
		u.ID, u.Version = first+int64(i), 1
		records[i] = *u
	}
	failures, err := s.users.Insert(ctx, records)
	if err != nil {
		return nil, err
	}
	refused := make([]error, len(users))
	for _, failure := range failures {
		refused[failure.Index] = taken(failure)
		if refused[failure.Index] == nil {
			return nil, fmt.Errorf("insert users: %w", failure)
		}
	}
	return refused, nil
}

// Update implements user.Store: two round trips when nobody interferes.
func (s *Store) Update(ctx context.Context, id int64, change func(*user.User) error) (user.User, error) {
	u, err := s.users.Change(ctx, id, change)
	switch duplicate := taken(err); {
	case errors.Is(err, record.ErrNotFound):
		return user.User{}, user.ErrNone
	case duplicate != nil:
		return user.User{}, duplicate
	}
	return u, err
}

// messages tells a user's sessions of a change that they must know.
func messages(ctx context.Context, _ int64, before, after user.User) []outbox.Message {
	if before.ID == 0 || after.SameToSessions(before) {
		return nil
	}
	return []outbox.Message{outbox.NewMessage(ctx, UserChanged, after.ID)}
}

// Told implements user.Store: one round trip. At the same version the outbox holds no message of a later one.
func (s *Store) Told(ctx context.Context, u user.User) error {
	return s.users.Acknowledge(ctx, u.ID, u.Version)
}

// taken says of which unique value err, of the database, says that another user has it; nil when it says nothing of that kind.
func taken(err error) error {
	if err == nil || !mongostore.IsDuplicateKey(err) {
		return nil
	}
	switch text := err.Error(); {
	case strings.Contains(text, uuidIndex):
		return user.ErrUUIDTaken
	case strings.Contains(text, keyIndex):
		return user.ErrKeyTaken
	}
	return nil
}
