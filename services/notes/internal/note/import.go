package note

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// updatesAtOnce bounds how many notes, or events with new notes, are written at the same time.
const updatesAtOnce = 8

// Row is one record of an import (administration: notes.csv).
type Row struct {
	record.Row
	Edit  Edit
	Event string // key
	Owner string // key; "" for the system
}

// check returns the faults of the row, by field; the event is required.
func (r Row) check() problem.Fields {
	faults := r.Edit.check()
	if r.Event == "" && len(faults["event"]) == 0 {
		faults.Add("event", problem.Blank)
	}
	return faults
}

// Import makes the notes agree with the rows, see record.Import. A row replaces the whole note: what it leaves out gets
// its default. A dry run does not look references up. Events and identity are asked once for a batch, and not at all
// when no row is new or changed.
func (s *Service) Import(ctx context.Context, batch []Row, dryRun bool) ([]record.Outcome, error) {
	var events, users map[string]int64
	return record.Import[Row, Note]{
		DryRun: dryRun,
		Check:  Row.check,
		Find: func(ctx context.Context, rows []Row) (map[string]Note, error) {
			notes, err := s.Store.FindByKeys(ctx, sequence.Map(rows, func(r Row) string { return r.Key }))
			return sequence.By(notes, func(n Note) string { return n.Key }), err
		},
		Imported: func(n Note) (int64, string) { return n.ID, n.ImportHash },
		Resolve: func(ctx context.Context, rows []Row) (err error) {
			if !dryRun {
				events, users, err = s.references(ctx, rows)
			}
			return err
		},
		Apply: func(r Row, _ Note) (Note, error) {
			if dryRun {
				return Note{}, nil
			}
			return s.noteOf(r, events, users)
		},
		Insert: s.insertRows,
		Change: s.replace,
	}.Run(ctx, batch)
}

// noteOf returns the note that a row asks for. Its event and its owner have to be among those given by key.
func (s *Service) noteOf(r Row, events, users map[string]int64) (Note, error) {
	faults := problem.Fields{}
	eventID, found := events[r.Event]
	if !found {
		faults.Add("event", problem.MustExist)
	}
	ownerID, found := users[r.Owner]
	if !found && r.Owner != "" {
		faults.Add("owner", problem.MustExist)
	}
	n := fresh(eventID, ownerID)
	if len(faults) > 0 {
		return n, record.Invalid(n, faults)
	}
	n.Key, n.ImportHash = r.Key, r.Hash
	r.Edit.apply(&n)
	err := s.render(&n)
	return n, err
}

// references returns the ids of the rows' events and owners by key.
func (s *Service) references(ctx context.Context, rows []Row) (events, users map[string]int64, err error) {
	var eventKeys, userKeys []string
	events, users = map[string]int64{}, map[string]int64{}
	for _, r := range rows {
		eventKeys = append(eventKeys, r.Event)
		if r.Owner != "" {
			userKeys = append(userKeys, r.Owner)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		facts, err := s.Events.Summaries(ctx, fact.SummariesQuestion{Keys: sequence.Distinct(eventKeys)})
		for _, f := range facts {
			if f.ID != nil {
				events[f.Key] = *f.ID
			}
		}
		return err
	})
	group.Go(func() error {
		facts, err := s.Users.Users(ctx, fact.UsersQuestion{Keys: sequence.Distinct(userKeys)})
		for _, f := range facts {
			users[f.Key] = f.ID
		}
		return err
	})
	return events, users, group.Wait()
}

// insertRows stores the new notes, those of updatesAtOnce events at a time.
func (s *Service) insertRows(ctx context.Context, notes []Note) ([]problem.Fields, error) {
	ofEvent := map[int64][]int{}
	for i, n := range notes {
		ofEvent[n.EventID] = append(ofEvent[n.EventID], i)
	}
	refused := make([]problem.Fields, len(notes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(updatesAtOnce)
	for _, some := range ofEvent {
		group.Go(func() error {
			err := s.insertSome(ctx, notes, some, refused)
			if errors.Is(err, ErrFull) {
				err = s.insertEach(ctx, notes, some, refused)
			}
			if !errors.Is(err, record.ErrNotFound) {
				return err
			}
			for _, i := range some { // their event has just been deleted, with all of its notes
				refused[i] = problem.Fields{"event": {problem.MustExist}}
			}
			return nil
		})
	}
	return refused, group.Wait()
}

// insertEach stores as many new notes of one event as there is room for.
func (s *Service) insertEach(ctx context.Context, notes []Note, some []int, refused []problem.Fields) error {
	for _, i := range some {
		err := s.insertSome(ctx, notes, []int{i}, refused)
		if errors.Is(err, ErrFull) {
			refused[i] = tooMuch()
		} else if err != nil {
			return err
		}
	}
	return nil
}

// insertSome stores some of the notes, all new and of one event, and sets their ids: all or, with ErrFull and
// record.ErrNotFound, none.
func (s *Service) insertSome(ctx context.Context, notes []Note, some []int, refused []problem.Fields) error {
	inserted := make([]Note, len(some))
	var size Size
	for n, i := range some {
		inserted[n] = notes[i]
		size = size.Plus(notes[i].Size())
	}
	var taken map[int]bool
	err := s.Store.Within(ctx, inserted[0].EventID, size, limit, func() (err error) {
		taken, err = s.Store.InsertAll(ctx, inserted)
		return err
	})
	if err != nil {
		return err
	}
	for n, i := range some {
		notes[i].ID = inserted[n].ID
		if taken[n] {
			refused[i] = problem.Fields{"key": {problem.Taken}}
		}
	}
	return nil
}

// replace makes a stored note, as it was found, the one that a row asks for.
func (s *Service) replace(ctx context.Context, _ Row, stored, wanted Note) error {
	stored, err := s.Store.Get(ctx, stored.ID)
	if err != nil {
		return err
	}
	_, err = s.change(ctx, stored, func(n *Note) error {
		wanted.ID = n.ID
		*n = wanted
		return nil
	})
	if errors.Is(err, ErrFull) {
		return record.Invalid(wanted, tooMuch())
	}
	return err
}
