package event

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Get returns an event for showing, with its owner and its elements, as far as p sees them. Missing; Forbidden when p
// does not see the event.
func (s *Service) Get(ctx context.Context, p principal.Principal, id int64) (View, error) {
	e, err := s.o.Store.Get(ctx, id)
	if err != nil {
		return View{}, record.Missing(err, Record, id)
	}
	return s.Show(ctx, p, e)
}

// Show returns an event, which may differ from the stored one, for showing as Get does.
func (s *Service) Show(ctx context.Context, p principal.Principal, e Event) (View, error) {
	l := newLookupFor(s.Reader(p))
	var sight Sight
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.fetch(gctx, l, e.elementIDs(), e.OwnerID) })
	g.Go(func() (err error) {
		sight, err = s.SightOf(gctx, p)
		return err
	})
	if err := g.Wait(); err != nil {
		return View{}, err
	}
	err := s.mustSee(ctx, sight, &e)
	if err != nil && !(problem.Is(err, problem.Forbidden) && sight.seesToDecide(&e, l.elements)) {
		return View{}, err
	}
	v, err := s.view(e, l)
	if err != nil {
		return View{}, err
	}
	return s.trim(ctx, sight, v)
}

// Summary is an event in short.
type Summary struct {
	Event
	Hidden bool // the viewer does not see it: it has its id, the body Busy and noTime alone
}

// noTime stands for the time of a hidden event: the beginning of 1970.
var noTime = wiretime.Span{Starts: time.Unix(0, 0), Ends: time.Unix(0, 0)}

// Summaries returns the existing events of the ids and import keys, in no order, as Get shows them to a viewer; nil
// sees everything.
func (s *Service) Summaries(ctx context.Context, ids []int64, keys []string, who *fact.Sight) ([]Summary, error) {
	found, err := s.o.Store.Find(ctx, ids, keys)
	if err != nil {
		return nil, err
	}
	v := s.sightOfOther(who)
	if who != nil && who.Reaches == nil && who.Public == nil {
		if v, err = s.surround(ctx, *who); err != nil {
			return nil, err
		}
	}
	l, err := s.lensOf(ctx, v, EachOf(found, Itself))
	if err != nil {
		return nil, err
	}
	summaries := make([]Summary, len(found))
	for i := range found {
		e := &found[i]
		sees := l.sees(e)
		if !sees {
			if sees, err = s.decidesOn(ctx, v, e); err != nil {
				return nil, err
			}
		}
		if l.redact(e); sees {
			summaries[i] = Summary{*e, false}
		} else {
			told := Event{ID: e.ID, Texts: Texts{Body: RedactedBody}, Span: noTime, Redacted: e.Redacted}
			summaries[i] = Summary{told, true}
		}
	}
	return summaries, nil
}

// Living returns the ids of the events that exist and are not deleted, in no order. Other services delete the records
// of all other events.
func (s *Service) Living(ctx context.Context, q fact.LivingQuestion) ([]int64, error) {
	return s.o.Store.FindLiving(ctx, q.IDs)
}

// decidesOn is seesToDecide for an event whose elements were not asked for.
func (s *Service) decidesOn(ctx context.Context, v Sight, e *Event) (bool, error) {
	var decidable []int64
	for _, c := range e.Commitments {
		if c.Status.decidable() {
			decidable = append(decidable, c.ElementID)
		}
	}
	for _, r := range e.Requests {
		decidable = append(decidable, r.ElementID)
	}
	l := newLookupFor(v.Sight)
	err := s.fetch(ctx, l, decidable)
	return v.seesToDecide(e, l.elements), err
}
