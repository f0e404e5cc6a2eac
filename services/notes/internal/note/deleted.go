package note

import (
	"context"
	"time"
)

// Notes go with their event. events sends a message when an event is deleted, at least once; EventDeleted removes the notes then. A note that
// was being added at that very time may be stored just after. It is never shown, as a note without its event is missing; and so that it does not
// stay, the deletion is remembered in the store, and Sweep removes the event's notes once more when no request that was under way can still
// write. Both steps can be repeated, in any replica, and survive a restart.

// EventDeleted removes the notes of a deleted event. Two round trips.
func (s *Service) EventDeleted(ctx context.Context, eventID int64) error {
	if err := s.Store.MarkDeleted(ctx, eventID, time.Now()); err != nil {
		return err
	}
	return s.Store.DeleteOfEvents(ctx, []int64{eventID})
}

// Sweep removes what was added to events that were deleted before a time, and returns how many events it looked at. Three round trips per
// thousand events, one when there are none.
func (s *Service) Sweep(ctx context.Context, before time.Time) (int, error) {
	total := 0
	for {
		events, err := s.Store.MarkedBefore(ctx, before)
		if err != nil || len(events) == 0 {
			return total, err
		}
		if err := s.Store.DeleteOfEvents(ctx, events); err != nil {
			return total, err
		}
		if err := s.Store.Unmark(ctx, events, before); err != nil {
			return total, err
		}
		total += len(events)
	}
}
