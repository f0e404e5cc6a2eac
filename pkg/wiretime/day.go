package wiretime

import (
	"fmt"
	"math"
	"time"
)

// Day is a calendar day, counted from 1970-01-01 (day 0). It has no zone; [Zone.Midnight] says when it starts in one.
// It is stored as a 32-bit integer.
type Day int32

// The open ends of a run of days. They compare as a day before, and after, every other day.
const (
	FirstDay Day = math.MinInt32
	LastDay  Day = math.MaxInt32
)

// The first and the last day that an event may touch, 1970-01-01 and 2199-12-31. The index keys of events rely on
// it: such a day is never negative and has at most five digits.
const (
	FirstEventDay Day = 0
	LastEventDay  Day = 84005
)

const secondsOfDay = 24 * 60 * 60

// ParseDay parses YYYY-MM-DD: ten characters, an existing day, years 0001 to 9999.
func ParseDay(text string) (Day, error) {
	date, err := time.Parse(time.DateOnly, text)
	if err != nil || date.Year() < 1 {
		return 0, fmt.Errorf("%q is not a date (YYYY-MM-DD)", text)
	}
	return DayOf(date), nil
}

// DayOf returns the day that a time has in UTC; [Zone.DayOf] is that of a zone.
func DayOf(t time.Time) Day { return Day(math.Floor(float64(t.Unix()) / secondsOfDay)) }

// Date returns 00:00 of the day in UTC, for what its date says; [Zone.Midnight] is an instant of a zone.
func (d Day) Date() time.Time { return time.Unix(int64(d)*secondsOfDay, 0).UTC() }

// String returns YYYY-MM-DD; "open" for FirstDay and LastDay.
func (d Day) String() string {
	if d == FirstDay || d == LastDay {
		return "open"
	}
	return d.Date().Format(time.DateOnly)
}

// AddDays returns the day n days after d; an open end stays open.
func (d Day) AddDays(n int) Day {
	if d == FirstDay || d == LastDay {
		return d
	}
	return d + Day(n)
}
