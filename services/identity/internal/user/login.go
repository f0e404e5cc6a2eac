package user

import (
	"context"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Login returns the user with that uuid, who logs in from that address. AccessDenied, always alike and after the same
// work, when there is none, or it is not active or has no can_api. TooManyRequests, for wrong uuids, after too many
// such failures from the address or its network; for right ones as well while the address's own failures stand
// (contract 5.1, 5.2; decisions, part 2).
func (s *Service) Login(ctx context.Context, uuid, address string) (User, error) {
	// Nothing is looked up for an address that has to wait: the answer is the same for right and wrong.
	if err := refusal(s.attempts.Wait(ctx, address)); err != nil {
		return User{}, err
	}
	found, err := s.store.FindByUUIDHashes(ctx, []string{HashUUID(uuid)})
	if err != nil {
		return User{}, err
	}
	if len(found) > 0 && found[0].MayLogIn() {
		return found[0], nil
	}
	if err := refusal(s.attempts.Fail(ctx, address)); err != nil {
		return User{}, err
	}
	return User{}, problem.New(problem.AccessDenied, "")
}

// refusal is the problem that clients see when they have to wait, or when failures cannot be counted.
func refusal(wait time.Duration, err error) error {
	if err != nil {
		return problem.Wrap(problem.Unavailable, err, "")
	}
	if wait > 0 {
		return &problem.Error{Kind: problem.TooManyRequests, RetryAfter: wait}
	}
	return nil
}
