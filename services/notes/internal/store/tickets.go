package store

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// ticketKey is the name of the index that lets a ticket make one note.
const ticketKey = "ticket.key_1"

// ticketDocument is the ticket of the request that made a note, and when.
type ticketDocument struct {
	idempotency.Ticket `bson:",inline"`
	At                 time.Time `bson:"at"`
}

// OfTicket implements note.Store.
func (s *Notes) OfTicket(ctx context.Context, key string) (note.Note, bool, error) {
	found, err := s.find(ctx, ofTicket(key), options.Find())
	if err != nil || len(found) == 0 {
		return note.Note{}, false, err
	}
	return found[0], true, nil
}

// ofTicket and ticketsBefore say that the field exists so that the partial indexes can serve them.
func ofTicket(key string) bson.D {
	return bson.D{{Key: "ticket.key", Value: bson.D{{Key: "$eq", Value: key}, {Key: "$exists", Value: true}}}}
}

func ticketsBefore(t time.Time) bson.D {
	return bson.D{{Key: "ticket.at", Value: bson.D{{Key: "$lt", Value: t}, {Key: "$exists", Value: true}}}}
}

// ForgetTickets implements note.Store.
func (s *Notes) ForgetTickets(ctx context.Context, before time.Time) error {
	return s.notes.Forget(ctx, ticketsBefore(before), bson.D{{Key: "$unset", Value: bson.D{{Key: "ticket", Value: ""}}}})
}
