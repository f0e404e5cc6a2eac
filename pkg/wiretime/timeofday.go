package wiretime

import (
	"fmt"
	"time"
)

// TimeOfDay is a clock time to the minute, the same on every day. The zero value is none.
type TimeOfDay struct {
	minute int // of the day
	given  bool
}

// ParseTimeOfDay parses HH:MM, 00:00 to 23:59.
func ParseTimeOfDay(text string) (TimeOfDay, error) {
	const form = "15:04"
	t, err := time.Parse(form, text)
	if err != nil || len(text) != len(form) { // it takes an hour of one digit
		return TimeOfDay{}, fmt.Errorf("%q is not a time of day (HH:MM)", text)
	}
	return TimeOfDay{60*t.Hour() + t.Minute(), true}, nil
}

// UnmarshalText makes TimeOfDay a setting: it is ParseTimeOfDay; an empty text is the zero value.
func (t *TimeOfDay) UnmarshalText(text []byte) (err error) {
	*t = TimeOfDay{}
	if len(text) > 0 {
		*t, err = ParseTimeOfDay(string(text))
	}
	return err
}

// String returns HH:MM, "" for none.
func (t TimeOfDay) String() string {
	if !t.given {
		return ""
	}
	return fmt.Sprintf("%02d:%02d", t.minute/60, t.minute%60)
}

// Given reports whether there is a time.
func (t TimeOfDay) Given() bool { return t.given }

// At returns the instant at which the clock shows the time on a day. A skipped time moves forward by the length of
// the gap; of two instants it is the first.
func (z Zone) At(d Day, t TimeOfDay) time.Time {
	return z.FromWall(d.Date().Add(time.Duration(t.minute) * time.Minute))
}

// Latest returns the last instant, not after now, at which it was that time of day.
func (z Zone) Latest(t TimeOfDay, now time.Time) time.Time {
	d := z.DayOf(now) + 1
	for z.At(d, t).After(now) {
		d--
	}
	return z.At(d, t)
}

// Next returns the first instant after now at which it is that time of day.
func (z Zone) Next(t TimeOfDay, now time.Time) time.Time {
	d := z.DayOf(now) - 1
	for !z.At(d, t).After(now) {
		d++
	}
	return z.At(d, t)
}
