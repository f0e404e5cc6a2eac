package series

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// maxOutcomes bounds how many outcomes of changes a series keeps.
const maxOutcomes = 5

// start stores a change, and performs it.
func (s *Service) start(ctx context.Context, t *transformation) (Series, error) {
	found, err := s.o.Store.Change(ctx, t.found.ID, func(x *Series) error {
		if err := x.quiet(); err != nil {
			return err
		}
		if x.Version != t.found.Version {
			return event.ErrOutdated
		}
		x.Changes++
		t.change.Number = x.Changes
		x.Changing = &t.change
		return nil
	})
	if err != nil {
		return Series{}, record.Missing(err, event.Record, t.named.ID)
	}
	return s.perform(ctx, found)
}

// perform completes a change that was begun, and returns the series as it is then. It may be repeated, and run in
// several processes at once: each event takes a change once, and none after a later one. If the event named was changed
// meanwhile or an event can't be held, the change is dropped before any other event has taken it.
func (s *Service) perform(ctx context.Context, found Series) (Series, error) {
	number := found.Changing.Number
	if !found.Changing.Committed && !found.Changing.Dropped {
		var err error
		if found, err = s.commit(ctx, found.ID, *found.Changing); err != nil {
			return Series{}, err
		}
	}
	c := found.Changing
	switch {
	case c == nil || c.Number != number:
		return found, nil
	case c.Dropped:
		return s.drop(ctx, found.ID, c)
	}
	reasons := make([]Reason, len(c.Events))
	if err := forEach(ctx, c.Events, func(ctx context.Context, i int, a Altered) (err error) {
		if a.EventID != c.EventID {
			reasons[i], err = s.share(ctx, c, a)
		}
		return err
	}); err != nil {
		return Series{}, err
	}
	return s.conclude(ctx, found.ID, c, reasons)
}

// forEach calls do for each of the items, atOnce at a time.
func forEach[T any](ctx context.Context, items []T, do func(ctx context.Context, i int, item T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, item := range items {
		g.Go(func() error { return do(ctx, i, item) })
	}
	return g.Wait()
}

// isChanging says whether that change is under way.
func (s *Series) isChanging(c *Change) bool {
	return s.Changing != nil && s.Changing.Number == c.Number
}

// commit holds the events that must be held, and writes the event named. When either fails, the change is dropped.
func (s *Service) commit(ctx context.Context, id int64, c Change) (Series, error) {
	written, err := s.hold(ctx, &c)
	if written && err == nil {
		var reason Reason
		reason, err = s.share(ctx, &c, c.named())
		written = reason == ""
	}
	if err != nil {
		return Series{}, err
	}
	return s.o.Store.Change(ctx, id, func(x *Series) error {
		if !x.isChanging(&c) || x.Changing.Committed || x.Changing.Dropped {
			return record.ErrUnchanged
		}
		x.Changing.Committed, x.Changing.Dropped = written, !written
		return nil
	})
}

// hold holds the events whose times others take: from then on nothing else changes them, so that they will move. A
// deleted one has left its time too. False when one has changed since it was read.
func (s *Service) hold(ctx context.Context, c *Change) (bool, error) {
	var changed atomic.Bool
	err := s.eachHeld(ctx, c, func(e *event.Event, a Altered) error {
		switch {
		case e.Shared >= c.Number, e.Held == c.Number:
			return record.ErrUnchanged
		case e.Version != a.Version:
			changed.Store(true)
			return record.ErrUnchanged
		}
		e.Held = c.Number
		return nil
	})
	return !changed.Load(), err
}

// drop ends a change without making it, and releases its events. It writes those that are not yet held too, so that a
// late process finds another version and does not hold them.
func (s *Service) drop(ctx context.Context, id int64, c *Change) (Series, error) {
	if err := s.eachHeld(ctx, c, func(e *event.Event, a Altered) error {
		if e.Held != c.Number && e.Version != a.Version {
			return record.ErrUnchanged
		}
		e.Held = 0
		return nil
	}); err != nil {
		return Series{}, err
	}
	return s.o.Store.Change(ctx, id, func(x *Series) error {
		if !x.isChanging(c) {
			return record.ErrUnchanged
		}
		x.Changing = nil
		return nil
	})
}

// eachHeld lets hold decide on each event that the change holds and that still exists.
func (s *Service) eachHeld(ctx context.Context, c *Change, hold func(*event.Event, Altered) error) error {
	return forEach(ctx, c.Events, func(ctx context.Context, _ int, a Altered) error {
		if !a.Held {
			return nil
		}
		return existing(s.o.EventStore.Hold(ctx, a.EventID, func(e *event.Event) error { return hold(e, a) }))
	})
}

// existing is the error of a write to an event, without that of a deleted one.
func existing(err error) error {
	if errors.Is(err, record.ErrNotFound) {
		return nil
	}
	return err
}

// named is the event named.
func (c *Change) named() Altered {
	return c.Events[slices.IndexFunc(c.Events, func(a Altered) bool { return a.EventID == c.EventID })]
}

// share applies the change to an event, or says why it stays as it is.
func (s *Service) share(ctx context.Context, c *Change, a Altered) (reason Reason, err error) {
	if a.Reason != "" {
		return a.Reason, nil
	}
	_, err = s.o.EventStore.Change(ctx, a.EventID, func(e *event.Event) error {
		if reason = c.refuses(e, a); reason != "" || e.Shared >= c.Number {
			return record.ErrUnchanged
		}
		e.Take(c.Common, a.Span, c.stays)
		e.Held = 0
		e.Shared = c.Number // so that it is written, though nothing else may differ
		return nil
	})
	if errors.Is(err, record.ErrNotFound) {
		return Deleted, nil
	}
	return reason, err
}

// refuses says why an event stays as it is; "" when it is changed.
func (c *Change) refuses(e *event.Event, a Altered) Reason {
	switch {
	case e.Shared >= c.Number, e.Held == c.Number:
		return ""
	case a.EventID != c.EventID && !c.Overwrite && len(e.Own) > 0:
		return Changed
	case a.Version != 0 && e.Version != a.Version:
		return Overtaken
	}
	return ""
}

// conclude stores the outcome of a change and ends it.
func (s *Service) conclude(ctx context.Context, id int64, c *Change, reasons []Reason) (Series, error) {
	done := Outcome{Number: c.Number, At: time.Now().UTC().Truncate(time.Millisecond), Key: c.Key, EventID: c.EventID}
	moved := map[int64]Altered{}
	for i, a := range c.Events {
		a.Reason = reasons[i]
		if a.Reason == "" {
			done.Changed = append(done.Changed, a.EventID)
		} else {
			done.Kept = append(done.Kept, a.Kept)
		}
		if c.Common.Times && (a.Reason == "" || a.Reason == Changed) { // the plan moves, whatever times the event has
			moved[a.EventID] = a
		}
	}
	return s.o.Store.Change(ctx, id, func(x *Series) error {
		if !x.isChanging(c) {
			return record.ErrUnchanged
		}
		x.Changing = nil
		for i, o := range x.Plan {
			if a, found := moved[o.EventID]; found {
				x.Plan[i].Span, x.Plan[i].Clock = a.Span, a.Clock
			}
		}
		x.Changed = append(slices.DeleteFunc(x.Changed, func(o Outcome) bool {
			return time.Since(o.At) > idempotency.Lifetime
		}), done)
		x.Changed = x.Changed[max(0, len(x.Changed)-maxOutcomes):]
		return nil
	})
}
