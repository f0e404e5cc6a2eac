package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Listing is a page of a list of elements.
type Listing struct {
	Filter
	SchoolID   int64 // only what belongs to this school today; 0: of any
	Unattended bool  // only controlled elements with no administrator who can log in
	After      int64 // only elements with a greater id
	Limit      int
}

// List returns a page of elements in order of id, and the id after which the next page begins, 0 after the last page.
// They are those that p administers. A list by key, which has at most one element, is recorded as a read of its
// details. A Missing problem when the school does not exist, Malformed when the group is not a school, Forbidden when
// it is not p's.
func (s *Service) List(ctx context.Context, p principal.Principal, l Listing) (page []Element, next int64, err error) {
	limit := l.Limit
	l.Limit++
	if err := s.chooseAdministered(ctx, p, &l); err != nil || l.IDs != nil && len(l.IDs) == 0 {
		return nil, 0, err
	}
	switch {
	case l.Unattended:
		page, err = s.listUnattended(ctx, l)
	case l.IDs != nil && l.Key == "":
		page, err = s.listKnown(ctx, l)
	default:
		page, err = s.Store.List(ctx, l.Filter, l.After, l.Limit)
	}
	page, next = sequence.Page(page, limit, false, idOf)
	if err == nil && l.Key != "" {
		s.recordRead(ctx, s.viewer(p).ElementID, audit.ReadDetail, page...)
	}
	return page, next, err
}

// listKnown returns up to l.Limit of the elements l.IDs that match, in order of id. They are usually in memory: a store
// would look up each of a school's thousands of ids.
func (s *Service) listKnown(ctx context.Context, l Listing) ([]Element, error) {
	const growth = 4
	ids, _ := pageOf(l.IDs, l.After, len(l.IDs))
	var page []Element
	for most := l.Limit; len(ids) > 0; most *= growth {
		some := ids[:min(most, len(ids))]
		ids = ids[len(some):]
		elements, err := s.find(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			e := elements[id]
			if e == nil || !l.Matches(e) {
				continue
			}
			if page = append(page, *e); len(page) == l.Limit {
				return page, nil
			}
		}
	}
	return page, nil
}

// membershipBatch is how many memberships are read at once for an administrator of a school.
const membershipBatch = 2000

// ListMemberships returns a page of the memberships whose group and member are p's, including withdrawn ones, in order
// of id, and the id after which the next page begins, 0 after the last page.
func (s *Service) ListMemberships(
	ctx context.Context, p principal.Principal, after int64, limit int,
) (page []Membership, next int64, err error) {
	isOwn, batch := func(Membership) bool { return true }, limit+1
	if !p.Permissions.Admin {
		own, err := s.Belonging(ctx, fact.BelongingQuestion{Schools: p.AdminOf, All: true})
		if err != nil {
			return nil, 0, err
		}
		isOwn = func(m Membership) bool { return has(own, m.Group) && has(own, m.Member) }
		batch = max(batch, membershipBatch)
	}
	for {
		some, err := s.Memberships.ListAll(ctx, after, batch)
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

// unattendedBatch is how many controlled elements are checked with one question to identity.
const unattendedBatch = 500

// listUnattended returns up to l.Limit of the elements that are unattended, in order of id. It reads the controlled
// ones, which are few, and asks identity which administrators can log in.
func (s *Service) listUnattended(ctx context.Context, l Listing) ([]Element, error) {
	var unattended []Element
	l.Controlled = true
	for {
		controlled, err := s.Store.List(ctx, l.Filter, l.After, unattendedBatch)
		if err != nil {
			return nil, err
		}
		last := len(controlled) < unattendedBatch
		if !last {
			l.After = controlled[len(controlled)-1].ID
		}
		found, err := s.withoutDecider(ctx, controlled)
		if err != nil {
			return nil, err
		}
		if unattended = append(unattended, found...); last || len(unattended) >= l.Limit {
			return unattended[:min(l.Limit, len(unattended))], nil
		}
	}
}

// withoutDecider returns those of the elements none of whose administrators can log in.
func (s *Service) withoutDecider(ctx context.Context, controlled []Element) ([]Element, error) {
	var ids []int64
	for _, e := range controlled {
		ids = append(ids, e.Administrators...)
	}
	users, err := s.Users.Users(ctx, fact.UsersQuestion{IDs: sequence.Distinct(ids)})
	decides := map[int64]bool{}
	for _, u := range users {
		decides[u.ID] = u.MayLogIn()
	}
	return slices.DeleteFunc(controlled, func(e Element) bool {
		return slices.ContainsFunc(e.Administrators, func(id int64) bool { return decides[id] })
	}), err
}

// pageOf returns a page of ids, which are in order, and the id after which the next page begins, 0 after the last page.
func pageOf(ids []int64, after int64, limit int) (page []int64, next int64) {
	from, found := slices.BinarySearch(ids, after)
	if found {
		from++
	}
	return sequence.Page(ids[from:], limit, false, func(id int64) int64 { return id })
}
