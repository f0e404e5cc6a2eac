package user

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Get returns a user. NotFound when there is none, Forbidden when it is not p's.
func (s *Service) Get(ctx context.Context, p principal.Principal, id int64) (User, error) {
	u, err := s.Store.Get(ctx, id)
	if err != nil {
		return User{}, missing(err, id)
	}
	return u, s.mustHold(ctx, p, u.ElementID)
}

// Self is a user with its element, and the schools that this belongs to.
type Self struct {
	User
	Element *form.Element  // nil: it is none
	Schools []form.Element // in order of id
	Pupils  []form.Element // that it stands for, in order of id
}

// GetSelf returns a user with its element, the schools that the element belongs to today, and the pupils that the user
// stands for. NotFound when there is no such user.
func (s *Service) GetSelf(ctx context.Context, id int64) (self Self, err error) {
	self.User, err = s.Store.Get(ctx, id)
	ids := principal.Persons(self.ElementID, self.StandsFor)
	if err != nil || len(ids) == 0 {
		return self, missing(err, id)
	}
	if self.ElementID != 0 {
		today := s.Zone.DayOf(time.Now())
		reaches, err := s.Elements.Reaches(ctx, fact.ReachesQuestion{
			IDs: []int64{self.ElementID}, Days: wiretime.Days{First: today, Last: today},
		})
		if err != nil {
			return self, err
		}
		for _, r := range reaches {
			for _, group := range r.Reaches {
				ids = append(ids, group.ElementID)
			}
		}
	}
	found, err := s.Elements.Facts(ctx, fact.ElementsQuestion{IDs: inOrder(ids)})
	slices.SortFunc(found, func(a, b fact.Element) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range found {
		if e.ID == self.ElementID {
			self.Element = &e.Element
		}
		if e.School {
			self.Schools = append(self.Schools, e.Element)
		}
		if slices.Contains(self.StandsFor, e.ID) {
			self.Pupils = append(self.Pupils, e.Element)
		}
	}
	return self, err
}

// Find returns the users with those ids and those import keys that exist, those who are the elements, and those who
// administer one of the schools, active or not, for other services.
func (s *Service) Find(ctx context.Context, q fact.UsersQuestion) ([]User, error) {
	found, err := s.Store.Find(ctx, q.IDs)
	if err != nil {
		return nil, err
	}
	keyed, err := s.Store.FindByKeys(ctx, q.Keys)
	found = append(found, keyed...)
	if err == nil && len(q.Elements) > 0 {
		var own []User
		own, err = s.Store.List(ctx, Filter{Elements: q.Elements, Limit: usersAtOnce})
		found = append(found, own...)
	}
	if err == nil && len(q.AdminOf) > 0 {
		var administrators []User
		administrators, err = s.Store.List(ctx, Filter{AdminOf: q.AdminOf, Limit: usersAtOnce})
		found = append(found, administrators...)
	}
	return found, err
}

// List returns up to limit of the users that p administers, with ids above after, by id, and the id after which the
// next page begins; 0 when there are no more. Unless element is 0, they are those who are this element.
func (s *Service) List(
	ctx context.Context, p principal.Principal, element, after int64, limit int,
) (users []User, next int64, err error) {
	f := Filter{After: after, Limit: limit + 1}
	if element != 0 {
		f.Elements = []int64{element}
	}
	if !p.Permissions.Admin {
		f.Elements, err = s.Elements.Belonging(ctx,
			fact.BelongingQuestion{Schools: p.AdminOf, IDs: f.Elements, All: element == 0})
		if err != nil || len(f.Elements) == 0 {
			return nil, 0, err
		}
	}
	users, err = s.Store.List(ctx, f)
	users, next = sequence.Page(users, limit, false, func(u User) int64 { return u.ID })
	return users, next, err
}

// ListByEmail returns the users with that address in any letter case, active or not, by id (contract 5.5, 5.6); none
// when it is not an address. Forbidden without can_su.
func (s *Service) ListByEmail(ctx context.Context, p principal.Principal, email string) ([]User, error) {
	if !p.Permissions.CanSU {
		return nil, problem.New(problem.Forbidden, "")
	}
	folded := FoldEmail(email)
	if !isAddress(folded) {
		return nil, nil
	}
	return s.Store.ListByEmail(ctx, folded)
}
