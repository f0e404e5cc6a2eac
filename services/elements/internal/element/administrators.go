package element

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// ListAdministrators returns a page of the users who administer the element, in order of id, and the id after which the
// next page begins, 0 after the last page. Users who no longer exist are left out.
func (s *Service) ListAdministrators(
	ctx context.Context, p principal.Principal, id, after int64, limit int,
) (page []fact.User, next int64, err error) {
	e, err := s.GetAdministered(ctx, p, id)
	if err != nil {
		return nil, 0, err
	}
	ids, next := pageOf(e.Administrators, after, limit)
	page, err = s.Users.Users(ctx, fact.UsersQuestion{IDs: ids})
	slices.SortFunc(page, func(a, b fact.User) int { return cmp.Compare(a.ID, b.ID) })
	return page, next, err
}

// AddAdministrator makes the user an administrator of the element, which is controlled from then on. It changes nothing
// when the user is one already. A Missing problem when there is no such element or user; Forbidden unless p administers
// the element and the user's own element.
func (s *Service) AddAdministrator(ctx context.Context, p principal.Principal, id, userID int64) (fact.User, error) {
	found, err := s.Users.Users(ctx, fact.UsersQuestion{IDs: []int64{userID}})
	if err != nil {
		return fact.User{}, err
	}
	if _, err := s.Get(ctx, id); err != nil {
		return fact.User{}, err
	}
	if err := s.mustKeep(ctx, p, id); err != nil {
		return fact.User{}, err
	}
	if len(found) == 0 {
		return fact.User{}, problem.Missing("User", userID)
	}
	if err := s.mustAdminister(ctx, p, found[0].ElementID); err != nil {
		return fact.User{}, err
	}
	_, err = s.change(ctx, id, func(e *Element) error {
		if !e.addAdministrator(userID) {
			return record.ErrUnchanged
		}
		return nil
	})
	return found[0], err
}

// addAdministrator adds an administrator, in order, and says whether the user is a new one.
func (e *Element) addAdministrator(userID int64) bool {
	i, found := slices.BinarySearch(e.Administrators, userID)
	if !found {
		e.Administrators = slices.Insert(e.Administrators, i, userID)
	}
	return !found
}

// RemoveAdministrator removes an administrator of the element; without any, it is no longer controlled. A Missing
// problem when there is no such element, or the user is not one of its administrators; Forbidden when it is not p's.
func (s *Service) RemoveAdministrator(ctx context.Context, p principal.Principal, id, userID int64) error {
	if err := s.mustKeep(ctx, p, id); err != nil {
		return err
	}
	_, err := s.change(ctx, id, func(e *Element) error {
		i, found := slices.BinarySearch(e.Administrators, userID)
		if !found {
			return problem.Missing("User", userID)
		}
		e.Administrators = slices.Delete(e.Administrators, i, i+1)
		return nil
	})
	return err
}
