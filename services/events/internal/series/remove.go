package series

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Scope says which events of a series a request for one of them covers.
type Scope string

// The scopes.
const (
	One       Scope = "one"
	Following Scope = "following" // it and those after it, by their places
	All       Scope = "all"
)

// atOnce is how many events are deleted at a time.
const atOnce = 8

// Removal says which events are to be deleted with the event named.
type Removal struct {
	Scope Scope
	Match record.Match
}

// Remove deletes an event, and with it those of its series that the scope covers; an event without a series is deleted
// alone. It returns those that stay: p may not delete them individually, or they were changed meanwhile, after which p
// might not. It returns the errors of event.Service.Delete for the event named, and Conflict while the series is being
// made or changed, or the event keeps changing. When the process dies, another deletes the rest.
func (s *Service) Remove(ctx context.Context, p principal.Principal, id int64, r Removal) ([]KeptEvent, error) {
	if r.Scope == One {
		return nil, s.o.Events.Delete(ctx, p, id, r.Match, s.isMade(ctx))
	}
	for range tries {
		kept, err := s.removeSeveral(ctx, p, id, r)
		if !errors.Is(err, event.ErrOutdated) {
			return kept, err
		}
	}
	return nil, problem.New(problem.Conflict, "the event is being changed")
}

// removeSeveral tries to delete several events. ErrOutdated when the event named was changed or deleted meanwhile.
func (s *Service) removeSeveral(ctx context.Context, p principal.Principal, id int64, r Removal) ([]KeptEvent, error) {
	e, err := s.o.Events.Editable(ctx, p, id, r.Match)
	if err != nil {
		return nil, err
	}
	if e.SeriesID == 0 {
		return nil, s.o.Events.Delete(ctx, p, id, r.Match, s.isMade(ctx))
	}
	covered, err := s.inScope(ctx, e, r.Scope)
	if err != nil {
		return nil, err
	}
	access, err := s.o.Events.Access(ctx, p, covered)
	if err != nil {
		return nil, err
	}
	ending := Ending{
		Since: time.Now().UTC().Truncate(time.Millisecond), Actor: audit.ActorOf(ctx),
		EventID: e.ID, Version: e.Version,
	}
	var kept []KeptEvent
	for i, other := range covered {
		if !access[i].Edits {
			kept = append(kept, keptAs(other, Forbidden))
			continue
		}
		version := other.Version
		if access[i].Owns {
			version = 0
		}
		ending.Events, ending.Versions = append(ending.Events, other.ID), append(ending.Versions, version)
	}
	overtaken, err := s.endEvents(ctx, e.SeriesID, ending)
	if err != nil {
		return nil, record.Missing(err, event.Record, id)
	}
	kept = append(kept, overtaken...)
	slices.SortFunc(kept, func(a, b KeptEvent) int { return cmp.Compare(a.Place, b.Place) })
	return s.trimKept(ctx, p, kept)
}

func keptAs(e event.Event, reason Reason) KeptEvent {
	return KeptEvent{Kept{Place: e.Place, EventID: e.ID, Reason: reason}, e}
}

// endEvents deletes the event named and others of a series, and returns those that stay because they were changed; a
// dry run only says whether that is possible now. ErrOutdated when the event named was changed or deleted meanwhile,
// perhaps by a concurrent deletion.
func (s *Service) endEvents(ctx context.Context, id int64, ending Ending) (overtaken []KeptEvent, err error) {
	if record.IsDryRun(ctx) {
		found, err := s.o.Store.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return nil, found.unchanging()
	}
	begun := false // a deletion, before
	found, err := s.o.Store.Change(ctx, id, func(x *Series) error {
		if err := x.unchanging(); err != nil {
			return err
		}
		if begun = x.Ending != nil; begun {
			return record.ErrUnchanged
		}
		x.Ending = &ending
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case begun:
		if _, err = s.finish(ctx, found); err == nil {
			err = event.ErrOutdated
		}
		return nil, err
	}
	err = s.endNamed(ctx, found)
	if errors.Is(err, event.ErrOutdated) || errors.Is(err, record.ErrNotFound) {
		now, failed := s.changeEnding(ctx, found, func(x *Series) error {
			if x.Ending.Decided { // by a process that goes on with this deletion
				return record.ErrUnchanged
			}
			x.Ending = nil
			return nil
		})
		if err = failed; err == nil && !now.Ending.is(found.Ending) {
			err = event.ErrOutdated
		}
	}
	if err == nil {
		_, overtaken, err = s.endOthers(ctx, found)
	}
	return overtaken, err
}

// isMade returns a check that is Conflict for an event of a series that is being made: the event would be stored again.
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

// unchanging returns Conflict while the series is being made or several of its events are being changed.
func (s *Series) unchanging() error {
	switch {
	case s.State != Made:
		return beingMade()
	case s.Changing != nil:
		return problem.New(problem.Conflict, "the series is being changed")
	}
	return nil
}

// end completes a deletion of several events. It may be repeated, and run in several processes at once.
func (s *Service) end(ctx context.Context, ending Series) (Series, error) {
	if !ending.Ending.Decided {
		err := existing(s.endNamed(ctx, ending)) // the process that began may have deleted it
		switch {
		case errors.Is(err, event.ErrOutdated):
			return s.ended(ctx, ending)
		case err != nil:
			return Series{}, err
		}
	}
	ended, _, err := s.endOthers(ctx, ending)
	return ended, err
}

// endNamed deletes the event named, and then records that in the series, which restores the deletion of the others if a
// process that found the event deleted has cancelled it meanwhile. ErrOutdated when the event has changed;
// record.ErrNotFound.
func (s *Service) endNamed(ctx context.Context, ending Series) error {
	if err := s.o.EventStore.Delete(ctx, ending.Ending.EventID, func(e *event.Event) error {
		if e.Version != ending.Ending.Version {
			return event.ErrOutdated
		}
		return nil
	}); err != nil {
		return err
	}
	decided := *ending.Ending
	decided.Decided = true
	_, err := s.o.Store.Change(ctx, ending.ID, func(x *Series) error {
		if x.Ending != nil && !x.Ending.is(ending.Ending) {
			return record.ErrUnchanged
		}
		x.Ending = &decided
		return nil
	})
	return err
}

// endOthers deletes the others, and returns those that stay because they were changed.
func (s *Service) endOthers(ctx context.Context, ending Series) (ended Series, overtaken []KeptEvent, err error) {
	versions := ending.Ending.Versions
	changed := make([]event.Event, len(ending.Ending.Events))
	if err := forEach(ctx, ending.Ending.Events, func(ctx context.Context, i int, id int64) error {
		err := s.o.EventStore.Delete(ctx, id, func(e *event.Event) error {
			if i < len(versions) && versions[i] != 0 && versions[i] != e.Version {
				changed[i] = *e
				return event.ErrOutdated
			}
			return nil
		})
		if errors.Is(err, event.ErrOutdated) {
			return nil
		}
		return existing(err)
	}); err != nil {
		return Series{}, nil, err
	}
	for _, e := range changed {
		if e.ID != 0 {
			overtaken = append(overtaken, keptAs(e, Overtaken))
		}
	}
	ended, err = s.ended(ctx, ending)
	return ended, overtaken, err
}

// ended records in the series that a deletion of several events is complete.
func (s *Service) ended(ctx context.Context, ending Series) (Series, error) {
	return s.changeEnding(ctx, ending, func(x *Series) error {
		x.Ending = nil
		return nil
	})
}

// changeEnding changes a series while that deletion is under way.
func (s *Service) changeEnding(ctx context.Context, ending Series, change func(*Series) error) (Series, error) {
	return s.o.Store.Change(ctx, ending.ID, func(x *Series) error {
		if !x.Ending.is(ending.Ending) {
			return record.ErrUnchanged
		}
		return change(x)
	})
}

// is says whether two are the same deletion.
func (e *Ending) is(other *Ending) bool {
	return e != nil && e.EventID == other.EventID && e.Since.Equal(other.Since)
}
