package element

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// MaxMembers bounds how many members one call adds.
const MaxMembers = 1000

// allDays is every day.
var allDays = wiretime.Days{First: wiretime.FirstDay, Last: wiretime.LastDay}

// Member is a member of a group on a run of days, as administrators list and add it.
type Member struct {
	ElementID int64          // 0: missing, of a member to be added
	Element   Element        // zero in a member that was not added
	Days      wiretime.Days  // zero in a list of people and things
	Faults    problem.Fields // of a member to be added
}

// MembershipFilter chooses memberships of a group.
type MembershipFilter struct {
	Group int64
	Days  wiretime.Days // those that hold on one of the days, and perhaps some that hold on none
	After int64         // only members with a greater id
	Limit int
}

// ListMembers returns a page of a group's own members in order of element id, then first day, and the id after which
// the next page begins, 0 after the last page. On, when not nil, selects the runs of days that contain it. The limit
// counts elements. A Missing problem when there is no such element, Forbidden when it is not p's, MethodNotAllowed when
// it is not a group.
func (s *Service) ListMembers(
	ctx context.Context, p principal.Principal, group int64, on *wiretime.Day, after int64, limit int,
) (page []Member, next int64, err error) {
	if err := s.requireGroup(ctx, p, group); err != nil {
		return nil, 0, err
	}
	days := allDays
	if on != nil {
		days = wiretime.Days{First: *on, Last: *on}
	}
	filter := MembershipFilter{Group: group, Days: days, After: after, Limit: limit + 1}
	memberships, err := s.Memberships.List(ctx, filter)
	if err != nil {
		return nil, 0, err
	}
	memberships, next = sequence.Page(memberships, limit, false, func(m Membership) int64 { return m.Member })
	for _, m := range memberships {
		for _, run := range m.Days {
			if on == nil || run.Has(*on) {
				page = append(page, Member{ElementID: m.Member, Days: run})
			}
		}
	}
	return page, next, s.fillElements(ctx, page)
}

// ListPeopleAndThings returns a page of the people and things that are in a group on a day, today when nil, directly
// or through other groups. They are in order of id; next is the id after which the next page begins, 0 after the last
// page. Errors as those of ListMembers.
func (s *Service) ListPeopleAndThings(
	ctx context.Context, p principal.Principal, group int64, on *wiretime.Day, after int64, limit int,
) (page []Member, next int64, err error) {
	if err := s.requireGroup(ctx, p, group); err != nil {
		return nil, 0, err
	}
	all, err := s.nestedMembers(ctx, group, s.dayOrToday(on))
	if err != nil {
		return nil, 0, err
	}
	ids, next := pageOf(all, after, limit)
	for _, id := range ids {
		page = append(page, Member{ElementID: id})
	}
	return page, next, s.fillElements(ctx, page)
}

func (s *Service) dayOrToday(day *wiretime.Day) wiretime.Day {
	if day == nil {
		return s.today()
	}
	return *day
}

// fillElements reads the members' elements.
func (s *Service) fillElements(ctx context.Context, members []Member) error {
	elements, err := s.elementsOf(ctx, members)
	if err == nil {
		setElements(members, elements)
	}
	return err
}

// elementsOf returns those of the members' elements that exist, by id.
func (s *Service) elementsOf(ctx context.Context, members []Member) (map[int64]*Element, error) {
	ids := sequence.Map(members, func(m Member) int64 { return m.ElementID })
	return s.find(ctx, ids)
}

func setElements(members []Member, elements map[int64]*Element) {
	for i := range members {
		if e := elements[members[i].ElementID]; e != nil {
			members[i].Element = *e
		}
	}
}

// AddMembers adds days to the memberships of a group; runs of days that overlap or adjoin are merged. With a fault in
// any member nothing is written, and record.InvalidError has all the members. Members that are not p's are Forbidden:
// otherwise p could administer any element by adding it. The days of one element are written at once, those of several
// one after another; an interrupted call can be repeated. Other errors are those of ListMembers, and Conflict when
// other writers keep changing the same memberships.
func (s *Service) AddMembers(
	ctx context.Context, p principal.Principal, group int64, members []Member,
) ([]Member, error) {
	if err := s.requireGroup(ctx, p, group); err != nil {
		return nil, err
	}
	elements, err := s.elementsOf(ctx, members)
	if err != nil {
		return nil, err
	}
	if err := s.mustAdminister(ctx, p, slices.Collect(maps.Keys(elements))...); err != nil {
		return nil, err
	}
	faults := problem.Fields{}
	for i := range members {
		members[i].check(group, elements)
		maps.Copy(faults, members[i].Faults)
	}
	if err := record.Invalid(members, faults); err != nil {
		return nil, err
	}
	setElements(members, elements)
	return members, retry(func() (bool, error) { return s.addDays(ctx, group, members) })
}

// check adds to the faults of a member that is to be added to the group.
func (m *Member) check(group int64, elements map[int64]*Element) {
	if m.Faults == nil {
		m.Faults = problem.Fields{}
	}
	switch _, exists := elements[m.ElementID]; {
	case len(m.Faults["element_id"]) > 0:
	case m.ElementID == 0:
		m.Faults.Add("element_id", problem.Blank)
	case m.ElementID == group:
		m.Faults.Add("element_id", "is the group itself")
	case !exists:
		m.Faults.Add("element_id", problem.MustExist)
	}
	if m.Days.Last < m.Days.First {
		m.Faults.Add("last_day", "is before first_day")
	}
}

// addDays is one attempt to add days to memberships of the group. It returns false when another writer interfered.
func (s *Service) addDays(ctx context.Context, group int64, members []Member) (done bool, err error) {
	added, nested := map[int64][]wiretime.Days{}, map[int64]bool{}
	for _, m := range members {
		added[m.ElementID] = append(added[m.ElementID], m.Days)
		nested[m.ElementID] = m.Element.IsGroup()
	}
	ids := slices.Sorted(maps.Keys(added))
	existing, err := s.findPairs(ctx, []int64{group}, ids)
	if err != nil {
		return false, err
	}
	var created, updated []Membership
	for _, id := range ids {
		m, exists := existing[pair{group, id}]
		days, sources := wiretime.MergeDays(slices.Concat(m.Days, added[id])), m.withDays(added[id])
		switch {
		case Membership{Days: days, Sources: sources}.isFull():
			return false, tooManyRuns(members, id)
		case !exists:
			created = append(created, Membership{Group: group, Member: id, Nested: nested[id], Days: days})
		case !slices.Equal(days, m.Days), !slices.Equal(sources, m.Sources): // these outlast an import's own
			m.Days, m.Sources = days, sources
			updated = append(updated, m)
		}
	}
	duplicates, err := s.Memberships.Insert(ctx, created)
	if err != nil {
		return false, err
	}
	all, err := s.Memberships.Replace(ctx, updated)
	return all && len(duplicates) == 0, err
}

// tooManyRuns is the record.InvalidError of members among whom that element would have more than MaxRuns.
func tooManyRuns(members []Member, id int64) error {
	fault := fmt.Sprintf("would have more than %d runs of days", MaxRuns)
	for _, m := range members {
		if m.ElementID == id {
			m.Faults.Add("element_id", fault)
		}
	}
	return record.Invalid(members, problem.Fields{"element_id": {fault}})
}

// maxAttempts bounds how often a change of memberships starts over because other writers interfered.
const maxAttempts = 5

// retry makes attempts until one is done or fails; Conflict when others interfere in all of them.
func retry(attempt func() (done bool, err error)) error {
	for range maxAttempts {
		if done, err := attempt(); done || err != nil {
			return err
		}
	}
	return problem.New(problem.Conflict, "other writers kept changing the record")
}

// EndMembership ends a membership on the day before from, today when nil: its days from then on are removed. A Missing
// problem when the element is not a member of the group on any day; other errors are those of AddMembers.
func (s *Service) EndMembership(
	ctx context.Context, p principal.Principal, group, member int64, from *wiretime.Day,
) error {
	if err := s.requireGroup(ctx, p, group); err != nil {
		return err
	}
	first := s.dayOrToday(from)
	return retry(func() (bool, error) {
		existing, err := s.findPairs(ctx, []int64{group}, []int64{member})
		if err != nil {
			return false, err
		}
		m, exists := existing[pair{group, member}]
		if !exists || len(m.Days) == 0 {
			return false, problem.Missing("Membership", member)
		}
		days := daysBefore(m.Days, first)
		if slices.Equal(days, m.Days) {
			return true, nil
		}
		m.Days = days // a membership without days stays, so that an import sees that it was taken back by hand
		m.Sources = MembershipChange{Before: &first}.apply(m.Sources)
		return s.Memberships.Replace(ctx, []Membership{m})
	})
}

// findPairs returns the memberships of the members in the groups, and perhaps others.
func (s *Service) findPairs(ctx context.Context, groups, members []int64) (map[pair]Membership, error) {
	found, err := s.Memberships.Find(ctx, groups, members)
	return sequence.By(found, func(m Membership) pair { return pair{m.Group, m.Member} }), err
}
