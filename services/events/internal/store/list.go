package store

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// List implements event.Store, by the index of ids.
func (s *Events) List(ctx context.Context, after int64, limit int) (found []event.Event, more bool, err error) {
	o := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(limit)).SetProjection(unused)
	return s.events.FindUpTo(ctx, mostRead, livingAfter(after), o)
}

func livingAfter(id int64) bson.D {
	return bson.D{
		{Key: "_id", Value: bson.D{{Key: "$gt", Value: id}}},
		{Key: "deleted", Value: bson.D{{Key: "$ne", Value: true}}},
	}
}
