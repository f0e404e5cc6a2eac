package user

import (
	"context"
	"errors"
	"maps"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/ifmatch"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// errGoverns ends a change that would take away somebody who governs, without the lead for that.
var errGoverns = errors.New("user: governs")

// List returns up to limit users with ids above after, by id, and the id to go on after; 0 when there are no more. One round trip.
func (s *Service) List(ctx context.Context, after int64, limit int) (users []User, next int64, err error) {
	users, err = s.Store.After(ctx, after, limit+1)
	if err != nil || len(users) <= limit {
		return users, 0, err
	}
	users = users[:limit]
	return users, users[limit-1].ID, nil
}

// Get returns a user. NotFound when there is none.
func (s *Service) Get(ctx context.Context, id int64) (User, error) { return s.byID(ctx, id) }

// Create stores a new user and returns it with its uuid, which nobody can learn afterwards: the one given, or a random one for nil.
// Invalid, with the user as it would have been, when something is wrong. Two round trips, one more with an element.
func (s *Service) Create(ctx context.Context, e Edit, uuid *string) (User, string, error) {
	u := newUser()
	faults := e.apply(&u)
	if uuid == nil {
		made := newUUID()
		uuid = &made
	} else if err := CheckUUID(*uuid); err != nil {
		faults.Add("uuid", err.Error())
	}
	if err := s.checkElement(ctx, e, faults); err != nil {
		return u, "", err
	}
	if err := problem.InvalidFields(faults); err != nil {
		return u, "", err
	}
	u.UUIDHash = HashUUID(*uuid)
	refused, err := s.Store.Insert(ctx, []*User{&u})
	if err != nil {
		return u, "", err
	}
	if refused[0] != nil {
		u.ID = 0
		return u, "", problem.InvalidFields(problem.Fields{"uuid": {taken}}) // the key is empty
	}
	return u, *uuid, nil
}

// Change edits a user; what the edit does not mention stays. Its sessions follow before this returns. NotFound; PreconditionFailed at
// another version; Invalid, with the user as it would have been; Conflict when nobody would be left to administer. Four round trips at most, one more with an element.
func (s *Service) Change(ctx context.Context, id int64, e Edit, match ifmatch.Match) (User, error) {
	faults := problem.Fields{}
	if err := s.checkElement(ctx, e, faults); err != nil {
		return User{}, err
	}
	var attempted User
	u, err := s.change(ctx, id, func(u *User) error {
		if err := match.Check(u.Version); err != nil {
			return err
		}
		found := e.apply(u)
		maps.Copy(found, faults)
		attempted = *u
		return problem.InvalidFields(found)
	})
	if problem.Is(err, problem.Invalid) {
		return attempted, err
	}
	return u, err
}

// Deactivate is how users are deleted: the user cannot log in any more and its sessions end; its events keep their owner. NotFound,
// PreconditionFailed, Conflict as for Change.
func (s *Service) Deactivate(ctx context.Context, id int64, match ifmatch.Match) error {
	_, err := s.change(ctx, id, func(u *User) error {
		u.Active = false
		return match.Check(u.Version)
	})
	return err
}

// RenewUUID gives a user a random new uuid and returns it; the old one and all sessions end. NotFound.
func (s *Service) RenewUUID(ctx context.Context, id int64) (string, error) {
	made := newUUID()
	_, err := s.change(ctx, id, func(u *User) error {
		u.UUIDHash = HashUUID(made)
		u.endSessions()
		return nil
	})
	return made, err
}

// EndSessions ends all sessions of a user, those in which it has switched to somebody and those of others switched to it included. NotFound.
func (s *Service) EndSessions(ctx context.Context, id int64) error {
	_, err := s.change(ctx, id, func(u *User) error {
		u.endSessions()
		return nil
	})
	return err
}

// TellSessions makes the sessions of a user live by its stored state: what was left undone by a change that died on the way.
func (s *Service) TellSessions(ctx context.Context, id int64) error {
	found, err := s.Store.ByIDs(ctx, []int64{id})
	if err != nil || len(found) == 0 {
		return err
	}
	return s.Sessions.Refresh(ctx, found[0])
}

// checkElement adds a fault when the edit names an element that does not exist.
func (s *Service) checkElement(ctx context.Context, e Edit, faults problem.Fields) error {
	if e.ElementID == nil || *e.ElementID == 0 {
		return nil
	}
	found, err := s.Elements.Facts(ctx, fact.ElementsQuestion{IDs: []int64{*e.ElementID}})
	if err == nil && len(found) == 0 {
		faults.Add("element_id", mustExist)
	}
	return err
}

// change edits a stored user and makes its sessions follow, even when nothing changed: an earlier try may have stopped between the two.
// When it fails after the write, the message that the write left makes the sessions follow.
func (s *Service) change(ctx context.Context, id int64, edit func(*User) error) (User, error) {
	u, tell, err := s.update(ctx, id, edit, false)
	if errors.Is(err, errGoverns) {
		// Two governors who retire each other at once would both see the other still there: one after the other.
		err = s.Lead(ctx, func(ctx context.Context) error {
			if err := s.checkOthersGovern(ctx, id); err != nil {
				return err
			}
			u, tell, err = s.update(ctx, id, edit, true)
			return err
		})
	}
	if errors.Is(err, ErrNone) {
		return User{}, problem.Missing("User", id)
	}
	if err != nil {
		return User{}, err
	}
	if err := s.Sessions.Refresh(ctx, u); err != nil {
		return User{}, problem.Wrap(problem.Unavailable, err, "the change is stored; the user's sessions follow as soon as possible")
	}
	if tell {
		_ = s.Store.Told(ctx, u) // if this fails the sessions are told once more
	}
	return u, nil
}

// update edits a stored user, unless that takes away somebody who governs and the caller does not have the lead (errGoverns), and
// says whether its sessions have to be told.
func (s *Service) update(ctx context.Context, id int64, edit func(*User) error, leads bool) (u User, tell bool, err error) {
	u, err = s.Store.Update(ctx, id, func(u *User) error {
		before := *u
		if err := edit(u); err != nil {
			return err
		}
		tell = !u.SameToSessions(before)
		if *u == before {
			return ErrUnchanged
		}
		if before.Governs() && !u.Governs() && !leads {
			return errGoverns
		}
		return nil
	})
	return u, tell, err
}

// checkOthersGovern returns a Conflict when nobody but that user governs.
func (s *Service) checkOthersGovern(ctx context.Context, id int64) error {
	governors, err := s.Store.Governors(ctx)
	if err != nil {
		return err
	}
	for _, governor := range governors {
		if governor != id {
			return nil
		}
	}
	return problem.New(problem.Conflict, "the last active administrator can't be deactivated or lose admin")
}
