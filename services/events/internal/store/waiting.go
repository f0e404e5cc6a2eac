package store

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// perState makes room for a status's number in a state, which is element·10 + number.
const perState = 10

// stateNumber is the number of a status that a decision may change. Commitments in other statuses, by far the most,
// have no state and are not in the index.
func stateNumber(s event.Status) (number int64, ok bool) {
	i := slices.Index(briefStatuses(), s)
	return int64(i), i > slices.Index(briefStatuses(), event.Uncontrolled)
}

// statesOf returns the states that an event carries, by which the administrators of its elements find it.
func statesOf(commitments []event.Commitment) []int64 {
	var states []int64
	for _, c := range commitments {
		if n, ok := stateNumber(c.Status); ok {
			states = append(states, c.ElementID*perState+n)
		}
	}
	return states
}

// ListDecidable implements event.Store. It reads as many documents as it returns, from one index; for a place with
// Since, also those of the year before.
func (s *Events) ListDecidable(
	ctx context.Context, elements []int64, statuses []event.Status, from event.Place, limit int,
) (found []event.Event, more bool, err error) {
	var states []int64
	for _, id := range elements {
		for _, status := range statuses {
			if n, ok := stateNumber(status); ok {
				states = append(states, id*perState+n)
			}
		}
	}
	return s.oldest(ctx, "commitment_states", states, from, limit)
}

// ListOutstanding implements event.Store, as ListDecidable does.
func (s *Events) ListOutstanding(
	ctx context.Context, groups []int64, from event.Place, limit int,
) (found []event.Event, more bool, err error) {
	return s.oldest(ctx, "outstanding_groups", groups, from, limit)
}

func (s *Events) oldest(
	ctx context.Context, field string, values []int64, from event.Place, limit int,
) (found []event.Event, more bool, err error) {
	if len(values) == 0 {
		return nil, false, nil
	}
	return s.events.FindUpTo(ctx, mostRead, waitingFilter(field, values, from),
		options.Find().SetProjection(unused).SetSort(oldestFirst).SetLimit(int64(limit)))
}

// oldestFirst is the order of both listings, and the rest of their indexes.
var oldestFirst = mongostore.By("starts", "_id")

func waitingIndex(field string) mongostore.Index {
	return mongostore.Index{
		Name: field, Keys: append(mongostore.By(field), oldestFirst...), Where: mongostore.Exists(field),
	}
}

func waitingFilter(field string, values []int64, from event.Place) bson.D {
	starts := func(operator string, at time.Time) bson.E {
		return bson.E{Key: "starts", Value: bson.D{{Key: operator, Value: at}}}
	}
	var all bson.A
	if !from.Starts.IsZero() {
		all = append(all, bson.D{starts("$gte", from.Starts)}, bson.D{{Key: "$or", Value: bson.A{
			bson.D{starts("$gt", from.Starts)}, bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: from.EventID}}}},
		}}})
	}
	if since := from.Since; !since.IsZero() {
		all = append(all, bson.D{starts("$gte", since.AddDate(-1, 0, 0))}, bson.D{{Key: "$or", Value: bson.A{
			bson.D{starts("$gte", since)}, bson.D{{Key: "ends", Value: bson.D{{Key: "$gt", Value: since}}}},
		}}})
	}
	filter := mongostore.WhereExists(field, "$in", values)
	if all == nil {
		return filter
	}
	return append(filter, bson.E{Key: "$and", Value: all})
}
