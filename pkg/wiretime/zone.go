// Package wiretime is the one place for the rules about time: what clients may write, what they read, what a day is
// in the configured zone, and which events a range of days holds. It implements the contract's parts 2.3, 4.1 (rules 4
// to 6) and 4.2 (sets A and B) with the decisions' parts 3 and 4.
//
// Instants are handled in UTC with whole seconds. A day is the half-open interval from its first instant to the first
// instant of the next one, so the days of a zone cover all time without gaps or overlaps, and last 23, 24 or 25 hours
// (or none: Samoa had no 2011-12-30).
package wiretime

import (
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // the images carry no zone files
)

// Zone is the time zone in which a deployment reads and writes local times. The zero value is UTC.
type Zone struct {
	location *time.Location
}

// LoadZone finds a zone by its IANA name, such as "Europe/London". The names that mean something else on each machine
// ("" and "Local") are refused.
func LoadZone(name string) (Zone, error) {
	if name == "" || name == "Local" {
		return Zone{}, errors.New("a time zone needs an IANA name such as Europe/London")
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return Zone{}, fmt.Errorf("time zone %q is not known", name)
	}
	return Zone{location}, nil
}

// UnmarshalText lets a Zone be a setting: it is LoadZone.
func (z *Zone) UnmarshalText(name []byte) error {
	loaded, err := LoadZone(string(name))
	if err != nil {
		return err
	}
	*z = loaded
	return nil
}

// String gives the IANA name.
func (z Zone) String() string { return z.loc().String() }

func (z Zone) loc() *time.Location {
	if z.location == nil {
		return time.UTC
	}
	return z.location
}

// Format writes an instant as clients read it (contract 2.3): 2019-04-10T09:00:00.000+01:00. UTC is +00:00, never Z.
func (z Zone) Format(t time.Time) string {
	return t.In(z.loc()).Format("2006-01-02T15:04:05.000-07:00")
}

// Midnight is the first instant of a day, in UTC: 00:00, the end of the gap where the clock skips 00:00, the
// first of the two where it shows 00:00 twice. A day that a zone skipped altogether starts where the next one does.
func (z Zone) Midnight(d Day) time.Time {
	at, _, _ := z.reach(int64(d) * secondsOfDay)
	return time.Unix(at, 0).UTC()
}

// DayOf is the day that holds an instant: Midnight(d) <= t < Midnight(d+1). It is what the wall calendar shows, save
// where a clock is set back across midnight: there the new day, once begun, goes on.
func (z Zone) DayOf(t time.Time) Day {
	d := dayOfDate(t.In(z.loc()).Date())
	for !t.Before(z.Midnight(d + 1)) {
		d++
	}
	return d
}

// Days are those that an event touches, in agreement with [Overlaps]: an event that ends at a midnight does not touch the day after it, and one
// of zero length touches the day that holds it.
func (z Zone) Days(starts, ends time.Time) Days {
	first := z.DayOf(starts)
	if !ends.After(starts) {
		return Days{first, first}
	}
	return Days{first, z.DayOf(ends.Add(-time.Nanosecond))}
}

// local is the instant that a local date and clock time means, given as seconds since 1970-01-01T00:00 local. A time
// that the clock skips moves forward by the length of the gap; of two instants with the same clock time, the first.
func (z Zone) local(wall int64) time.Time {
	at, before, skipped := z.reach(wall)
	if skipped {
		at = wall - before
	}
	return time.Unix(at, 0).UTC()
}

// reach finds the first instant at which the zone's clock shows wall or later. Skipped tells that the clock jumps over
// wall there; before is the offset that holds until the jump. It looks at the few offsets in force around the
// time: at most three in the zones known.
func (z Zone) reach(wall int64) (at, before int64, skipped bool) {
	// No zone was ever 16 hours ahead of UTC, so here the clock is still short of wall.
	at = wall - 16*60*60
	for {
		t := time.Unix(at, 0).In(z.loc())
		_, seconds := t.Zone()
		offset := int64(seconds)
		if at+offset > wall {
			return at, before, true
		}
		_, end := t.ZoneBounds()
		if !end.IsZero() && !end.After(t) {
			// Beyond the zone's table (2037) the bounds that Go 1.26 gives end leap years a day early, in the past for
			// an instant on 31 December.
			end = end.Add(24 * time.Hour)
		}
		if end.IsZero() || wall-offset < end.Unix() {
			return wall - offset, offset, false
		}
		at, before = end.Unix(), offset
	}
}
