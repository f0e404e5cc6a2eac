package user

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Errors of a Store.
var (
	// ErrNone: no user has that id.
	ErrNone = errors.New("user: none")
	// ErrUUIDTaken and ErrKeyTaken: another user has the uuid, or the import key.
	ErrUUIDTaken = errors.New("user: uuid taken")
	ErrKeyTaken  = errors.New("user: key taken")
	// ErrUnchanged is what a change given to Store.Update returns when there is nothing to write.
	ErrUnchanged = record.ErrUnchanged
)

// Store keeps the users. Every write is whole or not there, and one that sessions have to be told of leaves a message for the
// relay in the same write.
type Store interface {
	// ByUUIDHashes returns the users whose uuids have those hashes, in no order.
	ByUUIDHashes(ctx context.Context, hashes []string) ([]User, error)
	// ByEmail returns the users with an address that folds to that, by id.
	ByEmail(ctx context.Context, folded string) ([]User, error)
	// ByIDs and ByKeys return those that exist, in no order.
	ByIDs(ctx context.Context, ids []int64) ([]User, error)
	ByKeys(ctx context.Context, keys []string) ([]User, error)
	// After returns up to limit users with ids above after, by id.
	After(ctx context.Context, after int64, limit int) ([]User, error)
	// Governors returns the ids of up to two users that govern.
	Governors(ctx context.Context) ([]int64, error)
	// Insert stores new users, gives them ids and versions in place, and returns an error for each: nil, ErrUUIDTaken or ErrKeyTaken.
	Insert(ctx context.Context, users []*User) ([]error, error)
	// Update changes a user; the change may run several times and does nothing else. Its errors are returned as they are, but for
	// ErrUnchanged. ErrNone, ErrUUIDTaken.
	Update(ctx context.Context, id int64, change func(*User) error) (User, error)
	// Told takes the message for the relay back, now that the sessions live by this version of the user; a later version's stays.
	Told(ctx context.Context, u User) error
}

// Sessions makes all sessions of a user live by its present state, or end (decisions, part 2: permissions are read live).
type Sessions interface {
	Refresh(ctx context.Context, u User) error
}

// Elements is what is asked of the elements service.
type Elements interface {
	Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error)
}

// Attempts limits failed logins over all replicas (decisions, part 2).
type Attempts interface {
	// Begin counts a login from that address as failed. When there are too many already it counts nothing and returns how long to wait.
	Begin(ctx context.Context, address string) (attempt string, wait time.Duration, err error)
	// Forgive takes an attempt back that did not fail after all.
	Forgive(ctx context.Context, address, attempt string) error
}

// Service is what can be done with users. Who may do the administrators' part is checked by its callers: it needs the admin permission.
type Service struct {
	Store    Store
	Sessions Sessions
	Elements Elements
	Attempts Attempts
	// Lead runs work while no other request does, over all replicas. Work stops when its context ends, as it does when the lead is lost.
	Lead func(ctx context.Context, work func(context.Context) error) error
}

// byID returns one user: one document.
func (s *Service) byID(ctx context.Context, id int64) (User, error) {
	found, err := s.Store.ByIDs(ctx, []int64{id})
	if err != nil {
		return User{}, err
	}
	if len(found) == 0 {
		return User{}, problem.Missing("User", id)
	}
	return found[0], nil
}
