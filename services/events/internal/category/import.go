package category

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Row is a record of an import (administration: eventcategories.csv).
type Row struct {
	Key    string
	Hash   string
	Fields Fields
}

// Import makes the categories what the rows say; optional fields that a row lacks take their defaults. Each outcome
// stands at its row's index. A row that is not right, or whose name another category has, fails alone. A dry run writes
// nothing. For an administrator of a school, a row that would change anything fails: a bundle has rows of all that it
// refers to.
func (s *Service) Import(
	ctx context.Context, p principal.Principal, rows []Row, dryRun bool,
) ([]record.Outcome, error) {
	byKey, owners, err := s.find(ctx, rows)
	if err != nil {
		return nil, err
	}
	outcomes := make([]record.Outcome, len(rows))
	for i, row := range rows {
		stored, exists := byKey[row.Key]
		if exists && stored.ImportHash == row.Hash {
			outcomes[i] = record.Outcome{Result: record.Unchanged, ID: stored.ID}
			continue
		}
		wanted := Category{ID: stored.ID, Key: row.Key, ImportHash: row.Hash}
		faults := row.Fields.apply(&wanted)
		if owner, named := owners[wanted.Name]; named && owner != row.Key {
			faults.Add("name", problem.Taken)
		}
		if !p.Permissions.Admin {
			alike := wanted
			alike.ImportHash = stored.ImportHash
			if len(faults) == 0 && exists && alike == stored {
				outcomes[i] = record.Outcome{Result: record.Unchanged, ID: stored.ID}
				continue
			}
			faults.Add("key", problem.ForAdmins)
		}
		if len(faults) > 0 {
			outcomes[i] = record.Fail(faults)
			continue
		}
		owners[wanted.Name] = row.Key
		if outcomes[i], err = s.save(ctx, wanted, dryRun); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// find returns the stored categories of the rows by key, and the keys of those that have a name, by name: of the
// rows' categories and of all that have one of the rows' names.
func (s *Service) find(
	ctx context.Context, rows []Row,
) (byKey map[string]Category, owners map[string]string, err error) {
	var keys, names []string
	for _, row := range rows {
		keys = append(keys, row.Key)
		var c Category
		row.Fields.apply(&c)
		names = append(names, c.Name)
	}
	stored, err := s.store.Find(ctx, nil, keys)
	if err != nil {
		return nil, nil, err
	}
	named, err := s.store.FindNamed(ctx, names)
	byKey, owners = map[string]Category{}, map[string]string{}
	for _, c := range append(stored, named...) {
		owners[c.Name] = c.Key
		if c.Key != "" {
			byKey[c.Key] = c
		}
	}
	return byKey, owners, err
}

// save stores an imported category. When another import of the same key came first, the later one wins.
func (s *Service) save(ctx context.Context, wanted Category, dryRun bool) (record.Outcome, error) {
	result := record.Updated
	if wanted.ID == 0 {
		result = record.Created
	}
	if dryRun {
		return record.Outcome{Result: result, ID: wanted.ID}, nil
	}
	var err error
	if wanted.ID == 0 {
		wanted.ID, err = s.store.Insert(ctx, wanted)
		if errors.Is(err, ErrKeyTaken) {
			first, findErr := s.store.Find(ctx, nil, []string{wanted.Key})
			if findErr != nil || len(first) == 0 {
				return record.Outcome{}, errors.Join(err, findErr)
			}
			result, wanted.ID = record.Updated, first[0].ID
		}
	}
	if result == record.Updated {
		_, err = s.store.Change(ctx, wanted.ID, func(c *Category) error {
			if *c == wanted {
				return record.ErrUnchanged
			}
			*c = wanted
			return nil
		})
	}
	if errors.Is(err, ErrNameTaken) {
		return record.Fail(nameTaken()), nil
	}
	return record.Outcome{Result: result, ID: wanted.ID}, err
}
