package user

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// This file decides, for every route, which users an administrator may administer. An admin may administer all. An
// administrator of schools may administer users whose element belongs to one of them today, who have no right that it
// lacks, and who stand for no pupil, since pupils may be of other schools: anyone who renews a user's uuid can act as
// that user, as can, at a login provider, anyone who gives the user an address of their own. So it changes neither the
// uuid nor the address of a user who administers an element of no school of its own. It gives no right that it does not
// have, and never one of administration.

func forbidden() error { return problem.New(problem.Forbidden, "") }

// mustHold returns Forbidden unless the element, 0: none, is one that p administers.
func (s *Service) mustHold(ctx context.Context, p principal.Principal, elementID int64) error {
	own, err := authority.AskOwn(ctx, p, []int64{elementID}, s.Elements.Belonging)
	if err == nil && !own.Has(elementID) {
		err = forbidden()
	}
	return err
}

// beyond returns those of the users who administer an element that p does not: p must not be able to act as one of
// them. It asks nothing for an admin, or without users.
func (s *Service) beyond(ctx context.Context, p principal.Principal, users ...int64) ([]int64, error) {
	if p.Permissions.Admin || len(users) == 0 {
		return nil, nil
	}
	return s.Elements.Beyond(ctx, fact.BeyondQuestion{Schools: p.AdminOf, Users: users})
}

// mayActAs returns Forbidden when acting as the user would let p decide on an element that is not p's.
func (s *Service) mayActAs(ctx context.Context, p principal.Principal, id int64) error {
	beyond, err := s.beyond(ctx, p, id)
	if err == nil && len(beyond) > 0 {
		err = forbidden()
	}
	return err
}

// MayHandOver returns NotFound, and Forbidden when the user is not p's, or may do what p may not: then p may not have
// its uuid.
func (s *Service) MayHandOver(ctx context.Context, p principal.Principal, id int64) error {
	u, err := s.Get(ctx, p, id)
	if err != nil {
		return err
	}
	if !p.Permissions.Admin && !hasNoMore(u, p) {
		return forbidden()
	}
	return s.mayActAs(ctx, p, id)
}

// hasNoMore says whether a user has no right that p, who is not an admin, lacks.
func hasNoMore(u User, p principal.Principal) bool {
	return len(u.AdminOf)+len(u.StandsFor) == 0 && len(p.Permissions.Lacking(u.Permissions.Implied())) == 0
}

// noMore adds a fault for each right that a user has and p, who is not an admin, lacks.
func noMore(u User, p principal.Principal, faults problem.Fields) {
	if p.Permissions.Admin || hasNoMore(u, p) {
		return
	}
	for _, name := range p.Permissions.Lacking(u.Permissions.Implied()) {
		if len(faults[name]) == 0 {
			faults.Add(name, "is a right that you lack")
		}
	}
	for name, ids := range map[string][]int64{"admin_of": u.AdminOf, "stands_for": u.StandsFor} {
		if len(ids) > 0 && len(faults[name]) == 0 {
			faults.Add(name, problem.ForAdmins)
		}
	}
}

// mayAsk returns Forbidden when an edit gives a user an element that is not p's, schools to administer, or pupils to
// stand for.
func (s *Service) mayAsk(ctx context.Context, p principal.Principal, e Edit) error {
	switch {
	case p.Permissions.Admin:
		return nil
	case e.AdminOf != nil, e.StandsFor != nil, e.Permissions["admin"]:
		return forbidden()
	case e.ElementID != nil:
		return s.mustHold(ctx, p, *e.ElementID)
	}
	return nil
}

// changeAdministered is change for a user that p administers, before the edit and after it. May, unless nil, says
// whether the edit may be asked of such a user.
func (s *Service) changeAdministered(
	ctx context.Context, p principal.Principal, id int64, may func() error, edit func(*User) error,
) (User, error) {
	if p.Permissions.Admin {
		return s.change(ctx, id, edit)
	}
	known, err := s.Get(ctx, p, id)
	if err == nil && may != nil {
		err = may()
	}
	if err != nil {
		return User{}, err
	}
	return s.change(ctx, id, func(u *User) error {
		if u.ElementID != known.ElementID || !hasNoMore(*u, p) {
			return forbidden()
		}
		if err := edit(u); err != nil {
			return err
		}
		if !hasNoMore(*u, p) {
			return forbidden()
		}
		return nil
	})
}

// Administers is for auditlog.Own: p reads the audit of the users whose element belongs to one of its schools
// today.
func (s *Service) Administers(ctx context.Context, p principal.Principal) (map[string][]int64, error) {
	own := map[string][]int64{TypeName: nil}
	elements, err := s.Elements.Belonging(ctx, fact.BelongingQuestion{Schools: p.AdminOf, All: true})
	f := Filter{Elements: elements, Limit: usersAtOnce}
	if err != nil || len(elements) == 0 {
		return own, err
	}
	for {
		users, err := s.Store.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, u := range users {
			own[TypeName] = append(own[TypeName], u.ID)
		}
		if len(users) < f.Limit {
			return own, nil
		}
		f.After = users[len(users)-1].ID
	}
}
