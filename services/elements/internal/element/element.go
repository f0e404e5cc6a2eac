// Package element has the rules and use cases of elements (contract 2.1 and 4.1, decisions part 3, administration):
// what an element of each type is, how it is named and found, who belongs to which group on which day, and whose
// commitments count for whom.
package element

import (
	"iter"
	"reflect"
	"strings"

	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Element is anything that can be booked or invited. Only details that its type has are ever set (see Types). The tags
// name the fields in the store.
type Element struct {
	ID      int64 `bson:"-"`
	Version int64 `bson:"-"` // at which it was read

	// Key is that of the import, with the type ("Pupil:17"); empty when the element was made by hand.
	Key        string `bson:"key,omitempty"`
	Name       string `bson:"name"` // derived from the details for staff and pupils
	EntityType string `bson:"entity_type"`
	EntityID   int64  `bson:"entity_id"` // counts up by type
	Current    bool   `bson:"current"`
	UUID       string `bson:"uuid"`
	Details    `bson:"details"`

	// Erased marks an erased person; the element never changes again.
	Erased bool `bson:"erased,omitempty"`
	// Administrators are the users who decide on additions of the element, in order of id. With at least one, it is
	// controlled (decisions part 5).
	Administrators []int64 `bson:"administrators"`
	// ImportedAdministrators are the keys of the users whom an import made administrators. An import does so once, so
	// that a user who was removed by hand stays removed.
	ImportedAdministrators []string `bson:"imported_administrators,omitempty"`
	ImportHash             string   `bson:"import_hash,omitempty"` // of the row that was imported last
	// FirstSchool is the school that the element's creator had to make it a member of; 0: none.
	FirstSchool int64 `bson:"imported_into,omitempty"`
}

// Details are the fields that depend on the type, in the order of the API; a field without a value is an empty text.
// Each is a text, a flag, or a flag that may be absent. The tags name it in the store and where administrators see it.
type Details struct {
	Email       string `bson:"email,omitempty" json:"email,omitempty"`
	Title       string `bson:"title,omitempty" json:"title,omitempty"`
	Initials    string `bson:"initials,omitempty" json:"initials,omitempty"`
	Forename    string `bson:"forename,omitempty" json:"forename,omitempty"`
	Surname     string `bson:"surname,omitempty" json:"surname,omitempty"`
	KnownAs     string `bson:"known_as,omitempty" json:"known_as,omitempty"`
	YearGroup   string `bson:"year_group,omitempty" json:"year_group,omitempty"`
	HouseName   string `bson:"house_name,omitempty" json:"house_name,omitempty"`
	TutorGroup  string `bson:"tutor_group,omitempty" json:"tutor_group,omitempty"`
	ShortName   string `bson:"short_name,omitempty" json:"short_name,omitempty"`
	Description string `bson:"description,omitempty" json:"description,omitempty"` // may have several lines
	Resource    bool   `bson:"resource,omitempty" json:"resource,omitempty"`
	School      bool   `bson:"school,omitempty" json:"school,omitempty"`
	MakePublic  *bool  `bson:"make_public,omitempty" json:"make_public,omitempty"`
	// OpenTo is OpenToAll, or "": outsiders of its schools book it on request (decisions, part 9).
	OpenTo string `bson:"open_to,omitempty" json:"open_to,omitempty"`
}

// detailNames are the names of the details, in order.
var detailNames = func() (names []string) {
	for field := range reflect.TypeFor[Details]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// All yields the details in order: the name of each, and a pointer to it, a *string, *bool or **bool.
func (d *Details) All() iter.Seq2[string, any] {
	fields := reflect.ValueOf(d).Elem()
	return func(yield func(string, any) bool) {
		for i, name := range detailNames {
			if !yield(name, fields.Field(i).Addr().Interface()) {
				return
			}
		}
	}
}

// OpenToAll says that an element, or everything that belongs to a school, is not controlled for users of other schools.
const OpenToAll = "all"

// ListForm returns the list form (contract 2.1).
func (e Element) ListForm() form.Element {
	return form.Element{ID: e.ID, Name: e.Name, EntityType: e.EntityType, EntityID: e.EntityID, Valid: true}
}

// IsGroup says whether e can have members.
func (e Element) IsGroup() bool { return e.EntityType == form.Group }

// IsResourceGroup says whether e gets requests instead of commitments (contract 4.2 rule 4).
func (e Element) IsResourceGroup() bool { return e.IsGroup() && e.Details.Resource }

// ShortText returns the element's part of an event's staff or locations (contract 2.3): the initials of staff, the
// short name of a location or else its name.
func (e Element) ShortText() string {
	switch {
	case e.EntityType == form.Staff:
		return e.Details.Initials
	case e.Details.ShortName != "":
		return e.Details.ShortName
	default:
		return e.Name
	}
}

// resourceGroup is what clients look for in the description of a group (decisions, part 3): resource groups alone can
// have requests.
const resourceGroup = "Resource group"

// Description returns a group's own description, or else the name of its kind, with which that of a resource group
// always begins.
func (e Element) Description() string {
	own := e.Details.Description
	switch {
	case e.Details.Resource && !strings.HasPrefix(own, resourceGroup):
		return strings.TrimSuffix(resourceGroup+": "+own, ": ")
	case own != "":
		return own
	default:
		return "Group"
	}
}
