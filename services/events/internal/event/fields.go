package event

import (
	"maps"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// The API's names of an event's fields, as errors name them.
const (
	fieldCategory  = "event_category_id"
	fieldOrganiser = "organiser_id"
)

// Fields are the basic fields of an event in a request (contract 4.2); nil, or not in Texts, is a field not given.
type Fields struct {
	Texts       map[string]string // by their names in the API
	CategoryID  *int64
	OrganiserID *int64 // 0: none from now on
	Span        wiretime.SpanFields
	Faults      problem.Fields // what could not be read, by the field's name; never nil
}

// apply writes the fields into e and returns their faults; fields with a fault stay as they were, and e must then only
// be shown. A new event needs body, category and start (rule 1); for a stored one, fields not given keep their values.
// The lookup has been asked for what the fields name, by Service.resolve.
func (f Fields) apply(e *Event, zone wiretime.Zone, l *lookup, creating bool) problem.Fields {
	faults := maps.Clone(f.Faults)
	e.Texts.apply(f.Texts, faults, creating)
	switch {
	case faults[fieldCategory] != nil:
	case f.CategoryID == nil:
		if creating {
			faults.Add(fieldCategory, problem.Blank)
		}
	case l.category == nil:
		faults.Add(fieldCategory, problem.MustExist)
	default:
		e.CategoryID = *f.CategoryID
	}
	if f.OrganiserID != nil {
		if id := *f.OrganiserID; id != 0 && (l.hidden[id] || l.elements[id].EntityType != form.Staff) {
			faults.Add(fieldOrganiser, problem.NotStaff)
		} else {
			e.OrganiserID = *f.OrganiserID
		}
	}
	span, wrong := zone.ChangeSpan(e.Span, f.Span)
	if creating {
		span, wrong = zone.NewSpan(f.Span)
	}
	for field, messages := range wrong {
		faults[field] = append(faults[field], messages...)
	}
	e.Span = span
	return faults
}
