package wiretime

import "time"

// moment is a date or date-time of a client, resolved in a zone.
type moment struct {
	at  time.Time // UTC, whole seconds; the midnight of a bare date
	day Day       // the zone's day that has this instant
}

// parseMoment parses YYYY-MM-DD, or YYYY-MM-DD HH:MM[:SS[.f]] with a space or T before the time, then optionally Z
// or an offset ±HH:MM. The fraction has one to nine digits and is dropped. Second 60 and 24:00 are invalid.
func (z Zone) parseMoment(text string) (moment, bool) {
	r := reader{text: text}
	y, month, d := r.date()
	day := dayOfDate(y, time.Month(month), d)
	if r.done() {
		// The midnight is on another day only when the zone skipped the whole day.
		at := z.Midnight(day)
		return moment{at: at, day: z.DayOf(at)}, true
	}
	r.oneOf(" T")
	wall := int64(day)*secondsOfDay + r.clock()
	offset, given := r.offset()
	if !r.done() {
		return moment{}, false
	}
	at := time.Unix(wall-offset, 0).UTC()
	if !given {
		at = z.local(wall)
	}
	return moment{at: at, day: z.DayOf(at)}, true
}

// reader parses a text from the left. After a mismatch its methods return zeros, and done returns false.
type reader struct {
	text   string
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

func (r *reader) date() (y, m, d int) {
	y = r.number(4, 1, 9999)
	r.oneOf("-")
	m = r.number(2, 1, 12)
	r.oneOf("-")
	// Day 0 of a month is the last of the one before.
	d = r.number(2, 1, time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day())
	return y, m, d
}

// clock parses HH:MM[:SS[.f]] and returns the seconds since 00:00.
func (r *reader) clock() int64 {
	seconds := r.number(2, 0, 23) * 3600
	r.oneOf(":")
	seconds += r.number(2, 0, 59) * 60
	if r.next(':') {
		seconds += r.number(2, 0, 59)
		if r.next('.') {
			r.fraction()
		}
	}
	return int64(seconds)
}

func (r *reader) fraction() {
	n := 0
	for n < len(r.text) && r.text[n] >= '0' && r.text[n] <= '9' {
		n++
	}
	if n < 1 || n > 9 {
		r.failed = true
	}
	r.text = r.text[n:]
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
