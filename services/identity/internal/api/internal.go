package api

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
)

// facts answers neighbour.UserFacts.
func (h handlers) facts(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	found, err := h.users.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	facts := make([]fact.User, len(found))
	for i, u := range found {
		facts[i] = fact.User{
			User: listForm(u), Key: u.Key, Active: u.Active, CanAPI: u.Permissions.Implied().CanAPI,
			Kind: u.Kind, Admin: u.Permissions.Admin, ElementID: u.ElementID, FeedsSince: u.FeedsSince,
			AdminOf: u.AdminOf, StandsFor: u.StandsFor,
		}
	}
	return facts, nil
}

// erase answers neighbour.EraseUsers.
func (h handlers) erase(ctx context.Context, q fact.ErasureQuestion) (fact.ErasureStep, error) {
	next, changed, err := erasure.Step(audit.WithErasure(ctx), []erasure.Part{
		h.users.EraseUsers(q.Person), h.users.EraseTexts(q.Person), h.audit.Erase(q.Person),
		h.users.EraseAnswers(q.Person, h.answers),
	}, q.After)
	return fact.ErasureStep{After: next, Changed: changed}, err
}
