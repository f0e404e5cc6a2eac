package wiretime

import (
	"strings"
	"time"
)

// moment is a date or date-time of a client, resolved in a zone.
type moment struct {
	at  time.Time // UTC, whole seconds; the midnight of a bare date
	day Day       // the zone's day that has this instant; where the zone skips what is written, the day that is written

	midnight bool // a bare date, or 00:00 without an offset
	noDay    bool // the zone skips the day that is written
	noTime   bool // the zone's clock skips the time that is written, which has no offset
}

// parseMoment parses YYYY-MM-DD, or YYYY-MM-DD HH:MM[:SS[.f]] with a space or T before the time, then optionally Z
// or an offset ±HH:MM. The fraction has one to nine digits and is dropped. 24:00 is the next midnight, and no later
// time of that hour is valid; nor is second 60. A time that the clock skips is taken as the end of the gap. With an
// order, dates with slashes are read by it too, their day and month of one or two digits, and the hour may have one
// digit.
func (z Zone) parseMoment(text string, order DateOrder) (moment, bool) {
	r := reader{text: text, order: order}
	y, month, d := r.anyDate()
	day := dayOfDate(y, time.Month(month), d)
	if r.done() {
		return moment{at: z.Midnight(day), day: day, midnight: true, noDay: z.skips(day)}, true
	}
	r.oneOf(" T")
	clock := r.clock()
	offset, given := r.offset()
	wall := int64(day)*secondsOfDay + clock
	if !r.done() {
		return moment{}, false
	}
	if given {
		at := time.Unix(wall-offset, 0).UTC()
		return moment{at: at, day: z.DayOf(at)}, true
	}
	if clock == secondsOfDay { // the end of a day is there, whatever the clock shows then
		at := z.Midnight(day + 1)
		return moment{at: at, day: z.DayOf(at), noDay: z.skips(day)}, true
	}
	second, _, skipped := z.reach(wall)
	m := moment{
		at: time.Unix(second, 0).UTC(), day: day, midnight: clock == 0, noDay: z.skips(day), noTime: skipped,
	}
	if !skipped {
		m.day = z.DayOf(m.at)
	}
	return m, true
}

// reader parses a text from the left. After a mismatch its methods return zeros, and done returns false.
type reader struct {
	text   string
	order  DateOrder
	failed bool
}

func (r *reader) done() bool { return !r.failed && r.text == "" }

// next reads c if it comes next, and reports whether it did.
func (r *reader) next(c byte) bool {
	if r.text == "" || r.text[0] != c {
		return false
	}
	r.text = r.text[1:]
	return true
}

func (r *reader) oneOf(chars string) {
	for i := range len(chars) {
		if r.next(chars[i]) {
			return
		}
	}
	r.failed = true
}

// number reads exactly n ASCII digits with a value between low and high.
func (r *reader) number(n, low, high int) int {
	if r.failed || len(r.text) < n {
		r.failed = true
		return 0
	}
	value := 0
	for i := range n {
		c := r.text[i]
		if c < '0' || c > '9' {
			r.failed = true
			return 0
		}
		value = value*10 + int(c-'0')
	}
	r.text = r.text[n:]
	if value < low || value > high {
		r.failed = true
	}
	return value
}

// short reads a number of one or two digits.
func (r *reader) short(low, high int) int {
	if r.digits() == 1 {
		return r.number(1, low, high)
	}
	return r.number(2, low, high)
}

// digits counts the digits that come next.
func (r *reader) digits() (n int) {
	for n < len(r.text) && r.text[n] >= '0' && r.text[n] <= '9' {
		n++
	}
	return n
}

func (r *reader) date() (y, m, d int) {
	y = r.number(4, 1, 9999)
	r.oneOf("-")
	m = r.number(2, 1, 12)
	r.oneOf("-")
	d = r.number(2, 1, daysOf(y, m))
	return y, m, d
}

// anyDate parses a date, with slashes where there is an order of them.
func (r *reader) anyDate() (y, m, d int) {
	if n := r.digits(); r.order == ISO || n == len(r.text) || r.text[n] != '/' {
		return r.date()
	}
	d = r.short(1, 31)
	r.oneOf("/")
	m = r.short(1, 31)
	r.oneOf("/")
	y = r.number(4, 1, 9999)
	if r.order == MonthDayYear {
		d, m = m, d
	}
	if r.failed || m > 12 || d > daysOf(y, m) {
		r.failed = true
	}
	return y, m, d
}

// daysOf returns how many days a month has: day 0 of a month is the last of the one before.
func daysOf(y, m int) int { return time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() }

// clock parses HH:MM[:SS[.f]] and returns the seconds since 00:00. 24:00 is a whole day.
func (r *reader) clock() int64 {
	var seconds int
	if r.order == ISO {
		seconds = r.number(2, 0, 24) * 3600
	} else {
		seconds = r.short(0, 24) * 3600
	}
	r.oneOf(":")
	seconds += r.number(2, 0, 59) * 60
	later := false
	if r.next(':') {
		seconds += r.number(2, 0, 59)
		if r.next('.') {
			later = r.fraction()
		}
	}
	if seconds > secondsOfDay || seconds == secondsOfDay && later {
		r.failed = true
	}
	return int64(seconds)
}

// fraction reads a fraction of a second, and reports whether it is more than nothing.
func (r *reader) fraction() bool {
	n := r.digits()
	if n < 1 || n > 9 {
		r.failed = true
	}
	more := strings.Trim(r.text[:n], "0") != ""
	r.text = r.text[n:]
	return more
}

// offset parses an optional Z or ±HH:MM, and returns the seconds east of UTC.
func (r *reader) offset() (seconds int64, given bool) {
	sign := int64(1)
	switch {
	case r.next('Z'):
		return 0, true
	case r.next('+'):
	case r.next('-'):
		sign = -1
	default:
		return 0, false
	}
	hours := r.number(2, 0, 23)
	r.oneOf(":")
	minutes := r.number(2, 0, 59)
	return sign * int64(hours*3600+minutes*60), true
}
