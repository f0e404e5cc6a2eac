package event

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// What a store says of a record that a unique index kept out.
var (
	ErrKeyTaken  = errors.New("another record has the import key")
	ErrNameTaken = errors.New("another record has the name")
)

// taken is the message of a field whose value another record has.
const taken = "has already been taken"

// CategoryStore keeps categories.
type CategoryStore interface {
	// Category returns the category of that id, a NotFound problem when there is none.
	Category(ctx context.Context, id int64) (Category, error)
	// ByID returns those of the categories that exist, in no order.
	ByID(ctx context.Context, ids []int64) ([]Category, error)
	// Page returns categories with an id above after, by id: at most limit, all when it is 0.
	Page(ctx context.Context, after int64, limit int) ([]Category, error)
	// Find returns the categories that have one of the import keys or one of the names.
	Find(ctx context.Context, keys, names []string) ([]Category, error)
	// Insert stores a new category and returns the id that it got. ErrKeyTaken, ErrNameTaken.
	Insert(ctx context.Context, c Category) (int64, error)
	// Change lets change decide on the category of that id and stores what it leaves, as one atomic step. ErrNameTaken.
	Change(ctx context.Context, id int64, change func(*Category) error) (Category, error)
}

// Categories are the use cases of event categories. They are safe for concurrent use.
type Categories struct{ store CategoryStore }

// NewCategories returns the use cases over a store.
func NewCategories(store CategoryStore) *Categories { return &Categories{store} }

// List returns the categories that p may use, by id (contract 4.4, decisions part 7).
func (s *Categories) List(ctx context.Context, p principal.Principal) ([]Category, error) {
	all, err := s.store.Page(ctx, 0, 0)
	if err != nil || seesPrivileged(p) {
		return all, err
	}
	open := make([]Category, 0, len(all))
	for _, c := range all {
		if !c.Privileged {
			open = append(open, c)
		}
	}
	return open, nil
}

// Get returns a category; Forbidden when it is privileged and p is not.
func (s *Categories) Get(ctx context.Context, p principal.Principal, id int64) (Category, error) {
	c, err := s.store.Category(ctx, id)
	if err == nil && c.Privileged && !seesPrivileged(p) {
		return Category{}, forbidden()
	}
	return c, err
}

// Page returns categories for administrators: at most limit with an id above after, and whether there are more.
func (s *Categories) Page(ctx context.Context, after int64, limit int) (page []Category, more bool, err error) {
	page, err = s.store.Page(ctx, after, limit+1)
	if len(page) > limit {
		return page[:limit], true, err
	}
	return page, false, err
}

// Create makes a category. InvalidError when the fields are not right or the name is taken.
func (s *Categories) Create(ctx context.Context, f CategoryFields) (Category, error) {
	var c Category
	faults := f.apply(&c)
	if len(faults) > 0 {
		return Category{}, invalid(c, faults)
	}
	id, err := s.store.Insert(ctx, c)
	if errors.Is(err, ErrNameTaken) {
		return Category{}, invalid(c, problem.Fields{"name": {taken}})
	}
	c.ID = id
	return c, err
}

// Change changes the fields given. InvalidError as for Create.
func (s *Categories) Change(ctx context.Context, id int64, f CategoryFields) (Category, error) {
	var attempted Category
	c, err := s.store.Change(ctx, id, func(c *Category) error {
		faults := f.apply(c)
		attempted = *c
		if len(faults) > 0 {
			return invalid(*c, faults)
		}
		return nil
	})
	if errors.Is(err, ErrNameTaken) {
		return Category{}, invalid(attempted, problem.Fields{"name": {taken}})
	}
	return c, err
}

// CategoryRow is a record of an import.
type CategoryRow struct {
	Key    string
	Hash   string
	Fields CategoryFields
}

// Import makes the categories what the rows say; optional fields that a row lacks take their defaults. Each outcome stands at its row's
// index; a row that is not right, or whose name another category has, fails alone. A dry run writes nothing. One read, and two round trips
// a row that is new or changed.
func (s *Categories) Import(ctx context.Context, rows []CategoryRow, dryRun bool) ([]Outcome, error) {
	byKey, byName, err := s.find(ctx, rows)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(rows))
	for i, row := range rows {
		stored, exists := byKey[row.Key]
		if exists && stored.ImportHash == row.Hash {
			outcomes[i] = Outcome{Action: Unchanged, ID: stored.ID}
			continue
		}
		wanted := Category{ID: stored.ID, Key: row.Key, ImportHash: row.Hash}
		faults := row.Fields.apply(&wanted)
		if owner, named := byName[wanted.Name]; named && owner != row.Key {
			faults.Add("name", taken)
		}
		if len(faults) > 0 {
			outcomes[i] = Outcome{Action: Failed, Faults: faults}
			continue
		}
		byName[wanted.Name] = row.Key
		if outcomes[i], err = s.save(ctx, wanted, dryRun); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// find returns the stored categories of the rows by key, and the keys of those that have one of the rows' names.
func (s *Categories) find(ctx context.Context, rows []CategoryRow) (byKey map[string]Category, byName map[string]string, err error) {
	var keys, names []string
	for _, row := range rows {
		keys = append(keys, row.Key)
		var c Category
		row.Fields.apply(&c)
		names = append(names, c.Name)
	}
	stored, err := s.store.Find(ctx, keys, names)
	byKey, byName = map[string]Category{}, map[string]string{}
	for _, c := range stored {
		byName[c.Name] = c.Key
		if c.Key != "" {
			byKey[c.Key] = c
		}
	}
	return byKey, byName, err
}

// save stores an imported category. When another import of the same key came first, the later one wins.
func (s *Categories) save(ctx context.Context, wanted Category, dryRun bool) (Outcome, error) {
	action := Updated
	if wanted.ID == 0 {
		action = Created
	}
	if dryRun {
		return Outcome{Action: action, ID: wanted.ID}, nil
	}
	var err error
	if wanted.ID == 0 {
		wanted.ID, err = s.store.Insert(ctx, wanted)
		if errors.Is(err, ErrKeyTaken) {
			first, findErr := s.store.Find(ctx, []string{wanted.Key}, nil)
			if findErr != nil || len(first) == 0 {
				return Outcome{}, errors.Join(err, findErr)
			}
			action, wanted.ID = Updated, first[0].ID
		}
	}
	if action == Updated {
		_, err = s.store.Change(ctx, wanted.ID, func(c *Category) error { *c = wanted; return nil })
	}
	if errors.Is(err, ErrNameTaken) {
		return Outcome{Action: Failed, Faults: problem.Fields{"name": {taken}}}, nil
	}
	return Outcome{Action: action, ID: wanted.ID}, err
}
