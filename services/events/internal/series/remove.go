package series

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Scope says which events of a series are meant by one of them.
type Scope string

// The scopes.
const (
	One       Scope = "one"
	Following Scope = "following" // it and those after it, by their places
	All       Scope = "all"
)

// atOnce is how many events are deleted at a time.
const atOnce = 8

// Remove deletes an event, and with it those of its series that the scope means; one that is in no series is deleted
// alone. It returns those that p may not delete by themselves, which stay. Errors are those of event.Service.Delete
// about the event named. Conflict while the series is being made or changed. When the process dies, another deletes the
// rest.
func (s *Service) Remove(
	ctx context.Context, p principal.Principal, id int64, scope Scope, match record.Match,
) ([]KeptEvent, error) {
	if scope == One {
		return nil, s.o.Events.Delete(ctx, p, id, match, s.isMade(ctx))
	}
	e, err := s.o.Events.Editable(ctx, p, id, match)
	if err != nil {
		return nil, err
	}
	if e.SeriesID == 0 {
		return nil, s.o.Events.Delete(ctx, p, id, match, s.isMade(ctx))
	}
	meant, err := s.meant(ctx, e, scope)
	if err != nil {
		return nil, err
	}
	access, err := s.o.Events.Access(ctx, p, meant)
	if err != nil {
		return nil, err
	}
	var ids []int64
	var kept []KeptEvent
	for i, other := range meant {
		if access[i].Edits {
			ids = append(ids, other.ID)
			continue
		}
		kept = append(kept, KeptEvent{Kept{Place: other.Place, EventID: other.ID, Reason: Forbidden}, other})
	}
	ending := Ending{Since: time.Now().UTC().Truncate(time.Millisecond), Actor: audit.ActorOf(ctx)}
	found, err := s.o.Store.Change(ctx, e.SeriesID, func(x *Series) error {
		if err := x.settled(); err != nil {
			return err
		}
		next := ending
		if x.Ending != nil { // another has begun, and does no more if it is still at it
			next.Events = slices.Clone(x.Ending.Events)
		}
		next.Events = append(next.Events, ids...)
		slices.Sort(next.Events)
		next.Events = slices.Compact(next.Events)
		x.Ending = &next
		return nil
	})
	if err != nil {
		return nil, record.Missing(err, event.Record, id)
	}
	if _, err := s.end(ctx, found); err != nil {
		return nil, err
	}
	return s.trimKept(ctx, p, kept)
}

// isMade returns what says Conflict for an event of a series that is being made: who makes it would store it again.
func (s *Service) isMade(ctx context.Context) func(*event.Event) error {
	return func(e *event.Event) error {
		if e.SeriesID == 0 {
			return nil
		}
		found, err := s.o.Store.Get(ctx, e.SeriesID)
		switch {
		case errors.Is(err, record.ErrNotFound):
			return nil
		case err == nil && found.State != Made:
			return beingMade()
		}
		return err
	}
}

func beingMade() error { return problem.New(problem.Conflict, "the series is being made") }

// settled is a Conflict while the series is made or several of its events are being changed.
func (s *Series) settled() error {
	switch {
	case s.State != Made:
		return beingMade()
	case s.Changing != nil:
		return problem.New(problem.Conflict, "the series is being changed")
	}
	return nil
}

// end deletes the events of a series that are to be deleted, and forgets that they are. It may be repeated, and run in
// several processes at once.
func (s *Service) end(ctx context.Context, ending Series) (Series, error) {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, id := range ending.Ending.Events {
		g.Go(func() error {
			err := s.o.IDs.Delete(gctx, id, func(*event.Event) error { return nil })
			if errors.Is(err, record.ErrNotFound) {
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Series{}, err
	}
	return s.o.Store.Change(ctx, ending.ID, func(x *Series) error {
		if x.Ending == nil {
			return record.ErrUnchanged
		}
		next := *x.Ending
		next.Events = slices.DeleteFunc(slices.Clone(next.Events), func(id int64) bool {
			return slices.Contains(ending.Ending.Events, id)
		})
		if x.Ending = &next; len(next.Events) == 0 {
			x.Ending = nil
		}
		return nil
	})
}
