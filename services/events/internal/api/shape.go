package api

import (
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// shape makes the contract's forms of records, with times in the configured zone.
type shape struct{ zone wiretime.Zone }

// summary is the event summary of commitment listings and of a note's parent.
func (s shape) summary(e event.Event) form.Event {
	return form.Event{
		ID: form.OrNull(e.ID), Body: e.Body, StartsAt: s.moment(e.Span.Starts), EndsAt: s.moment(e.Span.Ends),
		AllDay: e.Span.AllDay, Valid: true,
	}
}

// moment is a time in the zone; nil (null) for the zero time.
func (s shape) moment(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return new(s.zone.Format(at))
}

// event is the form of create and add answers: the summary with commitments and requests.
func (s shape) event(v event.View) form.Event {
	shown := s.summary(v.Event)
	shown.Commitments = sequence.Map(v.Commitments, func(c event.Commitment) form.Commitment {
		return commitment(c, v.Elements[c.ElementID])
	})
	shown.Requests = sequence.Map(v.Requests, func(r event.Request) form.Request {
		return request(r, v.Allocated(r.ID), v.Elements[r.ElementID])
	})
	return shown
}

// full is the form of get: owner and organiser too, where the event has them.
func (s shape) full(v event.View) form.Event {
	shown := s.people(s.event(v), v)
	shown.SeriesID, shown.SeriesPlace = v.SeriesID, v.Place
	return shown
}

// people adds an event's owner and organiser to its form.
func (s shape) people(shown form.Event, v event.View) form.Event {
	if v.Owner != nil {
		shown.Owner = &v.Owner.User
	}
	if organiser, exists := v.Elements[v.OrganiserID]; exists {
		shown.Organiser = &organiser.Element
	}
	return shown
}

func (s shape) invalid(e event.Event, faults problem.Fields) form.Event {
	shown := s.summary(e)
	shown.Valid, shown.Errors = false, faults
	return shown
}

// commitment is a commitment shown inside its event.
func commitment(c event.Commitment, element fact.Element) form.Commitment {
	return form.Commitment{ID: form.OrNull(c.ID), Status: string(c.Status), Element: &element.Element, Valid: true}
}

// include adds what the client asked for to the form of an event, its commitments and its requests.
func (s shape) include(shown form.Event, v event.View, b event.Included) form.Event {
	s.includeIn(&shown, &v.Event, b)
	for i, c := range v.Commitments {
		shown.Commitments[i].Decision = s.decision(b.Decision(&v.Event, c, v.Elements[c.ElementID]))
	}
	for i, r := range v.Requests {
		shown.Requests[i].Decision = s.decision(b.Asked(&v.Event, r, v.Elements[r.ElementID]))
	}
	return shown
}

// including is the summary of an event with what the client asked for.
func (s shape) including(e *event.Event, b event.Included) form.Event {
	shown := s.summary(*e)
	s.includeIn(&shown, e, b)
	return shown
}

// includeIn adds what the client asked for to the form or the summary of an event.
func (shape) includeIn(shown *form.Event, e *event.Event, b event.Included) {
	shown.Staff, shown.Locations, shown.Category = b.Staff(e), b.Locations(e), listed(b.Category(e))
	shown.Busy = b.Busy(e)
}

// decision is nil for nil.
func (s shape) decision(d *event.Decided) *form.Decision {
	if d == nil {
		return nil
	}
	return &form.Decision{
		AskedBy: d.AskedBy, DecidedBy: d.DecidedBy, DecidedAt: s.moment(d.At), Reason: form.OrNull(d.Reason),
		Deciders: d.Deciders,
	}
}

// listed is the list form of a category, nil for nil.
func listed(c *category.Category) *form.Category {
	if c == nil {
		return nil
	}
	return &form.Category{ID: c.ID, Name: c.Name, Valid: true}
}

// decided is a commitment shown by itself, with its faults.
func (s shape) decided(v event.ItemView[event.Commitment], faults problem.Fields) form.Commitment {
	shown := commitment(*v.Item, v.Element)
	shown.Event, shown.Valid, shown.Errors = new(s.summary(*v.Event)), faults == nil, faults
	return shown
}

func request(r event.Request, allocated int, element fact.Element) form.Request {
	return form.Request{
		ID: form.OrNull(r.ID), Quantity: r.Quantity, NumAllocated: allocated, Element: &element.Element, Valid: true,
	}
}

// shownClash is an entry of clashes: an element that was added, and another event that books it at the same time.
type shownClash struct {
	Place   int          `json:"place,omitempty"` // of the event in its series
	Element form.Element `json:"element"`
	Event   form.Event   `json:"event"`
}

// clashes are those of one event, with its place in the series that is written; 0: in none. Clashes with events that
// are not stored, which have no id, are left out.
func (s shape) clashes(place int, all []event.Clash) []shownClash {
	stored := slices.DeleteFunc(slices.Clone(all), func(c event.Clash) bool { return c.Event.ID == 0 })
	return sequence.Map(stored, func(c event.Clash) shownClash {
		return shownClash{place, c.Element.Element, s.summary(c.Event)}
	})
}

// failure is an entry of failures (contract 2.8), its keys in the order of that table.
type failure struct {
	Index     int    `json:"index"`
	ElementID string `json:"element_id"`
	ItemType  string `json:"item_type"`
	Item      any    `json:"item"`
}

// notFound is the item of a failure for want of the element.
type notFound struct {
	Status string `json:"status"`
}

func failures(all []event.Failure, elements map[int64]fact.Element) []failure {
	shown := make([]failure, len(all))
	for i, f := range all {
		element := elements[f.Submitted.ID]
		shown[i] = failure{Index: f.Index, ElementID: f.Submitted.Text}
		switch {
		case f.Status != "":
			c := commitment(event.Commitment{Status: f.Status}, element)
			c.Valid, c.Errors = false, f.Errors
			shown[i].ItemType, shown[i].Item = "Commitment", c
		case f.Quantity != 0:
			r := request(event.Request{Quantity: f.Quantity}, f.Allocated, element)
			r.Valid, r.Errors = false, f.Errors
			shown[i].ItemType, shown[i].Item = "Request", r
		default:
			shown[i].ItemType, shown[i].Item = "Hash", notFound{problem.NotFound.Status()}
		}
	}
	return shown
}

// shownAbsence is an event some of whose pupils are elsewhere.
type shownAbsence struct {
	Event     form.Event      `json:"event"` // event summary
	Pupils    int             `json:"pupils"`
	Elsewhere int             `json:"elsewhere"`
	Note      fact.NoteChange `json:"note"`
}

// detailedCategory is the detail form; valid and errors are there only when it is not valid.
type detailedCategory struct {
	ID *int64 `json:"id"` // nil (null): never stored
	category.Category

	Valid  *bool          `json:"valid,omitempty"`
	Errors problem.Fields `json:"errors,omitempty"`
}

// detail leaves out what only administrators are shown.
func detail(c category.Category) detailedCategory {
	c.Confidential, c.School, c.Key = false, 0, ""
	return administered(c)
}

// administered is the detail form with what administrators see beside it.
func administered(c category.Category) detailedCategory {
	return detailedCategory{ID: form.OrNull(c.ID), Category: c}
}
