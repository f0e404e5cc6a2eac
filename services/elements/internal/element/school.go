package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// This file decides what belongs to which school, for all routes: a school is a group, and everything in it today,
// directly or through other groups, belongs to it, as do those groups and the school's group itself.

// IsSchool says whether e is the group of a school. A group that is no longer current is not a school.
func (e Element) IsSchool() bool { return e.IsGroup() && e.Details.School && e.Current }

// SchoolFilter chooses elements of a search by school; the zero filter chooses all.
type SchoolFilter struct {
	ID  int64 // only what belongs to this school; 0: of any
	Own bool  // only what belongs to the caller's schools
	// First puts what belongs to the caller's schools first.
	First bool
}

// narrow narrows a search by p to the schools of a filter that is not zero: to no ids when nothing belongs to such a
// school. Problems are those of chosen.
func (s *Service) narrow(ctx context.Context, p principal.Principal, of SchoolFilter, among Among) (Among, error) {
	schools, err := s.chosen(ctx, p, of)
	if err != nil {
		return Among{}, err
	}
	if len(schools) == 1 {
		among.School = schools[0]
	}
	if among.IDs, err = s.belonging(ctx, schools); err != nil || of.ID == 0 {
		return among, err
	}
	return s.nearby(ctx, p, among)
}

// nearby removes persons whom p sees only in list form from another school's elements, since that form does not name a
// person's school.
func (s *Service) nearby(ctx context.Context, p principal.Principal, among Among) (Among, error) {
	who := s.viewer(p)
	if !who.InSchool {
		return among, nil
	}
	own, err := s.schoolsOf(ctx, who.Schooled()...)
	if err != nil {
		return among, err
	}
	administered, err := s.onlySchools(ctx, who.AdminOf)
	own = sequence.Distinct(append(own, administered...))
	if err != nil || len(own) == 0 || has(own, among.School) {
		return among, err
	}
	near, err := s.belonging(ctx, own)
	if err != nil {
		return among, err
	}
	elements, err := s.find(ctx, among.IDs)
	among.School = 0
	among.IDs = slices.DeleteFunc(slices.Clone(among.IDs), func(id int64) bool {
		return !has(near, id) && !who.Is(id) && (elements[id] == nil || elements[id].isPerson())
	})
	return among, err
}

// chosen returns the schools of a filter that is not zero. Missing and Forbidden as of getSeen for the school's id;
// Malformed when it is not a school.
func (s *Service) chosen(ctx context.Context, p principal.Principal, of SchoolFilter) ([]int64, error) {
	if of.ID == 0 {
		return s.schoolsOf(ctx, principal.Persons(p.ElementID, nil)...)
	}
	e, _, err := s.getSeen(ctx, p, of.ID, s.onToday())
	if err == nil && !e.IsSchool() {
		err = notASchool(of.ID)
	}
	return []int64{of.ID}, err
}

func notASchool(id int64) error {
	return problem.New(problem.Malformed, "the element %d is not a school", id)
}

// schoolsOf returns the schools that one of the elements belongs to today, in order of id.
func (s *Service) schoolsOf(ctx context.Context, ids ...int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	schools, err := s.Store.ListSchools(ctx)
	if err != nil {
		return nil, err
	}
	reaches, err := s.reaches(ctx, ids, s.onToday())
	return sequence.Distinct(among(slices.Concat(reaches...), schools)), err
}

// onlySchools returns those of the ids that are schools, in order.
func (s *Service) onlySchools(ctx context.Context, ids []int64) ([]int64, error) {
	schools, err := s.Store.ListSchools(ctx)
	return both(schools, ids), err
}

// belonging returns the ids of all that belongs to the schools today, in order.
func (s *Service) belonging(ctx context.Context, schools []int64) ([]int64, error) {
	today := s.onToday()
	var all []int64
	for _, school := range schools {
		ids, err := s.Memberships.Belonging(ctx, school, today.First,
			func(ctx context.Context) (ids, groups []int64, err error) {
				ids = append(ids, school)
				groups, err = descend(ctx, s.downward(today), []int64{school}, today,
					func(m *Membership) { ids = append(ids, m.Member) })
				return sequence.Distinct(ids), groups, err
			})
		if err != nil || len(schools) == 1 {
			return ids, err
		}
		all = append(all, ids...)
	}
	return sequence.Distinct(all), nil
}

// search lists, by list, the elements among those of the filter's schools, up to a limit; 0: no limit.
func (s *Service) search(
	ctx context.Context, p principal.Principal, of SchoolFilter, everywhere Among, limit int,
	list func(among Among, limit int) ([]Element, error),
) ([]Element, error) {
	if of == (SchoolFilter{}) {
		return list(everywhere, limit)
	}
	own, err := s.narrow(ctx, p, of, everywhere)
	switch {
	case err != nil:
		return nil, err
	case len(own.IDs) > 0:
	case of.First:
		return list(everywhere, limit)
	default:
		return nil, nil
	}
	found, err := list(own, limit)
	if err != nil || !of.First || limit > 0 && len(found) == limit {
		return found, err
	}
	enough := 0
	if limit > 0 {
		enough = limit + len(found) // found among them
	}
	others, err := list(everywhere, enough)
	others = slices.DeleteFunc(others, func(e Element) bool { return has(own.IDs, e.ID) })
	all := slices.Concat(found, others)
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all, err
}

// belong returns those of the ids that belong to one of the schools today, in order.
func (s *Service) belong(ctx context.Context, schools, ids []int64) ([]int64, error) {
	reaches, err := s.reaches(ctx, ids, s.onToday())
	if err != nil {
		return nil, err
	}
	var all []int64
	for n, id := range ids {
		if len(among(reaches[n], schools)) > 0 {
			all = append(all, id)
		}
	}
	return sequence.Distinct(all), nil
}

// Belonging returns what belongs to one of the schools today, in order of id.
func (s *Service) Belonging(ctx context.Context, q fact.BelongingQuestion) ([]int64, error) {
	schools, err := s.onlySchools(ctx, q.Schools)
	switch {
	case err != nil, len(schools) == 0:
		return nil, err
	case q.Unattended:
		return s.unattended(ctx, schools)
	case q.All:
		return s.belonging(ctx, schools)
	}
	return s.belong(ctx, schools, q.IDs)
}

// unattended returns what belongs to the schools today and has no administrators of its own, in order; nothing unless
// there are several schools.
func (s *Service) unattended(ctx context.Context, schools []int64) ([]int64, error) {
	if all, err := s.Store.ListSchools(ctx); err != nil || len(all) < 2 {
		return nil, err
	}
	ids, err := s.belonging(ctx, schools)
	if err != nil {
		return nil, err
	}
	elements, err := s.find(ctx, ids)
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		return elements[id] == nil || len(elements[id].Administrators) > 0
	}), err
}

// Control returns the effect of schools on a user, for those of the elements that belong to one today, where there are
// several schools (decisions, part 9). An element is controlled for users who belong to none of its schools, unless it
// is open, or the user is an admin or administers one of them. Where it has no administrators of its own, those of its
// schools decide.
func (s *Service) Control(ctx context.Context, q fact.ControlQuestion) ([]fact.Control, error) {
	all, err := s.Store.ListSchools(ctx)
	if err != nil || len(all) < 2 {
		return nil, err
	}
	elements, err := s.find(ctx, slices.Concat(q.IDs, all))
	if err != nil {
		return nil, err
	}
	reaches, err := s.reaches(ctx, append([]int64{q.ElementID}, q.IDs...), s.onToday())
	if err != nil {
		return nil, err
	}
	own := among(reaches[0], all)
	var controls []fact.Control
	for n, id := range q.IDs {
		e, schools := elements[id], among(reaches[n+1], all)
		if e == nil || len(schools) == 0 {
			continue
		}
		open := slices.ContainsFunc(append(schools, id), func(id int64) bool {
			return elements[id].Details.OpenTo == OpenToAll
		})
		controls = append(controls, e.control(q, own, schools, open))
	}
	return controls, nil
}

// control returns the effect of an element's schools on a user who belongs to the schools own. Open says that outsiders
// book the element at once.
func (e Element) control(q fact.ControlQuestion, own, schools []int64, open bool) fact.Control {
	administers := common(q.AdminOf, schools)
	return fact.Control{
		ElementID: e.ID, Schools: schools,
		Outside: !open && !q.Admin && !common(own, schools) && !administers,
		Decides: len(e.Administrators) == 0 && administers,
	}
}

// among returns those of the schools, which are in order, that an element with these reaches belongs to, in order.
func among(reaches []fact.Reach, schools []int64) (all []int64) {
	for _, r := range reaches {
		if has(schools, r.ElementID) {
			all = append(all, r.ElementID)
		}
	}
	slices.Sort(all)
	return all
}

// both returns what both lists have, in the order of the first.
func both(a, b []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(a), func(id int64) bool { return !slices.Contains(b, id) })
}

// common says whether both lists have an id.
func common(a, b []int64) bool {
	return slices.ContainsFunc(a, func(id int64) bool { return slices.Contains(b, id) })
}

// Beyond returns those of the users, in order, who administer an element, current or not, that belongs to none of the
// schools today.
func (s *Service) Beyond(ctx context.Context, q fact.BeyondQuestion) ([]int64, error) {
	administered, err := s.Store.FindByAdministrators(ctx, q.Users)
	if err != nil || len(administered) == 0 {
		return nil, err
	}
	own, err := s.Belonging(ctx, fact.BelongingQuestion{Schools: q.Schools, IDs: idsOf(administered)})
	if err != nil {
		return nil, err
	}
	var users []int64
	for _, e := range administered {
		if !has(own, e.ID) {
			users = append(users, e.Administrators...)
		}
	}
	users = sequence.Distinct(users)
	return slices.DeleteFunc(users, func(id int64) bool { return !slices.Contains(q.Users, id) }), nil
}
