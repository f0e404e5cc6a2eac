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

// This file decides which elements an administrator may administer, for all routes. An admin may administer all, others
// what belongs today to a school that they administer. Every use case of administration calls one of these functions.

// mustAdminister returns Forbidden unless p administers each of the elements, which exist.
func (s *Service) mustAdminister(ctx context.Context, p principal.Principal, ids ...int64) error {
	own, err := authority.AskOwn(ctx, p, ids, s.Belonging)
	if err == nil && slices.ContainsFunc(ids, func(id int64) bool { return !own.Has(id) }) {
		err = problem.New(problem.Forbidden, "")
	}
	return err
}

// GetAdministered returns an element that p administers; a Missing problem when there is none, Forbidden when it is not
// p's. If an interrupted call made it for a school of p's, the element becomes a member of the school.
func (s *Service) GetAdministered(ctx context.Context, p principal.Principal, id int64) (Element, error) {
	e, err := s.Get(ctx, id)
	if err != nil {
		return e, err
	}
	if err = s.mustAdminister(ctx, p, id); e.FirstSchool == 0 || !problem.Is(err, problem.Forbidden) {
		return e, err
	}
	if err := s.mustAdminister(ctx, p, e.FirstSchool); err != nil {
		return e, err
	}
	waiting, failed := s.waiting(ctx, e.FirstSchool, map[string]Element{e.UUID: e})
	switch {
	case failed != nil:
		return e, failed
	case len(waiting) == 0:
		return e, err
	}
	return e, s.enroll(ctx, e.FirstSchool, e)
}

// mustKeep returns Forbidden unless p may change the record of an element: only admins may change a school's. For an
// admin it does not check whether the element exists.
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

// mayMake returns Forbidden when the draft asks for a school, which only admins may make.
func (d Draft) mayMake(p principal.Principal) error {
	if _, given := d.Flags["school"]; given && !p.Permissions.Admin {
		return problem.New(problem.Forbidden, "")
	}
	return nil
}

// chooseAdministered sets the ids of the elements of the listing's school, or of those that p administers, unless that
// is all.
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

// schoolOfNew returns the school of an element that p creates; 0: none, which only an admin may choose. Faults say that
// it must be named; Forbidden when it is not p's.
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

// enroll makes new elements members of their school from today on. Existing memberships stay.
func (s *Service) enroll(ctx context.Context, school int64, elements ...Element) error {
	days := wiretime.Days{First: s.today(), Last: wiretime.LastDay}
	memberships := make([]Membership, len(elements))
	for i, e := range elements {
		memberships[i] = Membership{Group: school, Member: e.ID, Nested: e.IsGroup(), Days: []wiretime.Days{days}}
	}
	_, err := s.Memberships.Insert(ctx, memberships)
	return err
}

// Administers is for auditlog.Own: p reads the audit of the elements that belong to its schools today, and of their
// memberships.
func (s *Service) Administers(ctx context.Context, p principal.Principal) (map[string][]int64, error) {
	ids, err := s.Belonging(ctx, fact.BelongingQuestion{Schools: p.AdminOf, All: true})
	return map[string][]int64{"Element": ids}, err
}
