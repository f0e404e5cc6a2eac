package store

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// endedKept is how many ended sessions of a user are remembered: more than it can end in the time by which Redis may go
// back.
const endedKept = 100

// endedTries is how often a session is marked as ended while others mark sessions of the same user.
const endedTries = 5

// endedDocument has the sessions of a user that were ended last.
type endedDocument struct {
	UserID   int64          `bson:"_id"`
	At       time.Time      `bson:"at"` // of the last one
	Sessions []endedSession `bson:"sessions"`
}

type endedSession struct {
	Hash string    `bson:"hash"`
	At   time.Time `bson:"at"`
}

func endedCollection(db *mongo.Database) *mongo.Collection { return db.Collection("ended_sessions") }

func endedIndexes() []mongostore.Index {
	return []mongostore.Index{{Name: "at", Keys: mongostore.By("at")}}
}

func (s *users) MarkEnded(ctx context.Context, userID int64, hash string) error {
	at := now()
	last := bson.D{{Key: "$each", Value: []endedSession{{Hash: hash, At: at}}}, {Key: "$slice", Value: -endedKept}}
	mark := bson.D{
		{Key: "$max", Value: bson.D{{Key: "at", Value: at}}},
		{Key: "$push", Value: bson.D{{Key: "sessions", Value: last}}},
	}
	for try := 1; ; try++ {
		_, err := s.ended.UpdateOne(ctx, bson.D{{Key: "_id", Value: userID}}, mark, options.UpdateOne().SetUpsert(true))
		if err == nil {
			return nil
		}
		if again := mongostore.IsDuplicateKey(err) || mongostore.Conflicted(err); !again || try == endedTries {
			return fmt.Errorf("mark a session as ended: %w", err)
		}
	}
}

func (s *users) ForgetEnded(ctx context.Context, before time.Time) error {
	_, err := s.ended.DeleteMany(ctx, bson.D{{Key: "at", Value: bson.D{{Key: "$lt", Value: before}}}})
	if err != nil {
		return fmt.Errorf("forget ended sessions: %w", err)
	}
	return nil
}

func changedSince(t time.Time) bson.D { return mongostore.WhereExists("sessions_changed", "$gte", t) }

func endedSince(t time.Time) bson.D {
	return bson.D{{Key: "at", Value: bson.D{{Key: "$gte", Value: t}}}}
}

func (s *users) ListRevoked(ctx context.Context, since time.Time) (users []user.User, ended []string, err error) {
	users, err = s.users.Find(ctx, changedSince(since))
	if err != nil {
		return nil, nil, err
	}
	documents, err := mongostore.Find[endedDocument](ctx, s.ended, endedSince(since))
	for _, d := range documents {
		for _, session := range d.Sessions {
			if !session.At.Before(since) {
				ended = append(ended, session.Hash)
			}
		}
	}
	return users, ended, err
}
