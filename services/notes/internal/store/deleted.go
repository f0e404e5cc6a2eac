package store

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// markBatch bounds what a sweep reads at once.
const markBatch = 1000

// mark remembers that an event is deleted; _id is the event's.
type mark struct {
	EventID int64     `bson:"_id"`
	At      time.Time `bson:"at"`
}

// MarkDeleted implements note.Store.
func (s *Notes) MarkDeleted(ctx context.Context, eventID int64, at time.Time) error {
	_, err := s.marks.UpdateOne(ctx, bson.D{{Key: "_id", Value: eventID}}, bson.D{{Key: "$set", Value: bson.D{{Key: "at", Value: at}}}},
		options.UpdateOne().SetUpsert(true))
	if err != nil {
		return fmt.Errorf("mark an event as deleted: %w", err)
	}
	return nil
}

// MarkedBefore implements note.Store.
func (s *Notes) MarkedBefore(ctx context.Context, before time.Time) ([]int64, error) {
	cursor, err := s.marks.Find(ctx, markedBefore(before), options.Find().SetLimit(markBatch))
	if err != nil {
		return nil, fmt.Errorf("find deleted events: %w", err)
	}
	var marks []mark
	if err := cursor.All(ctx, &marks); err != nil {
		return nil, fmt.Errorf("read deleted events: %w", err)
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

// DeleteOfEvents implements note.Store.
func (s *Notes) DeleteOfEvents(ctx context.Context, eventIDs []int64) error {
	if _, err := s.notes.DeleteMany(ctx, ofEvents(eventIDs)); err != nil {
		return fmt.Errorf("delete the notes of events: %w", err)
	}
	return nil
}

func ofEvents(ids []int64) bson.D {
	return bson.D{{Key: "event_id", Value: bson.D{{Key: "$in", Value: ids}}}}
}
