package store

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// markBatch bounds what ListMarked returns.
const markBatch = 1000

// mark says that an event is deleted.
type mark struct {
	EventID int64     `bson:"_id"`
	At      time.Time `bson:"at"`
}

// MarkDeleted implements note.Store.
func (s *Notes) MarkDeleted(ctx context.Context, eventID int64, at time.Time) error {
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "at", Value: at}}}}
	_, err := s.marks.UpdateOne(ctx, bson.D{{Key: "_id", Value: eventID}}, set, options.UpdateOne().SetUpsert(true))
	if err != nil {
		return fmt.Errorf("mark an event as deleted: %w", err)
	}
	return nil
}

// ListMarked implements note.Store.
func (s *Notes) ListMarked(ctx context.Context, before time.Time) ([]int64, error) {
	marks, err := mongostore.Find[mark](ctx, s.marks, markedBefore(before), options.Find().SetLimit(markBatch))
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(marks))
	for i, m := range marks {
		ids[i] = m.EventID
	}
	return ids, nil
}

func markedBefore(t time.Time) bson.D {
	return bson.D{{Key: "at", Value: bson.D{{Key: "$lt", Value: t}}}}
}

// Unmark implements note.Store.
func (s *Notes) Unmark(ctx context.Context, eventIDs []int64, before time.Time) error {
	filter := append(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: eventIDs}}}}, markedBefore(before)...)
	if _, err := s.marks.DeleteMany(ctx, filter); err != nil {
		return fmt.Errorf("forget deleted events: %w", err)
	}
	return nil
}

// deleteTries is how often DeleteOfEvents tries while others change the notes.
const deleteTries = 5

// DeleteOfEvents implements note.Store. The audit gets no entries of it: that of the deleted event stands for them.
// Entries that are pending in the notes are moved to the audit first.
func (s *Notes) DeleteOfEvents(ctx context.Context, eventIDs []int64) error {
	for range deleteTries {
		if err := s.audit.Move(ctx); err != nil {
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
