// Package element has the rules and use cases of elements (contract 2.1 and 4.1, decisions part 3, administration):
// what an element of each type is, how it is named and found, who belongs to which group on which day, and whose
// commitments count for whom.
package element

import (
	"strings"

	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Element is a schedulable thing. Only those details are ever set that its type has (see Types).
type Element struct {
	ID      int64
	Version int64 // at which it was read

	Key        string // of the import, with the type ("Pupil:17"); empty when the element was made by hand
	ImportHash string // of the row that was imported last
	// FirstSchool is the school that the element's creator had to make it a member of; 0: none.
	FirstSchool int64

	EntityType string
	EntityID   int64  // counts up by type
	Name       string // derived from the details for staff and pupils
	UUID       string
	Current    bool
	Erased     bool // a person of whom nothing is left that says who it was; it never changes again

	Details Details

	// Administrators are the users who decide on additions of the element, in order of id. With at least one, it is
	// controlled (decisions part 5).
	Administrators []int64
	// ImportedAdministrators are the keys of the users whom an import made administrators. It does so once, so that one
	// who was removed by hand stays removed.
	ImportedAdministrators []string
}

// Details are the fields that depend on the type; a field without a value is an empty text.
type Details struct {
	Initials    string
	Title       string
	Forename    string
	Surname     string
	KnownAs     string
	YearGroup   string
	HouseName   string
	TutorGroup  string
	Email       string
	ShortName   string
	Description string
	OpenTo      string // OpenToAll, or "": outsiders of its schools book it on request (decisions, part 9)
	Resource    bool
	School      bool
	MakePublic  *bool
}

// OpenToAll says that an element, or all that belongs to a school, is not controlled for users of other schools.
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

// Description returns a group's own description, or else what its kind is called. That of a resource group begins with
// what it is, whatever its own is.
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
