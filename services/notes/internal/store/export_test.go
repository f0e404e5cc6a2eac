package store

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// ReleaseWithin bounds the end of a reservation. One that a busy machine does not let end in time counts for five
// minutes, as it must, and a test that counts to the last note would miss it.
func (s *Notes) ReleaseWithin(d time.Duration) { s.releaseTime = d }

// Queries are the finds of the store, and the filters of its writes as finds, for explain.
func Queries() map[string]bson.D {
	find := func(collection string, filter bson.D, rest ...bson.E) bson.D {
		return append(bson.D{{Key: "find", Value: collection}, {Key: "filter", Value: filter}}, rest...)
	}
	return map[string]bson.D{
		"notes of an event":             find("notes", ofEvent(17), bson.E{Key: "sort", Value: asWritten}),
		"imported notes by key":         find("notes", withKeys([]string{"n4", "n8", "n12"})),
		"a note by its idempotency key": find("notes", byIdempotencyKey("t")),
		"old idempotency keys":          find("notes", keysBefore(time.Unix(5, 0))),
		"notes of deleted events":       find("notes", ofEvents([]int64{3, 5, 8})),
		"notes on a topic":              find("notes", onTopic(fact.Absences, ofEvents([]int64{3, 5, 8})[0])),
		"notes of days on topics": find("notes",
			writtenFor(fact.Absences, wiretime.Days{First: 20700, Last: 20706})),
		"events with notes": find("notes", ofEventsAbove(400), bson.E{Key: "sort", Value: byEvent},
			bson.E{Key: "limit", Value: 100}),
	}
}

// Follow returns the change that those who follow are told of.
var Follow = follow
