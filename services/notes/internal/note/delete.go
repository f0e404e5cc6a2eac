package note

import (
	"context"
	"time"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Delete deletes a note of the viewer's own (contract 4.3, rules 3 and 4). Errors as those of Change.
func (s *Service) Delete(ctx context.Context, v fact.Viewer, id int64, match record.Match) error {
	n, err := s.getVisible(ctx, v, id)
	if err != nil {
		return err
	}
	if _, err := s.parent(ctx, n); err != nil {
		return err
	}
	if err := n.checkChangeable(v, match); err != nil {
		return err
	}
	return missing(s.store.Delete(ctx, id, DeletableBy(v, match)), id)
}

// DeletableBy checks a note right before it is deleted: record.ErrNotFound when the viewer does not own it,
// PreconditionFailed at another version.
func DeletableBy(v fact.Viewer, match record.Match) func(*Note) error {
	return func(n *Note) error {
		if !n.OwnedBy(v) {
			return record.ErrNotFound
		}
		return match.Check(n.Version)
	}
}

// Notes are deleted with their event. The events service sends a message when an event is deleted, at least once, and
// DeleteOfEvent deletes the notes then. A note that was being added at that time may be stored just after. Nobody
// sees it, as a note without its event is missing. To delete it too, DeleteOfEvent marks the event as deleted, and
// Sweep deletes the event's notes once more when no request that was under way can still write. Both can be repeated,
// in any replica.

// DeleteOfEvent deletes the notes of a deleted event.
func (s *Service) DeleteOfEvent(ctx context.Context, eventID int64) error {
	if err := s.store.MarkDeleted(ctx, eventID, time.Now()); err != nil {
		return err
	}
	return s.store.DeleteOfEvents(ctx, []int64{eventID})
}

// Sweep deletes the notes of events that were deleted before a time, and returns the number of these events.
func (s *Service) Sweep(ctx context.Context, before time.Time) (int, error) {
	total := 0
	for {
		events, err := s.store.ListMarked(ctx, before)
		if err != nil || len(events) == 0 {
			return total, err
		}
		if err := s.store.DeleteOfEvents(ctx, events); err != nil {
			return total, err
		}
		if err := s.store.Unmark(ctx, events, before); err != nil {
			return total, err
		}
		total += len(events)
	}
}
