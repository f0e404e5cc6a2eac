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

// maxOutcomes is how many changes a series remembers what they did.
const maxOutcomes = 5

// start stores a change, and makes it.
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

// perform makes a change that was begun, and returns the series as it is then. It may be repeated, and run in several
// processes at once: each event takes a change once, and none after a later one. A change whose event named is another
// by now, or of which an event can't be held, is dropped before any other event has taken it.
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
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, a := range c.Events {
		if a.EventID == c.EventID {
			continue
		}
		g.Go(func() (err error) {
			reasons[i], err = s.share(gctx, c, a)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Series{}, err
	}
	return s.conclude(ctx, found.ID, c, reasons)
}

// isChanging says whether that change is under way.
func (s *Series) isChanging(c *Change) bool {
	return s.Changing != nil && s.Changing.Number == c.Number
}

// commit holds the events that have to be, and writes the event named. Where that can't be, the change is dropped.
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

// hold holds the events whose places others take: from then on nothing else changes them, so that they will move.
// One that is deleted is out of the way too. False when one has changed since it was looked at.
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

// drop ends a change that is not made: no event is held any more. Those that are not yet held are written too, so that
// a process that is late finds another version, and does not hold them.
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
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, a := range c.Events {
		if !a.Held {
			continue
		}
		g.Go(func() error {
			err := s.o.IDs.Hold(gctx, a.EventID, func(e *event.Event) error { return hold(e, a) })
			if errors.Is(err, record.ErrNotFound) {
				return nil
			}
			return err
		})
	}
	return g.Wait()
}

// named is the event named.
func (c *Change) named() Altered {
	return c.Events[slices.IndexFunc(c.Events, func(a Altered) bool { return a.EventID == c.EventID })]
}

// share gives an event what the change gives it, or says why it stays as it is.
func (s *Service) share(ctx context.Context, c *Change, a Altered) (reason Reason, err error) {
	if a.Reason != "" {
		return a.Reason, nil
	}
	_, err = s.o.IDs.Change(ctx, a.EventID, func(e *event.Event) error {
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

// refuses says why an event is left as it is by now.
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

// conclude remembers what a change has done, and that it is over.
func (s *Service) conclude(ctx context.Context, id int64, c *Change, reasons []Reason) (Series, error) {
	done := Outcome{
		Number: c.Number, At: time.Now().UTC().Truncate(time.Millisecond), Key: c.Key, EventID: c.EventID,
	}
	moved := map[int64]Altered{}
	for i, a := range c.Events {
		a.Reason = reasons[i]
		if a.Reason == "" {
			done.Changed = append(done.Changed, a.EventID)
		} else {
			done.Kept = append(done.Kept, a.Kept)
		}
		if c.Common.Times && (a.Reason == "" || a.Reason == Changed) { // what an event has of its own, it keeps
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
