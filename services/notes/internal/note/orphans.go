package note

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
)

// Notes are deleted with their event. The events service sends a message when an event is deleted, so that the notes
// are deleted at once. But a message may be lost with Redis, and a note that was being added may be stored just after
// it. So all events with notes are checked as well. No one sees such notes meanwhile: a note without its event is
// missing. Nothing is deleted before the events service has confirmed that the event is gone.

// DeleteOfEvent deletes the notes of an event that is said to be deleted. The notes of one that exists stay.
func (s *Service) DeleteOfEvent(ctx context.Context, eventID int64) error {
	gone, err := s.gone(ctx, []int64{eventID})
	if err != nil || len(gone) == 0 {
		return err
	}
	return s.Store.DeleteOfEvents(ctx, gone)
}

// gone returns those of the events that do not exist.
func (s *Service) gone(ctx context.Context, eventIDs []int64) ([]int64, error) {
	living, err := s.Events.Living(ctx, fact.LivingQuestion{IDs: eventIDs})
	if err != nil {
		return nil, err
	}
	lives := make(map[int64]bool, len(living))
	for _, id := range living {
		lives[id] = true
	}
	return slices.DeleteFunc(slices.Clone(eventIDs), func(id int64) bool { return lives[id] }), nil
}

// Orphans finds and deletes the notes whose events are gone. It is for one process at a time, and not safe for
// concurrent use.
type Orphans struct {
	service *Service
	suspect map[int64]bool // the events that were gone in the last sweep
}

// Orphans returns a new search.
func (s *Service) Orphans() *Orphans { return &Orphans{service: s} }

// Sweep goes through all events that have notes, and deletes the notes of those that are gone now and were in the sweep
// before. One sweep is not enough: while the database elects a new primary, an answer may be older than a note. It
// returns the number of events whose notes it deleted. After an error, the next sweep starts over.
func (o *Orphans) Sweep(ctx context.Context) (int, error) {
	suspect, deleted := map[int64]bool{}, 0
	for after := int64(0); ; {
		events, err := o.service.Store.ListEvents(ctx, after)
		if err != nil {
			return deleted, err
		}
		if len(events) == 0 {
			o.suspect = suspect
			return deleted, nil
		}
		after = events[len(events)-1]
		gone, err := o.service.gone(ctx, events)
		if err != nil {
			return deleted, err
		}
		var again []int64
		for _, id := range gone {
			if o.suspect[id] {
				again = append(again, id)
			} else {
				suspect[id] = true
			}
		}
		if len(again) == 0 {
			continue
		}
		if err := o.service.Store.DeleteOfEvents(ctx, again); err != nil {
			return deleted, err
		}
		deleted += len(again)
	}
}
