package user

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// TypeName names users in answers and in the audit.
const TypeName = "User"

// Refusals by a unique index: another user has the uuid or the import key, or claims the address.
var (
	ErrUUIDTaken  = errors.New("another user has the uuid")
	ErrKeyTaken   = errors.New("another user has the import key")
	ErrEmailTaken = errors.New("another user claims the e-mail address")
)

// Store keeps the users, and which sessions were ended. A write that sessions have to follow stores its time in the
// same atomic step.
type Store interface {
	// Get returns a user; record.ErrNotFound when there is none.
	Get(ctx context.Context, id int64) (User, error)
	// Find, FindByKeys, FindByUUIDHashes and FindByEmails, by folded addresses, return the users that exist, in no
	// order.
	Find(ctx context.Context, ids []int64) ([]User, error)
	FindByKeys(ctx context.Context, keys []string) ([]User, error)
	FindByUUIDHashes(ctx context.Context, hashes []string) ([]User, error)
	FindByEmails(ctx context.Context, folded []string) ([]User, error)
	// FindAdministrators returns the ids of active administrators, up to a number, in no order.
	FindAdministrators(ctx context.Context, most int) ([]int64, error)
	// List returns the users that the filter chooses, by id.
	List(ctx context.Context, f Filter) ([]User, error)
	// ListByEmail returns the users with an address that folds to that, by id.
	ListByEmail(ctx context.Context, folded string) ([]User, error)
	// Insert stores new users and sets their ids and versions. It returns an error for each: nil, ErrUUIDTaken,
	// ErrKeyTaken or ErrEmailTaken.
	Insert(ctx context.Context, users []*User) ([]error, error)
	// Change loads a user, lets decide change it, and stores it; when another writer was first, decide runs again,
	// on the user as it is then. record.ErrNotFound, ErrUUIDTaken, ErrEmailTaken; an error of decide is returned as it
	// is. After record.ErrUnchanged from decide nothing is written and the user is returned.
	Change(ctx context.Context, id int64, decide func(*User) error) (User, error)
	// MarkEnded stores that a session of a user was ended, by the hash of its id. Of each user the last hundred are
	// kept.
	MarkEnded(ctx context.Context, userID int64, hash string) error
	// ForgetEnded deletes the ended sessions of users whose last one ended before a time.
	ForgetEnded(ctx context.Context, before time.Time) error
	// ListRevoked returns the users whose sessions had to follow a write since a time, and the hashes of the sessions
	// that were ended since, both in no order.
	ListRevoked(ctx context.Context, since time.Time) (users []User, ended []string, err error)
	// FindByTokenHashes returns the users with tokens of these hashes, in no order.
	FindByTokenHashes(ctx context.Context, hashes []string) ([]User, error)
	// NewTokenID returns an id that no token has or had.
	NewTokenID(ctx context.Context) (int64, error)
	// MarkUsed stores that a token of a user was used now.
	MarkUsed(ctx context.Context, userID, tokenID int64) error
	// LastUses returns when tokens were used last, without those that never were.
	LastUses(ctx context.Context, tokenIDs []int64) (map[int64]time.Time, error)
	// ForgetUses deletes the uses of a user's tokens but those.
	ForgetUses(ctx context.Context, userID int64, tokenIDs []int64) error
	// ErasureSalt returns the random text, which never changes, that hides the keys of erased users.
	ErasureSalt(ctx context.Context) (string, error)
	// WithLease runs work while no other process or request holds the lease. The context of work ends when the lease
	// is lost.
	WithLease(ctx context.Context, work func(context.Context) error) error
}

// Filter chooses users for a list.
type Filter struct {
	Elements []int64 // only users who are one of these; nil: all
	AdminOf  []int64 // only administrators of one of these schools; nil: all
	After    int64   // only users with a greater id
	Limit    int
}

// Sessions keeps the sessions of users.
type Sessions interface {
	// Refresh gives all sessions of a user its present permissions, or ends them (decisions, part 2).
	Refresh(ctx context.Context, u User) error
	// Confirmed returns the time up to which all revocations are in the sessions; the zero time when that is unknown.
	Confirmed(ctx context.Context) (time.Time, error)
	// Confirm ends the existing sessions with these hashes, and returns the users whose sessions must be refreshed
	// again. If there are none, and Confirmed has not changed, Confirmed returns upTo from now on.
	Confirm(ctx context.Context, confirmed, upTo time.Time, users []User, ended []string) (missing []int64, err error)
}

// Elements asks the elements service.
type Elements interface {
	Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error)
	Belonging(ctx context.Context, q fact.BelongingQuestion) ([]int64, error)
	Beyond(ctx context.Context, q fact.BeyondQuestion) ([]int64, error)
	Control(ctx context.Context, q fact.ControlQuestion) ([]fact.Control, error)
	Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error)
}

// Attempts counts failed logins over all replicas (decisions, part 2).
type Attempts interface {
	// Fail counts a failed login from that address and returns 0. Where the address or its network has reached its
	// limit it counts nothing and returns how long to wait.
	Fail(ctx context.Context, address string) (time.Duration, error)
}

// Options of New. All are needed but Elsewhere.
type Options struct {
	Store    Store
	Sessions Sessions
	Elements Elements
	Attempts Attempts
	Zone     wiretime.Zone
	// SessionLife is how long any session lives. WriteTime is longer than a write takes to be stored, and than the
	// clocks of the replicas differ.
	SessionLife, WriteTime time.Duration
	// Elsewhere says whether the user of an e-mail address must log in at a provider instead of by uuid. Nil: none
	// must.
	Elsewhere func(email string) bool
}

// Service has the use cases. Those of administration (Get to EndSessions) check what is the caller's; Import is for
// callers with the admin permission, which the route checks. It is safe for concurrent use.
type Service struct {
	Options
	byUUID, byToken owners
}

// New returns the use cases on a store and the other services.
func New(o Options) *Service {
	return &Service{
		Options: o,
		byUUID: owners{
			search: o.Store.FindByUUIDHashes, hashes: func(u User) []string { return []string{u.UUIDHash} },
		},
		byToken: owners{search: o.Store.FindByTokenHashes, hashes: User.tokenHashes},
	}
}

// missing turns a store's record.ErrNotFound into the problem that clients see.
func missing(err error, id int64) error { return record.Missing(err, TypeName, id) }
