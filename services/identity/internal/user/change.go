package user

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Change edits a user; fields that the edit leaves out stay. The user's sessions are refreshed before it returns.
// NotFound; Forbidden when the user, or what the edit asks for, is not p's; PreconditionFailed at another version; a
// record.InvalidError of the user; Conflict for the last active administrator, and when the edit gives the user the
// address of another active one without saying that this is intended.
func (s *Service) Change(
	ctx context.Context, p principal.Principal, id int64, e Edit, match record.Match,
) (User, error) {
	references := problem.Fields{}
	if err := s.checkReferences(ctx, e, references); err != nil {
		return User{}, err
	}
	var withheld []int64
	may := func(u User) (err error) {
		if e.Email != nil || e.ElementID != nil {
			if withheld, err = s.withheld(ctx, p, u.ElementID); err != nil {
				return err
			}
		}
		return s.mayAsk(ctx, p, u, e)
	}
	return s.changeAdministered(ctx, p, id, may, func(u *User) error {
		if len(withheld) > 0 && e.reaches(*u) {
			return forbidden()
		}
		if err := match.Check(u.Version); err != nil {
			return err
		}
		before := u.ClaimedEmail()
		faults := e.apply(u)
		maps.Copy(faults, references)
		if err := record.Invalid(*u, faults); err != nil || u.ClaimedEmail() == before {
			return err
		}
		return s.checkEmail(ctx, *u)
	})
}

// Deactivate deletes a user: it can no longer log in and its sessions end, but its events keep their owner. NotFound,
// Forbidden, PreconditionFailed, Conflict as for Change.
func (s *Service) Deactivate(ctx context.Context, p principal.Principal, id int64, match record.Match) error {
	_, err := s.changeAdministered(ctx, p, id, nil, func(u *User) error {
		u.Active = false
		return match.Check(u.Version)
	})
	return err
}

// RenewUUID replaces a user's uuid by a random one and returns it. All sessions, tokens and feeds of the user end.
// NotFound; Forbidden when the user is not p's, or may do what p may not, or its element is withheld from p.
func (s *Service) RenewUUID(ctx context.Context, p principal.Principal, id int64) (string, error) {
	uuid := newUUID()
	may := func(u User) error { return s.mayActAs(ctx, p, u) }
	_, err := s.changeAdministered(ctx, p, id, may, func(u *User) error {
		u.UUIDHash = HashUUID(uuid)
		u.endSessions()
		return nil
	})
	return uuid, err
}

// EndSessions ends all sessions in which a user acts: its own, also those in which it has switched to another user,
// and those of others who have switched to it. NotFound, Forbidden.
func (s *Service) EndSessions(ctx context.Context, p principal.Principal, id int64) error {
	_, err := s.changeAdministered(ctx, p, id, nil, func(u *User) error {
		u.endSessions()
		return nil
	})
	return err
}

// errNeedsLease ends a change that would deactivate an administrator, or take its permission away, without the lease.
var errNeedsLease = errors.New("user: the change needs the lease")

// change edits a stored user and refreshes its sessions, even when nothing changed: an earlier try may have stopped
// between the two. When it fails after the write, ConfirmSessions does it.
func (s *Service) change(ctx context.Context, id int64, edit func(*User) error) (User, error) {
	u, err := s.write(ctx, id, edit, false)
	if errors.Is(err, errNeedsLease) {
		// Of two administrators who deactivate each other at once, each would see that the other is still active.
		err = s.Store.WithLease(ctx, func(ctx context.Context) error {
			if err := s.checkOtherAdministrators(ctx, id); err != nil {
				return err
			}
			u, err = s.write(ctx, id, edit, true)
			return err
		})
	}
	if errors.Is(err, ErrEmailTaken) {
		return User{}, emailTaken()
	}
	if err != nil {
		return User{}, missing(err, id)
	}
	if record.IsDryRun(ctx) {
		return u, nil
	}
	if err := s.Sessions.Refresh(ctx, u); err != nil {
		const stored = "the change is stored; the user's sessions follow as soon as possible"
		return User{}, problem.Wrap(problem.Unavailable, err, stored)
	}
	return u, nil
}

// write edits a stored user. Conflict when its person has been erased; errNeedsLease when an active administrator would
// no longer be one and the caller does not have the lease.
func (s *Service) write(ctx context.Context, id int64, edit func(*User) error, leased bool) (User, error) {
	return s.Store.Change(ctx, id, func(u *User) error {
		before := *u
		if err := edit(u); err != nil {
			return err
		}
		if before.Active && !u.Active || before.UUIDHash != u.UUIDHash {
			u.FeedsSince, u.Tokens = u.Version+1, nil
		}
		if before.Active && !u.Active {
			u.endSessions() // once it is active again, they must not come back with a Redis that goes back
		}
		if u.equals(before) {
			return record.ErrUnchanged
		}
		if before.Erased {
			return problem.New(problem.Conflict, "the person has been erased")
		}
		if before.resigns(*u) && !leased {
			return errNeedsLease
		}
		return nil
	})
}

// checkOtherAdministrators returns a Conflict when only those users are active administrators.
func (s *Service) checkOtherAdministrators(ctx context.Context, ids ...int64) error {
	administrators, err := s.Store.FindAdministrators(ctx, len(ids)+1)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(administrators, func(other int64) bool { return !slices.Contains(ids, other) }) {
		return nil
	}
	return problem.New(problem.Conflict, "the last active administrator can't be deactivated or lose admin")
}
