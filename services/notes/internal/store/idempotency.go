package store

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// keyIndex is the name of the index that lets an idempotency key make one note.
const keyIndex = "ticket.key_1"

// GetByIdempotencyKey implements note.Store.
func (s *Notes) GetByIdempotencyKey(ctx context.Context, keyID string) (note.Note, error) {
	return s.notes.First(ctx, byIdempotencyKey(keyID))
}

// byIdempotencyKey and keysBefore say that the field exists so that the partial indexes can serve them.
func byIdempotencyKey(keyID string) bson.D {
	return bson.D{{Key: "ticket.key", Value: bson.D{{Key: "$eq", Value: keyID}, {Key: "$exists", Value: true}}}}
}

func keysBefore(t time.Time) bson.D {
	return bson.D{{Key: "ticket.at", Value: bson.D{{Key: "$lt", Value: t}, {Key: "$exists", Value: true}}}}
}

// ForgetIdempotencyKeys implements note.Store.
func (s *Notes) ForgetIdempotencyKeys(ctx context.Context, before time.Time) error {
	return s.notes.Forget(ctx, keysBefore(before), bson.D{{Key: "$unset", Value: bson.D{{Key: "ticket", Value: ""}}}})
}
