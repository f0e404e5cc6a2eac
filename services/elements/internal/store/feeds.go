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
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// maxPuts bounds how often Put tries to store a feed that others store at the same time.
const maxPuts = 10

// Feeds implements element.FeedStore, by the collections feeds and element_settings. Feeds are not in the audit.
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
}

// feedDocument is a feed as it is stored. Its own id is made of the user and the element. So a pair has one feed
// without a unique index, and two writers who make it at once meet in one document.
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
	return element.Feed{
		ID: d.FeedID, UserID: d.UserID, ElementID: d.ElementID, TokenHash: d.TokenHash, Created: d.Created,
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
	return s.get(ctx, byPair(userID, elementID))
}

// GetByToken implements element.FeedStore.
func (s *Feeds) GetByToken(ctx context.Context, tokenHash string) (element.Feed, error) {
	return s.get(ctx, byToken(tokenHash))
}

func byPair(userID, elementID int64) bson.D {
	return bson.D{{Key: "_id", Value: fmt.Sprintf("%d/%d", userID, elementID)}}
}

func byToken(hash string) bson.D { return bson.D{{Key: "token_hash", Value: hash}} }

func (s *Feeds) get(ctx context.Context, filter bson.D) (element.Feed, error) {
	var d feedDocument
	err := s.feeds.FindOne(ctx, filter).Decode(&d)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return element.Feed{}, record.ErrNotFound
	}
	if err != nil {
		return element.Feed{}, fmt.Errorf("read a feed: %w", err)
	}
	return d.feed(), nil
}

// Put implements element.FeedStore.
func (s *Feeds) Put(ctx context.Context, f element.Feed) (element.Feed, error) {
	id, err := s.ids.Next(ctx, "feeds")
	if err != nil {
		return f, err
	}
	update := bson.D{
		{Key: "$set", Value: bson.D{{Key: "token_hash", Value: f.TokenHash}, {Key: "created", Value: f.Created}}},
		{Key: "$setOnInsert", Value: bson.D{
			{Key: "feed_id", Value: id}, {Key: "user_id", Value: f.UserID}, {Key: "element_id", Value: f.ElementID},
			{Key: "schema", Value: int32(schema)},
		}},
	}
	for range maxPuts {
		_, err = s.feeds.UpdateOne(ctx, byPair(f.UserID, f.ElementID), update, options.UpdateOne().SetUpsert(true))
		if !mongostore.IsDuplicateKey(err) && !mongostore.Conflicted(err) { // otherwise another stored it at once
			break
		}
	}
	if err != nil {
		return f, fmt.Errorf("store a feed: %w", err)
	}
	stored, err := s.Get(ctx, f.UserID, f.ElementID)
	if errors.Is(err, record.ErrNotFound) { // deleted meanwhile
		return f, nil
	}
	f.ID = stored.ID
	return f, err
}

// Delete implements element.FeedStore.
func (s *Feeds) Delete(ctx context.Context, userID, elementID, id int64) error {
	filter := append(byPair(userID, elementID), bson.E{Key: "feed_id", Value: id})
	result, err := s.feeds.DeleteOne(ctx, filter)
	if err != nil {
		return fmt.Errorf("delete a feed: %w", err)
	}
	if result.DeletedCount == 0 {
		return record.ErrNotFound
	}
	return nil
}
