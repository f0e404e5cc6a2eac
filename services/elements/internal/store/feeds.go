package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// setTries is how often a feed is stored that another stores too.
const setTries = 10

// Feeds is the collection of calendar feeds, and element_settings. It implements element.FeedStore. Feeds are not audited.
type Feeds struct {
	feeds    *mongo.Collection
	settings *mongo.Collection
	ids      *mongostore.IDs
}

// NewFeeds returns the store. Prepare must have run on the database once.
func NewFeeds(db *mongo.Database, ids *mongostore.IDs) *Feeds {
	return &Feeds{db.Collection("feeds"), db.Collection("element_settings"), ids}
}

var feedIndexes = []mongostore.Index{
	{Name: "token_hash", Keys: bson.D{{Key: "token_hash", Value: 1}}},
}

// feedDocument is a feed as it is stored. Its own id is made of the user and the element: so there is one of a pair, and two who make it at once
// meet in one document, which costs servers less than a unique index does.
type feedDocument struct {
	ID        string    `bson:"_id"`
	FeedID    int64     `bson:"feed_id"`
	UserID    int64     `bson:"user_id"`
	ElementID int64     `bson:"element_id"`
	TokenHash string    `bson:"token_hash"`
	Created   time.Time `bson:"created"`
	Schema    int32     `bson:"schema"`
}

func (d feedDocument) feed() element.Feed {
	return element.Feed{ID: d.FeedID, UserID: d.UserID, ElementID: d.ElementID, TokenHash: d.TokenHash, Created: d.Created}
}

// namespaceDocument holds, under the id "calendar", what Namespace gives.
type namespaceDocument struct {
	ID        string `bson:"_id"`
	Namespace string `bson:"namespace"`
}

// Namespace is one document by its id; the first to ask makes it.
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
		if err != nil && !mongostore.IsDuplicateKey(err) { // another made it meanwhile
			return "", fmt.Errorf("make the calendars' namespace: %w", err)
		}
	}
}

// SetFeed is a write and a read of one document.
func (s *Feeds) SetFeed(ctx context.Context, f element.Feed) (element.Feed, error) {
	id, err := s.ids.Next(ctx, "feeds")
	if err != nil {
		return f, err
	}
	update := bson.D{
		{Key: "$set", Value: bson.D{{Key: "token_hash", Value: f.TokenHash}, {Key: "created", Value: f.Created}}},
		{Key: "$setOnInsert", Value: bson.D{{Key: "feed_id", Value: id}, {Key: "user_id", Value: f.UserID}, {Key: "element_id", Value: f.ElementID}, {Key: "schema", Value: int32(schema)}}},
	}
	for range setTries {
		_, err = s.feeds.UpdateOne(ctx, pairFilter(f.UserID, f.ElementID), update, options.UpdateOne().SetUpsert(true))
		if !mongostore.IsDuplicateKey(err) && !mongostore.Conflicted(err) { // otherwise another made it at the same time
			break
		}
	}
	if err != nil {
		return f, fmt.Errorf("store a feed: %w", err)
	}
	stored, err := s.FeedOf(ctx, f.UserID, f.ElementID)
	if err != nil || stored == nil { // revoked meanwhile
		return f, err
	}
	f.ID = stored.ID
	return f, nil
}

// FeedOf is one document by its id.
func (s *Feeds) FeedOf(ctx context.Context, userID, elementID int64) (*element.Feed, error) {
	return s.find(ctx, pairFilter(userID, elementID))
}

// FeedBy is one document by an index.
func (s *Feeds) FeedBy(ctx context.Context, tokenHash string) (*element.Feed, error) {
	return s.find(ctx, tokenFilter(tokenHash))
}

func pairFilter(userID, elementID int64) bson.D {
	return bson.D{{Key: "_id", Value: fmt.Sprintf("%d/%d", userID, elementID)}}
}

func tokenFilter(hash string) bson.D { return bson.D{{Key: "token_hash", Value: hash}} }

func (s *Feeds) find(ctx context.Context, filter bson.D) (*element.Feed, error) {
	var d feedDocument
	err := s.feeds.FindOne(ctx, filter).Decode(&d)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a feed: %w", err)
	}
	f := d.feed()
	return &f, nil
}

// DropFeed is one write.
func (s *Feeds) DropFeed(ctx context.Context, userID, elementID, id int64) error {
	result, err := s.feeds.DeleteOne(ctx, append(pairFilter(userID, elementID), bson.E{Key: "feed_id", Value: id}))
	if err != nil {
		return fmt.Errorf("remove a feed: %w", err)
	}
	if result.DeletedCount == 0 {
		return problem.Missing("Feed", id)
	}
	return nil
}
