package element

import (
	"context"
	"maps"
	"slices"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// AdministratorRow is a user who administers an element.
type AdministratorRow struct {
	record.Row        // its key: "Property:1/3"; its hash is empty, as it says no more
	Element    string // its key with the type
	User       string // its key
	Faults     problem.Fields
}

func (r AdministratorRow) check() problem.Fields {
	faults := r.Faults.Clone()
	if len(faults) == 0 && r.Key != r.Element+"/"+r.User {
		faults.Add("key", "does not name the element and the user")
	}
	return faults
}

// administrator is what an AdministratorRow names. The element and the user may be missing.
type administrator struct {
	element  Element
	user     fact.User
	imported bool // an earlier import made the user an administrator of the element
	erased   bool // the element has been erased; never in a dry run
}

// ImportAdministrators is ImportElements for administrators; the id of an outcome is the element's. An administrator
// who was removed by hand after an import stays removed. A row fails if its element, or its user's own element, is not
// p's.
func (s *Service) ImportAdministrators(
	ctx context.Context, p principal.Principal, rows []AdministratorRow,
) ([]record.Outcome, error) {
	dry := record.IsDryRun(ctx)
	var own authority.Own
	return record.Import[AdministratorRow, administrator]{
		DryRun: dry,
		Check:  AdministratorRow.check,
		Find: func(ctx context.Context, rows []AdministratorRow) (found map[string]administrator, err error) {
			found, own, err = s.findAdministrators(ctx, p, rows)
			return found, err
		},
		Imported: func(a administrator) (int64, string) {
			if !a.imported {
				return 0, ""
			}
			return a.element.ID, ""
		},
		Refuse: func(_ AdministratorRow, a administrator) problem.Fields {
			switch {
			case a.element.ID != 0 && (!own.Has(a.element.ID) || a.element.Details.School && !p.Permissions.Admin):
				return problem.Fields{"element": {problem.NotAdministered}}
			case a.erased:
				return problem.Fields{"element": {erasure.Gone}}
			case a.user.ID != 0 && !own.Has(a.user.ElementID):
				return problem.Fields{"user": {problem.NotAdministered}}
			}
			return nil
		},
		Apply: func(_ AdministratorRow, a administrator) (administrator, error) {
			if dry {
				return a, nil
			}
			faults := problem.Fields{}
			for field, id := range map[string]int64{"element": a.element.ID, "user": a.user.ID} {
				if id == 0 {
					faults.Add(field, problem.MustExist)
				}
			}
			return a, record.Invalid(a, faults)
		},
		Insert:  s.insertAdministrators,
		Replace: func(context.Context, []administrator) error { return nil }, // they are only added
	}.Run(ctx, rows)
}

// findAdministrators returns the records that the rows name, by key of the row, and which of them are p's.
func (s *Service) findAdministrators(
	ctx context.Context, p principal.Principal, rows []AdministratorRow,
) (found map[string]administrator, own authority.Own, err error) {
	var elementKeys, userKeys []string
	for _, r := range rows {
		elementKeys, userKeys = append(elementKeys, r.Element), append(userKeys, r.User)
	}
	users, err := s.Users.Users(ctx, fact.UsersQuestion{Keys: distinctKeys(userKeys)})
	if err != nil {
		return nil, own, err
	}
	elements, err := s.findByKeys(ctx, elementKeys)
	if err != nil {
		return nil, own, err
	}
	erased, err := s.erased(ctx, elementKeys, elements)
	if err != nil {
		return nil, own, err
	}
	ids := idsOf(slices.Collect(maps.Values(elements)))
	byKey := make(map[string]fact.User, len(users))
	for _, u := range users {
		byKey[u.Key] = u
		ids = append(ids, u.ElementID)
	}
	found = make(map[string]administrator, len(rows))
	for _, r := range rows {
		e := elements[r.Element]
		found[r.Key] = administrator{
			element: e, user: byKey[r.User], imported: slices.Contains(e.ImportedAdministrators, r.User),
			erased: erased[r.Element],
		}
	}
	own, err = authority.AskOwn(ctx, p, ids, s.Belonging)
	return found, own, err
}

// insertAdministrators makes users administrators of their elements.
func (s *Service) insertAdministrators(ctx context.Context, created []administrator) ([]problem.Fields, error) {
	changed := map[int64]Element{}
	for i, a := range created {
		e, is := changed[a.element.ID]
		if !is {
			e = a.element
		}
		e.addAdministrator(a.user.ID)
		e.ImportedAdministrators = append(e.ImportedAdministrators, a.user.Key)
		changed[e.ID], created[i].imported = e, true
	}
	return nil, replaceRows(s.Store)(ctx, slices.Collect(maps.Values(changed)))
}
