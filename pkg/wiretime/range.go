package wiretime

import (
	"errors"
	"time"
)

// Range is a range of days, both inclusive, First never after Last.
type Range struct {
	First, Last Day
}

// ParseRange reads the start_date and end_date of a query (contract 4.1 rules 4 to 6, decisions part 3); an empty
// one counts as not given. Neither: today. Only start: that day. Only end: today to end. The error, a date that is
// not YYYY-MM-DD or an end before the start, is made to be shown to the client with 400.
func (z Zone) ParseRange(start, end string, now time.Time) (Range, error) {
	r := Range{First: z.DayOf(now)}
	var err error
	if start != "" {
		if r.First, err = ParseDay(start); err != nil {
			return Range{}, errors.New("start_date is not a date (YYYY-MM-DD)")
		}
	}
	r.Last = r.First
	if end != "" {
		if r.Last, err = ParseDay(end); err != nil {
			return Range{}, errors.New("end_date is not a date (YYYY-MM-DD)")
		}
	}
	if r.Last < r.First {
		if start == "" {
			return Range{}, errors.New("end_date is before today")
		}
		return Range{}, errors.New("end_date is before start_date")
	}
	return r, nil
}

// Bounds are the midnight that starts the range and the midnight that ends it.
func (z Zone) Bounds(r Range) (from, to time.Time) {
	return z.Midnight(r.First), z.Midnight(r.Last.AddDays(1))
}

// Overlaps tells whether an event lies in the range between two midnights: it starts before to and ends
// after from; one of zero length at from is in, at to is out (decisions part 3).
func Overlaps(starts, ends, from, to time.Time) bool {
	if !ends.After(starts) {
		return !starts.Before(from) && starts.Before(to)
	}
	return starts.Before(to) && ends.After(from)
}
