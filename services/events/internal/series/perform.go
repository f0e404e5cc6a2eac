package series

import (
	"context"
	"errors"
	"slices"
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
// by now is forgotten before any other event has taken it.
func (s *Service) perform(ctx context.Context, found Series) (Series, error) {
	c := *found.Changing
	if !c.Committed {
		found, err := s.commit(ctx, found.ID, &c)
		if err != nil || !found.isChanging(&c) {
			return found, err
		}
	}
	reasons := make([]Reason, len(c.Events))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, a := range c.Events {
		if a.EventID == c.EventID {
			continue
		}
		g.Go(func() (err error) {
			reasons[i], err = s.share(gctx, &c, a)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Series{}, err
	}
	return s.conclude(ctx, found.ID, &c, reasons)
}

// isChanging says whether that change is under way.
func (s *Series) isChanging(c *Change) bool {
	return s.Changing != nil && s.Changing.Number == c.Number
}

// commit writes the event named, or forgets the change.
func (s *Service) commit(ctx context.Context, id int64, c *Change) (Series, error) {
	reason, err := s.share(ctx, c, c.named())
	if err != nil {
		return Series{}, err
	}
	return s.o.Store.Change(ctx, id, func(x *Series) error {
		switch {
		case !x.isChanging(c), x.Changing.Committed:
			return record.ErrUnchanged
		case reason != "":
			x.Changing = nil
		default:
			x.Changing.Committed = true
		}
		return nil
	})
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
	case e.Shared >= c.Number:
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
