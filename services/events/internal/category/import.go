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
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Row is a record of an import (administration: eventcategories.csv).
type Row struct {
	record.Row
	School string // key of the group of a school, without its type; "": it is the deployment's
	Fields Fields
}

// name is a category's unique name: within a school, or outside all of them.
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

// Import makes the categories what the rows say, see record.Import; optional fields that a row lacks take their
// defaults. A row fails if another category of the same school has its name. In a dry run a school that is not found is
// not a fault. An administrator of a school imports the categories that it may change; other rows are accepted if they
// change nothing, since a bundle has rows of everything that it refers to.
func (s *Service) Import(
	ctx context.Context, p principal.Principal, rows []Row, dryRun bool,
) ([]record.Outcome, error) {
	var b batch
	return record.Import[Row, Category]{
		DryRun: dryRun,
		Find: func(ctx context.Context, rows []Row) (_ map[string]Category, err error) {
			b, err = s.read(ctx, p, rows)
			return b.stored, err
		},
		Imported: func(c Category) (int64, string) { return c.ID, c.ImportHash },
		Apply:    func(row Row, stored Category) (Category, error) { return b.categoryOf(p, row, stored, dryRun) },
		Insert:   s.insert,
		Change:   s.replace,
	}.Run(ctx, rows)
}

// categoryOf returns the category that a row asks for, and reserves its name against later rows.
func (b batch) categoryOf(p principal.Principal, row Row, stored Category, dryRun bool) (Category, error) {
	wanted := Category{ID: stored.ID, Key: row.Key, ImportHash: row.Hash}
	faults := row.Fields.apply(&wanted)
	known := b.applySchool(&wanted, row.School, faults, dryRun)
	if owner, named := b.owners[nameOf(wanted)]; known && named && owner != row.Key {
		faults.Add("name", problem.Taken)
	}
	if !p.Permissions.Admin {
		alike := wanted
		alike.ImportHash = stored.ImportHash
		if len(faults) == 0 && alike == stored {
			return stored, record.ErrUnchanged
		}
		b.checkOwn(stored, wanted, faults)
	}
	if known && len(faults) == 0 {
		b.owners[nameOf(wanted)] = row.Key
	}
	return wanted, record.Invalid(wanted, faults)
}

// applySchool sets the school of a row's category, and says whether it is known. A group that is no longer current may
// have been a school: its exported categories must be importable.
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

// checkOwn adds faults where p may not administer a category before or after the import.
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
	stored, err := s.o.Store.Find(ctx, nil, keys)
	if err != nil {
		return b, err
	}
	named, err := s.o.Store.FindNamed(ctx, names)
	if err != nil {
		return b, err
	}
	for _, c := range append(stored, named...) {
		b.owners[nameOf(c)] = c.Key
		if c.Key != "" {
			b.stored[c.Key] = c
		}
	}
	found, err := s.o.Elements.Facts(ctx, fact.ElementsQuestion{Keys: sequence.Distinct(schools)})
	ids := schoolsOf(stored...)
	for _, e := range found {
		b.schools[e.Key] = e
		ids = append(ids, e.ID)
	}
	if err != nil || p.Permissions.Admin {
		return b, err
	}
	b.own, err = authority.Administered(ctx, p, sequence.Distinct(ids), s.o.Elements)
	return b, err
}

// insert stores new categories, and refuses those whose key or name another has taken since they were compared.
func (s *Service) insert(ctx context.Context, categories []Category) ([]problem.Fields, error) {
	failures, err := s.o.Store.Insert(ctx, categories)
	refused := make([]problem.Fields, len(categories))
	for i, failure := range failures {
		switch {
		case errors.Is(failure, ErrKeyTaken):
			refused[i] = problem.Fields{"key": {problem.Taken}}
		case errors.Is(failure, ErrNameTaken):
			refused[i] = nameTaken()
		}
	}
	return refused, err
}

// replace makes a stored category the one that a row asks for. ErrOutdated when it is not the one that was decided on.
func (s *Service) replace(ctx context.Context, _ Row, stored, wanted Category) error {
	same := false
	_, err := s.o.Store.Change(ctx, wanted.ID, func(c *Category) error {
		same = *c == wanted
		switch {
		case same:
			return record.ErrUnchanged
		case *c != stored:
			return record.ErrOutdated
		}
		*c = wanted
		return nil
	})
	switch {
	case errors.Is(err, ErrNameTaken):
		return record.Invalid(wanted, nameTaken())
	case err == nil && same:
		return record.ErrUnchanged
	}
	return err
}
