package clash

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Each implements event.Clashes.
func (s *Service) Each(ctx context.Context, several event.Several) ([][]event.Clash, error) {
	elements, err := s.candidatesOf(ctx, several)
	if err != nil {
		return nil, err
	}
	return s.each(ctx, several, elements)
}

// BookEach calls write with the clashes of each of the events. If some have none, the elements are reserved for these
// events until write has returned, as in Book; write stores no others. The reservations stay while events may still be
// stored.
func (s *Service) BookEach(
	ctx context.Context, several event.Several, write func(clashes [][]event.Clash) error,
) error {
	elements, err := s.candidatesOf(ctx, several)
	if err != nil {
		return err
	}
	clashes, err := s.each(ctx, several, elements) // so that booked elements need no reservation
	if err != nil {
		return err
	}
	free := slices.ContainsFunc(clashes, func(of []event.Clash) bool { return len(of) == 0 })
	if !free || len(elements) == 0 {
		return write(clashes)
	}
	b := s.booking(several.Events...) // all of them: one that clashes now may be free once it holds
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
func (s *Service) candidatesOf(ctx context.Context, several event.Several) ([]fact.ElementReaches, error) {
	events := several.Events
	if len(events) == 0 || len(several.Elements) == 0 {
		return nil, nil
	}
	days := events[0].Days(s.o.Zone)
	for _, e := range events {
		of := e.Days(s.o.Zone)
		days.First, days.Last = min(days.First, of.First), max(days.Last, of.Last)
	}
	taken := slices.DeleteFunc(slices.Clone(several.Elements), func(element fact.Element) bool {
		return !slices.ContainsFunc(events, func(e event.Event) bool { return takes(e, element) })
	})
	return s.reaches(ctx, taken, days, several.Reader)
}

// each is Each, given the events' candidates.
func (s *Service) each(
	ctx context.Context, several event.Several, elements []fact.ElementReaches,
) ([][]event.Clash, error) {
	clashes := make([][]event.Clash, len(several.Events))
	if len(elements) == 0 {
		return clashes, nil
	}
	found, err := s.findBooked(ctx, several, elements)
	if err != nil {
		return nil, err
	}
	earlier, err := s.earlier(ctx, several, elements)
	if err != nil {
		return nil, err
	}
	if several.Moving || several.Skips {
		leaveOut(several, found, earlier)
	}
	n := 0 // of the siblings: a long series of long events has millions of pairs
	add := func(i int, element fact.Element, other event.Event) {
		clashes[i] = append(clashes[i], event.Clash{Element: element, Event: other})
	}
	for i := range found {
		siblings := earlier[i]
		for at, element := range several.Elements {
			others := found[i][element.ID]
			if len(others) > 0 && takes(several.Events[i], element) {
				for _, other := range others {
					add(i, element, other)
				}
			}
			for ; len(siblings) > 0 && siblings[0].element == at; siblings = siblings[1:] {
				other := several.Events[siblings[0].event]
				if (n < event.MaxClashes || len(clashes[i]) == 0) &&
					!slices.ContainsFunc(others, func(e event.Event) bool { return e.ID == other.ID }) {
					add(i, element, other)
					n++
				}
			}
		}
	}
	return clashes, nil
}

// findBooked is findEach, which it asks once about what the events allocate, and once about what else they commit.
func (s *Service) findBooked(
	ctx context.Context, several event.Several, elements []fact.ElementReaches,
) ([]event.Booked, error) {
	found := sequence.Map(several.Events, func(event.Event) event.Booked { return event.Booked{} })
	for _, allocated := range []bool{false, true} {
		of := func(e event.Event, id int64) bool { return commits(e, id, allocated) }
		some := slices.DeleteFunc(slices.Clone(elements), func(r fact.ElementReaches) bool {
			return !slices.ContainsFunc(several.Events, func(e event.Event) bool { return of(e, r.ElementID) })
		})
		if len(some) == 0 {
			continue
		}
		booked, err := s.findEach(ctx, several.Events, some, several.Moving, allocated)
		if err != nil {
			return nil, err
		}
		for i, e := range several.Events {
			for id, others := range booked[i] {
				if of(e, id) {
					found[i][id] = others
				}
			}
		}
	}
	return found, nil
}

// commits says whether an event commits an element: as an allocation, or otherwise.
func commits(e event.Event, id int64, allocated bool) bool {
	return slices.ContainsFunc(e.Commitments, func(c event.Commitment) bool {
		return c.ElementID == id && ordinary(c) != allocated
	})
}

// taken says that one of several events books an element of a later one. Both are indexes.
type taken struct{ element, event int }

// earlier returns for each event which of its elements earlier ones book, in order of elements and events, as if the
// events were written one after the other.
func (s *Service) earlier(
	ctx context.Context, v event.Several, elements []fact.ElementReaches,
) ([][]taken, error) {
	busy, err := s.o.Categories.Busy(ctx, sequence.Map(v.Events, func(e event.Event) int64 { return e.CategoryID }))
	if err != nil {
		return nil, err
	}
	reaches := sequence.By(elements, func(r fact.ElementReaches) int64 { return r.ElementID })
	found := make([][]taken, len(v.Events))
	for i := range v.Events {
		e := &v.Events[i]
		others := s.beside(e, v.Events[:i], busy)
		if len(others) == 0 {
			continue
		}
		for at, element := range v.Elements {
			if !takes(*e, element) {
				continue
			}
			allocated := commits(*e, element.ID, true)
			var by []int
			for _, reach := range reaches[element.ID].Reaches {
				for _, other := range others[reach.ElementID] {
					if (allocated || !other.idle) && slices.ContainsFunc(reach.Days, other.days.Overlaps) {
						by = append(by, other.event)
					}
				}
			}
			for _, other := range sequence.Distinct(by) {
				found[i] = append(found[i], taken{at, other})
			}
		}
	}
	return found, nil
}

// meanwhile is an event, as an index, that goes on at the same time as another on those days. An idle one, of a
// category that is not busy, allocates an element: it clashes with other allocations alone.
type meanwhile struct {
	event int
	days  wiretime.Days
	idle  bool
}

// beside returns the events that overlap e, by the elements that they commit.
func (s *Service) beside(e *event.Event, events []event.Event, busy map[int64]bool) map[int64][]meanwhile {
	found := map[int64][]meanwhile{}
	for i := range events {
		days, ok := Common(s.o.Zone, e, &events[i])
		if !ok {
			continue
		}
		for _, c := range events[i].Commitments {
			if c.Status != event.Rejected {
				idle := !ordinary(c) && !busy[events[i].CategoryID]
				found[c.ElementID] = append(found[c.ElementID], meanwhile{i, days, idle})
			}
		}
	}
	return found
}

// takes says whether an event books an element: one that it allocates, or one that can clash.
func takes(e event.Event, element fact.Element) bool {
	return slices.ContainsFunc(e.Commitments, func(c event.Commitment) bool {
		return c.ElementID == element.ID && c.Status != event.Rejected && (!ordinary(c) || canClash(element))
	})
}

// leaveOut decides which events are left out, and removes clashes that then do not arise: those with events that move
// away, and with earlier ones that are left out. An event is left out if it clashes with one that is not moved, or with
// an earlier one that is written.
func leaveOut(v event.Several, found []event.Booked, earlier [][]taken) {
	index := map[int64]int{}
	for i, e := range v.Events {
		index[e.ID] = i
	}
	out := make([]bool, len(v.Events))
	stays := func(e event.Event) bool {
		i, given := index[e.ID]
		return !given || out[i]
	}
	for changed := true; changed; {
		changed = false
		for i := range v.Events {
			if !out[i] && blocked(v, i, found[i], stays) {
				out[i], changed = true, true
			}
		}
		// An earlier event counts only once what is stored leaves none out.
		for i := 0; i < len(v.Events) && !changed; i++ {
			if out[i] {
				continue
			}
			earlier[i] = slices.DeleteFunc(earlier[i], func(of taken) bool { return out[of.event] })
			if len(earlier[i]) > 0 {
				out[i], changed = true, true
			}
		}
	}
	for i := range found {
		for element, others := range found[i] {
			found[i][element] = slices.DeleteFunc(others, func(e event.Event) bool { return !stays(e) })
		}
	}
}

// blocked says whether an event that stays books an element of event i.
func blocked(v event.Several, i int, found event.Booked, stays func(event.Event) bool) bool {
	for _, element := range v.Elements {
		if takes(v.Events[i], element) && slices.ContainsFunc(found[element.ID], stays) {
			return true
		}
	}
	return false
}
