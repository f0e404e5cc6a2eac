package note

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// updatesAtOnce bounds the changed rows of a batch that are written at the same time.
const updatesAtOnce = 8

// row is a record of a batch on its way into the store.
type row struct {
	index  int
	record importer.Record
	change Change
	event  string // key
	owner  string // key; "" for the system
	stored *Note  // nil: not there yet
}

// Import brings a batch of notes.csv rows into the store (administration: the bundle) and returns what became of each. A row is the whole truth
// about its note, but an unchanged row leaves the note alone. One read of the batch's keys; for new and changed rows one question to events and
// one to identity, one write for all new notes, and one versioned write for each changed one. A dry run only reads, and does not look references up.
func (s *Service) Import(ctx context.Context, batch importer.Batch) ([]importer.Result, error) {
	results := make([]importer.Result, len(batch.Records))
	rows, err := s.pending(ctx, batch.Records, results)
	if err != nil {
		return nil, err
	}
	if batch.DryRun {
		for _, r := range rows {
			results[r.index] = r.result()
		}
		return results, nil
	}
	added, changed, err := s.resolve(ctx, rows, results)
	if err != nil {
		return nil, err
	}
	if err := s.add(ctx, added, results); err != nil {
		return nil, err
	}
	return results, s.replace(ctx, changed, results)
}

// pending returns the rows that are new or changed. It sets the results of the others: those at fault, and those that are stored as they are.
func (s *Service) pending(ctx context.Context, records []importer.Record, results []importer.Result) ([]row, error) {
	keys := make([]string, len(records))
	for i, r := range records {
		keys[i] = r.Key
	}
	stored := map[string]*Note{}
	if len(keys) > 0 {
		notes, err := s.Store.WithKeys(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			stored[n.Key] = &n
		}
	}
	var rows []row
	for i, record := range records {
		r, faults := readRow(i, record)
		r.stored = stored[record.Key]
		switch {
		case len(faults) > 0:
			results[i] = importer.Fail(i, record, faults)
		case r.stored != nil && r.stored.ImportHash == record.Hash:
			results[i] = importer.Result{Index: i, Key: record.Key, Result: importer.Unchanged, ID: r.stored.ID}
		default:
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// readRow reads a record's fields; the event is needed.
func readRow(index int, record importer.Record) (row, problem.Fields) {
	read := problem.Fields{}
	r := row{index: index, record: record}
	r.change = ReadChange(record.Fields)
	if event := record.Fields.Text("event", read); event != nil {
		r.event = *event
	}
	if owner := record.Fields.Text("owner", read); owner != nil {
		r.owner = *owner
	}
	faults := r.change.check()
	for field, messages := range read {
		faults[field] = messages
	}
	if r.event == "" && len(faults["event"]) == 0 {
		faults.Add("event", "can't be blank")
	}
	return r, faults
}

// resolve makes notes of rows, the new and the changed ones apart. It sets the results of rows whose event or owner does not exist.
func (s *Service) resolve(ctx context.Context, rows []row, results []importer.Result) (added, changed []resolved, err error) {
	events, users, err := s.references(ctx, rows)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		faults := problem.Fields{}
		eventID, found := events[r.event]
		if !found {
			faults.Add("event", "must exist")
		}
		ownerID, found := users[r.owner]
		if !found && r.owner != "" {
			faults.Add("owner", "must exist")
		}
		if len(faults) > 0 {
			results[r.index] = importer.Fail(r.index, r.record, faults)
			continue
		}
		n := fresh(eventID, ownerID)
		n.Key, n.ImportHash = r.record.Key, r.record.Hash
		r.change.applyTo(&n)
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
		eventKeys = once(eventKeys, "event ", r.event)
		userKeys = once(userKeys, "user ", r.owner)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		facts, err := s.Events.Summaries(ctx, fact.SummariesQuestion{Keys: eventKeys})
		for _, f := range facts {
			if f.ID != nil {
				events[f.Key] = *f.ID
			}
		}
		return err
	})
	group.Go(func() error {
		facts, err := s.Users.Users(ctx, fact.UsersQuestion{Keys: userKeys})
		for _, f := range facts {
			users[f.Key] = f.ID
		}
		return err
	})
	return events, users, group.Wait()
}

// add stores the new notes.
func (s *Service) add(ctx context.Context, rows []resolved, results []importer.Result) error {
	if len(rows) == 0 {
		return nil
	}
	notes := make([]Note, len(rows))
	for i, r := range rows {
		notes[i] = r.note
	}
	taken, err := s.Store.InsertAll(ctx, notes)
	if err != nil {
		return err
	}
	for i, r := range rows {
		if taken[i] {
			results[r.index] = importer.Fail(r.index, r.record, problem.Fields{"key": {"has already been taken"}})
			continue
		}
		results[r.index] = importer.Result{Index: r.index, Key: r.record.Key, Result: importer.Created, ID: notes[i].ID}
	}
	return nil
}

// replace writes the changed notes.
func (s *Service) replace(ctx context.Context, rows []resolved, results []importer.Result) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(updatesAtOnce)
	for _, r := range rows {
		group.Go(func() error {
			_, err := s.Store.Update(ctx, r.stored.ID, func(n *Note) error {
				id := n.ID
				*n = r.note
				n.ID = id
				return nil
			})
			if problem.Is(err, problem.NotFound) { // deleted since it was read: the next import makes it anew
				results[r.index] = importer.Fail(r.index, r.record, problem.Fields{"key": {"was deleted meanwhile"}})
				return nil
			}
			results[r.index] = r.result()
			return err
		})
	}
	return group.Wait()
}

// result says that the row changes its note or, when there is none, makes one.
func (r row) result() importer.Result {
	if r.stored == nil {
		return importer.Result{Index: r.index, Key: r.record.Key, Result: importer.Created}
	}
	return importer.Result{Index: r.index, Key: r.record.Key, Result: importer.Updated, ID: r.stored.ID}
}
