package user

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/record"
)

// TypeName names users in answers and in the audit.
const TypeName = "User"

// What a unique index refuses: another user has the uuid, or the import key.
var (
	ErrUUIDTaken = errors.New("another user has the uuid")
	ErrKeyTaken  = errors.New("another user has the import key")
)

// Store keeps the users. A write that sessions have to follow stores, in the same atomic step, a message for the relay.
type Store interface {
	// Get returns a user; record.ErrNotFound when there is none.
	Get(ctx context.Context, id int64) (User, error)
	// Find, FindByKeys and FindByUUIDHashes return the users that exist, in no order.
	Find(ctx context.Context, ids []int64) ([]User, error)
	FindByKeys(ctx context.Context, keys []string) ([]User, error)
	FindByUUIDHashes(ctx context.Context, hashes []string) ([]User, error)
	// FindAdministrators returns the ids of two active administrators at most, in no order.
	FindAdministrators(ctx context.Context) ([]int64, error)
	// List returns up to limit users with ids above after, by id.
	List(ctx context.Context, after int64, limit int) ([]User, error)
	// ListByEmail returns the users with an address that folds to that, by id.
	ListByEmail(ctx context.Context, folded string) ([]User, error)
	// Insert stores new users and sets their ids and versions. It returns an error for each: nil, ErrUUIDTaken or
	// ErrKeyTaken.
	Insert(ctx context.Context, users []*User) ([]error, error)
	// Change loads a user, lets decide change it, and stores it where nobody else was first; else decide runs again,
	// on the user as it is then. record.ErrNotFound, ErrUUIDTaken; an error of decide is returned as it is. After
	// record.ErrUnchanged from decide nothing is written and the user is returned.
	Change(ctx context.Context, id int64, decide func(*User) error) (User, error)
	// Acknowledge removes the pending message of this version of the user, whose sessions are refreshed. A later
	// version's stays.
	Acknowledge(ctx context.Context, u User) error
	// WithLease runs work while no other process or request holds the lease. The context of work ends when the lease
	// is lost.
	WithLease(ctx context.Context, work func(context.Context) error) error
}

// Sessions keeps the sessions of users.
type Sessions interface {
	// Refresh gives all sessions of a user its present permissions, or ends them (decisions, part 2).
	Refresh(ctx context.Context, u User) error
}

// Elements asks the elements service.
type Elements interface {
	Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error)
}

// Attempts counts failed logins over all replicas (decisions, part 2).
type Attempts interface {
	// Wait returns how long all logins from that address are refused, because of its own failures; 0: they are not.
	Wait(ctx context.Context, address string) (time.Duration, error)
	// Fail counts a failed login from that address and returns 0. Where the address or its network has reached its
	// limit it counts nothing and returns how long to wait.
	Fail(ctx context.Context, address string) (time.Duration, error)
}

// Options of New. All are needed.
type Options struct {
	Store    Store
	Sessions Sessions
	Elements Elements
	Attempts Attempts
}

// Service is the use cases. Those of administration (Get to EndSessions, and Import) are for callers with the admin
// permission; the routes check it. It is safe for concurrent use.
type Service struct {
	store    Store
	sessions Sessions
	elements Elements
	attempts Attempts
}

// New returns the use cases on a store and the other services.
func New(o Options) *Service {
	return &Service{store: o.Store, sessions: o.Sessions, elements: o.Elements, attempts: o.Attempts}
}

// missing makes a store's record.ErrNotFound the problem that clients see.
func missing(err error, id int64) error { return record.Missing(err, TypeName, id) }
