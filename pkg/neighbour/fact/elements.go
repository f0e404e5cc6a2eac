package fact

import (
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// District is the id of no element. Its fact says whether there are several schools, so that this is asked along with
// elements and kept in memory like them.
const District int64 = 0

// Element is the part of an element that other services may read.
type Element struct {
	form.Element
	Key            string  `json:"key,omitempty"`   // of the import, with the type; empty when made by hand
	Short          string  `json:"short,omitempty"` // how staff and locations are named in an event
	Current        bool    `json:"current"`
	Resource       bool    `json:"resource"`         // a resource group: it gets requests, not commitments
	School         bool    `json:"school,omitempty"` // it is a school
	Administrators []int64 `json:"administrators,omitempty"`
	// Erased says that the key was that of a person who has been erased. There is nothing else then.
	Erased bool `json:"erased,omitempty"`
	// Several, which only District has, says that there are several schools.
	Several bool `json:"several,omitempty"`

	// Control is the effect of the element's schools on a user, where it was asked for; no answer of Facts has it.
	Control Control `json:"-"`
}

// Controlled says whether commitments of the element need an approval (decisions, parts 5 and 9).
func (e Element) Controlled() bool { return len(e.Administrators) > 0 || e.Control.Outside }

// DecidedBy says whether p approves: one of its administrators, or, where it has none, an administrator of its school.
func (e Element) DecidedBy(p principal.Principal) bool {
	return p.Administers(e.Administrators) || e.Control.Decides
}

// ControlQuestion asks for the effect of elements' schools on a user.
type ControlQuestion struct {
	IDs       []int64 `json:"ids"`
	ElementID int64   `json:"element_id,omitempty"` // the element that the user is; 0: none
	Admin     bool    `json:"admin,omitempty"`
	AdminOf   []int64 `json:"admin_of,omitempty"` // the schools that it administers
}

// Control is the effect of an element's schools on a user. It is zero unless there are several schools.
type Control struct {
	ElementID int64   `json:"element_id"`
	Schools   []int64 `json:"schools"` // that the element belongs to today, in order
	// Outside says that the element is controlled for the user, who belongs to none of these schools.
	Outside bool `json:"outside,omitempty"`
	// Decides says that the user administers one of the schools, and the element has no administrators of its own.
	Decides bool `json:"decides,omitempty"`
}

// ElementsQuestion asks for elements by id and by import key ("Staff:17").
type ElementsQuestion struct {
	IDs  []int64  `json:"ids,omitempty"`
	Keys []string `json:"keys,omitempty"`
	// Erased asks also for keys of erased persons.
	Erased bool `json:"erased,omitempty"`
}

// AdministeredQuestion asks for the elements that a user is an administrator of.
type AdministeredQuestion struct {
	UserID int64 `json:"user_id"`
}

// BelongingQuestion asks what belongs to one of the schools today: which of the elements, or with All everything. An id
// of no school has nothing.
type BelongingQuestion struct {
	Schools []int64 `json:"schools"`
	IDs     []int64 `json:"ids,omitempty"`
	All     bool    `json:"all,omitempty"`
	// Unattended asks only for elements without administrators of their own, and for nothing unless there are several
	// schools.
	Unattended bool `json:"unattended,omitempty"`
}

// BeyondQuestion asks which of the users administer an element that belongs to none of the schools today.
type BeyondQuestion struct {
	Schools []int64 `json:"schools"`
	Users   []int64 `json:"users"`
}

// ReachesQuestion asks whose commitments count for elements on a run of days.
type ReachesQuestion struct {
	IDs  []int64       `json:"ids"`
	Days wiretime.Days `json:"days"`
	// Onlooker is the element of the user who is shown the commitments, 0 without one: elements records the read.
	// Nil: no user is shown them.
	Onlooker *int64 `json:"onlooker,omitempty"`
	// InSchool, OfPupils, StandsFor and AdminOf are those of the onlooker's Sight.
	InSchool  bool    `json:"in_school,omitempty"`
	OfPupils  bool    `json:"of_pupils,omitempty"`
	StandsFor []int64 `json:"stands_for,omitempty"`
	AdminOf   []int64 `json:"admin_of,omitempty"`
}

// By returns the question as that of a viewer who is shown the commitments.
func (q ReachesQuestion) By(who Sight) ReachesQuestion {
	q.Onlooker, q.InSchool, q.OfPupils = &who.ElementID, who.InSchool, who.OfPupils
	q.StandsFor, q.AdminOf = who.StandsFor, who.AdminOf
	return q
}

// Viewer is the onlooker, as far as the question tells.
func (q ReachesQuestion) Viewer() Sight {
	return Sight{ElementID: *q.Onlooker, InSchool: q.InSchool, OfPupils: q.OfPupils, StandsFor: q.StandsFor,
		AdminOf: q.AdminOf}
}

// ElementReaches is an element that exists, and whose commitments count for it: first its own, then those of its
// groups. An element that is hidden from the onlooker has none.
type ElementReaches struct {
	ElementID int64   `json:"element_id"`
	Reaches   []Reach `json:"reaches"`
	Hidden    bool    `json:"hidden,omitempty"`
}

// PupilsQuestion asks which pupils elements stand for on a run of days.
type PupilsQuestion struct {
	IDs  []int64       `json:"ids"`
	Days wiretime.Days `json:"days"`
}
