package store

import (
	"errors"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

func reservationOf(token, starts, ends string) clash.Reservation {
	s := span("2026-09-07T"+starts+":00Z", "2026-09-07T"+ends+":00Z")
	return clash.Reservation{Token: token, EventID: 1, Starts: s.Starts, Ends: s.Ends}
}

func TestReservationsStandUnlessTheyOverlap(t *testing.T) {
	db, _ := open(t)
	reservations := NewReservations(db)
	for _, c := range []struct {
		reservation clash.Reservation
		by          string // that stands in the way
	}{
		{reservationOf("a", "09:00", "10:00"), ""},
		{reservationOf("b", "10:00", "11:00"), ""},
		{reservationOf("c", "09:59", "10:01"), "a"},
		{reservationOf("d", "08:00", "12:00"), "a"},
		{reservationOf("h", "09:30", "09:30"), "a"}, // of zero length, inside
	} {
		standing, err := reservations.Insert(t.Context(), 5, c.reservation)
		if err != nil || (standing == nil) != (c.by == "") || (standing != nil && standing.Token != c.by) {
			t.Errorf("reservation %s: %v %v, want one of %q in the way", c.reservation.Token, standing, err, c.by)
		}
	}
	for _, token := range []string{"a", "none"} {
		errortest.None(t, reservations.Delete(t.Context(), 5, token))
	}
	two := []clash.Reservation{reservationOf("f", "12:00", "13:00"), reservationOf("f", "13:00", "14:00")}
	two[1].EventID = 2
	if standing, err := reservations.Insert(t.Context(), 5, two...); err != nil || standing != nil {
		t.Errorf("two of one booking: %v %v", standing, err)
	}
	errortest.None(t, reservations.Delete(t.Context(), 5, "f", 1))
	if standing, err := reservations.Insert(t.Context(), 5, reservationOf("g", "12:00", "13:01")); err != nil ||
		standing == nil || standing.EventID != 2 {
		t.Errorf("that of another event went with it: %v %v", standing, err)
	}
	errortest.Report(t, reservations.Delete(t.Context(), 6, "a"), "of an element without any")
	if standing, err := reservations.Insert(t.Context(), 5, reservationOf("e", "09:00", "10:00")); err != nil ||
		standing != nil {
		t.Errorf("after it was dropped: %v %v", standing, err)
	}
}

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
