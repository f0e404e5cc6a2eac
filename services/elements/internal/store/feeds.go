package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// A feed that others change at the same time is changed again up to feedTries times, after a pause of up to feedPause.
const (
	feedTries = 50
	feedPause = 20 * time.Millisecond
)

// Feeds implements element.FeedStore, by the collections feeds and element_settings. Each change of a feed pushes its
// entry for the audit into the document in the same write. A journal.Collection does so too, but needs ids that are
// numbers.
type Feeds struct {
	feeds    *mongo.Collection
	settings *mongo.Collection
	ids      *mongostore.IDs
}

func newFeeds(db *mongo.Database, ids *mongostore.IDs) *Feeds {
	return &Feeds{db.Collection("feeds"), db.Collection("element_settings"), ids}
}

var feedIndexes = []mongostore.Index{
	{Name: "token_hash", Keys: bson.D{{Key: "token_hash", Value: 1}}},
	auditlog.Index(),
}

// feedDocument is a feed as it is stored. Its own id is made of the user and the element. So a pair has one feed
// without a unique index, and two writers who make it at once meet in one document.
type feedDocument struct {
	ID          string        `bson:"_id"`
	Version     int64         `bson:"version,omitempty"` // absent until this release changes it
	FeedID      int64         `bson:"feed_id"`
	UserID      int64         `bson:"user_id"`
	ElementID   int64         `bson:"element_id"`
	TokenHash   string        `bson:"token_hash,omitempty"`
	Created     time.Time     `bson:"created"`
	UserVersion int64         `bson:"user_version,omitempty"`
	Schema      int32         `bson:"schema"`
	Deleted     bool          `bson:"deleted,omitempty"` // a tombstone, which has no token
	Audit       []audit.Entry `bson:"audit,omitempty"`
}

func (d feedDocument) feed() element.Feed {
	return element.Feed{
		ID: d.FeedID, UserID: d.UserID, ElementID: d.ElementID, TokenHash: d.TokenHash, Created: d.Created,
		UserVersion: d.UserVersion,
	}
}

// namespaceDocument has the namespace, under the id "calendar".
type namespaceDocument struct {
	ID        string `bson:"_id"`
	Namespace string `bson:"namespace"`
}

// Namespace implements element.FeedStore. The first call stores it.
func (s *Feeds) Namespace(ctx context.Context) (string, error) {
	d := namespaceDocument{ID: "calendar"}
	for {
		err := s.settings.FindOne(ctx, bson.D{{Key: "_id", Value: d.ID}}).Decode(&d)
		if err == nil {
			return d.Namespace, nil
		}
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return "", fmt.Errorf("read the calendars' namespace: %w", err)
		}
		_, err = s.settings.InsertOne(ctx, namespaceDocument{d.ID, uuid.NewString()})
		if err != nil && !mongostore.IsDuplicateKey(err) { // another process stored it meanwhile
			return "", fmt.Errorf("store the calendars' namespace: %w", err)
		}
	}
}

// Get implements element.FeedStore.
func (s *Feeds) Get(ctx context.Context, userID, elementID int64) (element.Feed, error) {
	d, err := mongostore.First[feedDocument](ctx, s.feeds, byPair(userID, elementID))
	if err == nil && d.Deleted {
		err = record.ErrNotFound
	}
	if err != nil {
		return element.Feed{}, err
	}
	return d.feed(), nil
}

// GetByToken implements element.FeedStore.
func (s *Feeds) GetByToken(ctx context.Context, tokenHash string) (element.Feed, error) {
	d, err := mongostore.First[feedDocument](ctx, s.feeds, byToken(tokenHash))
	if err != nil {
		return element.Feed{}, err
	}
	return d.feed(), nil
}

func byPair(userID, elementID int64) bson.D {
	return bson.D{{Key: "_id", Value: fmt.Sprintf("%d/%d", userID, elementID)}}
}

func byToken(hash string) bson.D { return bson.D{{Key: "token_hash", Value: hash}} }

// Put implements element.FeedStore.
func (s *Feeds) Put(ctx context.Context, f element.Feed) (element.Feed, error) {
	id, err := s.ids.Next(ctx, "feeds")
	if err != nil {
		return f, err
	}
	err = persist(ctx, func() (bool, error) {
		stored, err := mongostore.First[feedDocument](ctx, s.feeds, byPair(f.UserID, f.ElementID))
		exists := err == nil
		if err != nil && !errors.Is(err, record.ErrNotFound) {
			return false, err
		}
		before := stored.feed()
		if !exists || stored.Deleted {
			before = element.Feed{}
		}
		if f.ID = before.ID; f.ID == 0 {
			f.ID = id
		}
		return s.write(ctx, stored, exists, f, feedEntry(ctx, before, f))
	})
	if err != nil {
		return f, fmt.Errorf("store a feed: %w", err)
	}
	return f, nil
}

// write stores f as a new document, or in the place of the stored one, and says whether nobody else was first. It
// leaves the entries alone that are being copied.
func (s *Feeds) write(
	ctx context.Context, stored feedDocument, exists bool, f element.Feed, entry audit.Entry,
) (bool, error) {
	if !exists {
		_, err := s.feeds.InsertOne(ctx, feedDocument{
			ID: fmt.Sprintf("%d/%d", f.UserID, f.ElementID), Version: 1, FeedID: f.ID, UserID: f.UserID,
			ElementID: f.ElementID, TokenHash: f.TokenHash, Created: f.Created, UserVersion: f.UserVersion,
			Schema: schema, Audit: []audit.Entry{entry},
		})
		if mongostore.IsDuplicateKey(err) {
			return false, nil
		}
		return err == nil, err
	}
	same := bson.E{Key: "version", Value: stored.Version}
	if stored.Version == 0 {
		same.Value = bson.D{{Key: "$exists", Value: false}}
	}
	result, err := s.feeds.UpdateOne(ctx, append(byPair(f.UserID, f.ElementID), same), bson.D{
		{Key: "$set", Value: bson.D{
			{Key: "feed_id", Value: f.ID}, {Key: "token_hash", Value: f.TokenHash}, {Key: "created", Value: f.Created},
			{Key: "user_version", Value: f.UserVersion}, {Key: "version", Value: stored.Version + 1},
		}},
		{Key: "$unset", Value: bson.D{{Key: "deleted", Value: ""}}},
		{Key: "$push", Value: bson.D{{Key: audit.Field, Value: entry}}},
	})
	if err != nil {
		return false, err
	}
	return result.MatchedCount == 1, nil
}

// Delete implements element.FeedStore.
func (s *Feeds) Delete(ctx context.Context, userID, elementID, id int64) error {
	f := element.Feed{ID: id, UserID: userID, ElementID: elementID}
	filter := append(byPair(userID, elementID), bson.E{Key: "feed_id", Value: id},
		bson.E{Key: "deleted", Value: bson.D{{Key: "$ne", Value: true}}})
	update := bson.D{
		{Key: "$set", Value: bson.D{{Key: "deleted", Value: true}}},
		{Key: "$unset", Value: bson.D{{Key: "token_hash", Value: ""}}},
		{Key: "$inc", Value: bson.D{{Key: "version", Value: int64(1)}}},
		{Key: "$push", Value: bson.D{{Key: audit.Field, Value: feedEntry(ctx, f, element.Feed{})}}},
	}
	err := persist(ctx, func() (bool, error) {
		result, err := s.feeds.UpdateOne(ctx, filter, update)
		if err == nil && result.MatchedCount == 0 {
			err = record.ErrNotFound
		}
		return err == nil, err
	})
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return fmt.Errorf("delete a feed: %w", err)
	}
	return err
}

// persist retries a write while another writer was first.
func persist(ctx context.Context, write func() (done bool, err error)) error {
	return mongostore.Retry(ctx, write,
		backoff.WithMaxTries(feedTries), backoff.WithBackOff(mongostore.Pauses(feedPause)))
}
