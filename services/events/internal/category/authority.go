package category

import (
	"context"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// This file decides, for every route, which categories of schools a user sees and which an administrator may
// administer. An admin may administer all. Others see those of the schools that they belong to today or administer;
// administrators of schools administer those of their schools that are neither privileged nor confidential. A group
// that is no longer a school has no members and no administrators here.

func forbidden() error { return problem.New(problem.Forbidden, "") }

// schoolsOf returns the ids of the schools that own the categories, each once, in order.
func schoolsOf(categories ...Category) []int64 {
	var ids []int64
	for _, c := range categories {
		if c.School != 0 {
			ids = append(ids, c.School)
		}
	}
	return sequence.Distinct(ids)
}

// ofViewer returns the categories that belong to no school or to one of p's. Only when one of them is a school's does
// it ask elements which groups p is in today, and which of them are schools.
func (s *Service) ofViewer(ctx context.Context, p principal.Principal, categories []Category) ([]Category, error) {
	schools := schoolsOf(categories...)
	if p.Permissions.Admin || len(schools) == 0 {
		return categories, nil
	}
	own, err := authority.Administered(ctx, p, schools, s.o.Elements)
	if err != nil {
		return nil, err
	}
	in, err := s.joined(ctx, p, schools)
	if err != nil {
		return nil, err
	}
	own = append(own, in...)
	return slices.DeleteFunc(categories, func(c Category) bool {
		return c.School != 0 && !slices.Contains(own, c.School)
	}), nil
}

// joined returns those of the groups that are schools and that one of p's persons belongs to today, in no order.
func (s *Service) joined(ctx context.Context, p principal.Principal, groups []int64) ([]int64, error) {
	persons := p.Persons()
	if len(persons) == 0 {
		return nil, nil
	}
	today := s.o.Zone.DayOf(time.Now())
	found, err := s.o.Elements.Reaches(ctx, fact.ReachesQuestion{
		IDs: persons, Days: wiretime.Days{First: today, Last: today},
	})
	if err != nil {
		return nil, err
	}
	var in []int64
	for _, e := range found {
		for _, r := range e.Reaches {
			if slices.Contains(groups, r.ElementID) {
				in = append(in, r.ElementID)
			}
		}
	}
	return authority.Schools(ctx, in, s.o.Elements.Facts)
}

// mustAdminister returns Forbidden unless the category is p's to administer.
func (s *Service) mustAdminister(ctx context.Context, p principal.Principal, c Category) error {
	if p.Permissions.Admin {
		return nil
	}
	if c.School == 0 || c.reserved() {
		return forbidden()
	}
	own, err := authority.Administered(ctx, p, []int64{c.School}, s.o.Elements)
	if err == nil && len(own) == 0 {
		err = forbidden()
	}
	return err
}

// reserved says whether only an admin makes and changes such a category, whatever its school.
func (c Category) reserved() bool { return c.Privileged || c.Confidential }

// mayBecome returns Forbidden unless p may administer the changed category, as p may the current one. It does not ask
// about a school that has a fault.
func (s *Service) mayBecome(
	ctx context.Context, p principal.Principal, before, c Category, faults problem.Fields,
) error {
	switch {
	case p.Permissions.Admin:
		return nil
	case c.reserved():
		return forbidden()
	case len(faults[schoolField]) > 0 || c.School == before.School && before.ID != 0:
		return nil
	}
	return s.mustAdminister(ctx, p, c)
}

// begin sets the school of a new category: the one that is named or, where p administers schools, the only one of them.
// Faults say that it must be named, or is not a school. Forbidden when p administers none.
func (s *Service) begin(
	ctx context.Context, p principal.Principal, c *Category, named *int64, faults problem.Fields,
) error {
	switch {
	case len(faults[schoolField]) > 0:
		return nil
	case named != nil && *named != 0:
		c.School = *named
		return s.mayOwn(ctx, *c, faults)
	case p.Permissions.Admin:
		return nil
	}
	schools, err := authority.Schools(ctx, p.AdminOf, s.o.Elements.Facts)
	if err == nil {
		c.School, err = authority.Only(schools, schoolField, faults)
	}
	return err
}

// mayOwn adds a fault when the category's school is not a school. 0, no school, is not a fault.
func (s *Service) mayOwn(ctx context.Context, c Category, faults problem.Fields) error {
	if c.School == 0 {
		return nil
	}
	schools, err := authority.Schools(ctx, []int64{c.School}, s.o.Elements.Facts)
	if err == nil && len(schools) == 0 {
		faults.Add(schoolField, problem.NotASchool)
	}
	return err
}

// Administers returns the ids of the categories of p's schools, including those that only an admin may change.
func (s *Service) Administers(ctx context.Context, p principal.Principal) ([]int64, error) {
	all, err := s.o.Store.List(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	own, err := authority.Administered(ctx, p, schoolsOf(all...), s.o.Elements)
	var ids []int64
	for _, c := range all {
		if slices.Contains(own, c.School) {
			ids = append(ids, c.ID)
		}
	}
	return ids, err
}

// listAdministered returns the categories with an id above after that Page shows to an administrator of schools.
func (s *Service) listAdministered(ctx context.Context, p principal.Principal, after int64) ([]Category, error) {
	all, err := s.o.Store.List(ctx, after, 0)
	if err != nil {
		return nil, err
	}
	own, err := authority.Administered(ctx, p, schoolsOf(all...), s.o.Elements)
	return slices.DeleteFunc(all, func(c Category) bool {
		return !c.UsableBy(p) || c.School != 0 && !slices.Contains(own, c.School)
	}), err
}
