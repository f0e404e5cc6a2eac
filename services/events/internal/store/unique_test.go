package store

import (
	"errors"
	"testing"

	"github.com/belfry-schools/belfry/services/events/internal/event"
)

func TestHardToBreak_Row20_NoTwoCommitmentsOrRequestsGetOneID(t *testing.T) {
	_, s := open(t)
	insert(t, s, lesson(1), lesson(2))
	const ofOther, ofOtherRequest = 20, 2 // of the second event
	for name, take := range map[string]func(*event.Event){
		"another event's commitment": func(e *event.Event) { e.Commitments[0].ID = ofOther },
		"another event's request":    func(e *event.Event) { e.Requests[0].ID = ofOtherRequest },
		"its own commitment":         func(e *event.Event) { e.Commitments[0].ID = e.Commitments[1].ID },
		"its own request": func(e *event.Event) {
			e.Requests = append(e.Requests, event.Request{ID: e.Requests[0].ID, ElementID: 700, Quantity: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.Change(t.Context(), 1, func(e *event.Event) error { take(e); return nil }); err == nil {
				t.Error("an event was changed to have it")
			}
			fresh := lesson(3)
			take(&fresh)
			taken, err := s.Insert(t.Context(), []event.Event{fresh})
			if err == nil || errors.Is(err, event.ErrFenced) {
				t.Errorf("an event was stored with it: %v, %v", taken, err)
			}
		})
	}
	if found, err := s.Find(t.Context(), []int64{1, 2, 3}, nil); err != nil || len(found) != 2 {
		t.Errorf("%+v, %v", found, err)
	}
}
