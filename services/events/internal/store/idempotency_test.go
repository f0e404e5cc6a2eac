package store

import (
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// repeatable is the event of that id with an idempotency record.
func repeatable(id int64, key string, at time.Time) event.Event {
	e := lesson(id)
	e.IdempotencyRecords = []event.IdempotencyRecord{{Key: key, Body: "b", At: at,
		Failures: []event.Failure{
			{Index: 0},
			{Index: 2, Status: event.Requested,
				Errors: problem.Fields{"element_id": {"has already been taken"}}},
			{Index: 3, Quantity: 1001, Allocated: 7,
				Errors: problem.Fields{"quantity": {"must be at most 1000"}}},
		}}}
	return e
}

func TestIdempotencyRecordsSurviveChangesUntilTheyAreForgotten(t *testing.T) {
	db, s := open(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	e := repeatable(1, "old", now.Add(-25*time.Hour))
	e.IdempotencyRecords = append(e.IdempotencyRecords, repeatable(1, "new", now).IdempotencyRecords...)
	insert(t, s, e, lesson(2))
	_, err := s.Change(t.Context(), 1, func(e *event.Event) error { e.Body = "Art"; return nil })
	errortest.None(t, err)
	errortest.None(t, s.ForgetIdempotencyRecords(t.Context(), now.Add(-24*time.Hour)))
	got, err := s.Get(t.Context(), 1)
	if err != nil || got.Version != 2 || got.Body != "Art" {
		t.Errorf("%+v, %v", got, err)
	}
	if !reflect.DeepEqual(got.IdempotencyRecords, e.IdempotencyRecords[1:]) {
		t.Errorf("got %+v\nwant %+v", got.IdempotencyRecords, e.IdempotencyRecords[1:])
	}
	insert(t, s, repeatable(3, "old", now))
	for name, filter := range map[string]bson.D{"an idempotency key": idempotencyKeyFilter("new"),
		"the sweep": idempotencyRecordsFilter(now)} {
		t.Run(name, func(t *testing.T) {
			storetest.NoScan(t, db, bson.D{{Key: "find", Value: "events"}, {Key: "filter", Value: filter}})
		})
	}
}
