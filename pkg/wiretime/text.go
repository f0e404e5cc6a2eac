package wiretime

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// moment is a date or date-time of a client, resolved in a zone.
type moment struct {
	at  time.Time // UTC, whole seconds; the midnight of a bare date
	day Day       // the zone's day that has this instant; where the zone skips what is written, the day that is written

	midnight bool // a bare date, or 00:00 without an offset
	endsDay  bool // 24:00: as an end it does not touch the day that begins then
	noDay    bool // the zone skips the day that is written
	noTime   bool // the zone's clock skips the time that is written, which has no offset
}

// written is a date, or a date and a time with or without an offset.
var written = regexp.MustCompile(`^(?:(\d{4}-\d\d-\d\d)|(\d\d?)/(\d\d?)/(\d{4}))` +
	`(?:[ T](\d\d?):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$`)

// parseMoment parses YYYY-MM-DD, or YYYY-MM-DD HH:MM[:SS[.f]] with a space or T before the time, then optionally Z
// or an offset ±HH:MM. The fraction has one to nine digits and is dropped. 24:00 is the next midnight, and no later
// time of that hour is valid; nor is second 60. A time that the clock skips is taken as the end of the gap. With an
// order, dates with slashes are read by it too, their day and month of one or two digits, and the hour may have one
// digit.
func (z Zone) parseMoment(text string, order DateOrder) (moment, bool) {
	parts := written.FindStringSubmatch(text)
	if parts == nil {
		return moment{}, false
	}
	date, slashes, clock, offset := parts[1], parts[2:5], parts[5:9], parts[9]
	if order == ISO && (date == "" || len(clock[0]) == 1) {
		return moment{}, false
	}
	if date == "" {
		d, m := number(slashes[0]), number(slashes[1])
		if order == MonthDayYear {
			d, m = m, d
		}
		date = fmt.Sprintf("%s-%02d-%02d", slashes[2], m, d)
	}
	day, err := ParseDay(date)
	if err != nil {
		return moment{}, false
	}
	if clock[0] == "" {
		return moment{at: z.Midnight(day), day: day, midnight: true, noDay: z.skips(day)}, true
	}
	seconds := number(clock[0])*3600 + number(clock[1])*60 + number(clock[2])
	if seconds > secondsOfDay || seconds == secondsOfDay && number(clock[3]) > 0 {
		return moment{}, false
	}
	wall := int64(day)*secondsOfDay + int64(seconds)
	if offset != "" {
		at := time.Unix(wall-secondsEast(offset), 0).UTC()
		return moment{at: at, day: z.DayOf(at), endsDay: seconds == secondsOfDay}, true
	}
	if seconds == secondsOfDay { // the end of a day is there, whatever the clock shows then
		at := z.Midnight(day + 1)
		return moment{at: at, day: z.DayOf(at), endsDay: true, noDay: z.skips(day)}, true
	}
	second, _, skipped := z.reach(wall)
	m := moment{at: time.Unix(second, 0).UTC(), day: day, midnight: seconds == 0, noDay: z.skips(day), noTime: skipped}
	if !skipped {
		m.day = z.DayOf(m.at)
	}
	return m, true
}

// number returns the value of at most nine digits, 0 for none.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// secondsEast returns the seconds east of UTC of an offset, Z or ±HH:MM.
func secondsEast(offset string) int64 {
	if offset == "Z" {
		return 0
	}
	seconds := int64(number(offset[1:3])*3600 + number(offset[4:])*60)
	if offset[0] == '-' {
		return -seconds
	}
	return seconds
}
