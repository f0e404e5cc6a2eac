package element

import (
	"net/mail"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// The longest texts, in characters; the bundle has the same limits.
const (
	maxText  = 255
	maxEmail = 254
	maxLong  = 4096
)

// Draft has the fields of an element that a client or an import gives; a field that is nil or absent stays as it is.
type Draft struct {
	EntityType *string
	UUID       *string
	Texts      map[string]string // by name, see Fields; an empty text empties the field
	Flags      map[string]bool
	Faults     problem.Fields // of fields that could not be read
}

// Apply sets those of the draft's fields that the element's type has, and derives its name. It returns the faults; the
// result must then not be stored. Fields of other types are ignored, like unknown fields.
func (d Draft) Apply(e *Element) problem.Fields {
	faults := d.Faults.Clone()
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
	if current, given := d.Flags["current"]; given {
		e.Current = current
	}
	d.applyDetails(e, t, faults)
	if len(faults) == 0 && t.name != nil {
		e.Name = t.name(e.Details)
	}
	return faults
}

func (d Draft) applyDetails(e *Element, t Type, faults problem.Fields) {
	if t.has("name") {
		d.applyText(t, "name", &e.Name, faults)
	}
	for name, at := range e.Details.All() {
		if !t.has(name) {
			continue
		}
		flag, given := d.Flags[name]
		switch at := at.(type) {
		case *string:
			d.applyText(t, name, at, faults)
		case *bool:
			if given {
				*at = flag
			}
		case **bool:
			if given {
				*at = &flag
			}
		}
	}
	if e.Details.School && e.Details.Resource {
		faults.Add("school", "can't be a resource group")
	}
	if e.Details.OpenTo != "" && e.Details.OpenTo != OpenToAll && len(faults["open_to"]) == 0 {
		faults.Add("open_to", problem.NotIncluded)
	}
}

// applyText sets a text, without the spaces around it.
func (d Draft) applyText(t Type, field string, at *string, faults problem.Fields) {
	if len(faults[field]) > 0 {
		return
	}
	if text, given := d.Texts[field]; given {
		*at = strings.TrimSpace(text)
	}
	rule := problem.Text{Most: maxText, Required: slices.Contains(t.required, field)}
	switch field {
	case "description":
		rule.Most, rule.Lines = maxLong, true
	case "email":
		rule.Most = maxEmail
	}
	rule.Check(faults, field, *at)
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
