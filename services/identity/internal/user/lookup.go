package user

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// ByEmail returns the users with that address in whatever letter case, active or not, by id (contract 5.5, 5.6). Forbidden without
// can_su. What is no address belongs to nobody. One round trip, as many documents as users.
func (s *Service) ByEmail(ctx context.Context, p principal.Principal, email string) ([]User, error) {
	if !p.Permissions.CanSU {
		return nil, problem.New(problem.Forbidden, "")
	}
	folded := FoldEmail(email)
	if !isAddress(folded) {
		return nil, nil
	}
	return s.Store.ByEmail(ctx, folded)
}

// Facts returns the users with those ids and those import keys that exist, active or not, for other services.
func (s *Service) Facts(ctx context.Context, ids []int64, keys []string) ([]User, error) {
	found, err := s.Store.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	keyed, err := s.Store.ByKeys(ctx, keys)
	return append(found, keyed...), err
}
