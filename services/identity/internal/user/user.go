// Package user is the people who use Belfry: who they are, what they may do, how they prove who they are, and who may act as whom
// (contract 3.3, 4.5 and 5; decisions, parts 2 and 8; administration).
package user

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Limits in characters.
const (
	maxName  = 255
	maxEmail = 254
)

// Messages of an invalid user.
const (
	blank     = "can't be blank"
	mustExist = "must exist"
	taken     = "has already been taken"
)

// User is one person's account. Its uuid is known only as a hash.
type User struct {
	ID      int64 // 0: never stored
	Version int64 // of the stored record: rises with every change
	// Key is the school's own id of the user and ImportHash that of the row last imported; both empty when made by hand.
	Key, ImportHash string

	Name        string
	Email       string // not unique
	Kind        principal.Kind
	ElementID   int64 // the element that the user is; 0: none
	Active      bool
	Permissions principal.Permissions // as given, without implied ones

	UUIDHash string // see HashUUID
	// SessionsSince is the version before which no session may have begun; older ones are over. 0: none was ever ended.
	SessionsSince int64
}

// ListForm is how others see the user (contract 2.6).
func (u User) ListForm() form.User {
	return form.User{ID: u.ID, Name: u.Name, Email: u.Email, Valid: true}
}

// MayLogIn says whether the user may use the API by a session of its own (decisions, part 2).
func (u User) MayLogIn() bool { return u.Active && u.Permissions.Implied().CanAPI }

// Governs says whether the user counts as one who can administer this Belfry.
func (u User) Governs() bool { return u.Active && u.Permissions.Admin }

// SameToSessions says whether sessions of u and of other, two states of one user, would be alike, so that they need not be told.
func (u User) SameToSessions(other User) bool {
	return u.Kind == other.Kind && u.ElementID == other.ElementID && u.Active == other.Active &&
		u.Permissions == other.Permissions && u.SessionsSince == other.SessionsSince
}

// endSessions makes all sessions that were begun before this change end.
func (u *User) endSessions() { u.SessionsSince = u.Version + 1 }

// check adds what is wrong with the user to faults; a field that has a fault already is not judged again.
func (u *User) check(faults problem.Fields) {
	fault := func(field, message string) {
		if len(faults[field]) == 0 {
			faults.Add(field, message)
		}
	}
	switch {
	case u.Name == "":
		fault("name", blank)
	case utf8.RuneCountInString(u.Name) > maxName:
		fault("name", "is too long (at most 255 characters)")
	case strings.ContainsFunc(u.Name, unicode.IsControl):
		fault("name", "has a control character")
	}
	switch {
	case u.Email == "":
		fault("email", blank)
	case utf8.RuneCountInString(u.Email) > maxEmail:
		fault("email", "is too long (at most 254 characters)")
	case !isAddress(u.Email):
		fault("email", "is not an e-mail address")
	}
	if !u.Kind.Known() {
		fault("kind", "must be one of staff, pupil, guest")
	}
}

// isAddress says whether text is the bare address of a mailbox.
func isAddress(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text && !strings.ContainsFunc(text, unicode.IsControl)
}

// FoldEmail makes addresses that differ only in letter case equal, in any script.
func FoldEmail(email string) string { return cases.Fold().String(strings.TrimSpace(email)) }

// PermissionNames are the permissions by their names in the API, in its order.
func PermissionNames() []string {
	return []string{"can_api", "can_su", "can_add_events", "can_add_notes", "edit_all_events", "privileged", "admin"}
}

// Grants says whether p has the permission of that name, which must be one of PermissionNames, by itself.
func Grants(p principal.Permissions, name string) bool { return *permission(&p, name) }

// permission returns the field of p with that name, which must be one of PermissionNames.
func permission(p *principal.Permissions, name string) *bool {
	switch name {
	case "can_api":
		return &p.CanAPI
	case "can_su":
		return &p.CanSU
	case "can_add_events":
		return &p.CanAddEvents
	case "can_add_notes":
		return &p.CanAddNotes
	case "edit_all_events":
		return &p.EditAllEvents
	case "privileged":
		return &p.Privileged
	default:
		return &p.Admin
	}
}
