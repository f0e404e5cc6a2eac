package event

import (
	"maps"
	"strings"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// The API's names of an event's fields, as errors name them.
const (
	fieldBody      = "body"
	fieldCategory  = "event_category_id"
	fieldOrganiser = "organiser_id"
)

// Fields are the basic fields of an event in a request (contract 4.2); nil is a field not given.
type Fields struct {
	Body        *string
	CategoryID  *int64
	OrganiserID *int64 // 0: none from now on
	Span        wiretime.SpanFields
	Faults      problem.Fields // what could not be read, by the field's name; never nil
}

// references are the records that the fields name, as their owners know them.
type references struct {
	category  *category.Category // nil: not given, or no such category
	organiser *fact.Element      // likewise
}

// apply writes the fields into e and returns all that is wrong with them; fields with a fault stay as they were, and
// e is then to be shown only. A new event needs body, category and start (rule 1); for a stored one, fields not given
// keep their values.
func (f Fields) apply(e *Event, zone wiretime.Zone, refs references, creating bool) problem.Fields {
	faults := maps.Clone(f.Faults)
	f.applyBody(e, faults, creating)
	f.applyCategory(e, faults, refs, creating)
	if f.OrganiserID != nil {
		if *f.OrganiserID != 0 && (refs.organiser == nil || refs.organiser.EntityType != form.Staff) {
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

func (f Fields) applyBody(e *Event, faults problem.Fields, creating bool) {
	if faults[fieldBody] != nil || (f.Body == nil && !creating) {
		return
	}
	body := ""
	if f.Body != nil {
		body = strings.TrimSpace(*f.Body)
	}
	problem.Text{Most: maxBody, Required: true}.Check(faults, fieldBody, body)
	if faults[fieldBody] == nil {
		e.Body = body
	}
}

func (f Fields) applyCategory(e *Event, faults problem.Fields, refs references, creating bool) {
	switch {
	case faults[fieldCategory] != nil:
	case f.CategoryID == nil:
		if creating {
			faults.Add(fieldCategory, problem.Blank)
		}
	case refs.category == nil:
		faults.Add(fieldCategory, problem.MustExist)
	default:
		e.CategoryID = *f.CategoryID
	}
}
