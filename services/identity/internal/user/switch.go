package user

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Actors is who acts in a session.
type Actors struct {
	Effective User
	Original  *User // who switched; nil when not switched
}

// Holder is the user whose session it is: the original user of a switched session.
func (a Actors) Holder() User {
	if a.Original != nil {
		return *a.Original
	}
	return a.Effective
}

// Switch returns who acts after the caller has switched to the target (contract 3.3, 5.5 to 5.10), checked in the
// order of decisions, part 2. The target is 0 when the request names none or no id; unreadable says so to a caller who
// may switch. Switching to the original user is a revert.
func (s *Service) Switch(ctx context.Context, p principal.Principal, target int64, unreadable error) (Actors, error) {
	if p.Switched() && target == p.OriginalID {
		return s.Revert(ctx, p)
	}
	if p.Switched() || !p.Permissions.CanSU {
		return Actors{}, problem.New(problem.Forbidden, "")
	}
	if target == 0 {
		return Actors{}, unreadable
	}
	found, err := s.Store.Find(ctx, []int64{p.UserID, target})
	if err != nil {
		return Actors{}, err
	}
	var caller, other *User
	for i := range found {
		if found[i].ID == p.UserID {
			caller = &found[i]
		}
		if found[i].ID == target {
			other = &found[i]
		}
	}
	if err := maySwitch(caller, other, target); err != nil {
		return Actors{}, err
	}
	return Actors{Effective: *other, Original: caller}, nil
}

// maySwitch checks the stored state of both users, as the caller's session may be slightly older. A nil user does
// not exist.
func maySwitch(caller, other *User, target int64) error {
	switch {
	case caller == nil || !caller.MayLogIn():
		return problem.New(problem.AccessDenied, "")
	case !caller.Permissions.Implied().CanSU:
		return problem.New(problem.Forbidden, "")
	case other == nil:
		return missing(record.ErrNotFound, target)
	case other.ID == caller.ID,
		(other.Permissions.Admin || len(other.AdminOf) > 0) && !caller.Permissions.Admin,
		!other.Active:
		return problem.New(problem.Forbidden, "")
	}
	return nil
}

// MayRevert returns Forbidden unless a caller that has not switched has can_su, and so may revert, which then changes
// nothing.
func (s *Service) MayRevert(p principal.Principal) error {
	if !p.Permissions.CanSU {
		return problem.New(problem.Forbidden, "")
	}
	return nil
}

// Revert returns who acts after a caller that has switched has gone back to the user it switched from (decisions,
// part 2). AccessDenied when that user may no longer log in.
func (s *Service) Revert(ctx context.Context, p principal.Principal) (Actors, error) {
	original, err := s.Store.Get(ctx, p.OriginalID)
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return Actors{}, err
	}
	if err != nil || !original.MayLogIn() {
		return Actors{}, problem.New(problem.AccessDenied, "")
	}
	return Actors{Effective: original}, nil
}
