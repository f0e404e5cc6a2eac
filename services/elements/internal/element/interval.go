package element

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Interval is the time from an instant to a later one, exclusive, or of zero length.
type Interval struct{ Starts, Ends time.Time }

func (i Interval) overlaps(other Interval) bool {
	return wiretime.Overlaps(i.Starts, i.Ends, other.Starts, other.Ends)
}

// intervalOf returns the time of an event's summary.
func intervalOf(e form.Event) (i Interval, err error) {
	if e.StartsAt == nil || e.EndsAt == nil {
		return i, errors.New("it has no times")
	}
	if i.Starts, err = wiretime.Parse(*e.StartsAt); err == nil {
		i.Ends, err = wiretime.Parse(*e.EndsAt)
	}
	return i, err
}

// busyIntervals returns when an element with these reaches is busy, in no order; busy has the times of the reached
// elements, by id. A group counts only on the days of the membership, from midnight to midnight, so a day's result does
// not depend on the other days of the question.
func busyIntervals(zone wiretime.Zone, reaches []fact.Reach, busy map[int64][]Interval) []Interval {
	var intervals []Interval
	for _, r := range reaches {
		for _, days := range r.Days {
			from, to := zone.Bounds(days)
			for _, i := range busy[r.ElementID] {
				if i.overlaps(Interval{from, to}) {
					intervals = append(intervals, Interval{later(i.Starts, from), earlier(i.Ends, to)})
				}
			}
		}
	}
	return intervals
}

// mergeIntervals merges overlapping and adjoining intervals, in order, without those of zero length.
func mergeIntervals(intervals []Interval) []Interval {
	intervals = slices.Clone(intervals)
	slices.SortFunc(intervals, func(a, b Interval) int { return a.Starts.Compare(b.Starts) })
	merged := intervals[:0]
	for _, i := range intervals {
		if !i.Ends.After(i.Starts) {
			continue
		}
		if n := len(merged); n > 0 && !i.Starts.After(merged[n-1].Ends) {
			merged[n-1].Ends = later(merged[n-1].Ends, i.Ends)
			continue
		}
		merged = append(merged, i)
	}
	return merged
}

// gaps returns the intervals within the bounds that the busy ones, which are merged, leave free. Those shorter than
// least are left out.
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

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }
