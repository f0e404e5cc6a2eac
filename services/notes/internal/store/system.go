package store

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

func onTopic(topic fact.Topic, more bson.E) bson.D {
	return append(mongostore.WhereExists("system.topic", "$eq", topic), more)
}

// FindOnTopic implements note.Store.
func (s *Notes) FindOnTopic(ctx context.Context, topic fact.Topic, eventIDs []int64) ([]note.Note, error) {
	fields := bson.D{{Key: "event_id", Value: 1}, {Key: "contents", Value: 1}, {Key: "system", Value: 1}}
	return s.notes.Find(ctx, onTopic(topic, ofEvents(eventIDs)[0]), options.Find().SetProjection(fields))
}

// FindNoted implements note.Store.
func (s *Notes) FindNoted(ctx context.Context, topic fact.Topic, days wiretime.Days) ([]int64, error) {
	eventID := options.Find().SetProjection(bson.D{{Key: "event_id", Value: 1}})
	documents, err := mongostore.Find[document](ctx, s.notes.Reader(), writtenFor(topic, days), eventID)
	return sequence.Map(documents, func(d document) int64 { return d.Note.EventID }), err
}

func writtenFor(topic fact.Topic, days wiretime.Days) bson.D {
	within := bson.D{{Key: "$gte", Value: days.First}, {Key: "$lte", Value: days.Last}}
	return onTopic(topic, bson.E{Key: "system.day", Value: within})
}
