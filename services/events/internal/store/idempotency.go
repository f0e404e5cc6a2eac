package store

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// idempotencyIndex is the name of the index that lets an idempotency key make one event.
const idempotencyIndex = "receipt_key"

// GetByIdempotencyKey implements event.Store, by an index.
func (s *Events) GetByIdempotencyKey(ctx context.Context, keyID string) (event.Event, error) {
	return s.events.First(ctx, idempotencyKeyFilter(keyID))
}

func idempotencyKeyFilter(key string) bson.D {
	return mongostore.WhereExists("receipts.key", "$eq", key)
}

func idempotencyRecordsFilter(before time.Time) bson.D {
	return mongostore.WhereExists("receipts.at", "$lt", before)
}

// ForgetIdempotencyRecords removes the idempotency records of before a time from all events, whose versions stay. A
// change that is under way may bring some back until the next time.
func (s *Events) ForgetIdempotencyRecords(ctx context.Context, before time.Time) error {
	old := bson.D{{Key: "at", Value: bson.D{{Key: "$lt", Value: before}}}}
	return s.events.Forget(
		ctx, idempotencyRecordsFilter(before), bson.D{{Key: "$pull", Value: bson.D{{Key: "receipts", Value: old}}}},
	)
}
