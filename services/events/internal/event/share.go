package event

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Own is a part of a series' event that was changed individually: the name of one of its texts, or one of those below.
type Own string

// The parts beside the texts.
const (
	OwnCategory  Own = "eventcategory_id"
	OwnOrganiser Own = "organiser_id"
	OwnTimes     Own = "times"
)

// differences are the parts in which two events differ.
func differences(a, b *Event) []Own {
	var parts []Own
	others := b.Texts.All()
	for i, t := range a.Texts.All() {
		if *t.Value != *others[i].Value {
			parts = append(parts, Own(t.Name))
		}
	}
	for part, differs := range map[Own]bool{
		OwnCategory:  a.CategoryID != b.CategoryID,
		OwnOrganiser: a.OrganiserID != b.OrganiserID,
		OwnTimes:     !a.Span.Equal(b.Span),
	} {
		if differs {
			parts = append(parts, part)
		}
	}
	return parts
}

// changedAlone says whether a change of the basic fields has changed the event, and marks the changed parts of a
// series' event as its own.
func (e *Event) changedAlone(before Event) bool {
	parts := differences(e, &before)
	if len(parts) > 0 && e.SeriesID != 0 {
		e.Own = sequence.Distinct(slices.Concat(e.Own, parts))
	}
	return len(parts) > 0
}

// Common is what a change gives several events of a series; nil, or not in Texts, is a field that stays.
type Common struct {
	Texts       []string `bson:"texts,omitempty"` // names in the API, each followed by its text
	CategoryID  *int64   `bson:"category_id,omitempty"`
	OrganiserID *int64   `bson:"organiser_id,omitempty"` // 0: none from now on
	Times       bool     `bson:"times,omitempty"`        // each gets a span of its own
}

// Common is what the fields give, when they made the event what it is.
func (f Fields) Common(after Event) Common {
	var c Common
	for _, t := range after.Texts.All() {
		if _, given := f.Texts[t.Name]; given {
			c.Texts = append(c.Texts, t.Name, *t.Value)
		}
	}
	if f.CategoryID != nil {
		c.CategoryID = &after.CategoryID
	}
	if f.OrganiserID != nil {
		c.OrganiserID = &after.OrganiserID
	}
	c.Times = f.Span != wiretime.SpanFields{Order: f.Span.Order}
	return c
}

// Take gives the event what a change has in common for its series, and that span if it includes times. If the event is
// re-timed, decided commitments return to requested, except those to elements whose decisions stay.
func (e *Event) Take(c Common, span wiretime.Span, stays func(element int64) bool) {
	given := map[Own]bool{OwnCategory: c.CategoryID != nil, OwnOrganiser: c.OrganiserID != nil, OwnTimes: c.Times}
	texts := map[string]string{}
	for named := range slices.Chunk(c.Texts, 2) {
		texts[named[0]] = named[1]
	}
	for _, t := range e.Texts.All() {
		if text, is := texts[t.Name]; is {
			given[Own(t.Name)], *t.Value = true, text
		}
	}
	e.Own = slices.DeleteFunc(slices.Clone(e.Own), func(part Own) bool { return given[part] })
	form.Set(&e.CategoryID, c.CategoryID)
	form.Set(&e.OrganiserID, c.OrganiserID)
	if c.Times && !e.Span.Equal(span) {
		e.Span = span
		e.reopen(stays)
	}
}

// Redraft returns the event as Change would make it, and what the fields give other events of its series, without
// writing. Errors are those of Change about the fields.
func (s *Service) Redraft(ctx context.Context, p principal.Principal, e Event, f Fields) (Event, Common, error) {
	l := newLookupFor(s.Reader(p))
	if err := s.resolve(ctx, p, l, f, &e, nil, nil); err != nil {
		return Event{}, Common{}, err
	}
	if faults := f.apply(&e, s.o.Zone, l, false); len(faults) > 0 {
		return Event{}, Common{}, record.Invalid(e, faults)
	}
	return e, f.Common(e), nil
}

// Draft is an event that was checked as by Create but not stored: the pattern of a series' events.
type Draft struct {
	Event    Event // without ids, those of its commitments and requests among them
	Category category.Category
	Elements map[int64]fact.Element // by id: those submitted that exist
	Failures []Failure
}

// Draft checks what Create would make; its errors are those of Create.
func (s *Service) Draft(ctx context.Context, p principal.Principal, f Fields, submission Submission) (Draft, error) {
	if !p.Permissions.CanAddEvents {
		return Draft{}, forbidden()
	}
	e, l, err := s.checkNew(ctx, p, f, submission)
	if err != nil {
		return Draft{}, err
	}
	none, err := s.newIDs(record.DryRun(ctx), l, submission, 0) // zero
	if err != nil {
		return Draft{}, err
	}
	given := l.given()
	failures := e.addElements(p, submission.Elements, given, none, nil)
	return Draft{Event: e, Category: *l.category, Elements: given, Failures: failures}, nil
}

// Facts returns the elements that the drafted event commits, as clashes need them.
func (d Draft) Facts() []fact.Element {
	return sequence.Map(d.Event.Commitments, func(c Commitment) fact.Element { return d.Elements[c.ElementID] })
}

// At is the drafted event at another time, with these ids for itself, its commitments and its requests.
func (e Event) At(id int64, span wiretime.Span, commitments, requests []int64) Event {
	e.ID, e.Span = id, span
	e.Commitments = append([]Commitment(nil), e.Commitments...)
	for i := range e.Commitments {
		e.Commitments[i].ID = commitments[i]
	}
	e.Requests = append([]Request(nil), e.Requests...)
	for i := range e.Requests {
		e.Requests[i].ID = requests[i]
	}
	return e
}

// Facts returns the existing elements, by id, as they are for p. Ids may be repeated.
func (s *Service) Facts(ctx context.Context, p principal.Principal, ids []int64) (map[int64]fact.Element, error) {
	l := newLookupBy(p)
	err := s.fetch(ctx, l, ids)
	return l.elements, err
}
