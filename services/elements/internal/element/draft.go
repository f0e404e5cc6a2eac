package element

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Limits of fields in characters, those of the bundle.
const (
	maxText  = 255
	maxEmail = 254
	maxLong  = 4096
)

// Draft is what a client or an import says of an element. What it does not say is absent, and stays as it is.
type Draft struct {
	EntityType *string
	UUID       *string
	Current    *bool
	Resource   *bool
	MakePublic *bool
	Texts      map[string]string // by the names of Texts(); empty: without a value
	Faults     problem.Fields    // of fields that could not be read
}

// Apply writes the draft's fields that the element's type has into e, derives its name, and returns what is wrong with the result; then e
// must not be kept. Fields of other types are ignored, as unknown ones are.
func (d Draft) Apply(e *Element) problem.Fields {
	faults := problem.Fields{}
	for field, messages := range d.Faults {
		faults[field] = slices.Clone(messages)
	}
	t, known := TypeOf(e.EntityType)
	switch {
	case e.EntityType == "":
		faults.Add("entity_type", "can't be blank")
	case !known:
		faults.Add("entity_type", "is not an entity type")
	case d.EntityType != nil && *d.EntityType != e.EntityType:
		faults.Add("entity_type", "can't be changed")
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
}

// applyText keeps a text without the spaces around it.
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
	switch {
	case *at == "" && slices.Contains(t.required, field):
		faults.Add(field, "can't be blank")
	case utf8.RuneCountInString(*at) > limit:
		faults.Add(field, fmt.Sprintf("is too long (maximum is %d characters)", limit))
	case !long && strings.ContainsFunc(*at, unicode.IsControl), strings.ContainsRune(*at, 0):
		faults.Add(field, "has a control character")
	case field == "email" && *at != "" && !isAddress(*at):
		faults.Add(field, "is not an e-mail address")
	}
}

func isAddress(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}

// readUUID takes the usual form of 36 characters alone, and returns it in small letters.
func readUUID(text string, faults problem.Fields) string {
	parsed, err := uuid.Parse(text)
	if err != nil || len(text) != len(parsed.String()) {
		faults.Add("uuid", "is not a uuid")
		return text
	}
	return parsed.String()
}

// fresh is an element of that type before its draft is applied.
func fresh(entityType string) Element {
	return Element{EntityType: entityType, UUID: uuid.NewString(), Current: true}
}
