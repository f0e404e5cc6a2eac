package user

import (
	"context"
	"slices"
	"time"
)

// confirmTries is how often one call refreshes users whose sessions keep going back.
const confirmTries = 3

// MarkEnded remembers that a session of a user was ended, by the hash of its id, so that ConfirmSessions ends it
// again.
func (s *Service) MarkEnded(ctx context.Context, userID int64, hash string) error {
	return s.Store.MarkEnded(ctx, userID, hash)
}

// ConfirmSessions makes the sessions follow what is stored: they miss a change whose process died, and all that
// happened since the state that Redis went back to, when it did. It compares what was stored since the sessions were
// confirmed, and so much longer as a write may take. It may run at any time, in any replica.
func (s *Service) ConfirmSessions(ctx context.Context) error {
	begun := time.Now()
	confirmed, err := s.Sessions.Confirmed(ctx)
	if err != nil {
		return err
	}
	users, ended, err := s.Store.ListRevoked(ctx, s.since(confirmed, begun))
	if err != nil {
		return err
	}
	upTo := begun
	if confirmed.After(begun) { // by another replica, whose clock is ahead
		upTo = confirmed
	}
	for range confirmTries {
		missing, err := s.Sessions.Confirm(ctx, confirmed, upTo, users, ended)
		if err != nil || len(missing) == 0 {
			return err
		}
		for _, u := range users {
			if !slices.Contains(missing, u.ID) {
				continue
			}
			if err := s.Sessions.Refresh(ctx, u); err != nil {
				return err
			}
		}
	}
	return nil
}

// ForgetEnded deletes the ended sessions of users who have had none for longer than ConfirmSessions looks back.
func (s *Service) ForgetEnded(ctx context.Context) error {
	return s.Store.ForgetEnded(ctx, s.since(time.Time{}, time.Now()))
}

// since returns from when on revocations may be missing in the sessions.
func (s *Service) since(confirmed, now time.Time) time.Time {
	oldest := now.Add(-s.SessionLife) // no session is older
	switch {
	case confirmed.Before(oldest):
		confirmed = oldest
	case confirmed.After(now):
		confirmed = now
	}
	return confirmed.Add(-s.WriteTime)
}
