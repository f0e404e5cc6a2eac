package store

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// useDocument is the last use of a token. It is not in the user's document, since a use does not change the user.
type useDocument struct {
	TokenID int64     `bson:"_id"`
	UserID  int64     `bson:"user_id"`
	At      time.Time `bson:"at"`
}

func usesCollection(db *mongo.Database) *mongo.Collection { return db.Collection("token_uses") }

func usesIndexes() []mongostore.Index {
	return []mongostore.Index{{Name: "user", Keys: mongostore.By("user_id")}}
}

func (s *users) NewTokenID(ctx context.Context) (int64, error) { return s.ids.Take(ctx, "tokens", 1) }

func (s *users) MarkUsed(ctx context.Context, userID, tokenID int64) error {
	_, err := s.uses.UpdateOne(ctx, bson.D{{Key: "_id", Value: tokenID}}, bson.D{
		{Key: "$max", Value: bson.D{{Key: "at", Value: now().Truncate(time.Second)}}},
		{Key: "$set", Value: bson.D{{Key: "user_id", Value: userID}}},
	}, options.UpdateOne().SetUpsert(true))
	if err == nil || mongostore.IsDuplicateKey(err) || mongostore.Conflicted(err) { // another use is marked just now
		return nil
	}
	return fmt.Errorf("mark a token as used: %w", err)
}

func (s *users) LastUses(ctx context.Context, tokenIDs []int64) (map[int64]time.Time, error) {
	last := map[int64]time.Time{}
	if len(tokenIDs) == 0 {
		return last, nil
	}
	found, err := mongostore.Find[useDocument](ctx, s.uses, withIDs(tokenIDs))
	for _, use := range found {
		last[use.TokenID] = use.At
	}
	return last, err
}

func usesOfOthers(userID int64, tokenIDs []int64) bson.D {
	return bson.D{
		{Key: "user_id", Value: userID},
		{Key: "_id", Value: bson.D{{Key: "$nin", Value: append([]int64{}, tokenIDs...)}}},
	}
}

func (s *users) ForgetUses(ctx context.Context, userID int64, tokenIDs []int64) error {
	if _, err := s.uses.DeleteMany(ctx, usesOfOthers(userID, tokenIDs)); err != nil {
		return fmt.Errorf("forget the uses of tokens: %w", err)
	}
	return nil
}
