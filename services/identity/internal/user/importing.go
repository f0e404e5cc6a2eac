package user

import (
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// importWriters is how many users of a batch are changed at a time.
const importWriters = 8

// Row is one record of an import (administration, users.csv).
type Row struct {
	Key, Hash string  // the school's id of the row, and the hash of all of it
	Edit      Edit    // without an element
	Element   string  // "Staff:17"; empty: none
	UUID      *string // nil: keep it, or make one that nobody knows
}

// Outcome is what became of a row: one of the words of package importer.
type Outcome struct {
	Result string
	ID     int64 // 0 for one that failed or would be created
	Errors problem.Fields
}

// The results of a row.
const (
	created   = "created"
	updated   = "updated"
	unchanged = "unchanged"
	failed    = "failed"
)

// Import makes the users agree with the rows, matched by key, and returns an outcome for each. A row like the one imported last leaves
// the user as it is, with what was changed by hand since. Otherwise the row is the truth, and what it leaves out is at its default; only a
// uuid or active that it leaves out stays, so that nobody who was locked out comes back by a change of name. A bad row fails alone. A
// dry run writes nothing, and takes references that do not exist for ones that will. Up to five round trips for a batch, and four for
// each user that changes.
func (s *Service) Import(ctx context.Context, rows []Row, dryRun bool) ([]Outcome, error) {
	batch, err := s.read(ctx, rows)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(rows))
	plan := importPlan{outcomes: outcomes, inserts: map[int]*User{}}
	for i, row := range rows {
		known, exists := batch.known[row.Key]
		if exists && known.ImportHash == row.Hash {
			outcomes[i] = Outcome{Result: unchanged, ID: known.ID}
			continue
		}
		attempt := known
		if !exists {
			attempt = newUser()
			attempt.UUIDHash = HashUUID(newUUID())
		}
		faults := row.apply(&attempt, batch.elements[row.Element])
		batch.check(row, faults, dryRun)
		switch {
		case len(faults) > 0:
			outcomes[i] = Outcome{Result: failed, Errors: faults}
		case exists:
			outcomes[i] = Outcome{Result: updated, ID: known.ID}
			plan.updates = append(plan.updates, i)
		default:
			outcomes[i] = Outcome{Result: created}
			plan.inserts[i] = &attempt
		}
	}
	if dryRun {
		return outcomes, nil
	}
	if err := s.importNew(ctx, plan); err != nil {
		return nil, err
	}
	return outcomes, s.importChanged(ctx, plan, rows, batch)
}

// importPlan is what has to be written, and what comes of it, by the index of the row.
type importPlan struct {
	outcomes []Outcome
	inserts  map[int]*User
	updates  []int
}

// apply makes u what the row says and returns what is wrong with it then.
func (row Row) apply(u *User, elementID int64) problem.Fields {
	u.Key, u.ImportHash = row.Key, row.Hash
	u.Kind, u.ElementID, u.Permissions = principal.Staff, elementID, principal.Permissions{}
	if row.UUID != nil && u.UUIDHash != HashUUID(*row.UUID) {
		u.UUIDHash = HashUUID(*row.UUID)
		u.endSessions()
	}
	return row.Edit.apply(u)
}

// importBatch is what has to be known to judge a batch.
type importBatch struct {
	known    map[string]User   // by key
	elements map[string]int64  // by "Type:key"
	holders  map[string]string // hash of a uuid → import key of the user or row that has it; "" for a user made by hand
}

func (s *Service) read(ctx context.Context, rows []Row) (importBatch, error) {
	b := importBatch{known: map[string]User{}, elements: map[string]int64{}, holders: map[string]string{}}
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = row.Key
	}
	users, err := s.Store.ByKeys(ctx, keys)
	if err != nil {
		return b, err
	}
	for _, u := range users {
		b.known[u.Key] = u
	}
	wanted := map[string]bool{}
	var hashes []string
	for _, row := range rows {
		if b.known[row.Key].ImportHash == row.Hash {
			continue
		}
		if row.Element != "" {
			wanted[row.Element] = true
		}
		if row.UUID != nil {
			hashes = append(hashes, HashUUID(*row.UUID))
		}
	}
	facts, err := s.Elements.Facts(ctx, fact.ElementsQuestion{Keys: slices.Collect(maps.Keys(wanted))})
	if err != nil {
		return b, err
	}
	for _, fact := range facts {
		b.elements[fact.Key] = fact.ID
	}
	holders, err := s.Store.ByUUIDHashes(ctx, hashes)
	if err != nil {
		return b, err
	}
	for _, u := range holders {
		b.holders[u.UUIDHash] = u.Key
	}
	return b, nil
}

// check adds what is wrong with the row's references, and holds its uuid for it.
func (b importBatch) check(row Row, faults problem.Fields, dryRun bool) {
	if _, exists := b.elements[row.Element]; row.Element != "" && !exists && !dryRun {
		faults.Add("element", mustExist)
	}
	if row.UUID == nil {
		return
	}
	if err := CheckUUID(*row.UUID); err != nil {
		faults.Add("uuid", err.Error())
		return
	}
	hash := HashUUID(*row.UUID)
	if holder, held := b.holders[hash]; held && holder != row.Key {
		faults.Add("uuid", taken)
		return
	}
	b.holders[hash] = row.Key
}

func (s *Service) importNew(ctx context.Context, plan importPlan) error {
	indexes := slices.Sorted(maps.Keys(plan.inserts))
	users := make([]*User, len(indexes))
	for n, i := range indexes {
		users[n] = plan.inserts[i]
	}
	refused, err := s.Store.Insert(ctx, users)
	if err != nil {
		return err
	}
	for n, i := range indexes {
		plan.outcomes[i].ID = users[n].ID
		if refused[n] != nil {
			plan.outcomes[i] = Outcome{Result: failed, Errors: takenField(refused[n])}
		}
	}
	return nil
}

func (s *Service) importChanged(ctx context.Context, plan importPlan, rows []Row, b importBatch) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(importWriters)
	for _, i := range plan.updates {
		group.Go(func() error {
			_, err := s.change(ctx, plan.outcomes[i].ID, func(u *User) error {
				return problem.InvalidFields(rows[i].apply(u, b.elements[rows[i].Element]))
			})
			switch {
			case errors.Is(err, ErrUUIDTaken):
				plan.outcomes[i] = Outcome{Result: failed, Errors: takenField(err)}
			case problem.Is(err, problem.Conflict):
				plan.outcomes[i] = Outcome{Result: failed, Errors: problem.Fields{"admin": {problem.As(err).Message}}}
			default:
				return err
			}
			return nil
		})
	}
	return group.Wait()
}

// takenField names the field that another user, stored a moment ago, has the value of.
func takenField(err error) problem.Fields {
	if errors.Is(err, ErrKeyTaken) {
		return problem.Fields{"key": {taken}}
	}
	return problem.Fields{"uuid": {taken}}
}
