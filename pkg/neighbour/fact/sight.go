package fact

import (
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Sight is a viewer, and how much of elements and events it sees (decisions, part 9). Package element decides by it on
// elements, package event on events.
type Sight struct {
	UserID    int64 `json:"user_id"`
	ElementID int64 `json:"element_id,omitempty"` // the element that the user is; 0: none
	// StandsFor are the pupils that the user stands for: it sees what they see.
	StandsFor []int64 `json:"stands_for,omitempty"`
	Admin     bool    `json:"admin,omitempty"`
	AdminOf   []int64 `json:"admin_of,omitempty"` // the schools that it administers
	// Privileged says whether it may know and use privileged categories.
	Privileged bool            `json:"privileged,omitempty"`
	Scope      principal.Scope `json:"scope"`
	// SeesStaff says that it is shown the staff, the organiser and the owner of events that it sees, in scope own.
	SeesStaff bool `json:"sees_staff,omitempty"`
	// InSchool says that, if it belongs to a school itself, it sees persons of other schools only in lists, except
	// those that it stands for.
	InSchool bool `json:"in_school,omitempty"`
	// OfPupils says that their schools are the viewer's, too: it is a pupil, or a parent with the kind of one.
	OfPupils bool `json:"of_pupils,omitempty"`
	Surroundings
}

// Surroundings are what a user sees of the directory on a run of days, if it does not see everything.
type Surroundings struct {
	// Reaches are the persons of the user and their groups on the days on which they are in them: in scope own alone.
	Reaches []Reach `json:"reaches,omitempty"`
	Public  []int64 `json:"public,omitempty"` // the public properties
}

// SightOf returns the sight of p's effective user, without its surroundings.
func SightOf(sights principal.Sights, p principal.Principal) Sight {
	s := Sight{
		UserID: p.UserID, ElementID: p.ElementID, StandsFor: p.StandsFor, Admin: p.Permissions.Admin,
		AdminOf: p.AdminOf, Privileged: p.Permissions.Privileged, Scope: sights.Of(p.Kind, p.Permissions.Admin),
	}
	s.SeesStaff = s.Scope == principal.SeesOwn && sights.PupilsSeeStaff
	s.InSchool = s.All() && !s.Admin && sights.Staff == principal.SeesSchool
	s.OfPupils = s.InSchool && p.Kind == principal.Pupil
	return s
}

// All says whether everything is in the lists that it sees; with InSchool the persons of other schools are in nothing
// else.
func (s Sight) All() bool { return s.Scope == principal.SeesAll }

// Persons are the elements as whom the viewer sees what is theirs.
func (s Sight) Persons() []int64 { return principal.Persons(s.ElementID, s.StandsFor) }

// Schooled are the elements whose schools are the viewer's.
func (s Sight) Schooled() []int64 {
	if s.OfPupils {
		return s.Persons()
	}
	return principal.Persons(s.ElementID, nil)
}

// Is says whether the element, unless it is 0, is one of the viewer's persons.
func (s Sight) Is(elementID int64) bool {
	return elementID != 0 && (elementID == s.ElementID || slices.Contains(s.StandsFor, elementID))
}

// SurroundingsQuestion asks for the surroundings of a user who does not see everything.
type SurroundingsQuestion struct {
	ElementID int64           `json:"element_id,omitempty"`
	StandsFor []int64         `json:"stands_for,omitempty"`
	Scope     principal.Scope `json:"scope"`
	Days      wiretime.Days   `json:"days"`
}
