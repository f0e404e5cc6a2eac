package event

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
)

// CalendarEntry is an event as a calendar shows it.
type CalendarEntry struct {
	Event
	Busy bool    // its category is
	Firm []int64 // the elements whose commitments are firm, in order of commitment id
}

// firm says whether the element is sure to be at the event.
func (s Status) firm() bool { return s == Uncontrolled || s == Confirmed }

// FirmStatuses are the statuses with which the element is sure to be at the event.
func FirmStatuses() []Status { return filter(Statuses(), Status.firm) }

// Calendar returns the events that touch a day of a reach with a firm commitment to its element and are seen by who
// looks, each once, in order of start, end and id.
func (s *Service) Calendar(ctx context.Context, reaches []fact.Reach, who *fact.Sight) ([]CalendarEntry, error) {
	days := daysOf(reaches)
	found, err := s.store.FindTouching(ctx, reaches, false)
	if err != nil {
		return nil, err
	}
	if found, _, err = s.showTo(ctx, who, found); err != nil {
		return nil, err
	}
	var entries []CalendarEntry
	var ids []int64
	for _, e := range found {
		touched := e.Days(s.zone)
		reached := slices.ContainsFunc(
			e.Commitments,
			func(c Commitment) bool {
				return c.Status.firm() && slices.ContainsFunc(days[c.ElementID], touched.Overlaps)
			},
		)
		if reached {
			entries = append(entries, CalendarEntry{Event: e, Firm: e.firm()})
			ids = append(ids, e.CategoryID)
		}
	}
	busy, err := s.categories.Busy(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		entries[i].Busy = busy[entries[i].CategoryID]
	}
	slices.SortFunc(
		entries,
		func(a, b CalendarEntry) int { return cmp.Or(a.CompareSpan(&b.Event), cmp.Compare(a.ID, b.ID)) },
	)
	return entries, nil
}

// firm are the elements that are sure to be at the event, in order of commitment id.
func (e *Event) firm() []int64 {
	sure := Event{Commitments: filter(e.Commitments, func(c Commitment) bool { return c.Status.firm() })}
	return sure.Involved()
}
