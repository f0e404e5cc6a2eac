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
	// Since leaves out what ended by then, or began more than a year before; the zero time leaves out nothing.
	Since time.Time
}

// PlaceOf returns the place of an event's commitment or request.
func PlaceOf(e *Event, itemID int64) Place {
	return Place{Starts: e.Span.Starts, EventID: e.ID, ItemID: itemID}
}

// after says whether p comes after q.
func (p Place) after(q Place) bool {
	return cmp.Or(p.Starts.Compare(q.Starts), cmp.Compare(p.EventID, q.EventID), cmp.Compare(p.ItemID, q.ItemID)) > 0
}

// ListDecidable returns a page of the commitments of those statuses that p may decide, those of the oldest event first,
// after a place, and the place that the next page comes after (decisions, part 5).
func (s *Service) ListDecidable(
	ctx context.Context, p principal.Principal, statuses []Status, after Place, limit int,
) ([]CommitmentView, Place, error) {
	l, ids, err := s.decidedBy(ctx, p)
	if err != nil {
		return nil, Place{}, err
	}
	events, more, err := s.store.ListDecidable(ctx, ids, statuses, after, mostEvents(limit))
	if err != nil {
		return nil, Place{}, err
	}
	found, next := pageOf(events, more, after, limit, func(e Event) []Commitment {
		return filter(e.Commitments, func(c Commitment) bool {
			_, own := slices.BinarySearch(ids, c.ElementID)
			return own && slices.Contains(statuses, c.Status) && c.Status.decidable()
		})
	}, func(c Commitment) int64 { return c.ID })
	if err := fetchOf(ctx, s, l, found, func(c Commitment) int64 { return c.ElementID }); err != nil {
		return nil, Place{}, err
	}
	var views []CommitmentView
	for _, f := range found {
		views = append(views, CommitmentView{f.Item, l.elements[f.Item.ElementID], *f.Event})
	}
	err = s.redact(ctx, p, EachOf(views, func(v *CommitmentView) *Event { return &v.Event }))
	return views, next, err
}

// fetchOf asks for the elements of a page.
func fetchOf[T any](ctx context.Context, s *Service, l *lookup, page []Placed[T], element func(T) int64) error {
	ids := sequence.Map(page, func(p Placed[T]) int64 { return element(p.Item) })
	return s.fetch(ctx, l, ids)
}

// PlacedRequest is a request with its event.
type PlacedRequest struct {
	RequestView
	Event Event
}

// ListOutstanding returns a page of the requests that have less allocated than they ask for and that p may allocate
// to, as ListDecidable does.
func (s *Service) ListOutstanding(
	ctx context.Context, p principal.Principal, after Place, limit int,
) ([]PlacedRequest, Place, error) {
	l, ids, err := s.decidedBy(ctx, p)
	if err != nil {
		return nil, Place{}, err
	}
	events, more, err := s.store.ListOutstanding(ctx, ids, after, mostEvents(limit))
	if err != nil {
		return nil, Place{}, err
	}
	found, next := pageOf(events, more, after, limit, func(e Event) []Request {
		return filter(e.Requests, func(r Request) bool {
			_, own := slices.BinarySearch(ids, r.ElementID)
			return own && e.Outstanding(r)
		})
	}, func(r Request) int64 { return r.ID })
	if err := fetchOf(ctx, s, l, found, func(r Request) int64 { return r.ElementID }); err != nil {
		return nil, Place{}, err
	}
	var views []PlacedRequest
	for _, f := range found {
		of := l.elements[f.Item.ElementID]
		views = append(views, PlacedRequest{RequestView{f.Item, f.Event.Allocated(f.Item.ID), of}, *f.Event})
	}
	err = s.redact(ctx, p, EachOf(views, func(v *PlacedRequest) *Event { return &v.Event }))
	return views, next, err
}

// decidedBy returns the ids, in order, of the elements that p decides on, current or not, and a lookup that knows those
// that p administers itself. Where there are several schools, those of p's schools that have no administrators of their
// own are among them.
func (s *Service) decidedBy(ctx context.Context, p principal.Principal) (*lookup, []int64, error) {
	l := newLookup()
	facts, err := s.elements.Administered(ctx, fact.AdministeredQuestion{UserID: p.UserID})
	if err != nil {
		return nil, nil, err
	}
	var ids []int64
	for _, f := range facts {
		l.elements[f.ID], l.asked[f.ID] = f, true
		ids = append(ids, f.ID)
	}
	if len(p.AdminOf) > 0 {
		district, err := s.elements.Facts(ctx, fact.ElementsQuestion{IDs: []int64{fact.District}})
		if err != nil {
			return nil, nil, err
		}
		if len(district) > 0 && district[0].Several {
			schools, err := s.elements.Belonging(ctx, fact.BelongingQuestion{
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

// mostEvents is how many events are read for a page: the event in which the page before ended may have nothing
// left, each of the others has one item at least, and one item more says that there is a next page.
func mostEvents(limit int) int { return limit + 2 }

// pageOf returns the first limit items after a place, of events in order of start and id, and the place of the last
// of them when there are more, of these events or besides them.
func pageOf[T any](
	events []Event, more bool, after Place, limit int, items func(Event) []T, id func(T) int64,
) (page []Placed[T], next Place) {
	var last Place
	for i := range events {
		e := &events[i]
		ordered := slices.SortedFunc(slices.Values(items(*e)), func(a, b T) int { return cmp.Compare(id(a), id(b)) })
		for _, item := range ordered {
			place := PlaceOf(e, id(item))
			switch {
			case !place.after(after):
			case len(page) == limit:
				return page, last
			default:
				page, last = append(page, Placed[T]{e, item}), place
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
