package wiretime

import (
	"errors"
	"time"
)

// ParseTimes parses the starts_at and ends_at of a query, like those of a new event of set B: ends_at is exclusive, and
// a bare date is its midnight. It returns an error, which clients may see, for a text that is not a time in the years
// 1970 to 2199, and unless the end is after the start.
func (z Zone) ParseTimes(starts, ends string) (from, to time.Time, err error) {
	span, faults := z.NewSpan(SpanFields{StartsAt: &starts, EndsAt: &ends})
	for _, name := range []string{startsAt, endsAt} {
		if len(faults[name]) > 0 {
			return from, to, errors.New(name + " " + faults[name][0])
		}
	}
	if !span.Ends.After(span.Starts) {
		return from, to, errors.New("ends_at is not after starts_at")
	}
	return span.Starts, span.Ends, nil
}
