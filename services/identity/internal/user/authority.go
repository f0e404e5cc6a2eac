package user

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// This file decides, for every route, which users an administrator may administer. An admin may administer all. An
// administrator of schools may administer users whose element belongs to one of them today, who have no right that it
// lacks, and who stand for no pupil, since pupils may be of other schools. It gives no right that it does not have, and
// never one of administration.
//
// Anyone who renews a user's uuid can act as that user, and so can, at a login provider, anyone who gives the user an
// address of their own. So an administrator of schools neither makes a user for a person who is withheld from it, nor
// changes uuid, address or element of such a person's user.

func forbidden() error { return problem.New(problem.Forbidden, "") }

// mustHold returns Forbidden unless the element, 0: none, is one that p administers.
func (s *Service) mustHold(ctx context.Context, p principal.Principal, elementID int64) error {
	own, err := authority.AskOwn(ctx, p, []int64{elementID}, s.Elements.Belonging)
	if err == nil && !own.Has(elementID) {
		err = forbidden()
	}
	return err
}

// elsewhere returns the elements that belong today to a school that is not p's. A school is p's if p administers it, if
// it belongs to one that p administers, or if one that p administers belongs to it.
func (s *Service) elsewhere(ctx context.Context, p principal.Principal, elements []int64) ([]int64, error) {
	controls, err := s.Elements.Control(ctx, fact.ControlQuestion{IDs: slices.Concat(p.AdminOf, elements)})
	if err != nil {
		return nil, err
	}
	var schools, around []int64
	for _, c := range controls {
		schools = append(schools, c.Schools...)
		if slices.Contains(p.AdminOf, c.ElementID) && slices.Contains(c.Schools, c.ElementID) { // a school today
			around = append(around, c.Schools...)
		}
	}
	own, err := authority.AskOwn(ctx, p, schools, s.Elements.Belonging)
	if err != nil {
		return nil, err
	}
	var elsewhere []int64
	for _, c := range controls {
		if slices.ContainsFunc(c.Schools, func(id int64) bool { return !own.Has(id) && !slices.Contains(around, id) }) {
			elsewhere = append(elsewhere, c.ElementID)
		}
	}
	return elsewhere, nil
}

// withheld returns those of the elements, 0: none, in no order, as whose users p may not act: they also belong to
// another school, or have a user, other than p, who has a right that p lacks or administers an element that p does not.
// It asks nothing for an admin, or without elements.
func (s *Service) withheld(ctx context.Context, p principal.Principal, elements ...int64) ([]int64, error) {
	elements = slices.DeleteFunc(slices.Clone(elements), func(id int64) bool { return id == 0 })
	if p.Permissions.Admin || len(elements) == 0 {
		return nil, nil
	}
	withheld, err := s.elsewhere(ctx, p, elements)
	if err != nil {
		return nil, err
	}
	users, err := s.listAll(ctx, Filter{Elements: elements})
	users = slices.DeleteFunc(users, func(u User) bool { return u.ID == p.UserID })
	if err != nil || len(users) == 0 {
		return withheld, err
	}
	beyond, err := s.Elements.Beyond(ctx, fact.BeyondQuestion{
		Schools: p.AdminOf, Users: sequence.Map(users, func(u User) int64 { return u.ID }),
	})
	for _, u := range users {
		if !hasNoMore(u, p) || slices.Contains(beyond, u.ID) {
			withheld = append(withheld, u.ElementID)
		}
	}
	return withheld, err
}

// mayActAs returns Forbidden when the element of the user is withheld from p.
func (s *Service) mayActAs(ctx context.Context, p principal.Principal, u User) error {
	withheld, err := s.withheld(ctx, p, u.ElementID)
	if err == nil && len(withheld) > 0 {
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
	return s.mayActAs(ctx, p, u)
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

// mayAsk returns Forbidden when an edit gives a user, who is zero when it is new, an element that is not p's or is
// withheld, schools to administer, or pupils to stand for.
func (s *Service) mayAsk(ctx context.Context, p principal.Principal, u User, e Edit) error {
	switch {
	case p.Permissions.Admin:
		return nil
	case e.AdminOf != nil, e.StandsFor != nil, e.Permissions["admin"]:
		return forbidden()
	case e.ElementID == nil:
		return nil
	}
	err := s.mustHold(ctx, p, *e.ElementID)
	if err != nil || *e.ElementID == u.ElementID {
		return err
	}
	withheld, err := s.withheld(ctx, p, *e.ElementID)
	if err == nil && len(withheld) > 0 {
		err = problem.New(problem.Forbidden, "the element %s", problem.Withheld)
	}
	return err
}

// changeAdministered is change for a user that p administers, before the edit and after it. May, unless nil, says
// whether the edit may be asked of that user.
func (s *Service) changeAdministered(
	ctx context.Context, p principal.Principal, id int64, may func(User) error, edit func(*User) error,
) (User, error) {
	if p.Permissions.Admin {
		return s.change(ctx, id, edit)
	}
	known, err := s.Get(ctx, p, id)
	if err == nil && may != nil {
		err = may(known)
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
	if err != nil || len(elements) == 0 {
		return own, err
	}
	users, err := s.listAll(ctx, Filter{Elements: elements})
	own[TypeName] = sequence.Map(users, func(u User) int64 { return u.ID })
	return own, err
}

// listAll returns all users that the filter chooses, by id.
func (s *Service) listAll(ctx context.Context, f Filter) (all []User, err error) {
	f.Limit = usersAtOnce
	for {
		users, err := s.Store.List(ctx, f)
		all = append(all, users...)
		if err != nil || len(users) < f.Limit {
			return all, err
		}
		f.After = users[len(users)-1].ID
	}
}
