package api

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
)

// facts answers neighbour.UserFacts.
func (h handlers) facts(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	found, err := h.users.Find(ctx, q.IDs, q.Keys)
	if err != nil {
		return nil, err
	}
	facts := make([]fact.User, len(found))
	for i, u := range found {
		facts[i] = fact.User{
			User: listForm(u), Key: u.Key, Active: u.Active, CanAPI: u.Permissions.Implied().CanAPI,
			Kind: u.Kind, Admin: u.Permissions.Admin, ElementID: u.ElementID, FeedsSince: u.FeedsSince,
		}
	}
	return facts, nil
}
