package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// AdministratorRow is a record of one user who administers one element.
type AdministratorRow struct {
	Key     string // "Property:1/3"
	Element string // its key with the type
	User    string // its key
	Faults  problem.Fields
}

func (r AdministratorRow) check() problem.Fields {
	faults := problem.Fields{}
	for field, messages := range r.Faults {
		faults[field] = slices.Clone(messages)
	}
	if len(faults) == 0 && r.Key != r.Element+"/"+r.User {
		faults.Add("key", "does not name the element and the user")
	}
	return faults
}

// ImportAdministrators is ImportElements for administrators; the outcome's id is the element's. It costs a call to identity, one read of
// the elements and one bulk write. An administrator who was removed by hand after an import stays so.
func (s *Service) ImportAdministrators(ctx context.Context, rows []AdministratorRow, dry bool) ([]Outcome, error) {
	outcomes := make([]Outcome, len(rows))
	var users []string
	for i, r := range rows {
		if faults := r.check(); len(faults) > 0 {
			outcomes[i].fail(faults)
			continue
		}
		users = append(users, r.User)
	}
	slices.Sort(users)
	found, err := s.Users.Users(ctx, fact.UsersQuestion{Keys: slices.Compact(users)})
	if err != nil {
		return nil, err
	}
	userIDs := make(map[string]int64, len(found))
	for _, u := range found {
		userIDs[u.Key] = u.ID
	}
	err = s.settle(ctx, func(ctx context.Context) (bool, error) {
		return s.importAdministrators(ctx, rows, userIDs, outcomes, dry)
	})
	return outcomes, err
}

func (s *Service) importAdministrators(ctx context.Context, rows []AdministratorRow, userIDs map[string]int64, outcomes []Outcome, dry bool) (bool, error) {
	var keys []string
	for i, r := range rows {
		if !outcomes[i].settled() {
			keys = append(keys, r.Element)
		}
	}
	elements, err := s.byKey(ctx, keys)
	if err != nil {
		return false, err
	}
	changed := map[string]Element{}
	for i, r := range rows {
		if outcomes[i].settled() {
			continue
		}
		e, exists := elements[r.Element]
		userID, known := userIDs[r.User]
		switch {
		case exists && slices.Contains(e.ImportedAdministrators, r.User):
			outcomes[i].same(e.ID)
			continue
		case dry:
			outcomes[i] = Outcome{Result: Created}
			continue
		case !exists || !known:
			outcomes[i].fail(missingAdministrator(exists, known))
			continue
		}
		e.addAdministrator(userID)
		e.ImportedAdministrators = append(e.ImportedAdministrators, r.User)
		elements[r.Element], changed[r.Element] = e, e
		outcomes[i] = Outcome{Result: Created, ID: e.ID}
	}
	all := make([]Element, 0, len(changed))
	for _, e := range changed {
		all = append(all, e)
	}
	return s.Store.Replace(ctx, all)
}

func missingAdministrator(elementExists, userExists bool) problem.Fields {
	faults := problem.Fields{}
	if !elementExists {
		faults.Add("element", "must exist")
	}
	if !userExists {
		faults.Add("user", "must exist")
	}
	return faults
}
