// Package principal describes the user who acts: the effective user of a session, the original one while switched, and
// their permissions (contract part 5, decisions part 8). It is plain data, so that domain packages need not import
// sessions.
package principal

import "slices"

// Kind is the sort of person that a user is; it decides which notes they see (decisions, part 6).
type Kind string

// The kinds of user.
const (
	Staff Kind = "staff"
	Pupil Kind = "pupil"
	Guest Kind = "guest"
)

// Kinds lists every kind of user.
func Kinds() []Kind { return []Kind{Staff, Pupil, Guest} }

// Known says whether k is a kind of user.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Principal is the user who acts in a request.
type Principal struct {
	UserID      int64       // the effective user
	Version     int64       // of the effective user's record, as the session knows it
	OriginalID  int64       // the user who switched; 0 when not switched
	Kind        Kind        // of the effective user
	ElementID   int64       // the element that the effective user is; 0 when none
	StandsFor   []int64     // the pupils that the effective user stands for, such as a parent
	Permissions Permissions // of the effective user, implied ones included
	MayUseAPI   bool        // the original user's can_api while switched, else the effective user's (contract 5.8)
	AdminOf     []int64     // schools that the effective user is an administrator of, by their elements
	Token       Token       // by which the user is known; zero: by a session
}

// Covers says whether the effective user, who is the same one, has every right now that it had then, and sees at least
// as much by itself.
func (p Principal) Covers(then Principal) bool {
	return p.Kind == then.Kind && p.ElementID == then.ElementID && len(p.Permissions.Lacking(then.Permissions)) == 0 &&
		hasAll(p.AdminOf, then.AdminOf) && hasAll(p.StandsFor, then.StandsFor)
}

func hasAll(ids, of []int64) bool {
	return !slices.ContainsFunc(of, func(id int64) bool { return !slices.Contains(ids, id) })
}

// Persons are the elements whose data a user sees as its own: its element, unless that is 0, and the pupils that it
// stands for.
func Persons(elementID int64, standsFor []int64) []int64 {
	if elementID == 0 {
		return standsFor
	}
	return append([]int64{elementID}, standsFor...)
}

// Persons are those of the effective user.
func (p Principal) Persons() []int64 { return Persons(p.ElementID, p.StandsFor) }

// Switched says whether the effective user is not the one who logged in.
func (p Principal) Switched() bool { return p.OriginalID != 0 }

// AdministersSchools says whether the effective user is an administrator of everything, or of a school. Package element
// decides what belongs to a school.
func (p Principal) AdministersSchools() bool { return p.Permissions.Admin || len(p.AdminOf) > 0 }

// Administers says whether the effective user is one of an element's administrators. The admin permission does not
// make anyone an administrator of an element (decisions, part 8).
func (p Principal) Administers(administrators []int64) bool {
	return slices.Contains(administrators, p.UserID)
}
