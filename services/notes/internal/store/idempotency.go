package store

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// keyIndex is the name of the index that lets an idempotency key make one note.
const keyIndex = "ticket.key_1"

// GetByIdempotencyKey implements note.Store.
func (s *Notes) GetByIdempotencyKey(ctx context.Context, keyID string) (note.Note, error) {
	return s.notes.First(ctx, byIdempotencyKey(keyID))
}

func byIdempotencyKey(keyID string) bson.D { return mongostore.WhereExists("ticket.key", "$eq", keyID) }

func keysBefore(t time.Time) bson.D { return mongostore.WhereExists("ticket.at", "$lt", t) }

// ForgetIdempotencyKeys removes the keys of the notes that were made before a time. The notes keep their versions.
func (s *Notes) ForgetIdempotencyKeys(ctx context.Context, before time.Time) error {
	return s.notes.Forget(ctx, keysBefore(before), bson.D{{Key: "$unset", Value: bson.D{{Key: "ticket", Value: ""}}}})
}
