package api

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

func (h handlers) facts(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	found, err := h.users.Find(ctx, q)
	return sequence.Map(found, func(u user.User) fact.User {
		return fact.User{
			User: listForm(u), Key: u.Key, Active: u.Active, CanAPI: u.Permissions.Implied().CanAPI,
			Kind: u.Kind, Admin: u.Permissions.Admin, ElementID: u.ElementID, FeedsSince: u.FeedsSince,
			AdminOf: u.AdminOf, StandsFor: u.StandsFor,
		}
	}), err
}

func (h handlers) erase(ctx context.Context, q fact.ErasureQuestion) (fact.ErasureStep, error) {
	next, changed, err := erasure.Step(audit.WithErasure(ctx), []erasure.Part{
		h.users.EraseUsers(q.Person), h.users.EraseTexts(q.Person), h.audit.Erase(q.Person),
		h.users.EraseAnswers(q.Person, h.answers),
	}, q.After)
	return fact.ErasureStep{After: next, Changed: changed}, err
}
