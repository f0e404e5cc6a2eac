package category

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Row is a record of an import (administration: eventcategories.csv).
type Row struct {
	Key    string
	Hash   string
	School string // key of the group of a school, without its type; "": it is the deployment's
	Fields Fields
}

// name is what no two categories have in common: a name in a school, or in none.
type name struct {
	school int64
	name   string
}

func nameOf(c Category) name { return name{c.School, c.Name} }

// batch is what the rows of an import are compared with.
type batch struct {
	stored  map[string]Category     // by key
	owners  map[name]string         // keys of those that have a name, "" of one made by hand
	schools map[string]fact.Element // groups by key
	own     []int64                 // schools that are p's to administer; for an admin nil
}

// Import makes the categories what the rows say; optional fields that a row lacks take their defaults. Each outcome
// stands at its row's index. A row that is not right, or whose name another category of the same school has, fails
// alone. A dry run writes nothing, and a school that is not found is then no fault. An administrator of a school
// imports what it may change; of other rows it may have those that change nothing, for a bundle has rows of all that it
// refers to.
func (s *Service) Import(
	ctx context.Context, p principal.Principal, rows []Row, dryRun bool,
) ([]record.Outcome, error) {
	b, err := s.read(ctx, p, rows)
	if err != nil {
		return nil, err
	}
	outcomes := make([]record.Outcome, len(rows))
	for i, row := range rows {
		stored, exists := b.stored[row.Key]
		if exists && stored.ImportHash == row.Hash {
			outcomes[i] = record.Outcome{Result: record.Unchanged, ID: stored.ID}
			continue
		}
		wanted := Category{ID: stored.ID, Key: row.Key, ImportHash: row.Hash}
		faults := row.Fields.apply(&wanted)
		known := b.applySchool(&wanted, row.School, faults, dryRun)
		if owner, named := b.owners[nameOf(wanted)]; known && named && owner != row.Key {
			faults.Add("name", problem.Taken)
		}
		if !p.Permissions.Admin {
			alike := wanted
			alike.ImportHash = stored.ImportHash
			if len(faults) == 0 && exists && alike == stored {
				outcomes[i] = record.Outcome{Result: record.Unchanged, ID: stored.ID}
				continue
			}
			b.checkOwn(stored, wanted, faults)
		}
		if len(faults) > 0 {
			outcomes[i] = record.Fail(faults)
			continue
		}
		if known {
			b.owners[nameOf(wanted)] = row.Key
		}
		if outcomes[i], err = s.save(ctx, wanted, dryRun); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// applySchool sets the school of a row's category, and says whether it is known. A group that is no longer current may
// have been a school: what was exported with it has to come back.
func (b batch) applySchool(c *Category, key string, faults problem.Fields, dryRun bool) (known bool) {
	school, exists := b.schools[schoolKey(key)]
	switch {
	case key == "":
		return true
	case !exists && dryRun:
	case !exists:
		faults.Add("school", problem.MustExist)
	case school.Current && !school.School:
		faults.Add("school", problem.NotASchool)
	default:
		c.School = school.ID
		return true
	}
	return false
}

// checkOwn adds what is not p's to administer in a category as it is, and as it is to be.
func (b batch) checkOwn(stored, wanted Category, faults problem.Fields) {
	foreign := func(c Category) bool { return c.School != 0 && !slices.Contains(b.own, c.School) }
	switch {
	case foreign(stored) || foreign(wanted):
		faults.Add("school", problem.NotAdministered)
	case wanted.School == 0, wanted.reserved(), stored.ID != 0 && (stored.School == 0 || stored.reserved()):
		faults.Add("key", problem.ForAdmins)
	}
}

func schoolKey(key string) string { return form.Group + ":" + key }

// read finds what the rows name: the stored categories of their keys and names, and their schools.
func (s *Service) read(ctx context.Context, p principal.Principal, rows []Row) (batch, error) {
	b := batch{map[string]Category{}, map[name]string{}, map[string]fact.Element{}, nil}
	var keys, names, schools []string
	for _, row := range rows {
		keys = append(keys, row.Key)
		var c Category
		row.Fields.apply(&c)
		names = append(names, c.Name)
		if row.School != "" {
			schools = append(schools, schoolKey(row.School))
		}
	}
	stored, err := s.store.Find(ctx, nil, keys)
	if err != nil {
		return b, err
	}
	named, err := s.store.FindNamed(ctx, names)
	if err != nil {
		return b, err
	}
	for _, c := range append(stored, named...) {
		b.owners[nameOf(c)] = c.Key
		if c.Key != "" {
			b.stored[c.Key] = c
		}
	}
	slices.Sort(schools)
	found, err := s.elements.Facts(ctx, fact.ElementsQuestion{Keys: slices.Compact(schools)})
	ids := schoolsOf(stored...)
	for _, e := range found {
		b.schools[e.Key] = e
		ids = append(ids, e.ID)
	}
	if err != nil || p.Permissions.Admin {
		return b, err
	}
	slices.Sort(ids)
	b.own, err = authority.Administered(ctx, p, slices.Compact(ids), s.elements)
	return b, err
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
		if errors.Is(err, ErrKeyTaken) || errors.Is(err, ErrNameTaken) { // by a row of the same name, either
			first, findErr := s.store.Find(ctx, nil, []string{wanted.Key})
			switch {
			case findErr != nil, len(first) == 0 && errors.Is(err, ErrKeyTaken):
				return record.Outcome{}, errors.Join(err, findErr)
			case len(first) > 0:
				result, wanted.ID = record.Updated, first[0].ID
			}
		}
	}
	if result == record.Updated {
		_, err = s.store.Change(ctx, wanted.ID, func(c *Category) error {
			if result = record.Updated; *c == wanted {
				result = record.Unchanged
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
