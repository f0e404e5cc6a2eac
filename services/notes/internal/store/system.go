package store

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// systemDocument is what makes a note one of the system's on a topic.
type systemDocument struct {
	Topic fact.Topic   `bson:"topic"`
	Day   wiretime.Day `bson:"day"` // on which the event started when the note was written
}

// onTopic says that the topic exists so that the partial indexes can serve it.
func onTopic(topic fact.Topic, more bson.E) bson.D {
	return bson.D{{Key: "system.topic", Value: bson.D{{Key: "$eq", Value: topic}, {Key: "$exists", Value: true}}}, more}
}

// OnTopic implements note.Store.
func (s *Notes) OnTopic(ctx context.Context, topic fact.Topic, eventIDs []int64) ([]note.Note, error) {
	return s.find(ctx, onTopic(topic, ofEvents(eventIDs)[0]), options.Find())
}

// Noted implements note.Store.
func (s *Notes) Noted(ctx context.Context, topic fact.Topic, days wiretime.Days) ([]int64, error) {
	documents, err := mongostore.Find[document](ctx, s.notes.Reader(), writtenFor(topic, days), options.Find().SetProjection(bson.D{{Key: "event_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	events := make([]int64, len(documents))
	for i, d := range documents {
		events[i] = d.EventID
	}
	return events, nil
}

func writtenFor(topic fact.Topic, days wiretime.Days) bson.D {
	return onTopic(topic, bson.E{Key: "system.day", Value: bson.D{{Key: "$gte", Value: days.First}, {Key: "$lte", Value: days.Last}}})
}

// RemoveOnTopic implements note.Store.
func (s *Notes) RemoveOnTopic(ctx context.Context, id int64) error {
	return s.delete(ctx, id, func(n *note.Note) error {
		if n.Topic == "" {
			return record.ErrNotFound
		}
		return nil
	})
}
