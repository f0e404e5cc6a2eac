package principal

import "fmt"

// Scope is how much a user sees of elements and events (decisions, part 9).
type Scope string

// The scopes.
const (
	SeesAll    Scope = "all"    // everything
	SeesOwn    Scope = "own"    // what is its own, and what is public
	SeesPublic Scope = "public" // what is public
	// SeesSchool is everything but the persons of other schools, who are only in lists. It is a setting for staff, not
	// a user's scope: theirs is SeesAll.
	SeesSchool Scope = "school"
)

// Sights says how much users of each kind see. Admins see everything.
type Sights struct {
	Pupils Scope `envconfig:"BELFRY_PUPILS_SEE" default:"own" desc:"what pupils see of elements and events: own (themselves, their groups, what is public), or all that staff see; the same for all services"`
	// PupilsSeeStaff says whether they see the staff, the organiser and the owner of events that they see.
	PupilsSeeStaff bool `envconfig:"BELFRY_PUPILS_SEE_STAFF" default:"true" desc:"pupils see the staff, the organiser and the owner, if that is staff, of the events that they see; the same for all services"`

	Staff  Scope `envconfig:"BELFRY_STAFF_SEE" default:"all" desc:"what staff, and others who see what they do, see of persons of other schools: all, or school (only their names); the same for all services"`
	Guests Scope `envconfig:"BELFRY_GUESTS_SEE" default:"public" desc:"what guests see of elements and events: public (public properties and school-wide events), or all that staff see; the same for all services"`
}

// Check reports scopes that the kind cannot have.
func (s Sights) Check() error {
	if s.Pupils != SeesOwn && s.Pupils != SeesAll {
		return fmt.Errorf("BELFRY_PUPILS_SEE: must be %s or %s", SeesOwn, SeesAll)
	}
	if s.Staff != SeesAll && s.Staff != SeesSchool {
		return fmt.Errorf("BELFRY_STAFF_SEE: must be %s or %s", SeesAll, SeesSchool)
	}
	if s.Guests != SeesPublic && s.Guests != SeesAll {
		return fmt.Errorf("BELFRY_GUESTS_SEE: must be %s or %s", SeesPublic, SeesAll)
	}
	return nil
}

// Of returns how much a user of that kind sees. A kind that is not known sees what guests do.
func (s Sights) Of(kind Kind, admin bool) Scope {
	switch {
	case admin || kind == Staff:
		return SeesAll
	case kind == Pupil:
		return s.Pupils
	}
	return s.Guests
}
