package element

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// This file answers the other services' questions about elements, except Reaches.

// Facts returns those of the elements that exist, current or not, each once, in no order; District always does.
func (s *Service) Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error) {
	var district []fact.Element
	if slices.Contains(q.IDs, fact.District) {
		schools, err := s.Store.ListSchools(ctx)
		if err != nil {
			return nil, err
		}
		district = []fact.Element{{Several: len(schools) > 1}}
	}
	byID, err := s.Store.Find(ctx, slices.DeleteFunc(slices.Clone(q.IDs), func(id int64) bool {
		return id == fact.District
	}))
	if err != nil {
		return nil, err
	}
	byKey, err := s.Store.FindByKeys(ctx, q.Keys)
	if err != nil {
		return nil, err
	}
	facts := make([]fact.Element, 0, len(byID)+len(byKey))
	seen := map[int64]bool{}
	for _, e := range slices.Concat(byID, byKey) {
		if !seen[e.ID] {
			seen[e.ID] = true
			facts = append(facts, e.fact())
		}
	}
	facts = append(facts, district...)
	if !q.Erased {
		return facts, nil
	}
	erased, err := s.erased(ctx, q.Keys, byKeys(byKey))
	for key := range erased {
		facts = append(facts, fact.Element{Key: key, Erased: true})
	}
	return facts, err
}

// Administered returns the elements that a user is an administrator of, current or not, in no order.
func (s *Service) Administered(ctx context.Context, q fact.AdministeredQuestion) ([]fact.Element, error) {
	found, err := s.Store.FindByAdministrators(ctx, []int64{q.UserID})
	return sequence.Map(found, func(e Element) fact.Element { return e.fact() }), err
}

// Pupils returns the current pupils who are among the elements or, on any of the days, in one of them, in order of id.
// See peopleAndThings for who is in a group on several days.
func (s *Service) Pupils(ctx context.Context, q fact.PupilsQuestion) ([]form.Element, error) {
	members, err := peopleAndThings(ctx, s.downward(q.Days), q.IDs, q.Days)
	if err != nil {
		return nil, err
	}
	found, err := s.Store.Find(ctx, sequence.Distinct(slices.Concat(q.IDs, members)))
	pupils := []form.Element{}
	for _, e := range found {
		if e.EntityType == form.Pupil && e.Current {
			pupils = append(pupils, e.ListForm())
		}
	}
	slices.SortFunc(pupils, func(a, b form.Element) int { return cmp.Compare(a.ID, b.ID) })
	return pupils, err
}

// fact returns what other services may know of the element.
func (e Element) fact() fact.Element {
	short := ""
	if e.EntityType == form.Staff || e.EntityType == form.Location {
		short = e.ShortText()
	}
	return fact.Element{
		Short: short, Element: e.ListForm(), Key: e.Key, Current: e.Current, Resource: e.IsResourceGroup(),
		School: e.IsSchool(), Administrators: e.Administrators,
	}
}
