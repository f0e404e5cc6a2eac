package series

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// make stores the planned events that are not stored yet, and then the series as made. It may be repeated, and run in
// several processes at once. An event that can't be stored, although no event of the series has its id, was fenced by
// another booking or has been deleted. It is left out; with clashes refused, the series is withdrawn instead, and make
// returns Conflict.
func (s *Service) make(ctx context.Context, planned Series) (Series, error) {
	overtaken, err := s.insert(ctx, planned)
	if err != nil {
		return Series{}, err
	}
	if n := len(overtaken); n > 0 && (planned.Repeat.Clashes == event.RefuseClashes || n == len(planned.Plan)) {
		if err := s.withdraw(ctx, planned); err != nil {
			return Series{}, err
		}
		return Series{}, problem.New(problem.Conflict,
			"an element was booked while the series was made: no event was created")
	}
	made, err := s.o.Store.Change(ctx, planned.ID, func(x *Series) error {
		if x.State != Planned {
			return record.ErrUnchanged
		}
		x.State = Made
		x.leaveOut(overtaken)
		return nil
	})
	if errors.Is(err, record.ErrNotFound) || (err == nil && made.State != Made) { // withdrawn by another process
		if err := s.removePlanned(ctx, planned); err != nil {
			return Series{}, err
		}
		return Series{}, problem.New(problem.Conflict, "the series was taken back while it was made")
	}
	return made, err
}

// insert stores the planned events, and returns the ids of those that can't be stored.
func (s *Service) insert(ctx context.Context, planned Series) (overtaken []int64, err error) {
	var taken []int64
	for batch := range slices.Chunk(planned.events(), perBatch) {
		refused, err := s.o.Store.InsertEvents(ctx, batch)
		if err != nil {
			return nil, err
		}
		for _, i := range refused {
			taken = append(taken, batch[i].ID)
		}
	}
	if len(taken) == 0 {
		return nil, nil
	}
	stored, err := s.o.Store.FindEvents(ctx, planned.ID) // by an earlier process
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(taken, func(id int64) bool {
		return slices.ContainsFunc(stored, func(e event.Event) bool { return e.ID == id })
	}), nil
}

// leaveOut removes the events of those ids from the plan.
func (s *Series) leaveOut(ids []int64) {
	var kept []Occurrence
	for _, o := range s.Plan {
		if slices.Contains(ids, o.EventID) {
			s.LeftOut = append(s.LeftOut, LeftOut{Starts: o.Span.Starts, Reason: Overtaken})
			continue
		}
		kept = append(kept, o)
	}
	s.Plan = kept
	s.order()
}

// withdraw deletes a series that is not made, and all its events. Other processes can store none of them afterwards.
func (s *Service) withdraw(ctx context.Context, planned Series) error {
	found, err := s.o.Store.Change(ctx, planned.ID, func(x *Series) error {
		if x.State != Planned {
			return record.ErrUnchanged
		}
		x.State = Withdrawn
		return nil
	})
	if errors.Is(err, record.ErrNotFound) || (err == nil && found.State == Made) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.removePlanned(ctx, found); err != nil {
		return err
	}
	return s.o.Store.Delete(ctx, found.ID)
}

// removePlanned removes the events of a series that is withdrawn.
func (s *Service) removePlanned(ctx context.Context, withdrawn Series) error {
	for _, o := range withdrawn.Plan {
		if err := s.remove(ctx, o.EventID); err != nil {
			return err
		}
	}
	return nil
}

// always allows a deletion.
func always(*event.Event) error { return nil }

// remove deletes an event, and makes sure that no process stores it afterwards.
func (s *Service) remove(ctx context.Context, id int64) error {
	for range 2 { // one that was stored meanwhile is deleted the second time
		err := s.o.EventStore.Delete(ctx, id, always)
		if err == nil {
			return nil
		}
		if !errors.Is(err, record.ErrNotFound) {
			return err
		}
		if err := s.o.EventStore.Fence(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Run completes work on series that processes began before they died, until ctx ends; then it returns nil.
func (s *Service) Run(ctx context.Context) error {
	return background.New(background.Options{
		Name: "the sweep of unfinished series", Log: s.o.Log, Every: sweepEvery, Step: s.sweep,
	}).Run(ctx)
}

// perSweep bounds how many series a sweep completes.
const perSweep = 20

func (s *Service) sweep(ctx context.Context) error {
	before := time.Now().Add(-abandoned)
	unmade, err := s.o.Store.ListUnmade(ctx, before, perSweep)
	if err != nil || len(unmade) == 0 {
		return err
	}
	return s.o.Store.Lead(ctx, func(ctx context.Context) error {
		unmade, err := s.o.Store.ListUnmade(ctx, before, perSweep)
		for _, found := range unmade {
			_, failed := s.finish(ctx, found)
			if problem.Is(failed, problem.Conflict) { // it was withdrawn
				failed = nil
			}
			err = errors.Join(err, failed)
		}
		return err
	})
}

// finish completes the work that was begun on a series, and returns the series as it is then. record.ErrNotFound or
// Conflict when it was withdrawn.
func (s *Service) finish(ctx context.Context, found Series) (Series, error) {
	ctx = audit.WithActor(ctx, found.Actor)
	switch found.State {
	case Planned:
		return s.make(ctx, found)
	case Withdrawn:
		if err := s.withdraw(ctx, found); err != nil {
			return Series{}, err
		}
		return Series{}, record.ErrNotFound
	case Made:
	}
	switch {
	case found.Ending != nil:
		return s.end(audit.WithActor(ctx, found.Ending.Actor), found)
	case found.Changing != nil:
		return s.perform(audit.WithActor(ctx, found.Changing.Actor), found)
	}
	return found, nil
}
