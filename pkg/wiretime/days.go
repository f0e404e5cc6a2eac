package wiretime

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// Days is a run of calendar days, both ends inclusive, First never after Last. FirstDay and LastDay are open ends.
type Days struct {
	First Day `json:"first"`
	Last  Day `json:"last"`
}

// Has reports whether the day is one of them.
func (d Days) Has(day Day) bool { return d.First <= day && day <= d.Last }

// Overlaps reports whether both have a day in common.
func (d Days) Overlaps(other Days) bool { return d.First <= other.Last && other.First <= d.Last }

// MergeDays returns the same days in order, with overlapping and adjacent runs merged.
func MergeDays(runs []Days) []Days {
	runs = slices.Clone(runs)
	slices.SortFunc(runs, func(a, b Days) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
	})
	merged := runs[:0]
	for _, r := range runs {
		// In 64 bits, since the day after an open end overflows Day.
		if n := len(merged); n > 0 && int64(r.First) <= int64(merged[n-1].Last)+1 {
			merged[n-1].Last = max(merged[n-1].Last, r.Last)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// IntersectDays returns the days that are in both lists, each of them merged.
func IntersectDays(a, b []Days) []Days {
	var both []Days
	for len(a) > 0 && len(b) > 0 {
		if a[0].Overlaps(b[0]) {
			both = append(both, Days{max(a[0].First, b[0].First), min(a[0].Last, b[0].Last)})
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// ParseDays parses the start_date and end_date of a query (contract 4.1 rules 4 to 6, decisions part 3). An empty
// text means that the parameter is missing. Without both: today. With the start only: that day. With the end only:
// today to the end. It returns an error, which clients may see, for a date that is not YYYY-MM-DD and for an end
// before the start.
func (z Zone) ParseDays(start, end string, now time.Time) (Days, error) {
	r := Days{First: z.DayOf(now)}
	var err error
	if start != "" {
		if r.First, err = ParseDay(start); err != nil {
			return Days{}, errors.New("start_date is not a date (YYYY-MM-DD)")
		}
	}
	r.Last = r.First
	if end != "" {
		if r.Last, err = ParseDay(end); err != nil {
			return Days{}, errors.New("end_date is not a date (YYYY-MM-DD)")
		}
	}
	if r.Last < r.First {
		if start == "" {
			return Days{}, errors.New("end_date is before today")
		}
		return Days{}, errors.New("end_date is before start_date")
	}
	return r, nil
}

// Bounds returns the midnight at which the first of the days starts and the one at which the last ends.
func (z Zone) Bounds(d Days) (from, to time.Time) {
	return z.Midnight(d.First), z.Midnight(d.Last.AddDays(1))
}

// Overlaps reports whether two times overlap: each starts before the other ends. One of zero length overlaps the other
// when it is at that one's start or later and before its end (decisions parts 3 and 4); two of zero length never do.
func Overlaps(starts, ends, from, to time.Time) bool {
	switch {
	case !ends.After(starts):
		return !starts.Before(from) && starts.Before(to)
	case !to.After(from):
		return !from.Before(starts) && from.Before(ends)
	}
	return starts.Before(to) && ends.After(from)
}
