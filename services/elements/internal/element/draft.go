package element

import (
	"net/mail"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// The longest texts, in characters; the bundle has the same limits.
const (
	maxText  = 255
	maxEmail = 254
	maxLong  = 4096
)

// Draft is what a client or an import gives of an element; a field that is nil or absent stays as it is.
type Draft struct {
	EntityType *string
	UUID       *string
	Current    *bool
	Resource   *bool
	School     *bool
	MakePublic *bool
	Texts      map[string]string // by the names of TextFields; an empty text empties the field
	Faults     problem.Fields    // of fields that could not be read
}

// Apply sets those of the draft's fields that the element's type has, and derives its name. It returns what is wrong
// with the result, which must then not be stored. Fields of other types are ignored, as unknown fields are.
func (d Draft) Apply(e *Element) problem.Fields {
	faults := copyFaults(d.Faults)
	t, exists := TypeOf(e.EntityType)
	switch {
	case e.EntityType == "":
		faults.Add("entity_type", problem.Blank)
	case !exists:
		faults.Add("entity_type", "is not an entity type")
	case d.EntityType != nil && *d.EntityType != e.EntityType:
		faults.Add("entity_type", problem.Fixed)
	}
	if d.UUID != nil {
		e.UUID = readUUID(*d.UUID, faults)
	}
	if d.Current != nil {
		e.Current = *d.Current
	}
	d.applyDetails(e, t, faults)
	if len(faults) == 0 && t.name != nil {
		e.Name = t.name(e.Details)
	}
	return faults
}

func (d Draft) applyDetails(e *Element, t Type, faults problem.Fields) {
	if d.Resource != nil && e.EntityType == form.Group {
		e.Details.Resource = *d.Resource
	}
	if d.School != nil && e.EntityType == form.Group {
		e.Details.School = *d.School
	}
	if e.Details.School && e.Details.Resource {
		faults.Add("school", "can't be a resource group")
	}
	if d.MakePublic != nil && e.EntityType == form.Property {
		public := *d.MakePublic
		e.Details.MakePublic = &public
	}
	if t.has("name") {
		d.applyText(t, "name", &e.Name, false, faults)
	}
	for _, f := range textFields {
		if t.has(f.name) {
			d.applyText(t, f.name, f.at(&e.Details), f.long, faults)
		}
	}
	if e.Details.OpenTo != "" && e.Details.OpenTo != OpenToAll && len(faults["open_to"]) == 0 {
		faults.Add("open_to", problem.NotIncluded)
	}
}

// applyText sets a text, without the spaces around it.
func (d Draft) applyText(t Type, field string, at *string, long bool, faults problem.Fields) {
	if len(faults[field]) > 0 {
		return
	}
	if text, given := d.Texts[field]; given {
		*at = strings.TrimSpace(text)
	}
	limit := maxText
	switch {
	case long:
		limit = maxLong
	case field == "email":
		limit = maxEmail
	}
	problem.Text{Most: limit, Required: slices.Contains(t.required, field), Lines: long}.Check(faults, field, *at)
	if field == "email" && *at != "" && len(faults[field]) == 0 && !isAddress(*at) {
		faults.Add(field, problem.NotAnEmail)
	}
}

func isAddress(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}

// readUUID accepts only the usual form of 36 characters, and returns it in lower case.
func readUUID(text string, faults problem.Fields) string {
	parsed, err := uuid.Parse(text)
	if err != nil || len(text) != len(parsed.String()) {
		faults.Add("uuid", problem.NotAUUID)
		return text
	}
	return parsed.String()
}

// newElement returns an element of that type, to which a draft is to be applied.
func newElement(entityType string) Element {
	return Element{EntityType: entityType, UUID: uuid.NewString(), Current: true}
}
