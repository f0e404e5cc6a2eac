package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// This file decides which elements an administrator may administer, for all routes. An admin may all. Others may what
// belongs today to a school that they administer: every use case of administration asks one of these.

// mustAdminister returns Forbidden unless p administers each of the elements, which exist.
func (s *Service) mustAdminister(ctx context.Context, p principal.Principal, ids ...int64) error {
	own, err := authority.AskOwn(ctx, p, ids, s.Belonging)
	if err == nil && slices.ContainsFunc(ids, func(id int64) bool { return !own.Has(id) }) {
		err = problem.New(problem.Forbidden, "")
	}
	return err
}

// GetAdministered returns an element that p administers; a Missing problem when there is none, Forbidden when it is not
// p's.
func (s *Service) GetAdministered(ctx context.Context, p principal.Principal, id int64) (Element, error) {
	e, err := s.Get(ctx, id)
	if err == nil {
		err = s.mustAdminister(ctx, p, id)
	}
	return e, err
}

// mustKeep returns Forbidden unless p may change the record of an element: that of a school is for admins alone. An
// admin is not told whether there is such an element.
func (s *Service) mustKeep(ctx context.Context, p principal.Principal, id int64) error {
	if p.Permissions.Admin {
		return nil
	}
	e, err := s.GetAdministered(ctx, p, id)
	if err == nil && e.Details.School {
		err = problem.New(problem.Forbidden, "")
	}
	return err
}

// mayMake returns Forbidden when the draft asks for what is for admins alone: a school.
func (d Draft) mayMake(p principal.Principal) error {
	if _, given := d.Flags["school"]; given && !p.Permissions.Admin {
		return problem.New(problem.Forbidden, "")
	}
	return nil
}

// chooseAdministered sets the ids of what the listing's school has, or of what p administers, when that is not all.
func (s *Service) chooseAdministered(ctx context.Context, p principal.Principal, l *Listing) error {
	schools := p.AdminOf
	switch {
	case l.SchoolID != 0:
		school, err := s.GetAdministered(ctx, p, l.SchoolID)
		switch {
		case err != nil:
			return err
		case !school.IsSchool():
			return notASchool(l.SchoolID)
		}
		schools = []int64{l.SchoolID}
	case p.Permissions.Admin:
		return nil
	}
	ids, err := s.Belonging(ctx, fact.BelongingQuestion{Schools: schools, All: true})
	l.IDs = slices.Concat([]int64{}, ids) // not nil, which would be all
	return err
}

// schoolOfNew returns the school in which an element begins that p creates; 0: in none, which an admin may. Faults say
// that it has to be named, and Forbidden that it is not p's.
func (s *Service) schoolOfNew(
	ctx context.Context, p principal.Principal, named int64, faults problem.Fields,
) (int64, error) {
	if named == 0 {
		if p.Permissions.Admin {
			return 0, nil
		}
		schools, err := s.onlySchools(ctx, p.AdminOf)
		if err != nil {
			return 0, err
		}
		return authority.Only(schools, "school_id", faults)
	}
	school, err := s.GetAdministered(ctx, p, named)
	switch {
	case problem.Is(err, problem.NotFound):
		faults.Add("school_id", problem.MustExist)
		return 0, nil
	case err == nil && !school.IsSchool():
		faults.Add("school_id", problem.NotASchool)
	}
	return named, err
}

// enroll makes new elements members of their school from today on. One that has a membership of it keeps that.
func (s *Service) enroll(ctx context.Context, school int64, elements ...Element) error {
	days := wiretime.Days{First: s.today(), Last: wiretime.LastDay}
	memberships := make([]Membership, len(elements))
	for i, e := range elements {
		memberships[i] = Membership{
			Group: school, Member: e.ID, Nested: e.IsGroup(), Days: []wiretime.Days{days},
		}
	}
	_, err := s.memberships.Insert(ctx, memberships)
	return err
}

// Administers is for auditlog.Own: p reads the audit of the elements that belong to its schools today, and of their
// memberships.
func (s *Service) Administers(ctx context.Context, p principal.Principal) (map[string][]int64, error) {
	ids, err := s.Belonging(ctx, fact.BelongingQuestion{Schools: p.AdminOf, All: true})
	return map[string][]int64{"Element": ids}, err
}
