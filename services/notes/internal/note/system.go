package note

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// keepTries is how often notes are read again that others wrote at the same time.
const keepTries = 5

// KeepSystemNotes makes the system's notes on a topic agree with the question, and returns what it did with each. A
// note that already agrees is not written. Staff see these notes, pupils and guests do not. A dry run only reads.
// Conflict when other writers keep changing the same notes.
func (s *Service) KeepSystemNotes(ctx context.Context, q fact.SystemNotesQuestion) ([]fact.NoteChange, error) {
	changes := make([]fact.NoteChange, len(q.Notes))
	waiting := make([]int, len(q.Notes))
	for i := range waiting {
		waiting[i] = i
	}
	for range keepTries {
		all, err := s.compare(ctx, q, waiting, changes)
		if err != nil || q.DryRun {
			return changes, err
		}
		if waiting, err = s.keep(ctx, all); err != nil || len(waiting) == 0 {
			return changes, err
		}
	}
	return nil, problem.New(problem.Conflict, "other writers kept changing the notes")
}

// kept is an event's note on a topic, and what is to be done with it.
type kept struct {
	index  int
	change fact.NoteChange
	note   Note // as it is to be; with the id of the one that is stored, 0 when there is none
}

// compare compares the notes at the indexes with the stored ones. It sets their changes, and returns the notes that
// have to be written.
func (s *Service) compare(
	ctx context.Context, q fact.SystemNotesQuestion, indexes []int, changes []fact.NoteChange,
) ([]kept, error) {
	events := sequence.Map(indexes, func(i int) int64 { return q.Notes[i].EventID })
	found, err := s.Store.FindOnTopic(ctx, q.Topic, events)
	if err != nil {
		return nil, err
	}
	stored := sequence.By(found, func(n Note) int64 { return n.EventID })
	var all []kept
	for _, i := range indexes {
		asked := q.Notes[i]
		old, exists := stored[asked.EventID]
		k := kept{index: i, note: fresh(asked.EventID, 0)}
		k.note.ID, k.note.Topic, k.note.Day, k.note.Contents = old.ID, q.Topic, asked.Day, asked.Contents
		switch {
		case asked.Contents == "" && !exists:
			k.change = fact.NoNote
		case asked.Contents == "":
			k.change = fact.NoteRemoved
		case !exists:
			k.change = fact.NoteCreated
		case old.Contents == asked.Contents && old.Day == asked.Day:
			k.change = fact.NoteUnchanged
		default:
			k.change = fact.NoteUpdated
		}
		if changes[i] = k.change; k.change != fact.NoNote && k.change != fact.NoteUnchanged {
			all = append(all, k)
		}
	}
	return all, nil
}

// keep writes notes. It returns the indexes of those for which another writer was first: they have to be compared
// again.
func (s *Service) keep(ctx context.Context, all []kept) ([]int, error) {
	var added []Note
	var at []int // the indexes of those added
	var mu sync.Mutex
	var again []int
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(updatesAtOnce)
	for _, k := range all {
		if k.change != fact.NoteRemoved {
			if err := s.render(&k.note); err != nil {
				return nil, err
			}
		}
		if k.change == fact.NoteCreated {
			added, at = append(added, k.note), append(at, k.index)
			continue
		}
		group.Go(func() error {
			err := s.rewrite(gctx, k)
			if errors.Is(err, record.ErrNotFound) {
				mu.Lock()
				defer mu.Unlock()
				again = append(again, k.index)
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil || len(added) == 0 {
		return again, err
	}
	taken, err := s.Store.InsertAll(ctx, added)
	for n := range taken {
		again = append(again, at[n])
	}
	return again, err
}

// rewrite changes or deletes a note that is stored.
func (s *Service) rewrite(ctx context.Context, k kept) error {
	if k.change == fact.NoteRemoved {
		return s.Store.Delete(ctx, k.note.ID, func(n *Note) error {
			if n.Topic == "" {
				return record.ErrNotFound
			}
			return nil
		})
	}
	_, err := s.Store.Change(ctx, k.note.ID, func(n *Note) error {
		if k.note.Version = n.Version; *n == k.note { // another has just written the same
			return record.ErrUnchanged
		}
		*n = k.note
		return nil
	})
	return err
}

// Noted returns the ids of the events that have a note on a topic which was written for one of the days.
func (s *Service) Noted(ctx context.Context, q fact.NotedQuestion) ([]int64, error) {
	return s.Store.FindNoted(ctx, q.Topic, q.Days)
}
