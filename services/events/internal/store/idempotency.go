package store

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// idempotencyIndex is the name of the index that lets an idempotency key make one event.
const idempotencyIndex = "receipt_key"

// GetByIdempotencyKey implements event.Store. One document by an index.
func (s *Events) GetByIdempotencyKey(ctx context.Context, keyID string) (event.Event, error) {
	return s.events.First(ctx, idempotencyKeyFilter(keyID))
}

// idempotencyKeyFilter and idempotencyRecordsFilter say that the field exists so that the partial indexes can serve
// them.
func idempotencyKeyFilter(key string) bson.D {
	return bson.D{{Key: "receipts.key", Value: bson.D{{Key: "$eq", Value: key}, {Key: "$exists", Value: true}}}}
}

func idempotencyRecordsFilter(before time.Time) bson.D {
	return bson.D{{Key: "receipts.at", Value: bson.D{{Key: "$lt", Value: before}, {Key: "$exists", Value: true}}}}
}

// ForgetIdempotencyRecords implements event.Store. A change that is under way may bring some back until the next
// time. One round trip.
func (s *Events) ForgetIdempotencyRecords(ctx context.Context, before time.Time) error {
	old := bson.D{{Key: "at", Value: bson.D{{Key: "$lt", Value: before}}}}
	return s.events.Forget(
		ctx, idempotencyRecordsFilter(before), bson.D{{Key: "$pull", Value: bson.D{{Key: "receipts", Value: old}}}},
	)
}
