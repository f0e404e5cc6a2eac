package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// eventsPage is how many notes ListEvents reads.
const eventsPage = 2000

// LeadOrphans runs work while no other process does.
func LeadOrphans(ctx context.Context, db *mongo.Database, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, db.Collection("notes_leases"), "orphans", work)
}

// noteOfEvent is what ListEvents reads of a note.
type noteOfEvent struct {
	EventID int64 `bson:"event_id"`
}

func ofEventsAbove(id int64) bson.D {
	return bson.D{{Key: "event_id", Value: bson.D{{Key: "$gt", Value: id}}}}
}

// byEvent is the order of the index of an event's notes.
var byEvent = mongostore.By("event_id", "_id")

// ListEvents implements note.Store.
func (s *Notes) ListEvents(ctx context.Context, after int64) ([]int64, error) {
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "event_id", Value: 1}}
	notes, err := mongostore.Find[noteOfEvent](ctx, s.notes.Reader(), ofEventsAbove(after),
		options.Find().SetSort(byEvent).SetLimit(eventsPage).SetProjection(fields))
	return slices.Compact(sequence.Map(notes, func(n noteOfEvent) int64 { return n.EventID })), err
}

// deleteTries is how often DeleteOfEvents tries while others change the notes.
const deleteTries = 5

// DeleteOfEvents implements note.Store. The audit gets no entries: that of the deleted event stands for them, and so
// does its change in the list of changes. Items pending in the notes are moved first.
func (s *Notes) DeleteOfEvents(ctx context.Context, eventIDs []int64) error {
	for range deleteTries {
		if err := errors.Join(s.audit.Move(ctx), s.log.Flush(ctx)); err != nil {
			return err
		}
		left, err := s.notes.Purge(ctx, ofEvents(eventIDs))
		if err != nil {
			return err
		}
		if !left {
			return s.deleteTotals(ctx, eventIDs)
		}
	}
	return mongostore.ErrConflict
}

// deleteTotals deletes the totals of deleted events.
func (s *Notes) deleteTotals(ctx context.Context, eventIDs []int64) error {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: eventIDs}}}}
	if _, err := s.totals.DeleteMany(ctx, filter); err != nil {
		return fmt.Errorf("delete the totals of deleted events: %w", err)
	}
	return nil
}

func ofEvents(ids []int64) bson.D {
	return bson.D{{Key: "event_id", Value: bson.D{{Key: "$in", Value: ids}}}}
}
