package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// awaitMongo waits until the document store accepts writes, and then tries the abilities that Belfry relies on.
func awaitMongo(ctx context.Context, uri string) error {
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(time.Second))
	if err != nil {
		return err
	}
	defer client.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is in progress on it
	db := client.Database(fmt.Sprintf("belfry_stores_check_%d", os.Getpid()))
	for {
		err := db.Drop(ctx)
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return errors.Join(answersAsExpected(ctx, db.Collection("documents")), db.Drop(context.WithoutCancel(ctx)))
}

// answersAsExpected tries the abilities that Belfry relies on, so that a newer DocumentDB without one of them fails
// at the start and not in a test. The collection must be empty; the caller drops its database.
func answersAsExpected(ctx context.Context, c *mongo.Collection) error {
	number := func(key string, n int64) bson.E { return bson.E{Key: key, Value: n} }
	for _, ability := range []struct {
		name string
		try  func() error
	}{
		{"make a unique and a sparse unique index", func() error {
			_, err := c.Indexes().CreateMany(ctx, []mongo.IndexModel{
				{Keys: bson.D{{Key: "email", Value: 1}}, Options: options.Index().SetUnique(true)},
				{Keys: bson.D{{Key: "key", Value: 1}}, Options: options.Index().SetUnique(true).SetSparse(true)},
				{Keys: bson.D{{Key: "days", Value: 1}}},
			})
			return err
		}},
		{"insert documents", func() error {
			_, err := c.InsertMany(ctx, []any{
				bson.D{number("_id", 1), number("version", 1), {Key: "email", Value: "a"},
					{Key: "days", Value: bson.A{int64(7), int64(8)}}},
				bson.D{number("_id", 2), number("version", 1), {Key: "email", Value: "b"},
					{Key: "days", Value: bson.A{int64(9)}}},
			})
			return err
		}},
		{"refuse a duplicate of a unique index", func() error {
			_, err := c.InsertOne(ctx, bson.D{number("_id", 3), {Key: "email", Value: "a"}})
			if !mongo.IsDuplicateKeyError(err) {
				//nolint:errorlint // no error may be the answer
				return fmt.Errorf("the answer was %v instead of a duplicate key error", err)
			}
			return nil
		}},
		{"replace a document of one version only once", func() error {
			for _, want := range []int64{1, 0} {
				result, err := c.ReplaceOne(ctx, bson.D{number("_id", 1), number("version", 1)},
					bson.D{number("version", 2), {Key: "email", Value: "a"}, {Key: "days", Value: bson.A{int64(8)}}})
				if err != nil {
					return err
				}
				if result.MatchedCount != want {
					return fmt.Errorf("%d documents matched instead of %d", result.MatchedCount, want)
				}
			}
			return nil
		}},
		{"find by the values of an array", func() error {
			n, err := c.CountDocuments(ctx,
				bson.D{{Key: "days", Value: bson.D{{Key: "$in", Value: bson.A{int64(8), int64(9), int64(10)}}}}})
			if err == nil && n != 2 {
				return fmt.Errorf("%d documents were found instead of 2", n)
			}
			return err
		}},
		{"count up and return the new value", func() error {
			var counter struct{ Version int64 }
			err := c.FindOneAndUpdate(ctx, bson.D{number("_id", 2)},
				bson.D{{Key: "$inc", Value: bson.D{number("version", 5)}}},
				options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&counter)
			if err == nil && counter.Version != 6 {
				return fmt.Errorf("the value is %d instead of 6", counter.Version)
			}
			return err
		}},
	} {
		if err := ability.try(); err != nil {
			return fmt.Errorf("the document store does not answer as Belfry needs it: it cannot %s: %w",
				ability.name, err)
		}
	}
	return nil
}
