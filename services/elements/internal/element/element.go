// Package element holds the rules of elements (contract 2.1 and 4.1, decisions part 3, administration): what an element of each type is,
// how it is named and found, who belongs to which group on which day, and whose commitments count for whom. It knows neither HTTP nor
// the store.
package element

import (
	"github.com/belfry-schools/belfry/pkg/form"
)

// Element is a schedulable thing as it is kept. Of the details, only those that its type has (see Types) are ever set.
type Element struct {
	ID      int64 `bson:"-"`
	Version int64 `bson:"-"` // that it was read at; guards its replacement

	Key        string `bson:"key,omitempty"` // of the import, with the type ("Pupil:17"); empty when made by hand
	ImportHash string `bson:"import_hash,omitempty"`

	EntityType string `bson:"entity_type"`
	EntityID   int64  `bson:"entity_id"` // counts up by type
	Name       string `bson:"name"`      // derived from the details for staff and pupils
	UUID       string `bson:"uuid"`
	Current    bool   `bson:"current"`

	Details Details `bson:"details"`

	// Administrators are the users who decide on additions of the element, in order of id; with any it is controlled (decisions, part 5).
	Administrators []int64 `bson:"administrators"`
	// ImportedAdministrators are the keys of the users that an import has made administrators once: a removal by hand stays.
	ImportedAdministrators []string `bson:"imported_administrators,omitempty"`
}

// Details are the fields that depend on the type. An empty text is a field without a value.
type Details struct {
	Initials    string `bson:"initials,omitempty"`
	Title       string `bson:"title,omitempty"`
	Forename    string `bson:"forename,omitempty"`
	Surname     string `bson:"surname,omitempty"`
	KnownAs     string `bson:"known_as,omitempty"`
	YearGroup   string `bson:"year_group,omitempty"`
	HouseName   string `bson:"house_name,omitempty"`
	TutorGroup  string `bson:"tutor_group,omitempty"`
	Email       string `bson:"email,omitempty"`
	ShortName   string `bson:"short_name,omitempty"`
	Description string `bson:"description,omitempty"`
	Resource    bool   `bson:"resource,omitempty"`
	MakePublic  *bool  `bson:"make_public,omitempty"`
}

// List returns the list form.
func (e Element) List() form.Element {
	return form.Element{ID: e.ID, Name: e.Name, EntityType: e.EntityType, EntityID: e.EntityID, Valid: true}
}

// IsGroup says whether e can have members.
func (e Element) IsGroup() bool { return e.EntityType == form.Group }

// IsResourceGroup says whether e gets requests instead of commitments (contract 4.2 rule 4).
func (e Element) IsResourceGroup() bool { return e.IsGroup() && e.Details.Resource }

// ShortText is how the element shows in the staff and locations strings of a listing (contract 2.3): initials of staff, the short name of
// a location or else its name.
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

// Description of a group: its own, or else what its kind is called.
func (e Element) Description() string {
	switch {
	case e.Details.Description != "":
		return e.Details.Description
	case e.Details.Resource:
		return "Resource group"
	default:
		return "Group"
	}
}
