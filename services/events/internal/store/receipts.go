package store

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// receiptKey is the name of the index that lets an idempotency key make one event.
const receiptKey = "receipt_key"

// GetByIdempotencyKey returns the event that has a receipt for the idempotency key of that id. One document by an index.
func (s *Events) GetByIdempotencyKey(ctx context.Context, key string) (event.Event, bool, error) {
	e, err := s.events.First(ctx, idempotencyKeyFilter(key))
	if errors.Is(err, record.ErrNotFound) {
		return event.Event{}, false, nil
	}
	return e, err == nil, err
}

// idempotencyKeyFilter and receiptsFilter say that the field exists so that the partial indexes can serve them.
func idempotencyKeyFilter(key string) bson.D {
	return bson.D{{Key: "receipts.key", Value: bson.D{{Key: "$eq", Value: key}, {Key: "$exists", Value: true}}}}
}

func receiptsFilter(before time.Time) bson.D {
	return bson.D{{Key: "receipts.at", Value: bson.D{{Key: "$lt", Value: before}, {Key: "$exists", Value: true}}}}
}

// ForgetReceipts takes the receipts of before a time out of their events. The versions stay, for nothing that a client sees changes; a change
// that is under way may bring some back until the next time. One round trip.
func (s *Events) ForgetReceipts(ctx context.Context, before time.Time) error {
	old := bson.D{{Key: "at", Value: bson.D{{Key: "$lt", Value: before}}}}
	return s.events.Forget(ctx, receiptsFilter(before), bson.D{{Key: "$pull", Value: bson.D{{Key: "receipts", Value: old}}}})
}
