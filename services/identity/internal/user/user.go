// Package user has the rules and use cases of the people who use Belfry: who they are, what they may do, how they
// authenticate, and who may act as whom (contract 3.3, 4.5 and 5; decisions, parts 2 and 8; administration).
package user

import (
	"net/mail"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Limits in characters.
const (
	maxKey   = 255
	maxName  = 255
	maxEmail = 254
)

// Bounds of the schools that a user administers, and of the pupils that it stands for.
const (
	MaxSchools = 100
	MaxPupils  = 20
)

// The faults of admin_of when it names something other than a school, and of stands_for when it names something other
// than a pupil.
const (
	NotSchools = "must be schools"
	NotPupils  = "must be pupils"
)

// User is one person's account. Its uuid is known only as a hash. The tags name its fields as they are stored.
type User struct {
	ID      int64 `bson:"-"` // 0: never stored
	Version int64 `bson:"-"` // of the stored record: rises with every change
	// Key is the school's own id of the user and ImportHash that of the row last imported; both empty, and Key not
	// stored, when made by hand.
	Key        string `bson:"key,omitempty"`
	ImportHash string `bson:"import_hash,omitempty"`

	Name      string         `bson:"name"`
	Email     string         `bson:"email"` // of one active user alone in any case, but for those with DuplicateEmail
	Kind      principal.Kind `bson:"kind"`
	ElementID int64          `bson:"element_id,omitempty"` // the element that the user is; 0: none
	Active    bool           `bson:"active"`
	// Erased marks the user of an erased person; it never changes again.
	Erased bool `bson:"erased,omitempty"`
	// DuplicateEmail says that the address may be that of other active users.
	DuplicateEmail bool `bson:"duplicate_email,omitempty"`
	// Permissions are those given, without implied ones.
	Permissions principal.Permissions `bson:"permissions"`
	// AdminOf are the schools that the user administers, by their elements, in order; nil: none. The slice is never
	// changed in place.
	AdminOf []int64 `bson:"admin_of,omitempty"`
	// StandsFor are the pupils that the user stands for, such as a parent, by their elements, in order; nil: none. It
	// sees what they see. The slice is never changed in place.
	StandsFor []int64 `bson:"stands_for,omitempty"`

	UUIDHash string `bson:"uuid_hash"` // see HashUUID
	// SessionsSince is a version of the user: sessions that began at an older one have ended. 0: none was ever ended.
	SessionsSince int64 `bson:"sessions_since,omitempty"`
	// FeedsSince is a version of the user: calendar feeds that it made at an older one have ended, because it has since
	// been deactivated or given another uuid. 0: none was ever ended.
	FeedsSince int64 `bson:"feeds_since,omitempty"`
	// Tokens are those for programs, in the order in which they were made; some may have expired. They end with the
	// feeds. The slice is never changed in place.
	Tokens []Token `bson:"tokens,omitempty"`
}

// MayLogIn says whether the user may use the API by a session of its own (decisions, part 2).
func (u User) MayLogIn() bool { return u.Active && u.Permissions.Implied().CanAPI }

// ActiveAdministrator says whether the user can administer Belfry. The last one can't stop being one (administration).
func (u User) ActiveAdministrator() bool { return u.Active && u.Permissions.Admin }

// resigns says whether a change to next makes an active administrator none.
func (u User) resigns(next User) bool { return u.ActiveAdministrator() && !next.ActiveAdministrator() }

// SameInSessions says whether two states of one user make the same sessions, so that none needs a refresh.
func (u User) SameInSessions(other User) bool {
	return u.Kind == other.Kind && u.ElementID == other.ElementID && u.Active == other.Active &&
		u.Permissions == other.Permissions && u.SessionsSince == other.SessionsSince &&
		slices.Equal(u.AdminOf, other.AdminOf) && slices.Equal(u.StandsFor, other.StandsFor) &&
		slices.Equal(u.Tokens, other.Tokens)
}

// equals says whether both are the same state of a user.
func (u User) equals(other User) bool { return reflect.DeepEqual(u, other) }

// endSessions ends all sessions that began before this change.
func (u *User) endSessions() { u.SessionsSince = u.Version + 1 }

// ClaimedEmail is the address, folded, that no other user may claim while this one does; "": it claims none.
func (u User) ClaimedEmail() string {
	if !u.Active || u.DuplicateEmail {
		return ""
	}
	return FoldEmail(u.Email)
}

// check adds what is wrong with the user to faults; a field that has a fault already is not checked.
func (u *User) check(faults problem.Fields) {
	fault := func(field, message string) {
		if len(faults[field]) == 0 {
			faults.Add(field, message)
		}
	}
	problem.Text{Most: maxName, Required: true}.Check(faults, "name", u.Name)
	switch {
	case u.Email == "":
		fault("email", problem.Blank)
	case utf8.RuneCountInString(u.Email) > maxEmail:
		fault("email", problem.TooLong(maxEmail))
	case !isAddress(u.Email):
		fault("email", problem.NotAnEmail)
	}
	if !u.Kind.Known() {
		fault("kind", problem.NotIncluded)
	}
}

// isAddress says whether text is the bare address of a mailbox.
func isAddress(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text && !strings.ContainsFunc(text, unicode.IsControl)
}

// FoldEmail returns the same text for addresses that differ only in letter case, in any script.
func FoldEmail(email string) string { return cases.Fold().String(strings.TrimSpace(email)) }
