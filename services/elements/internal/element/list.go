package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// Filter chooses elements for a list; zero fields choose all.
type Filter struct {
	EntityType string
	Current    *bool
	Key        string
	SchoolID   int64   // only what belongs to this school today; 0: of any
	IDs        []int64 // only these; nil: all
	Seen       *Seen   // only those; nil: all
	Unattended bool    // only controlled elements with no administrator who can log in
	After      int64   // only elements with a greater id
	UpTo       int64   // only elements with an id up to this; 0: all
	Limit      int
}

// List returns a page of elements in order of id, and the id after which the next page begins, 0 after the last page.
// They are those that p administers. A list by key, which has one element at most, is a look at whom it shows.
// A Missing problem when there is no such school, Malformed when it is none, Forbidden when it is not p's.
func (s *Service) List(
	ctx context.Context, p principal.Principal, f Filter,
) (page []Element, next int64, err error) {
	limit := f.Limit
	f.Limit++
	if err := s.chooseAdministered(ctx, p, &f); err != nil || f.IDs != nil && len(f.IDs) == 0 {
		return nil, 0, err
	}
	switch {
	case f.Unattended:
		page, err = s.listUnattended(ctx, f)
	case f.IDs != nil && f.Key == "":
		page, err = s.listKnown(ctx, f)
	default:
		page, err = s.store.List(ctx, f)
	}
	if err == nil && len(page) > limit {
		page = page[:limit]
		next = page[limit-1].ID
	}
	if err == nil && f.Key != "" {
		s.recordRead(ctx, s.viewer(p).ElementID, audit.ReadDetail, page...)
	}
	return page, next, err
}

// Matches reports whether e has the type and the currency of f. It reads nothing else of f.
func (f Filter) Matches(e Element) bool {
	return (f.EntityType == "" || e.EntityType == f.EntityType) && (f.Current == nil || e.Current == *f.Current)
}

// listKnown returns up to f.Limit of the elements f.IDs, in order of id, that match f. They are
// in memory as a rule: a store would look up each of the ids, and a school has thousands.
func (s *Service) listKnown(ctx context.Context, f Filter) ([]Element, error) {
	const growth = 4
	ids := f.IDs
	if n, found := slices.BinarySearch(ids, f.After); found {
		ids = ids[n+1:]
	} else {
		ids = ids[n:]
	}
	var page []Element
	for most := f.Limit; len(ids) > 0; most *= growth {
		some := ids[:min(most, len(ids))]
		ids = ids[len(some):]
		elements, err := s.find(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			e := elements[id]
			if e == nil || !f.Matches(*e) {
				continue
			}
			if page = append(page, *e); len(page) == f.Limit {
				return page, nil
			}
		}
	}
	return page, nil
}

// membershipBatch is how many memberships are read at once for an administrator of a school.
const membershipBatch = 2000

// ListMemberships returns a page of memberships in order of id, those that were taken back among them, and the id after
// which the next page begins, 0 after the last page: of those whose group and member are p's.
func (s *Service) ListMemberships(
	ctx context.Context, p principal.Principal, after int64, limit int,
) (page []Membership, next int64, err error) {
	isOwn, batch := func(Membership) bool { return true }, limit+1
	if !p.Permissions.Admin {
		own, err := s.Belonging(ctx, fact.BelongingQuestion{Schools: p.AdminOf, All: true})
		if err != nil {
			return nil, 0, err
		}
		isOwn = func(m Membership) bool {
			_, group := slices.BinarySearch(own, m.Group)
			_, member := slices.BinarySearch(own, m.Member)
			return group && member
		}
		batch = max(batch, membershipBatch)
	}
	for {
		some, err := s.memberships.ListAll(ctx, after, batch)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range some {
			if !isOwn(m) {
				continue
			}
			if len(page) == limit {
				return page, page[limit-1].ID, nil
			}
			page = append(page, m)
		}
		if len(some) < batch {
			return page, 0, nil
		}
		after = some[len(some)-1].ID
	}
}

// unattendedBatch is how many controlled elements are looked at with one question to identity.
const unattendedBatch = 500

// listUnattended returns up to f.Limit of the elements that are unattended, in order of id. It looks at the controlled
// ones, which are few.
func (s *Service) listUnattended(ctx context.Context, f Filter) ([]Element, error) {
	var unattended []Element
	batch := f
	batch.Limit = unattendedBatch
	for {
		controlled, err := s.store.List(ctx, batch)
		if err != nil {
			return nil, err
		}
		last := len(controlled) < batch.Limit
		if !last {
			batch.After = controlled[len(controlled)-1].ID
		}
		found, err := s.withoutDecider(ctx, controlled)
		if err != nil {
			return nil, err
		}
		if unattended = append(unattended, found...); last || len(unattended) >= f.Limit {
			return unattended[:min(f.Limit, len(unattended))], nil
		}
	}
}

// withoutDecider returns those of the elements whose administrators can none of them log in.
func (s *Service) withoutDecider(ctx context.Context, controlled []Element) ([]Element, error) {
	var ids []int64
	for _, e := range controlled {
		ids = append(ids, e.Administrators...)
	}
	users, err := s.users.Users(ctx, fact.UsersQuestion{IDs: distinctIDs(ids)})
	if err != nil {
		return nil, err
	}
	decides := map[int64]bool{}
	for _, u := range users {
		decides[u.ID] = u.MayLogIn()
	}
	return slices.DeleteFunc(controlled, func(e Element) bool {
		return slices.ContainsFunc(e.Administrators, func(id int64) bool { return decides[id] })
	}), nil
}

// pageOf returns a page of ids, which are in order, and the id after which the next page begins, 0 after the last page.
func pageOf(ids []int64, after int64, limit int) (page []int64, next int64) {
	from, found := slices.BinarySearch(ids, after)
	if found {
		from++
	}
	page = ids[from:]
	if len(page) > limit {
		page = page[:limit]
		next = page[limit-1]
	}
	return page, next
}
