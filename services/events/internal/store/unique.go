package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// The names of the indexes that keep the ids of commitments and of requests unique over all events. A server does not
// look for an id twice within one document: checkIDs does.
const (
	commitmentIndex = "unique_commitment_id"
	requestIndex    = "unique_request_id"
)

// uniqueTries bounds how often the unique indexes are built again after duplicates were renumbered.
const uniqueTries = 5

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

// makeUnique builds the unique indexes. Where ids are there twice, which can only be after the counters were set back,
// it says so in the log, gives the later events new ones, and goes on. Not every server says that duplicates are why
// an index can't be built, so they are looked for after any error.
func (s *Events) makeUnique(ctx context.Context, events *mongo.Collection) (err error) {
	for range uniqueTries {
		if err = mongostore.EnsureIndexes(ctx, events, uniqueIndexes()); err == nil {
			return nil
		}
		found := false
		for field, counter := range map[string]string{"commitments": commitmentIDs, "requests": requestIDs} {
			duplicates, err := findDuplicates(ctx, events, field)
			if err != nil {
				return err
			}
			if err := s.renumberAll(ctx, events, field, counter, duplicates); err != nil {
				return err
			}
			found = found || len(duplicates) > 0
		}
		if !found {
			return err
		}
	}
	return err
}

// renumberAll gives new ids to the items of an array of the events that have the duplicates, but for the first ones.
func (s *Events) renumberAll(ctx context.Context, events *mongo.Collection, field, counter string,
	duplicates []int64) error {
	if len(duplicates) == 0 {
		return nil
	}
	if err := s.raise(ctx, events, field, counter); err != nil {
		return err
	}
	for _, id := range duplicates {
		found, err := mongostore.Find[eventDocument](ctx, events, bson.D{{Key: field + ".id", Value: id}},
			options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetProjection(bson.D{{Key: "_id", Value: 1}}))
		if err != nil {
			return err
		}
		for i, d := range found {
			if err := s.renumber(ctx, d.ID, field, counter, id, i == 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// findDuplicates returns the ids that several items of the events have in an array. It reads all events.
func findDuplicates(ctx context.Context, events *mongo.Collection, field string) ([]int64, error) {
	id := field + ".id"
	cursor, err := events.Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: mongostore.Exists(id)}},
		bson.D{{Key: "$project", Value: bson.D{{Key: id, Value: 1}}}},
		bson.D{{Key: "$unwind", Value: "$" + field}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + id},
			{Key: "items", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "items", Value: bson.D{{Key: "$gt", Value: 1}}}}}},
	}, options.Aggregate().SetAllowDiskUse(true))
	if err != nil {
		return nil, fmt.Errorf("look for duplicate ids: %w", err)
	}
	var found []struct {
		ID int64 `bson:"_id"`
	}
	if err := cursor.All(ctx, &found); err != nil {
		return nil, fmt.Errorf("look for duplicate ids: %w", err)
	}
	ids := make([]int64, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	return ids, nil
}

// raise brings the counter above all ids that the items of an array have.
func (s *Events) raise(ctx context.Context, events *mongo.Collection, field, counter string) error {
	var largest struct {
		ID int64 `bson:"id"`
	}
	cursor, err := events.Aggregate(ctx, bson.A{
		bson.D{{Key: "$unwind", Value: "$" + field}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil},
			{Key: "id", Value: bson.D{{Key: "$max", Value: "$" + field + ".id"}}}}}},
	})
	if err != nil {
		return fmt.Errorf("look for the largest id: %w", err)
	}
	defer func() { _ = cursor.Close(ctx) }()
	if cursor.Next(ctx) {
		if err := cursor.Decode(&largest); err != nil {
			return fmt.Errorf("look for the largest id: %w", err)
		}
	}
	return s.ids.Raise(ctx, counter, largest.ID)
}

// renumber gives new ids to those items of an event's array that have the id, but for the first one if keep is set.
func (s *Events) renumber(ctx context.Context, eventID int64, field, counter string, id int64, keep bool) error {
	for {
		fresh, err := s.ids.Next(ctx, counter)
		if err != nil {
			return err
		}
		renumbered := false
		err = s.events.Rewrite(ctx, eventID, func(d *eventDocument) error {
			if renumbered = d.renumber(field, id, fresh, keep); !renumbered {
				return record.ErrUnchanged
			}
			return nil
		})
		if errors.Is(err, record.ErrNotFound) { // deleted meanwhile
			return nil
		}
		if err != nil || !renumbered {
			return err
		}
		slog.WarnContext(ctx, "an id that another had as well is another now", "event", eventID, "of", field,
			"was", id, "is", fresh)
	}
}

// renumber gives the first item with the id a new one, the second if keep is set, and says whether there is such an
// item. What was allocated to a request goes with it.
func (d *eventDocument) renumber(field string, id, fresh int64, keep bool) bool {
	if field == "commitments" {
		return renumber(d.Commitments, func(c *commitmentDocument) *int64 { return &c.ID }, id, fresh, keep)
	}
	found := renumber(d.Requests, func(r *requestDocument) *int64 { return &r.ID }, id, fresh, keep)
	for i := range d.Commitments {
		if c := &d.Commitments[i]; found && !keep && c.RequestID == id {
			c.RequestID = fresh
		}
	}
	return found
}

func renumber[D any](items []D, idOf func(*D) *int64, id, fresh int64, keep bool) bool {
	for i := range items {
		switch of := idOf(&items[i]); {
		case *of != id:
		case keep:
			keep = false
		default:
			*of = fresh
			return true
		}
	}
	return false
}
