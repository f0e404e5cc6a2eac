package clash

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Several are events that are about to be made with the same elements: those of a series.
type Several struct {
	Events   []event.Event // in order of start; with their ids where they are to be booked
	Category category.Category
	Elements []fact.Element // each once
}

// Each returns the clashes of each of the events, maxClashes in all.
func (s *Service) Each(ctx context.Context, several Several) ([][]event.Clash, error) {
	elements, err := s.candidatesOf(ctx, several)
	if err != nil {
		return nil, err
	}
	return s.each(ctx, several, elements)
}

// BookEach calls write with the clashes of each of the events. Until it has returned, the elements are reserved for
// those events that have none, as Book reserves those of one event: write stores no others. While it is not known
// whether events may still be stored, the reservations stay.
func (s *Service) BookEach(ctx context.Context, several Several, write func(clashes [][]event.Clash) error) error {
	elements, err := s.candidatesOf(ctx, several)
	if err != nil {
		return err
	}
	clashes, err := s.each(ctx, several, elements) // so that what is long booked is not reserved
	if err != nil {
		return err
	}
	var free []event.Event
	for i, e := range several.Events {
		if len(clashes[i]) == 0 {
			free = append(free, e)
		}
	}
	if len(free) == 0 || len(elements) == 0 {
		return write(clashes)
	}
	b := s.booking(free...)
	if err := b.hold(ctx, elements, func() error {
		clashes, err = s.each(ctx, several, elements)
		return err
	}); err != nil {
		return err
	}
	err = write(clashes)
	if err == nil || refusedWrite(err) {
		b.release(ctx)
	}
	return err
}

// candidatesOf is candidates for several events.
func (s *Service) candidatesOf(ctx context.Context, several Several) ([]fact.ElementReaches, error) {
	events := several.Events
	if len(events) == 0 || !several.Category.Busy || !events[0].Lasts() {
		return nil, nil
	}
	days := events[0].Days(s.o.Zone)
	for _, e := range events {
		days.Last = max(days.Last, e.Days(s.o.Zone).Last)
	}
	return s.reaches(ctx, several.Elements, days)
}

func (s *Service) each(
	ctx context.Context, several Several, elements []fact.ElementReaches,
) ([][]event.Clash, error) {
	clashes := make([][]event.Clash, len(several.Events))
	if len(elements) == 0 {
		return clashes, nil
	}
	found, err := s.findEach(ctx, several.Events, elements)
	if err != nil {
		return nil, err
	}
	n := 0
	for i := range found {
		for _, element := range several.Elements {
			for _, other := range found[i][element.ID] {
				if n < maxClashes || len(clashes[i]) == 0 {
					clashes[i] = append(clashes[i], event.Clash{Element: element, Event: other})
					n++
				}
			}
		}
	}
	return clashes, nil
}
