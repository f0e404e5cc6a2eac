package series

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Get returns a series with its events as they are now, as far as p sees them. Missing; one that is not made, is none
// yet. Forbidden when p sees none of its events and did not make it.
func (s *Service) Get(ctx context.Context, p principal.Principal, id int64) (View, error) {
	found, err := s.o.Store.Get(ctx, id)
	if err == nil && found.State != Made {
		err = record.ErrNotFound
	}
	if err != nil {
		return View{}, record.Missing(err, Record, id)
	}
	events, err := s.o.Store.FindEvents(ctx, id)
	if err != nil {
		return View{}, err
	}
	seen, all, err := s.o.Events.Seen(ctx, p, events)
	if err != nil {
		return View{}, err
	}
	if !all && found.Pattern.OwnerID != p.UserID {
		if len(seen) == 0 {
			return View{}, problem.New(problem.Forbidden, "")
		}
		// These name events that p may not see.
		found.LeftOut, found.Repeat.During, found.Repeat.NotDuring = nil, nil, nil
	}
	if !p.Permissions.Admin && found.Pattern.OwnerID != p.UserID {
		if err := s.redact(ctx, &found.Repeat); err != nil {
			return View{}, err
		}
	}
	found.LeftOut, err = s.untold(ctx, p, all, found.LeftOut)
	return View{Series: found, Events: seen}, err
}

// redact takes out calendars that name the title of confidential events, except for admins and the series' maker.
func (s *Service) redact(ctx context.Context, r *Repeat) error {
	for _, c := range []**Calendar{&r.During, &r.NotDuring} {
		if *c == nil || (*c).Body == "" {
			continue
		}
		of, err := s.o.Categories.Find(ctx, []int64{(*c).CategoryID}, nil)
		if err != nil {
			return err
		}
		if len(of) == 0 || of[0].Confidential {
			*c = nil
		}
	}
	return nil
}

// reader is who is shown the clashes of a series that p makes or changes: nil where they are decided by.
func (s *Service) reader(p principal.Principal, clashes Clashing) *fact.Sight {
	if clashes != ReportClashes {
		return nil
	}
	reader := s.o.Events.Reader(p)
	return &reader
}

// untold takes out of what was left out the events of which p may not be told: all of them, unless it sees everything;
// else those of persons of whose events it may not be told.
func (s *Service) untold(ctx context.Context, p principal.Principal, all bool, left []LeftOut) ([]LeftOut, error) {
	left = slices.Clone(left)
	if !all {
		for i := range left {
			left[i].EventID = 0
		}
		return left, nil
	}
	var ids []int64
	for _, l := range left {
		if l.ElementID != 0 {
			ids = append(ids, l.ElementID)
		}
	}
	hidden, err := s.o.Events.Hidden(ctx, p, ids)
	for i, l := range left {
		if hidden[l.ElementID] {
			left[i].EventID = 0
		}
	}
	return left, err
}

// trim leaves out of a series that p has just made what it does not see.
func (s *Service) trim(ctx context.Context, p principal.Principal, v View) (View, error) {
	clashes, all, err := s.o.Events.SeenClashes(ctx, p, v.Clashes)
	v.Clashes = clashes
	if err != nil {
		return v, err
	}
	v.LeftOut, err = s.untold(ctx, p, all, v.LeftOut)
	return v, err
}

// findCreated finds the series that a request with that key has begun already, and makes what is left of it.
func (s *Service) findCreated(
	ctx context.Context, p principal.Principal, submission event.Submission,
) (v View, found bool, err error) {
	if !submission.IdempotencyKey.Given() {
		return View{}, false, nil
	}
	v.Series, err = s.o.Store.GetByKey(ctx, submission.IdempotencyKey.ID)
	if err == nil {
		if err := submission.IdempotencyKey.Repeats(v.Key); err != nil {
			return View{}, false, err
		}
		v.Series, err = s.finish(ctx, v.Series)
	}
	if errors.Is(err, record.ErrNotFound) {
		return View{}, false, nil
	}
	if err != nil {
		return View{}, false, err
	}
	if v.Elements, err = s.o.Events.Submitted(ctx, submission); err != nil {
		return View{}, false, err
	}
	for i := range v.Failures {
		v.Failures[i].Submitted = submission.Elements[v.Failures[i].Index]
	}
	if v.Repeat.Clashes == ReportClashes {
		err = s.report(ctx, p, &v)
	}
	return v, true, err
}

// report says with what the events of a series clash by now.
func (s *Service) report(ctx context.Context, p principal.Principal, v *View) error {
	of, err := s.o.Categories.GetKept(ctx, p, v.Pattern.CategoryID)
	if err != nil {
		return err
	}
	draft := event.Draft{Event: v.Pattern, Elements: v.Elements}
	v.Clashes, err = s.o.Clashes.Each(ctx, clash.Several{
		Events: v.events(), Category: of, Elements: draft.Facts(), Reader: s.reader(p, ReportClashes),
	})
	return err
}

// ForgetIdempotencyRecords forgets the keys of requests of before a time.
func (s *Service) ForgetIdempotencyRecords(ctx context.Context, before time.Time) error {
	return s.o.Store.ForgetKeys(ctx, before)
}
