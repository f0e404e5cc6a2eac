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
	Key     string // "Property:1/3"
	Element string // its key with the type
	User    string // its key
	Faults  problem.Fields
}

func (r AdministratorRow) check() problem.Fields {
	faults := copyFaults(r.Faults)
	if len(faults) == 0 && r.Key != r.Element+"/"+r.User {
		faults.Add("key", "does not name the element and the user")
	}
	return faults
}

// ImportAdministrators is ImportElements for administrators; the id of an outcome is the element's. An administrator
// who was removed by hand after an import stays removed. A row fails whose element, or the element that its user is, is
// not p's.
func (s *Service) ImportAdministrators(
	ctx context.Context, p principal.Principal, rows []AdministratorRow, dry bool,
) ([]record.Outcome, error) {
	outcomes := checked(rows)
	var keys []string
	for _, r := range open(rows, outcomes) {
		keys = append(keys, r.User)
	}
	found, err := s.users.Users(ctx, fact.UsersQuestion{Keys: distinctKeys(keys)})
	if err != nil {
		return nil, err
	}
	users := make(map[string]fact.User, len(found))
	for _, u := range found {
		users[u.Key] = u
	}
	err = retry(ctx, func(ctx context.Context) (bool, error) {
		return s.importAdministrators(ctx, p, rows, users, outcomes, dry)
	})
	return outcomes, err
}

func (s *Service) importAdministrators(
	ctx context.Context, p principal.Principal, rows []AdministratorRow, users map[string]fact.User,
	outcomes []record.Outcome, dry bool,
) (done bool, err error) {
	var keys []string
	for _, r := range open(rows, outcomes) {
		keys = append(keys, r.Element)
	}
	elements, err := s.findByKeys(ctx, keys)
	if err != nil {
		return false, err
	}
	var erased map[string]bool
	if !dry {
		if erased, err = s.erased(ctx, keys, elements); err != nil {
			return false, err
		}
	}
	ids := idsOf(slices.Collect(maps.Values(elements)))
	for _, u := range users {
		ids = append(ids, u.ElementID)
	}
	own, err := authority.AskOwn(ctx, p, ids, s.Belonging)
	if err != nil {
		return false, err
	}
	changed := map[string]Element{}
	decideAll(rows, outcomes, func(_ int, r AdministratorRow) record.Outcome {
		e, elementExists := elements[r.Element]
		user, userExists := users[r.User]
		switch {
		case elementExists && (!own.Has(e.ID) || e.Details.School && !p.Permissions.Admin):
			return record.Fail(problem.Fields{"element": {problem.NotAdministered}})
		case erased[r.Element]:
			return record.Fail(problem.Fields{"element": {erasure.Gone}})
		case userExists && !own.Has(user.ElementID):
			return record.Fail(problem.Fields{"user": {problem.NotAdministered}})
		case elementExists && slices.Contains(e.ImportedAdministrators, r.User):
			return record.Outcome{Result: record.Unchanged, ID: e.ID}
		case dry:
			return record.Outcome{Result: record.Created}
		}
		if faults := missingFields(map[string]bool{"element": elementExists, "user": userExists}); len(faults) > 0 {
			return record.Fail(faults)
		}
		e.addAdministrator(user.ID)
		e.ImportedAdministrators = append(e.ImportedAdministrators, r.User)
		elements[r.Element], changed[r.Element] = e, e
		return record.Outcome{Result: record.Created, ID: e.ID}
	})
	return s.store.Replace(ctx, slices.Collect(maps.Values(changed)))
}

// missingFields returns a fault for each field whose record does not exist.
func missingFields(exists map[string]bool) problem.Fields {
	faults := problem.Fields{}
	for field, ok := range exists {
		if !ok {
			faults.Add(field, problem.MustExist)
		}
	}
	return faults
}
