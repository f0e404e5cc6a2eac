package series

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Get returns a series with its events as they are now, as far as p sees them. Missing, also while the series is being
// made; Forbidden when p sees none of its events and did not make it.
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
		// These reveal events that p may not see.
		found.LeftOut, found.Repeat.During, found.Repeat.NotDuring = nil, nil, nil
	}
	if !p.Permissions.Admin && found.Pattern.OwnerID != p.UserID {
		if err := s.redact(ctx, &found); err != nil {
			return View{}, err
		}
	}
	found.LeftOut, err = s.hideLeftOut(ctx, p, all, found.LeftOut)
	return View{Series: found, Events: seen}, err
}

// redact removes calendars of confidential categories, and which events these are. Admins and the series' maker see
// them.
func (s *Service) redact(ctx context.Context, shown *Series) error {
	r := &shown.Repeat
	named := slices.Clone(r.NotDuring)
	if r.During != nil {
		named = append(named, *r.During)
	}
	if len(named) == 0 {
		return nil
	}
	found, err := s.o.Categories.Find(ctx, sequence.Map(named, func(c Calendar) int64 { return c.CategoryID }), nil)
	if err != nil {
		return err
	}
	hidden := func(c Calendar) bool {
		return !slices.ContainsFunc(found, func(of category.Category) bool {
			return of.ID == c.CategoryID && !of.Confidential
		})
	}
	if !slices.ContainsFunc(named, hidden) {
		return nil
	}
	if r.During != nil && hidden(*r.During) {
		r.During = nil
	}
	r.NotDuring = slices.DeleteFunc(slices.Clone(r.NotDuring), hidden)
	shown.LeftOut = slices.Clone(shown.LeftOut)
	for i := range shown.LeftOut {
		if shown.LeftOut[i].Reason == Within {
			shown.LeftOut[i].EventID = 0
		}
	}
	return nil
}

// reader is the viewer of the clashes of a series that p creates or changes; nil where the clashes decide the write.
func (s *Service) reader(p principal.Principal, clashes event.Clashing) *fact.Sight {
	if clashes != event.ReportClashes {
		return nil
	}
	reader := s.o.Events.Reader(p)
	return &reader
}

// hide calls remove for each of the elements whose booking is hidden from p: for all of them unless p sees everything;
// otherwise for persons whose events are hidden from p.
func (s *Service) hide(
	ctx context.Context, p principal.Principal, all bool, elements []int64, remove func(i int),
) error {
	var hidden map[int64]bool
	if all {
		ids := slices.DeleteFunc(slices.Clone(elements), func(id int64) bool { return id == 0 })
		var err error
		if hidden, err = s.o.Events.Hidden(ctx, p, ids); err != nil {
			return err
		}
	}
	for i, id := range elements {
		if !all || hidden[id] {
			remove(i)
		}
	}
	return nil
}

// hideLeftOut removes the events that are hidden from p from what was left out.
func (s *Service) hideLeftOut(ctx context.Context, p principal.Principal, all bool, left []LeftOut) ([]LeftOut, error) {
	left = slices.Clone(left)
	elements := sequence.Map(left, func(l LeftOut) int64 { return l.ElementID })
	return left, s.hide(ctx, p, all, elements, func(i int) { left[i].EventID = 0 })
}

// trim removes from a new series what p does not see.
func (s *Service) trim(ctx context.Context, p principal.Principal, v View) (_ View, err error) {
	var all bool
	if v.Clashes, all, err = s.o.Events.SeenClashes(ctx, p, v.Clashes); err != nil {
		return v, err
	}
	v.LeftOut, err = s.hideLeftOut(ctx, p, all, v.LeftOut)
	return v, err
}

// findCreated finds the series that a request with the same key has begun, and completes it.
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
	if v.Elements, err = s.o.Events.Facts(ctx, p, submission.IDs); err != nil {
		return View{}, false, err
	}
	for i := range v.Failures {
		v.Failures[i].Submitted = submission.Elements[v.Failures[i].Index]
	}
	if v.Repeat.Clashes == event.ReportClashes {
		err = s.report(ctx, p, &v)
	}
	return v, true, err
}

// report finds what the events of a series clash with now.
func (s *Service) report(ctx context.Context, p principal.Principal, v *View) error {
	of, err := s.o.Categories.GetKept(ctx, p, v.Pattern.CategoryID)
	if err != nil {
		return err
	}
	draft := event.Draft{Event: v.Pattern, Elements: v.Elements}
	v.Clashes, err = s.o.Clashes.Each(ctx, s.several(p, v.Series, of.Busy, draft.Facts()))
	return err
}
