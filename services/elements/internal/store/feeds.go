package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// A feed that others put or delete at the same time is put again up to feedTries times, after a pause of up to
// feedPause.
const (
	feedTries = 50
	feedPause = 20 * time.Millisecond
)

// Feeds implements element.FeedStore, by the collections feeds and element_settings.
type Feeds struct {
	feeds     *journal.Collection[feedDocument, element.Feed]
	namespace *mongostore.Constant
	ids       *mongostore.IDs
}

func newFeeds(db *mongo.Database, ids *mongostore.IDs) *Feeds {
	return &Feeds{
		feeds: journal.New(journal.Options[feedDocument, element.Feed]{
			Collection: db.Collection("feeds"),
			Record:     (*feedDocument).feed, Set: (*feedDocument).set, Entry: feedEntry,
		}),
		namespace: mongostore.NewConstant(db.Collection("element_settings"), "calendar"),
		ids:       ids,
	}
}

var feedIndexes = []mongostore.Index{
	{
		Name: "pair", Keys: bson.D{{Key: "user_id", Value: 1}, {Key: "element_id", Value: 1}},
		Unique: true, Where: mongostore.Exists("user_id"), // no tombstone
	},
	{Name: "token_hash", Keys: bson.D{{Key: "token_hash", Value: 1}}},
	auditlog.Index(),
}

// feedDocument is a feed as it is stored.
type feedDocument struct {
	mongostore.Head `bson:",inline"`

	Feed element.Feed `bson:",inline"`

	journal.Tail `bson:",inline"`
}

func (d *feedDocument) set(f element.Feed) {
	*d = feedDocument{Head: mongostore.Head{ID: f.ID, Schema: schema}, Feed: f}
}

func (d *feedDocument) feed() element.Feed {
	f := d.Feed
	f.ID = d.ID
	return f
}

// Namespace implements element.FeedStore. The first call stores it.
func (s *Feeds) Namespace(ctx context.Context) (string, error) { return s.namespace.Get(ctx) }

// Get implements element.FeedStore.
func (s *Feeds) Get(ctx context.Context, userID, elementID int64) (element.Feed, error) {
	return s.feeds.First(ctx, byPair(userID, elementID))
}

// GetByToken implements element.FeedStore.
func (s *Feeds) GetByToken(ctx context.Context, tokenHash string) (element.Feed, error) {
	return s.feeds.First(ctx, byToken(tokenHash))
}

func byPair(userID, elementID int64) bson.D {
	return append(mongostore.WhereExists("user_id", "$eq", userID), bson.E{Key: "element_id", Value: elementID})
}

func byToken(hash string) bson.D { return bson.D{{Key: "token_hash", Value: hash}} }

// Put implements element.FeedStore.
func (s *Feeds) Put(ctx context.Context, f element.Feed) (element.Feed, error) {
	err := mongostore.Retry(ctx, func() (done bool, err error) {
		stored, err := s.Get(ctx, f.UserID, f.ElementID)
		if errors.Is(err, record.ErrNotFound) {
			return s.insert(ctx, &f)
		}
		if err != nil {
			return false, err
		}
		f.ID = stored.ID
		_, err = s.feeds.Change(ctx, f.ID, func(at *element.Feed) error {
			*at = f
			return nil
		})
		if errors.Is(err, record.ErrNotFound) { // it was deleted meanwhile
			return false, nil
		}
		return err == nil, err
	}, backoff.WithMaxTries(feedTries), backoff.WithBackOff(mongostore.Pauses(feedPause)))
	if err != nil {
		return f, fmt.Errorf("store a feed: %w", err)
	}
	return f, nil
}

// insert stores a new feed with an id; it returns false when another writer stored one of the pair meanwhile.
func (s *Feeds) insert(ctx context.Context, f *element.Feed) (done bool, err error) {
	if f.ID, err = s.ids.Next(ctx, "feeds"); err != nil {
		return false, err
	}
	_, err = s.feeds.InsertOne(ctx, *f)
	if mongostore.IsDuplicateKey(err) {
		return false, nil
	}
	return err == nil, err
}

// Delete implements element.FeedStore.
func (s *Feeds) Delete(ctx context.Context, userID, elementID, id int64) error {
	return s.feeds.Delete(ctx, id, func(f *element.Feed) error {
		if f.UserID != userID || f.ElementID != elementID {
			return record.ErrNotFound
		}
		f.TokenHash = "" // the entry for the audit has no address
		return nil
	})
}
