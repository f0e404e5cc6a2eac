package user

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Login returns the user with that uuid, who logs in from that address. AccessDenied, always alike and after the same
// work, when there is none, or it is not active or has no can_api; TooManyRequests after too many such failures
// (contract 5.1, 5.2; decisions, part 2).
func (s *Service) Login(ctx context.Context, uuid, address string) (User, error) {
	attempt, wait, err := s.attempts.Begin(ctx, address)
	if err != nil {
		return User{}, problem.Wrap(problem.Unavailable, err, "")
	}
	if wait > 0 {
		return User{}, &problem.Error{Kind: problem.TooManyRequests, RetryAfter: wait}
	}
	found, err := s.store.FindByUUIDHashes(ctx, []string{HashUUID(uuid)})
	if err == nil && (len(found) == 0 || !found[0].MayLogIn()) {
		return User{}, problem.New(problem.AccessDenied, "")
	}
	if forgiven := s.attempts.Forgive(ctx, address, attempt); forgiven != nil {
		err = errors.Join(err, problem.Wrap(problem.Unavailable, forgiven, ""))
	}
	if err != nil {
		return User{}, err
	}
	return found[0], nil
}
