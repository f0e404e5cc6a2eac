// Package wiretime has the rules about time: what clients may write, what they read, what a day is in the configured
// zone, and which events touch a run of days. It implements parts 2.3, 4.1 (rules 4 to 6) and 4.2 (sets A and B) of
// the contract with parts 3 and 4 of the decisions.
//
// Instants are in UTC with whole seconds. A day goes from its first instant to the first instant of the next day,
// exclusive. The days of a zone have no gaps and no overlaps. A day has 23, 24 or 25 hours, or none: Samoa had no
// 2011-12-30.
package wiretime

import (
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // the images have no zone files
)

// Zone is the time zone in which a deployment reads and writes local times. The zero value is UTC.
type Zone struct {
	location *time.Location
}

// LoadZone returns the zone with an IANA name, such as "Europe/London". It returns an error for "" and "Local",
// which depend on the machine.
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

// UnmarshalText makes Zone a setting: it is LoadZone.
func (z *Zone) UnmarshalText(name []byte) error {
	loaded, err := LoadZone(string(name))
	if err != nil {
		return err
	}
	*z = loaded
	return nil
}

// String returns the IANA name.
func (z Zone) String() string { return z.loc().String() }

func (z Zone) loc() *time.Location {
	if z.location == nil {
		return time.UTC
	}
	return z.location
}

// Format returns an instant in the format of the API (contract 2.3): 2019-04-10T09:00:00.000+01:00. UTC is +00:00,
// never Z.
func (z Zone) Format(t time.Time) string {
	t = t.In(z.loc())
	var room [2 * len(time.RFC3339)]byte
	text := t.AppendFormat(room[:0], time.RFC3339) // package time has a quicker way for this format than for others
	clock, offset := text[:len(text)-1], "+00:00"  // for Z
	if text[len(text)-1] != 'Z' {
		clock = text[:len(text)-len(offset)]
		offset = string(text[len(clock):])
	}
	thousandths := t.Nanosecond() / int(time.Millisecond)
	digits := [...]byte{'.', '0' + byte(thousandths/100), '0' + byte(thousandths/10%10), '0' + byte(thousandths%10)}
	return string(append(append(clock, digits[:]...), offset...))
}

// Parse reads an instant that Format wrote, and returns it in UTC.
func Parse(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	return t.UTC(), err
}

// Midnight returns the first instant of a day, in UTC. It is 00:00. When the clock skips 00:00, it is the end of
// the gap; when 00:00 comes twice, the first of the two. A day that the zone skipped altogether starts when the
// next day does.
func (z Zone) Midnight(d Day) time.Time {
	at, _, _ := z.reach(int64(d) * secondsOfDay)
	return time.Unix(at, 0).UTC()
}

// skips says whether the zone has no such day at all.
func (z Zone) skips(d Day) bool { return !z.Midnight(d).Before(z.Midnight(d + 1)) }

// DayOf returns the day of an instant: Midnight(d) <= t < Midnight(d+1). It is the date that the clock shows,
// except when the clock is set back across midnight: then the new day continues.
func (z Zone) DayOf(t time.Time) Day {
	d := DayOf(z.Wall(t))
	for !t.Before(z.Midnight(d + 1)) {
		d++
	}
	return d
}

// Wall returns what the zone's clock shows at an instant, as the time in UTC with that date and clock time.
func (z Zone) Wall(t time.Time) time.Time {
	_, offset := t.In(z.loc()).Zone()
	return time.Unix(t.Unix()+int64(offset), 0).UTC()
}

// FromWall returns the instant at which the zone's clock shows the date and clock time of a time in UTC; it is the
// reverse of Wall. A skipped time moves forward by the length of the gap; of two instants with the same clock time it
// is the first.
func (z Zone) FromWall(clock time.Time) time.Time {
	wall := clock.Unix()
	at, before, skipped := z.reach(wall)
	if skipped {
		at = wall - before
	}
	return time.Unix(at, 0).UTC()
}

// Days returns the days that an event overlaps (see [Overlaps]). An event that ends at midnight does not overlap
// the day that starts then. One of zero length overlaps the day of its start.
func (z Zone) Days(starts, ends time.Time) Days {
	first := z.DayOf(starts)
	if !ends.After(starts) {
		return Days{first, first}
	}
	return Days{first, z.DayOf(ends.Add(-time.Nanosecond))}
}

// reach returns the first instant at which the zone's clock shows wall or later. Skipped says that the clock jumps
// over wall there; before is then the offset until the jump. It uses only the offsets in force around that time.
func (z Zone) reach(wall int64) (at, before int64, skipped bool) {
	// No zone was ever 16 hours ahead of UTC, so the clock does not show wall yet.
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
			// After the zone's table (2037), the bounds that Go 1.26 returns end a leap year a day early. For an
			// instant on 31 December that end is in the past.
			end = end.Add(24 * time.Hour)
		}
		if end.IsZero() || wall-offset < end.Unix() {
			return wall - offset, offset, false
		}
		at, before = end.Unix(), offset
	}
}
