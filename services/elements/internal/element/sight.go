package element

import (
	"context"
	"maps"
	"slices"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// This file decides which elements a viewer sees (decisions, part 9), for all routes. A use case that shows an element
// asks getSeen, one that shows many leaves out those that sight.sees hides, and a search asks the store for what is
// Seen. Code that shows more than the list form also asks elsewhere: getSeen, getAllSeen and poolOf do, and a search in
// another school leaves such persons out (nearby). The events service decides what is shown of their events; it gets
// the sight with the question.

// sight is a viewer of elements, on a run of days.
type sight struct {
	fact.Sight
	// days are those on which the viewer's persons are themselves and in their groups; nil unless the scope is own.
	days map[int64][]wiretime.Days
}

// sightOf returns the sight of a viewer on the days; of the surroundings it has only the reaches.
func (s *Service) sightOf(ctx context.Context, who fact.Sight, days wiretime.Days) (sight, error) {
	v := sight{Sight: who}
	persons := v.Persons()
	if v.Scope != principal.SeesOwn || len(persons) == 0 {
		return v, nil
	}
	reaches, err := s.reaches(ctx, persons, days)
	if err != nil {
		return v, err
	}
	v.days = map[int64][]wiretime.Days{}
	for _, r := range slices.Concat(reaches...) {
		if before, twice := v.days[r.ElementID]; twice {
			r.Days = wiretime.MergeDays(slices.Concat(before, r.Days))
		}
		v.days[r.ElementID] = r.Days
	}
	v.Reaches = make([]fact.Reach, 0, len(v.days))
	for _, id := range slices.Sorted(maps.Keys(v.days)) {
		v.Reaches = append(v.Reaches, fact.Reach{ElementID: id, Days: v.days[id]})
	}
	return v, nil
}

// viewer returns p as a viewer.
func (s *Service) viewer(p principal.Principal) fact.Sight { return fact.SightOf(s.Sights, p) }

// sees says whether an element is seen on one of the days.
func (v sight) sees(e Element) bool { return v.seen().Has(&e) }

// elsewhere returns those of the elements that are persons of other schools, whom the viewer sees only in list form:
// persons who belong to schools today, but to none of the viewer's, which are those that it belongs to and those that
// it administers: it could end its own membership. A viewer or person without a school has no other schools, and the
// viewer's own persons are never elsewhere.
func (s *Service) elsewhere(ctx context.Context, who fact.Sight, elements ...Element) (map[int64]bool, error) {
	schooled := who.Schooled()
	if !who.InSchool || len(schooled)+len(who.AdminOf) == 0 {
		return nil, nil
	}
	ids := slices.Clone(schooled)
	for _, e := range elements {
		if e.isPerson() && !who.Is(e.ID) {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == len(schooled) {
		return nil, nil
	}
	schools, err := s.Store.ListSchools(ctx)
	if err != nil {
		return nil, err
	}
	reaches, err := s.reaches(ctx, ids, s.onToday())
	if err != nil {
		return nil, err
	}
	own := append(among(slices.Concat(reaches[:len(schooled)]...), schools), both(schools, who.AdminOf)...)
	if len(own) == 0 {
		return nil, nil
	}
	others := map[int64]bool{}
	for n := len(schooled); n < len(ids); n++ {
		theirs := among(reaches[n], schools)
		others[ids[n]] = len(theirs) > 0 && !common(theirs, own)
	}
	return others, nil
}

// recordRead records that the user whose element is own (0: none) reads data of those elements that are other people. A
// user who has switched to a person counts as someone else.
func (s *Service) recordRead(ctx context.Context, own int64, what audit.Read, elements ...Element) {
	var people []int64
	for _, e := range elements {
		if e.isPerson() && (e.ID != own || audit.ActorOf(ctx).Original != 0) {
			people = append(people, e.ID)
		}
	}
	s.Accesses.Record(ctx, what, people...)
}

// openTypes are those of elements that every pupil sees.
var openTypes = []string{form.Location, form.Service, form.Subject}

func (e Element) isPerson() bool { return e.EntityType == form.Staff || e.EntityType == form.Pupil }

// IsPublic says whether everyone sees the element.
func (e Element) IsPublic() bool {
	return e.EntityType == form.Property && e.Details.MakePublic != nil && *e.Details.MakePublic
}

// seen are the elements that are seen on one of the days.
func (v sight) seen() *Seen {
	if v.All() {
		return nil
	}
	seen := &Seen{IDs: slices.Sorted(maps.Keys(v.days))}
	if v.Scope == principal.SeesOwn {
		seen.Types = openTypes
	}
	return seen
}

// getSeen is getAllSeen for one element.
func (s *Service) getSeen(
	ctx context.Context, p principal.Principal, id int64, days wiretime.Days,
) (Element, sight, error) {
	all, v, err := s.getAllSeen(ctx, p, []int64{id}, days)
	if err != nil {
		return Element{}, v, err
	}
	return all[0], v, nil
}

// within returns an element's visible reaches: of a group that the viewer is in, on the days of that; of other
// elements, without groups that the viewer is not in.
func (v sight) within(e Element, reaches []fact.Reach) []fact.Reach {
	if v.Scope != principal.SeesOwn {
		return reaches
	}
	var seen []fact.Reach
	for _, r := range reaches {
		if v.days[e.ID] != nil || r.ElementID != e.ID {
			r.Days = wiretime.IntersectDays(r.Days, v.days[r.ElementID])
		}
		if len(r.Days) > 0 {
			seen = append(seen, r)
		}
	}
	return seen
}

// asked returns the sight for a question to events about these elements' commitments. The viewer sees its own and its
// groups' anyway, so the public properties are only looked up for other elements.
func (s *Service) asked(ctx context.Context, v sight, elements ...Element) (*fact.Sight, error) {
	others := slices.ContainsFunc(elements, func(e Element) bool { return v.days[e.ID] == nil })
	if !v.All() && others {
		var err error
		if v.Public, err = s.Store.ListPublic(ctx); err != nil {
			return nil, err
		}
	}
	return &v.Sight, nil
}

// names says whether an element may be named in the staff or locations of an event that is seen.
func (v sight) names(e *Element) bool {
	return e.EntityType != form.Staff || v.All() || v.SeesStaff || v.Scope == principal.SeesPublic ||
		v.days[e.ID] != nil
}

// Surroundings returns what a user who does not see everything sees of the directory on the days.
func (s *Service) Surroundings(ctx context.Context, q fact.SurroundingsQuestion) (fact.Surroundings, error) {
	v, err := s.sightOf(ctx, fact.Sight{ElementID: q.ElementID, StandsFor: q.StandsFor, Scope: q.Scope}, q.Days)
	if err != nil {
		return fact.Surroundings{}, err
	}
	v.Public, err = s.Store.ListPublic(ctx)
	return v.Surroundings, err
}
