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
//
// While a network has failed too often, the address's own failures are counted no further. So they are looked at for
// right uuids alone, and a flood of wrong ones asks no more than whose they are, many at once.
func (s *Service) Login(ctx context.Context, uuid, address string) (User, error) {
	all, wrong := s.attempts.Refused(address)
	if all > 0 {
		return User{}, refusal(all, nil)
	}
	flood := wrong > 0
	// Nothing is looked up for an address that has to wait: the answer is the same for right and wrong.
	if !flood {
		if err := refusal(s.attempts.Wait(ctx, address)); err != nil {
			return User{}, err
		}
	}
	u, exists, err := s.owners.find(ctx, HashUUID(uuid))
	if err != nil {
		return User{}, err
	}
	switch right := exists && u.MayLogIn(); {
	case right && flood:
		err = refusal(s.attempts.Wait(ctx, address))
	case right:
	case flood:
		err = refusal(wrong, nil)
	default:
		err = refusal(s.attempts.Fail(ctx, address))
		if err == nil {
			err = problem.New(problem.AccessDenied, "")
		}
	}
	if err != nil {
		return User{}, err
	}
	return u, nil
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
