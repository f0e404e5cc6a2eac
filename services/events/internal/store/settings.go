package store

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// settingsCollection has a document for each thing that all replicas know together, with one field.
func settingsCollection(db *mongo.Database) *mongo.Collection { return db.Collection("event_settings") }

// setting returns the field of a setting, the zero value when it was never set.
func setting[T any](ctx context.Context, settings *mongo.Collection, id, field string) (value T, err error) {
	found, err := settings.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return value, nil
	}
	if err == nil {
		err = found.Lookup(field).Unmarshal(&value)
	}
	if err != nil {
		return value, fmt.Errorf("read the setting %s: %w", id, err)
	}
	return value, nil
}

// set sets the field of a setting.
func set(ctx context.Context, settings *mongo.Collection, id, field string, value any) error {
	change := bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: value}}}}
	_, err := settings.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, change, options.UpdateOne().SetUpsert(true))
	if err != nil {
		return fmt.Errorf("change the setting %s: %w", id, err)
	}
	return nil
}
