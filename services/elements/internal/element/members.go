package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// MaxMembers bounds how many members one call adds.
const MaxMembers = 1000

// settleTries bounds how often a write of many records starts over for those that lost a race.
const settleTries = 5

// Member is one run of days of a membership, as the administration lists and adds it.
type Member struct {
	ElementID int64
	Element   form.Element
	Days      wiretime.Days
	Faults    problem.Fields // why it can't be added
}

// always is every day.
var always = wiretime.Days{First: wiretime.FirstDay, Last: wiretime.LastDay}

// Members returns a page of a group's own members in order of element id, then first day, on the day where one is given, and the id after
// which the next page begins, 0 after the last. The limit counts elements.
func (s *Service) Members(ctx context.Context, group int64, on *wiretime.Day, after int64, limit int) (page []Member, next int64, err error) {
	if err := s.group(ctx, group); err != nil {
		return nil, 0, err
	}
	days := always
	if on != nil {
		days = wiretime.Days{First: *on, Last: *on}
	}
	memberships, err := s.Store.MembersPage(ctx, group, days, after, limit+1)
	if err != nil {
		return nil, 0, err
	}
	if len(memberships) > limit {
		memberships = memberships[:limit]
		next = memberships[limit-1].Member
	}
	for _, m := range memberships {
		for _, held := range m.Days {
			if on == nil || held.Has(*on) {
				page = append(page, Member{ElementID: m.Member, Days: held})
			}
		}
	}
	return page, next, s.nameMembers(ctx, page)
}

// PeopleAndThings returns a page of the people and things in a group on a day, today when nil, nested groups resolved, in order of id, and
// the id after which the next page begins, 0 after the last.
func (s *Service) PeopleAndThings(ctx context.Context, group int64, on *wiretime.Day, after int64, limit int) (page []Member, next int64, err error) {
	if err := s.group(ctx, group); err != nil {
		return nil, 0, err
	}
	all, err := s.membersOn(ctx, group, s.dayOr(on))
	if err != nil {
		return nil, 0, err
	}
	from, found := slices.BinarySearch(all, after)
	if found {
		from++
	}
	if all = all[from:]; len(all) > limit {
		all = all[:limit]
		next = all[limit-1]
	}
	for _, id := range all {
		page = append(page, Member{ElementID: id})
	}
	return page, next, s.nameMembers(ctx, page)
}

func (s *Service) dayOr(day *wiretime.Day) wiretime.Day {
	if day == nil {
		return s.today()
	}
	return *day
}

// group is nil when the id is that of a group.
func (s *Service) group(ctx context.Context, id int64) error {
	e, err := s.Store.Element(ctx, id)
	if err == nil && !e.IsGroup() {
		err = problem.New(problem.MethodNotAllowed, "only a group has members")
	}
	return err
}

func (s *Service) nameMembers(ctx context.Context, page []Member) error {
	ids := make([]int64, len(page))
	for i, m := range page {
		ids[i] = m.ElementID
	}
	elements, err := s.Store.ElementsByID(ctx, slices.Compact(ids))
	if err != nil {
		return err
	}
	names := make(map[int64]form.Element, len(elements))
	for _, e := range elements {
		names[e.ID] = e.List()
	}
	for i := range page {
		page[i].Element = names[page[i].ElementID]
	}
	return nil
}

// AddMembers adds days to memberships of a group; days that overlap or adjoin are merged. They are checked together before anything is
// written: with a fault in any, they come back with their faults and an Invalid problem. Each pair is written whole; a call cut off
// between two of them can be repeated.
func (s *Service) AddMembers(ctx context.Context, group int64, members []Member) ([]Member, error) {
	if err := s.group(ctx, group); err != nil {
		return nil, err
	}
	elements, err := s.checkMembers(ctx, group, members)
	if err != nil {
		return members, err
	}
	added := map[int64][]wiretime.Days{}
	for _, m := range members {
		added[m.ElementID] = append(added[m.ElementID], m.Days)
	}
	for i := range members {
		members[i].Element = elements[members[i].ElementID].List()
	}
	return members, s.settle(ctx, func(ctx context.Context) (bool, error) { return s.addDays(ctx, group, added, elements) })
}

func (s *Service) checkMembers(ctx context.Context, group int64, members []Member) (map[int64]Element, error) {
	var ids []int64
	for _, m := range members {
		if m.ElementID != 0 {
			ids = append(ids, m.ElementID)
		}
	}
	found, err := s.Store.ElementsByID(ctx, distinctIDs(ids))
	if err != nil {
		return nil, err
	}
	elements := make(map[int64]Element, len(found))
	for _, e := range found {
		elements[e.ID] = e
	}
	bad := problem.Fields{}
	for i := range members {
		checkMember(&members[i], group, elements)
		for field, messages := range members[i].Faults {
			bad[field] = messages
		}
	}
	return elements, problem.InvalidFields(bad)
}

func checkMember(m *Member, group int64, elements map[int64]Element) {
	if m.Faults == nil {
		m.Faults = problem.Fields{}
	}
	switch _, exists := elements[m.ElementID]; {
	case len(m.Faults["element_id"]) > 0:
	case m.ElementID == 0:
		m.Faults.Add("element_id", "can't be blank")
	case m.ElementID == group:
		m.Faults.Add("element_id", "is the group itself")
	case !exists:
		m.Faults.Add("element_id", "must exist")
	}
	if m.Days.Last < m.Days.First {
		m.Faults.Add("last_day", "is before first_day")
	}
}

// addDays is one try to add days to the pairs of the group; false when another writer came between in any.
func (s *Service) addDays(ctx context.Context, group int64, added map[int64][]wiretime.Days, elements map[int64]Element) (bool, error) {
	ids := make([]int64, 0, len(added))
	for id := range added {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	existing, err := s.pairs(ctx, []int64{group}, ids)
	if err != nil {
		return false, err
	}
	var fresh, changed []Membership
	for _, id := range ids {
		m, exists := existing[pair{group, id}]
		days := wiretime.MergeDays(slices.Concat(m.Days, added[id]))
		switch {
		case !exists:
			fresh = append(fresh, Membership{Group: group, Member: id, Nested: elements[id].IsGroup(), Days: days})
		case !slices.Equal(days, m.Days):
			m.Days = days
			m.Sources = m.withDays(added[id])
			changed = append(changed, m)
		}
	}
	return s.writeMemberships(ctx, fresh, changed)
}

// EndMembership ends a membership on the day before from, today when nil; days of it that would begin then or later go. A Missing problem
// when the element never was a member.
func (s *Service) EndMembership(ctx context.Context, group, member int64, from *wiretime.Day) error {
	if err := s.group(ctx, group); err != nil {
		return err
	}
	first := s.dayOr(from)
	return s.settle(ctx, func(ctx context.Context) (bool, error) {
		existing, err := s.pairs(ctx, []int64{group}, []int64{member})
		if err != nil {
			return false, err
		}
		m, exists := existing[pair{group, member}]
		if !exists || len(m.Days) == 0 {
			return false, problem.Missing("Membership", member)
		}
		left := endBefore(m.Days, first)
		if slices.Equal(left, m.Days) {
			return true, nil
		}
		m.Days = left // kept without any, so that an import knows that it was taken back by hand
		m.Sources = MembershipChange{Before: &first}.apply(m.Sources)
		return s.Store.ReplaceMemberships(ctx, []Membership{m})
	})
}

// pair is a group and a member of it.
type pair struct{ group, member int64 }

func (s *Service) pairs(ctx context.Context, groups, members []int64) (map[pair]Membership, error) {
	found, err := s.Store.Pairs(ctx, groups, members)
	if err != nil {
		return nil, err
	}
	pairs := make(map[pair]Membership, len(found))
	for _, m := range found {
		pairs[pair{m.Group, m.Member}] = m
	}
	return pairs, nil
}

// writeMemberships says whether all were written: none taken, none changed by another writer.
func (s *Service) writeMemberships(ctx context.Context, fresh, changed []Membership) (bool, error) {
	taken, err := s.Store.AddMemberships(ctx, fresh)
	if err != nil {
		return false, err
	}
	all, err := s.Store.ReplaceMemberships(ctx, changed)
	return all && len(taken) == 0, err
}

// settle tries until nothing was lost to another writer, a few times.
func (s *Service) settle(ctx context.Context, try func(context.Context) (bool, error)) error {
	for range settleTries {
		if done, err := try(ctx); done || err != nil {
			return err
		}
	}
	return problem.New(problem.Conflict, "others kept changing the record")
}

func distinctIDs(ids []int64) []int64 {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}
