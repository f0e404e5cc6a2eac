package event

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Place is a place in a list of commitments or requests, in order of event start, event id and their own id. The zero
// Place is before the first and after the last.
type Place struct {
	Starts          time.Time
	EventID, ItemID int64
	// Since leaves out events that ended by then or began more than a year before; the zero time leaves out nothing.
	Since time.Time
}

// Place returns the place of a commitment or request.
func (p Placed[T]) Place() Place {
	id, _ := (*p.Item).ids()
	return Place{Starts: p.Event.Span.Starts, EventID: p.Event.ID, ItemID: id}
}

// after says whether p comes after q.
func (p Place) after(q Place) bool {
	return cmp.Or(p.Starts.Compare(q.Starts), cmp.Compare(p.EventID, q.EventID), cmp.Compare(p.ItemID, q.ItemID)) > 0
}

// Item is a part of an event that is shown by itself: a commitment or a request.
type Item interface{ ids() (id, element int64) }

func (c Commitment) ids() (id, element int64) { return c.ID, c.ElementID }

func (r Request) ids() (id, element int64) { return r.ID, r.ElementID }

// ItemView is a commitment or a request with its event and its element.
type ItemView[T Item] struct {
	Placed[T]
	Element fact.Element
}

func viewOf[T Item](e *Event, item *T, of fact.Element) ItemView[T] {
	return ItemView[T]{Placed[T]{e, item}, of}
}

// ListDecidable returns a page of the commitments of those statuses that p may decide, those of the oldest event first,
// after a place, and the place that the next page comes after (decisions, part 5).
func (s *Service) ListDecidable(
	ctx context.Context, p principal.Principal, statuses []Status, after Place, limit int,
) ([]ItemView[Commitment], Place, error) {
	list := func(elements []int64, limit int) ([]Event, bool, error) {
		return s.o.Store.ListDecidable(ctx, elements, statuses, after, limit)
	}
	return listWaiting(ctx, s, p, after, limit, list, func(e *Event) []Commitment {
		return filter(e.Commitments, func(c Commitment) bool {
			return slices.Contains(statuses, c.Status) && c.Status.decidable()
		})
	})
}

// ListOutstanding returns a page of the outstanding requests to which p may allocate, as ListDecidable does.
func (s *Service) ListOutstanding(
	ctx context.Context, p principal.Principal, after Place, limit int,
) ([]ItemView[Request], Place, error) {
	list := func(groups []int64, limit int) ([]Event, bool, error) {
		return s.o.Store.ListOutstanding(ctx, groups, after, limit)
	}
	return listWaiting(ctx, s, p, after, limit, list, func(e *Event) []Request {
		return filter(e.Requests, e.Outstanding)
	})
}

// listWaiting returns a page of the entries that await p. List lists the events with such an entry for one of the
// elements, and waits says which of an event's entries qualify.
func listWaiting[T Item](
	ctx context.Context, s *Service, p principal.Principal, after Place, limit int,
	list func(elements []int64, limit int) ([]Event, bool, error), waits func(*Event) []T,
) ([]ItemView[T], Place, error) {
	l, ids, err := s.decidedBy(ctx, p)
	if err != nil {
		return nil, Place{}, err
	}
	// The event in which the previous page ended may have nothing left, every other has at least one item, and one more
	// item shows that there is a next page.
	events, more, err := list(ids, limit+2)
	if err != nil {
		return nil, Place{}, err
	}
	found, next := pageOf(events, more, after, limit, func(e *Event) []T {
		return filter(waits(e), func(item T) bool {
			_, element := item.ids()
			_, own := slices.BinarySearch(ids, element)
			return own
		})
	})
	elementOf := func(f Placed[T]) int64 {
		_, element := (*f.Item).ids()
		return element
	}
	if err := s.fetch(ctx, l, sequence.Map(found, elementOf)); err != nil {
		return nil, Place{}, err
	}
	err = s.redact(ctx, p, EventsOf(found))
	return sequence.Map(found, func(f Placed[T]) ItemView[T] {
		of := l.elements[elementOf(f)]
		of.Control.Decides = len(of.Administrators) == 0 // p does, as an administrator of its school
		return viewOf(f.Event, f.Item, of)
	}), next, err
}

// decidedBy returns the ids, in order, of the elements that p decides on, current or not, and a lookup that knows those
// that p administers itself. Where there are several schools, those of p's schools that have no administrators of their
// own are among them.
func (s *Service) decidedBy(ctx context.Context, p principal.Principal) (*lookup, []int64, error) {
	l := newLookup()
	facts, err := s.o.Elements.Administered(ctx, fact.AdministeredQuestion{UserID: p.UserID})
	if err != nil {
		return nil, nil, err
	}
	var ids []int64
	for _, f := range facts {
		l.elements[f.ID], l.asked[f.ID] = f, true
		ids = append(ids, f.ID)
	}
	if len(p.AdminOf) > 0 {
		district, err := s.o.Elements.Facts(ctx, fact.ElementsQuestion{IDs: []int64{fact.District}})
		if err != nil {
			return nil, nil, err
		}
		if len(district) > 0 && district[0].Several {
			schools, err := s.o.Elements.Belonging(ctx, fact.BelongingQuestion{
				Schools: p.AdminOf, All: true, Unattended: true,
			})
			if err != nil {
				return nil, nil, err
			}
			ids = append(ids, schools...)
		}
	}
	slices.Sort(ids)
	return l, ids, nil
}

// pageOf returns the first limit items after a place, of events in order of start and id, and the place of the last
// of them when there are more, of these events or besides them.
func pageOf[T Item](
	events []Event, more bool, after Place, limit int, items func(*Event) []T,
) (page []Placed[T], next Place) {
	var last Place
	for i := range events {
		e := &events[i]
		ordered := slices.SortedFunc(slices.Values(items(e)), byID)
		for j := range ordered {
			placed := Placed[T]{e, &ordered[j]}
			switch {
			case !placed.Place().after(after):
			case len(page) == limit:
				return page, last
			default:
				page, last = append(page, placed), placed.Place()
			}
		}
	}
	if more {
		return page, last
	}
	return page, Place{}
}

func filter[T any](all []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !keep(one) })
}
