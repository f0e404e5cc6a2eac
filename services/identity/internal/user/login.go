package user

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Login returns the user with that uuid, who logs in from that address. AccessDenied, always alike and after the same
// work, when there is none, or it is not active, has no can_api or must log in at a provider; TooManyRequests instead
// after too many such failures from the address or its network (contract 5.1, 5.2; decisions, part 2).
//
// A right uuid is never refused, or one loop of wrong ones would lock out a school behind its address. So the user is
// read before failures are counted. What a flood of wrong ones costs the database is bounded by owners: a few searches
// run at once, each for all waiting requests.
func (s *Service) Login(ctx context.Context, uuid, address string) (User, error) {
	u, exists, err := s.byUUID.find(ctx, HashUUID(uuid))
	if err != nil {
		return User{}, err
	}
	if exists && u.MayLogIn() && !s.mustSignIn(u) {
		return u, nil
	}
	return User{}, s.CountFailure(ctx, address, problem.New(problem.AccessDenied, ""))
}

// mustSignIn says whether the user must log in at a provider, which knows it by an address that no other user has.
func (s *Service) mustSignIn(u User) bool {
	return s.Elsewhere != nil && u.ClaimedEmail() != "" && s.Elsewhere(u.Email)
}

// CountFailure counts a login that failed because of reason, and returns reason, or TooManyRequests if too many have
// failed from that address or its network.
func (s *Service) CountFailure(ctx context.Context, address string, reason error) error {
	wait, err := s.Attempts.Fail(ctx, address)
	switch {
	case err != nil:
		return problem.Wrap(problem.Unavailable, err, "")
	case wait > 0:
		return &problem.Error{Kind: problem.TooManyRequests, RetryAfter: wait}
	}
	return reason
}
