package store

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// The names of the indexes that keep the ids of commitments and of requests unique over all events. A server does not
// look for an id twice within one document: checkIDs does.
const (
	commitmentIndex = "unique_commitment_id"
	requestIndex    = "unique_request_id"
)

func uniqueIndexes() []mongostore.Index {
	unique := func(name, field string) mongostore.Index {
		return mongostore.Index{
			Name: name, Keys: bson.D{{Key: field, Value: 1}}, Unique: true, Where: mongostore.Exists(field),
		}
	}
	return []mongostore.Index{unique(commitmentIndex, "commitments.id"), unique(requestIndex, "requests.id")}
}

func commitmentFilter(id int64) bson.D { return mongostore.WhereExists("commitments.id", "$eq", id) }

func requestFilter(id int64) bson.D { return mongostore.WhereExists("requests.id", "$eq", id) }

// checkIDs returns an error when two commitments or two requests of an event have the same id.
func checkIDs(e *event.Event) error {
	commitments, requests := map[int64]bool{}, map[int64]bool{}
	for _, c := range e.Commitments {
		if commitments[c.ID] {
			return fmt.Errorf("event %d has commitment %d twice", e.ID, c.ID)
		}
		commitments[c.ID] = true
	}
	for _, r := range e.Requests {
		if requests[r.ID] {
			return fmt.Errorf("event %d has request %d twice", e.ID, r.ID)
		}
		requests[r.ID] = true
	}
	return nil
}
