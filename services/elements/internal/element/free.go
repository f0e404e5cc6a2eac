package element

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// MaxFree bounds the elements among which free ones are searched for.
const MaxFree = 2000

// Wanted says which free elements are searched for.
type Wanted struct {
	EntityType string
	Group      int64 // they are in it on every day of the time; 0: in any or none
	Near       int64 // those that share the most groups with this element on those days come first; 0: by name alone
	Time       Interval
	Event      int64 // has the time, when it is not 0, and is Except
	Except     int64 // an event whose commitments do not count as busy; 0: none
}

// ListFree returns the current elements that p sees and that could be booked at the time without a clash or, if the
// group is a resource group, allocated; in order of groups shared with the near element, then name, then id. A Missing
// problem when there is no such event, group or near element, Forbidden when p does not see it, a Malformed one when
// the time has too many days, the group is not one, or there are too many elements to check.
func (s *Service) ListFree(ctx context.Context, p principal.Principal, w Wanted) ([]Element, error) {
	if w.Event != 0 {
		time, err := s.timeOf(ctx, p, w.Event)
		if err != nil {
			return nil, err
		}
		w.Time, w.Except = time, w.Event
	}
	days := s.Zone.Days(w.Time.Starts, w.Time.Ends)
	if int64(days.Last)-int64(days.First) >= MaxDays {
		return nil, problem.New(problem.Malformed, "the time spans more than %d days", MaxDays)
	}
	v, err := s.sightOf(ctx, s.viewer(p), days)
	if err != nil {
		return nil, err
	}
	all, err := s.poolOf(ctx, v, Whose{EntityType: w.EntityType, Group: w.Group}, MaxFree, days)
	if err != nil {
		return nil, err
	}
	if w.Group != 0 {
		all = all.filter(func(_ Element, reaches []fact.Reach) bool {
			return slices.Equal(daysIn(reaches, w.Group), []wiretime.Days{days})
		})
	}
	busy, err := s.busy(ctx, v, all, fact.BusyQuestion{Except: w.Except, Allocations: all.items})
	if err != nil {
		return nil, err
	}
	all = all.filter(func(_ Element, reaches []fact.Reach) bool {
		return !slices.ContainsFunc(busyIntervals(s.Zone, reaches, busy), w.Time.overlaps)
	})
	if w.Near == 0 {
		return all.elements, nil
	}
	return s.nearest(ctx, p, all, w.Near, days)
}

// timeOf returns the time of an event; a Missing problem when there is none, Forbidden when p does not see it.
func (s *Service) timeOf(ctx context.Context, p principal.Principal, event int64) (Interval, error) {
	v, err := s.sightOf(ctx, s.viewer(p), allDays)
	if err != nil {
		return Interval{}, err
	}
	q := fact.SummariesQuestion{IDs: []int64{event}}
	if q.Sight, err = s.asked(ctx, v, Element{}); err != nil {
		return Interval{}, err
	}
	found, err := s.Events.Summaries(ctx, q)
	if err != nil {
		return Interval{}, err
	}
	if len(found) == 0 {
		return Interval{}, problem.Missing("Event", event)
	}
	if found[0].Hidden {
		return Interval{}, problem.New(problem.Forbidden, "")
	}
	time, err := intervalOf(found[0].Event)
	if err != nil {
		return time, fmt.Errorf("time of event %d: %w", event, err)
	}
	return time, nil
}

// nearest returns the elements of a pool, first those that share the most groups with an element on any of the days.
// A Missing problem when there is no such element, Forbidden when p does not see it.
func (s *Service) nearest(
	ctx context.Context, p principal.Principal, all pool, near int64, days wiretime.Days,
) ([]Element, error) {
	if _, _, err := s.getSeen(ctx, p, near, days); err != nil {
		return nil, err
	}
	reaches, err := s.reaches(ctx, []int64{near}, days)
	if err != nil {
		return nil, err
	}
	shared := map[int64]int{}
	for n, e := range all.elements {
		for _, r := range reaches[0][1:] {
			if daysIn(all.reaches[n], r.ElementID) != nil {
				shared[e.ID]++
			}
		}
	}
	slices.SortStableFunc(all.elements, func(a, b Element) int { return cmp.Compare(shared[b.ID], shared[a.ID]) })
	return all.elements, nil
}
