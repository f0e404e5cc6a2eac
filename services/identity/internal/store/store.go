// Package store keeps the users in MongoDB, one document each, and which of their sessions were ended.
package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// The names of the unique indexes, by which the duplicate field is known.
const (
	uuidIndex  = "uuid_hash"
	keyIndex   = "import_key"
	emailIndex = "claimed_email"
)

// users is the collection of users.
type users struct {
	users  *journal.Collection[document, user.User]
	ended  *mongo.Collection // of sessions; not audited, as they end by what is
	uses   *mongo.Collection // of tokens; not audited: what is done by them is
	leases *mongo.Collection
	ids    *mongostore.IDs
	salt   *mongostore.Constant      // of erased keys
	of     *directory.Shelf[[]int64] // ids of the users who are an element
}

// New returns the users in db, which are safe for concurrent use by any number of processes. Versions are those of the
// directory; a nil memory keeps nothing.
func New(db *mongo.Database, ids *mongostore.IDs, versions journal.Directory, memory *directory.Memory) user.Store {
	records := journal.New(journal.Options[document, user.User]{
		Collection: Collection(db), Record: (*document).user, Set: (*document).set, Entry: entry,
		Directory: versions,
		Keys:      keysOf,
		Unique:    func(u user.User) string { return u.Key },
	})
	leases := db.Collection("user_leases")
	return &users{
		users: records, ended: endedCollection(db), uses: usesCollection(db), leases: leases, ids: ids,
		salt: mongostore.NewConstant(leases, "erasure_salt"),
		of:   directory.NewShelf(memory, "users_of", directory.Element, func(ids []int64) int { return 8 * len(ids) }),
	}
}

// keysOf returns the keys of a user: itself, and the users of its element.
func keysOf(id int64, u user.User) []directory.Key {
	keys := []directory.Key{{Kind: directory.User, ID: id}}
	if u.ElementID != 0 {
		keys = append(keys, directory.Key{Kind: directory.Element, ID: u.ElementID})
	}
	return keys
}

// Collection is the collection of users.
func Collection(db *mongo.Database) *mongo.Collection { return db.Collection("users") }

// Audit is identity's part of the audit.
func Audit(db *mongo.Database) *auditlog.Log { return auditlog.New(db, "identity", Collection(db)) }

// EnsureIndexes makes the indexes.
func EnsureIndexes(ctx context.Context, db *mongo.Database) error {
	return errors.Join(mongostore.EnsureIndexes(ctx, Collection(db), indexes()),
		mongostore.EnsureIndexes(ctx, endedCollection(db), endedIndexes()),
		mongostore.EnsureIndexes(ctx, usesCollection(db), usesIndexes()), Audit(db).Prepare(ctx))
}

func indexes() []mongostore.Index {
	return []mongostore.Index{
		{Name: uuidIndex, Keys: mongostore.By("uuid_hash"), Unique: true},
		{
			Name: keyIndex, Keys: mongostore.By("key"), Unique: true,
			Where: bson.D{{Key: "key", Value: bson.D{{Key: "$gt", Value: ""}}}},
		},
		{Name: "element", Keys: mongostore.By("element_id", "_id"), Where: mongostore.Exists("element_id")},
		{
			Name: emailIndex, Keys: mongostore.By("claimed_email"), Unique: true,
			Where: mongostore.Exists("claimed_email"),
		},
		{Name: "email", Keys: mongostore.By("email_fold", "_id")},
		{
			Name: "governors", Keys: mongostore.By("permissions.admin", "active"),
			Where: bson.D{{Key: "permissions.admin", Value: true}},
		},
		{Name: "admin_of", Keys: mongostore.By("admin_of", "_id"), Where: mongostore.Exists("admin_of")},
		{
			Name: "sessions_changed", Keys: mongostore.By("sessions_changed"),
			Where: mongostore.Exists("sessions_changed"),
		},
		{Name: "token_hash", Keys: mongostore.By("tokens.hash"), Where: mongostore.Exists("tokens.hash")},
		auditlog.Index(),
	}
}

// The filters of the reads, in one place, so that the test of the indexes asks what the service asks.

func within[T any](field string, values []T) bson.D {
	return bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: values}}}}
}

func withIDs(ids []int64) bson.D { return within("_id", ids) }

func withKeys(keys []string) bson.D {
	// $gt repeats the condition of the partial index.
	return bson.D{{Key: "key", Value: bson.D{{Key: "$in", Value: keys}, {Key: "$gt", Value: ""}}}}
}

func withUUIDHashes(hashes []string) bson.D { return within("uuid_hash", hashes) }

func withTokenHashes(hashes []string) bson.D {
	return mongostore.WhereExists("tokens.hash", "$in", hashes)
}

func withEmail(folded string) bson.D { return bson.D{{Key: "email_fold", Value: folded}} }

func withEmails(folded []string) bson.D { return within("email_fold", folded) }

func ofElements(ids []int64) bson.D { return within("element_id", ids) }

// whose are the fields that say which element a user is, and those by which a document is resolved.
var whose = bson.D{{Key: "element_id", Value: 1}, {Key: "version", Value: 1}, {Key: "intent", Value: 1}}

// byFilter chooses users for a list.
func byFilter(f user.Filter) bson.D {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: f.After}}}}
	if f.Elements != nil {
		filter = append(filter, ofElements(f.Elements)...)
	}
	if f.AdminOf != nil {
		filter = append(filter, mongostore.WhereExists("admin_of", "$in", f.AdminOf)...)
	}
	return filter
}

func activeAdministrators() bson.D {
	return bson.D{{Key: "permissions.admin", Value: true}, {Key: "active", Value: true}}
}

func byID() bson.D { return mongostore.By("_id") }

func (s *users) Get(ctx context.Context, id int64) (user.User, error) { return s.users.Get(ctx, id) }

// find asks for the users with one of the values; without any it asks nothing.
func find[T any](ctx context.Context, s *users, values []T, with func([]T) bson.D) ([]user.User, error) {
	if len(values) == 0 {
		return nil, nil
	}
	return s.users.Find(ctx, with(values))
}

func (s *users) Find(ctx context.Context, ids []int64) ([]user.User, error) {
	return find(ctx, s, ids, withIDs)
}

func (s *users) FindByKeys(ctx context.Context, keys []string) ([]user.User, error) {
	return find(ctx, s, keys, withKeys)
}

func (s *users) FindByUUIDHashes(ctx context.Context, hashes []string) ([]user.User, error) {
	return find(ctx, s, hashes, withUUIDHashes)
}

func (s *users) FindByTokenHashes(ctx context.Context, hashes []string) ([]user.User, error) {
	return find(ctx, s, hashes, withTokenHashes)
}

func (s *users) FindByEmails(ctx context.Context, folded []string) ([]user.User, error) {
	return find(ctx, s, folded, withEmails)
}

func (s *users) FindAdministrators(ctx context.Context, most int) ([]int64, error) {
	found, err := s.users.Find(ctx, activeAdministrators(), options.Find().SetLimit(int64(most)))
	return sequence.Map(found, func(u user.User) int64 { return u.ID }), err
}

func (s *users) List(ctx context.Context, f user.Filter) ([]user.User, error) {
	if f.Elements != nil && f.Limit > 0 && s.of.Uses(ctx) {
		return s.listOf(ctx, f)
	}
	return s.users.Find(ctx, byFilter(f), options.Find().SetSort(byID()).SetLimit(int64(f.Limit)))
}

// listOf is List for users who are elements. Their ids are usually in memory: a store would look up each of a school's
// thousands of elements.
func (s *users) listOf(ctx context.Context, f user.Filter) ([]user.User, error) {
	byElement, err := s.of.Find(ctx, f.Elements, s.loadOf)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, users := range byElement {
		for _, id := range users {
			if id > f.After {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	var page []user.User
	for ids = slices.Compact(ids); len(ids) > 0 && len(page) < f.Limit; {
		some := ids[:min(len(ids), f.Limit-len(page))]
		ids = ids[len(some):]
		found, err := s.users.Find(ctx, withIDs(some), options.Find().SetSort(byID()))
		if err != nil {
			return nil, err
		}
		for _, u := range found {
			if _, wanted := byElement[u.ElementID]; wanted {
				page = append(page, u)
			}
		}
	}
	return page, nil
}

// loadOf reads the ids of the users who are elements, by element.
func (s *users) loadOf(ctx context.Context, elements []int64) (map[int64][]int64, error) {
	users, err := s.users.Find(ctx, ofElements(elements), options.Find().SetProjection(whose))
	byElement := make(map[int64][]int64, len(elements))
	for _, id := range elements {
		byElement[id] = nil // also remember that no user is the element
	}
	for _, u := range users {
		byElement[u.ElementID] = append(byElement[u.ElementID], u.ID)
	}
	return byElement, err
}

func (s *users) ListByEmail(ctx context.Context, folded string) ([]user.User, error) {
	return s.users.Find(ctx, withEmail(folded), options.Find().SetSort(byID()))
}

func (s *users) Insert(ctx context.Context, users []*user.User) ([]error, error) {
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

func (s *users) Change(ctx context.Context, id int64, decide func(*user.User) error) (user.User, error) {
	u, err := s.users.Change(ctx, id, decide)
	if duplicate := taken(err); duplicate != nil {
		return user.User{}, duplicate
	}
	return u, err
}

// WithLease: when a process dies that holds the lease, the others wait half a minute.
func (s *users) WithLease(ctx context.Context, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, s.leases, "governors", work)
}

func (s *users) ErasureSalt(ctx context.Context) (string, error) { return s.salt.Get(ctx) }

// taken returns the error of the unique index that a write of the database failed at; nil when it did not fail at one.
func taken(err error) error {
	switch mongostore.DuplicateIndex(err) {
	case uuidIndex:
		return user.ErrUUIDTaken
	case keyIndex:
		return user.ErrKeyTaken
	case emailIndex:
		return user.ErrEmailTaken
	}
	return nil
}
