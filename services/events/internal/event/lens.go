package event

import (
	"context"
	"iter"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// lens is a sight of certain events, with the categories of them that it depends on.
type lens struct {
	Sight
	of map[int64]category.Category
}

// lensOf returns the sight of these events. If it depends on their categories, it reads them at once.
func (s *Service) lensOf(ctx context.Context, v Sight, events iter.Seq[*Event]) (lens, error) {
	l := lens{v, nil}
	var ids []int64
	for e := range events {
		if !v.All() || !v.knows(e) {
			ids = append(ids, e.CategoryID)
		}
	}
	var err error
	l.of, err = s.categoriesByID(ctx, ids)
	return l, err
}

// categoriesByID returns those of the categories that exist. An id may be given more than once.
func (s *Service) categoriesByID(ctx context.Context, ids []int64) (map[int64]category.Category, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.o.Categories.Find(ctx, sequence.Distinct(ids), nil)
	return sequence.By(found, func(c category.Category) int64 { return c.ID }), err
}

// sees says whether an event is seen.
func (l lens) sees(e *Event) bool { return l.All() || l.Sees(e, l.of[e.CategoryID]) }

// redact removes from an event what the viewer may not know.
func (l lens) redact(e *Event) {
	if !l.tells(e) {
		e.Texts, e.Redacted = Texts{Body: RedactedBody}, true
	}
}

// tells says whether the viewer may know what an event is. A category that was not read counts as confidential.
func (l lens) tells(e *Event) bool {
	of, known := l.of[e.CategoryID]
	return l.knows(e) || known && !of.Confidential
}

// EachOf are pointers to what pick finds in each of all.
func EachOf[T any](all []T, pick func(*T) *Event) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for i := range all {
			if !yield(pick(&all[i])) {
				return
			}
		}
	}
}

// Itself is for EachOf of events.
func Itself(e *Event) *Event { return e }

// show returns those of the events that are seen, redacted where needed. It may change what it is given.
func (s *Service) show(ctx context.Context, v Sight, events []Event) ([]Event, error) {
	l, err := s.lensOf(ctx, v, EachOf(events, Itself))
	if err != nil {
		return nil, err
	}
	if !v.All() {
		events = filter(events, func(e Event) bool { return l.sees(&e) })
	}
	for i := range events {
		l.redact(&events[i])
	}
	return events, nil
}

// sightOfOther returns the sight of the viewer of another service. Nil sees everything.
func (s *Service) sightOfOther(who *fact.Sight) Sight {
	if who == nil {
		return Sight{Sight: everything}
	}
	return surrounded(s.o.Zone, *who)
}

// showTo returns those of the events that the viewer of another service sees, with its sight. Nil sees everything.
func (s *Service) showTo(ctx context.Context, who *fact.Sight, events []Event) ([]Event, Sight, error) {
	v := s.sightOfOther(who)
	seen, err := s.show(ctx, v, events)
	return seen, v, err
}

// OfSeen returns the commitments whose events the viewer of another service sees. Nil sees everything.
func (s *Service) OfSeen(
	ctx context.Context, who *fact.Sight, placed []Placed[Commitment],
) ([]Placed[Commitment], error) {
	v := s.sightOfOther(who)
	if v.All() {
		return placed, nil
	}
	l, err := s.lensOf(ctx, v, EventsOf(placed))
	if err != nil {
		return nil, err
	}
	return filter(placed, func(p Placed[Commitment]) bool { return l.sees(p.Event) }), nil
}

// redact removes from events, which p may see, what p may not know.
func (s *Service) redact(ctx context.Context, p principal.Principal, events iter.Seq[*Event]) error {
	l, err := s.lensOf(ctx, Sight{Sight: s.Reader(p)}, events)
	if err != nil {
		return err
	}
	for e := range events {
		l.redact(e)
	}
	return nil
}

// Seen returns those of the events that p sees, and whether p sees everything.
func (s *Service) Seen(ctx context.Context, p principal.Principal, events []Event) (seen []Event, all bool, err error) {
	v, err := s.SightOf(ctx, p)
	if err != nil {
		return nil, false, err
	}
	seen, err = s.show(ctx, v, events)
	return seen, v.All(), err
}
