package note

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// updatesAtOnce bounds the changed rows of a batch that are written at the same time.
const updatesAtOnce = 8

// Row is one record of an import (administration: notes.csv).
type Row struct {
	Key, Hash string // the source's id of the row, and the hash of all of it
	Edit      Edit
	Event     string // key
	Owner     string // key; "" for the system
}

// row is a Row with its index and the stored note.
type row struct {
	Row
	index  int
	stored *Note // nil: not there yet
}

// Import makes the notes agree with the rows, matched by key, and returns an outcome for each. An unchanged row, one
// like the row that was imported last, leaves the note alone with all that was changed by hand since. Any other row
// is the whole truth about its note. A row at fault fails alone. A dry run writes nothing, and does not look
// references up. Events and identity are asked once for a batch, and not at all when no row is new or changed.
func (s *Service) Import(ctx context.Context, batch []Row, dryRun bool) ([]record.Outcome, error) {
	return record.ImportRows(batch, func(batch []Row) ([]record.Outcome, []int, error) {
		return s.importRows(ctx, batch, dryRun)
	})
}

func (s *Service) importRows(
	ctx context.Context, batch []Row, dryRun bool,
) (outcomes []record.Outcome, late []int, err error) {
	outcomes = make([]record.Outcome, len(batch))
	rows, err := s.changed(ctx, batch, outcomes)
	if err != nil {
		return nil, nil, err
	}
	if dryRun {
		for _, r := range rows {
			outcomes[r.index] = r.outcome()
		}
		return outcomes, nil, nil
	}
	added, changed, err := s.resolve(ctx, rows, outcomes)
	if err != nil {
		return nil, nil, err
	}
	if err := s.add(ctx, added, outcomes); err != nil {
		return nil, nil, err
	}
	for _, r := range added { // what fails otherwise has failed before
		if outcomes[r.index].Result == record.Failed {
			late = append(late, r.index)
		}
	}
	return outcomes, late, s.replace(ctx, changed, outcomes)
}

// changed returns the rows that are new or changed. It sets the outcomes of the others: those at fault, and the
// unchanged ones.
func (s *Service) changed(ctx context.Context, batch []Row, outcomes []record.Outcome) ([]row, error) {
	keys := make([]string, len(batch))
	for i, r := range batch {
		keys[i] = r.Key
	}
	stored := map[string]*Note{}
	if len(keys) > 0 {
		notes, err := s.store.FindByKeys(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			stored[n.Key] = &n
		}
	}
	var rows []row
	for i, given := range batch {
		r := row{given, i, stored[given.Key]}
		switch faults := r.check(); {
		case len(faults) > 0:
			outcomes[i] = record.Fail(faults)
		case r.stored != nil && r.stored.ImportHash == r.Hash:
			outcomes[i] = record.Outcome{Result: record.Unchanged, ID: r.stored.ID}
		default:
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// check returns all that is wrong with the row, by field; the event is needed.
func (r Row) check() problem.Fields {
	faults := r.Edit.check()
	if r.Event == "" && len(faults["event"]) == 0 {
		faults.Add("event", problem.Blank)
	}
	return faults
}

// resolve makes notes of rows, the new and the changed ones apart. It sets the outcomes of rows whose event or owner
// does not exist.
func (s *Service) resolve(
	ctx context.Context, rows []row, outcomes []record.Outcome,
) (added, changed []resolved, err error) {
	events, users, err := s.references(ctx, rows)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		faults := problem.Fields{}
		eventID, found := events[r.Event]
		if !found {
			faults.Add("event", problem.MustExist)
		}
		ownerID, found := users[r.Owner]
		if !found && r.Owner != "" {
			faults.Add("owner", problem.MustExist)
		}
		if len(faults) > 0 {
			outcomes[r.index] = record.Fail(faults)
			continue
		}
		n := fresh(eventID, ownerID)
		n.Key, n.ImportHash = r.Key, r.Hash
		r.Edit.apply(&n)
		if err := s.render(&n); err != nil {
			return nil, nil, err
		}
		if r.stored == nil {
			added = append(added, resolved{r, n})
		} else {
			changed = append(changed, resolved{r, n})
		}
	}
	return added, changed, nil
}

// resolved is a row with the note that it asks for.
type resolved struct {
	row
	note Note
}

// references returns the ids of the rows' events and owners by key.
func (s *Service) references(ctx context.Context, rows []row) (events, users map[string]int64, err error) {
	var eventKeys, userKeys []string
	events, users = map[string]int64{}, map[string]int64{}
	asked := map[string]bool{}
	once := func(keys []string, kind, key string) []string {
		if key == "" || asked[kind+key] {
			return keys
		}
		asked[kind+key] = true
		return append(keys, key)
	}
	for _, r := range rows {
		eventKeys = once(eventKeys, "event ", r.Event)
		userKeys = once(userKeys, "user ", r.Owner)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		facts, err := s.events.Summaries(ctx, fact.SummariesQuestion{Keys: eventKeys})
		for _, f := range facts {
			if f.ID != nil {
				events[f.Key] = *f.ID
			}
		}
		return err
	})
	group.Go(func() error {
		facts, err := s.users.Users(ctx, fact.UsersQuestion{Keys: userKeys})
		for _, f := range facts {
			users[f.Key] = f.ID
		}
		return err
	})
	return events, users, group.Wait()
}

// add stores the new notes, those of updatesAtOnce events at a time.
func (s *Service) add(ctx context.Context, rows []resolved, outcomes []record.Outcome) error {
	ofEvent := map[int64][]resolved{}
	for _, r := range rows {
		ofEvent[r.note.EventID] = append(ofEvent[r.note.EventID], r)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(updatesAtOnce)
	for _, rows := range ofEvent {
		group.Go(func() error {
			err := s.addTo(ctx, rows, outcomes)
			if errors.Is(err, ErrFull) {
				err = s.addSome(ctx, rows, outcomes)
			}
			if !errors.Is(err, record.ErrNotFound) {
				return err
			}
			for _, r := range rows { // their event has just been deleted, with all of its notes
				outcomes[r.index] = record.Fail(problem.Fields{"event": {problem.MustExist}})
			}
			return nil
		})
	}
	return group.Wait()
}

// addSome stores as many new notes of one event as there is room for.
func (s *Service) addSome(ctx context.Context, rows []resolved, outcomes []record.Outcome) error {
	for _, r := range rows {
		err := s.addTo(ctx, []resolved{r}, outcomes)
		if errors.Is(err, ErrFull) {
			outcomes[r.index] = record.Fail(tooMuch())
		} else if err != nil {
			return err
		}
	}
	return nil
}

// addTo stores new notes of one event, all or, with ErrFull and record.ErrNotFound, none.
func (s *Service) addTo(ctx context.Context, rows []resolved, outcomes []record.Outcome) error {
	notes := make([]Note, len(rows))
	var size Size
	for i, r := range rows {
		notes[i] = r.note
		size = size.Plus(r.note.Size())
	}
	var taken map[int]bool
	err := s.store.Within(ctx, notes[0].EventID, size, limit, func() (err error) {
		taken, err = s.store.InsertAll(ctx, notes)
		return err
	})
	if err != nil {
		return err
	}
	for i, r := range rows {
		if taken[i] {
			outcomes[r.index] = record.Fail(problem.Fields{"key": {problem.Taken}})
			continue
		}
		outcomes[r.index] = record.Outcome{Result: record.Created, ID: notes[i].ID}
	}
	return nil
}

// replace changes the stored notes, updatesAtOnce at a time.
func (s *Service) replace(ctx context.Context, rows []resolved, outcomes []record.Outcome) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(updatesAtOnce)
	for _, r := range rows {
		group.Go(func() error {
			_, err := s.change(ctx, *r.stored, func(n *Note) error {
				id := n.ID
				*n = r.note
				n.ID = id
				return nil
			})
			if errors.Is(err, ErrFull) {
				outcomes[r.index] = record.Fail(tooMuch())
				return nil
			}
			if errors.Is(err, record.ErrNotFound) { // deleted since it was read: the next import makes it anew
				outcomes[r.index] = record.Fail(problem.Fields{"key": {"was deleted meanwhile"}})
				return nil
			}
			outcomes[r.index] = r.outcome()
			return err
		})
	}
	return group.Wait()
}

// outcome says that the row changes its note or, when there is none, makes one.
func (r row) outcome() record.Outcome {
	if r.stored == nil {
		return record.Outcome{Result: record.Created}
	}
	return record.Outcome{Result: record.Updated, ID: r.stored.ID}
}
