package element

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/ifmatch"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// ErrUnchanged is returned by the function given to Store.Change to say that nothing needs to be stored.
var ErrUnchanged = record.ErrUnchanged

// Filter chooses elements of a list, in order of id; zero fields choose all.
type Filter struct {
	EntityType string
	Current    *bool
	Key        string
	After      int64 // the id to go on after
	Limit      int
}

// Get returns one element.
func (s *Service) Get(ctx context.Context, id int64) (Element, error) {
	return s.Store.Element(ctx, id)
}

// List returns a page of elements in order of id, and where the next one begins, 0 after the last.
func (s *Service) List(ctx context.Context, f Filter) (page []Element, next int64, err error) {
	wanted := f.Limit
	f.Limit++
	page, err = s.Store.List(ctx, f)
	if err == nil && len(page) > wanted {
		page = page[:wanted]
		next = page[wanted-1].ID
	}
	return page, next, err
}

// Create makes an element by hand. When the draft is invalid, the element comes back as it would be, with an Invalid problem.
func (s *Service) Create(ctx context.Context, d Draft) (Element, error) {
	e := fresh("")
	if d.EntityType != nil {
		e.EntityType = *d.EntityType
	}
	if err := problem.InvalidFields(d.Apply(&e)); err != nil {
		return e, err
	}
	added := []Element{e}
	taken, err := s.Store.Add(ctx, added)
	if err == nil && len(taken) > 0 { // an element made by hand has no other key of its own choice
		err = problem.InvalidFields(problem.Fields{"uuid": {"has already been taken"}})
	}
	return added[0], err
}

// Patch changes the fields that the draft gives. When the result is invalid, it comes back with an Invalid problem and is not kept.
// PreconditionFailed at another version.
func (s *Service) Patch(ctx context.Context, id int64, d Draft, match ifmatch.Match) (Element, error) {
	return s.Store.Change(ctx, id, func(e *Element) error {
		if err := match.Check(e.Version); err != nil {
			return err
		}
		return problem.InvalidFields(d.Apply(e))
	})
}

// Retire makes an element no longer current; its history stays. A later import of the same row brings it back.
// PreconditionFailed at another version.
func (s *Service) Retire(ctx context.Context, id int64, match ifmatch.Match) error {
	_, err := s.Store.Change(ctx, id, func(e *Element) error {
		if err := match.Check(e.Version); err != nil {
			return err
		}
		if !e.Current && e.ImportHash == "" {
			return ErrUnchanged
		}
		e.Current, e.ImportHash = false, ""
		return nil
	})
	return err
}

// Administrators returns a page of the users who administer the element, in order of id, and the id after which the next page begins, 0 after
// the last. A user that identity no longer has is left out.
func (s *Service) Administrators(ctx context.Context, id, after int64, limit int) (page []form.User, next int64, err error) {
	e, err := s.Store.Element(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	from, found := slices.BinarySearch(e.Administrators, after)
	if found {
		from++
	}
	ids := e.Administrators[from:]
	if len(ids) > limit {
		ids = ids[:limit]
		next = ids[limit-1]
	}
	facts, err := s.Users.Users(ctx, fact.UsersQuestion{IDs: ids})
	if err != nil {
		return nil, 0, err
	}
	page = make([]form.User, len(facts))
	for i, f := range facts {
		page[i] = f.User
	}
	slices.SortFunc(page, func(a, b form.User) int { return cmp.Compare(a.ID, b.ID) })
	return page, next, nil
}

// AddAdministrator makes the user an administrator of the element, which controls it. Once more changes nothing.
func (s *Service) AddAdministrator(ctx context.Context, id, userID int64) (form.User, error) {
	found, err := s.Users.Users(ctx, fact.UsersQuestion{IDs: []int64{userID}})
	if err != nil {
		return form.User{}, err
	}
	if _, err := s.Store.Element(ctx, id); err != nil {
		return form.User{}, err
	}
	if len(found) == 0 {
		return form.User{}, problem.Missing("User", userID)
	}
	_, err = s.Store.Change(ctx, id, func(e *Element) error {
		if !e.addAdministrator(userID) {
			return ErrUnchanged
		}
		return nil
	})
	return found[0].User, err
}

// addAdministrator keeps the order, and says whether the user was none before.
func (e *Element) addAdministrator(userID int64) bool {
	i, found := slices.BinarySearch(e.Administrators, userID)
	if !found {
		e.Administrators = slices.Insert(e.Administrators, i, userID)
	}
	return !found
}

// RemoveAdministrator ends the user's administration of the element; without the last one the element is free again.
func (s *Service) RemoveAdministrator(ctx context.Context, id, userID int64) error {
	_, err := s.Store.Change(ctx, id, func(e *Element) error {
		i, found := slices.BinarySearch(e.Administrators, userID)
		if !found {
			return problem.Missing("User", userID)
		}
		e.Administrators = slices.Delete(e.Administrators, i, i+1)
		return nil
	})
	return err
}
