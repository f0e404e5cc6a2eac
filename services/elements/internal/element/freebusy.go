package element

import (
	"context"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// MaxFreeBusy bounds the elements of one question for free time.
	MaxFreeBusy = 50
	// MaxFreeBusyDays bounds the days of one question for free or busy time.
	MaxFreeBusyDays = 92
)

// Interval is a half-open span of time that is not empty.
type Interval struct{ Starts, Ends time.Time }

// FreeBusy is an element with the times at which it is busy, in order; none overlaps or adjoins another.
type FreeBusy struct {
	Element Element
	Busy    []Interval
}

// FreeBusy returns when each of the elements is busy within the days, in their order, and the times of at least that length at which none of
// them is. An element is busy while an event of a busy category goes on to which it is committed, or a group that it belongs to on that
// day; rejected commitments don't count. A Missing problem names the first element that does not exist. One read of the elements, one for
// each level of nesting of their groups, and one question to events.
func (s *Service) FreeBusy(ctx context.Context, ids []int64, days wiretime.Days, least time.Duration) ([]FreeBusy, []Interval, error) {
	found, err := s.Store.ElementsByID(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	all := make([]FreeBusy, len(ids))
	for n, id := range ids {
		i := slices.IndexFunc(found, func(e Element) bool { return e.ID == id })
		if i < 0 {
			return nil, nil, problem.Missing("Element", id)
		}
		all[n].Element = found[i]
	}
	reaches, err := s.reachesOfAll(ctx, ids, days)
	if err != nil {
		return nil, nil, err
	}
	facts, err := s.Events.Busy(ctx, fact.BusyQuestion{Reaches: union(reaches)})
	if err != nil {
		return nil, nil, err
	}
	taken := map[int64][]Interval{}
	for _, f := range facts {
		taken[f.ElementID] = append(taken[f.ElementID], Interval{f.Starts, f.Ends})
	}
	var busy []Interval
	for n := range all {
		all[n].Busy = busyOn(s.Zone, reaches[n], taken)
		busy = append(busy, all[n].Busy...)
	}
	from, to := s.Zone.Bounds(days)
	return all, gaps(mergeIntervals(busy), Interval{from, to}, least), nil
}

// Reaches returns whose commitments count for those of the elements that exist, in the order asked for. One read of the elements, and one for
// each level of nesting of their groups.
func (s *Service) Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error) {
	found, err := s.Store.ElementsByID(ctx, q.IDs)
	if err != nil {
		return nil, err
	}
	exists := make(map[int64]bool, len(found))
	for _, e := range found {
		exists[e.ID] = true
	}
	ids := slices.DeleteFunc(slices.Clone(q.IDs), func(id int64) bool { return !exists[id] })
	reaches, err := s.reachesOfAll(ctx, ids, q.Days)
	if err != nil {
		return nil, err
	}
	all := make([]fact.ElementReaches, len(ids))
	for n, id := range ids {
		all[n] = fact.ElementReaches{ElementID: id, Reaches: reaches[n]}
	}
	return all, nil
}

// union returns reaches that together reach all that any of them does, each element once.
func union(reaches [][]fact.Reach) []fact.Reach {
	var all []fact.Reach
	days := map[int64][]wiretime.Days{}
	for _, r := range slices.Concat(reaches...) {
		if _, seen := days[r.ElementID]; !seen {
			all = append(all, fact.Reach{ElementID: r.ElementID})
		}
		days[r.ElementID] = append(days[r.ElementID], r.Days...)
	}
	for i := range all {
		all[i].Days = wiretime.MergeDays(days[all[i].ElementID])
	}
	return all
}

// busyOn returns what the reaches have of the intervals that their elements are taken up: those of a group on the days of membership alone, to
// the midnight, so that what a day shows does not depend on which other days are asked for.
func busyOn(zone wiretime.Zone, reaches []fact.Reach, taken map[int64][]Interval) []Interval {
	var busy []Interval
	for _, r := range reaches {
		for _, days := range r.Days {
			from, to := zone.Bounds(days)
			for _, i := range taken[r.ElementID] {
				if part := (Interval{later(i.Starts, from), earlier(i.Ends, to)}); part.Starts.Before(part.Ends) {
					busy = append(busy, part)
				}
			}
		}
	}
	return mergeIntervals(busy)
}

// mergeIntervals returns the same time with overlapping and adjacent intervals made one, in order.
func mergeIntervals(intervals []Interval) []Interval {
	intervals = slices.Clone(intervals)
	slices.SortFunc(intervals, func(a, b Interval) int { return a.Starts.Compare(b.Starts) })
	merged := intervals[:0]
	for _, i := range intervals {
		if n := len(merged); n > 0 && !i.Starts.After(merged[n-1].Ends) {
			merged[n-1].Ends = later(merged[n-1].Ends, i.Ends)
			continue
		}
		merged = append(merged, i)
	}
	return merged
}

// gaps returns the intervals of at least that length within the bounds that the busy ones, which are merged, leave free.
func gaps(busy []Interval, bounds Interval, least time.Duration) []Interval {
	var free []Interval
	from := bounds.Starts
	for _, next := range append(slices.Clone(busy), Interval{bounds.Ends, bounds.Ends}) {
		if next.Starts.After(from) && next.Starts.Sub(from) >= least {
			free = append(free, Interval{from, next.Starts})
		}
		from = later(from, next.Ends)
	}
	return free
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
