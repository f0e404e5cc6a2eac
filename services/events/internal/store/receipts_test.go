package store

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// signed is the event of that id with a receipt.
func signed(id int64, key string, at time.Time) event.Event {
	e := lesson(id)
	e.Receipts = []event.Receipt{{Key: idempotency.Key{ID: key, Body: "b"}, At: at, Failures: []event.Failure{
		{Index: 0},
		{Index: 2, Commitment: &event.Commitment{Status: event.Requested}, Errors: problem.Fields{"element_id": {"has already been taken"}}},
		{Index: 3, Request: &event.Request{Quantity: 1001}, Allocated: 7, Errors: problem.Fields{"quantity": {"must be at most 1000"}}},
	}}}
	return e
}

func TestDecisionsPart1_IdempotencyKey_ATicketIsOfOneEvent(t *testing.T) {
	_, s := open(t)
	at := time.Now().UTC().Truncate(time.Millisecond)
	first, second := signed(1, "x", at), signed(2, "x", at)
	insert(t, s, first, lesson(3), lesson(4)) // those without a key don't collide
	second.Key = ""
	if taken, err := s.Insert(t.Context(), []event.Event{signed(5, "y", at), second}); err != nil || !slices.Equal(taken, []int{1}) {
		t.Errorf("%v, %v", taken, err)
	}
	got, found, err := s.GetByIdempotencyKey(t.Context(), "x")
	first.Version, first.Modified = 1, got.Modified
	if !reflect.DeepEqual(got, first) || !found || err != nil {
		t.Errorf("got %+v, %v, %v\nwant %+v", got, found, err, first)
	}
	if _, found, err := s.GetByIdempotencyKey(t.Context(), "z"); found || err != nil {
		t.Error(found, err)
	}
}

func TestReceiptsSurviveChangesUntilTheyAreForgotten(t *testing.T) {
	db, s := open(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	e := signed(1, "old", now.Add(-25*time.Hour))
	e.Receipts = append(e.Receipts, signed(1, "new", now).Receipts...)
	insert(t, s, e, lesson(2))
	if _, err := s.Change(t.Context(), 1, func(e *event.Event) (bool, error) { e.Body = "Art"; return true, nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.ForgetReceipts(t.Context(), now.Add(-24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	got, err := s.Event(t.Context(), 1)
	if err != nil || got.Version != 2 || got.Body != "Art" {
		t.Errorf("%+v, %v", got, err)
	}
	if !reflect.DeepEqual(got.Receipts, e.Receipts[1:]) {
		t.Errorf("got %+v\nwant %+v", got.Receipts, e.Receipts[1:])
	}
	insert(t, s, signed(3, "old", now))
	for name, filter := range map[string]bson.D{"an idempotency key": idempotencyKeyFilter("new"), "the sweep": receiptsFilter(now)} {
		t.Run(name, func(t *testing.T) {
			storetest.NoScan(t, db, bson.D{{Key: "find", Value: "events"}, {Key: "filter", Value: filter}})
		})
	}
}
