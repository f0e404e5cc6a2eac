package wiretime

import (
	"strings"
	"time"
)

// Span is when an event happens. Starts and Ends are UTC instants in whole seconds, Ends exclusive and never before
// Starts. An all-day span goes from a midnight of the zone to a later one.
type Span struct {
	Starts, Ends time.Time
	AllDay       bool
}

// Equal tells whether two spans are the same, whatever location their times carry.
func (s Span) Equal(other Span) bool {
	return s.Starts.Equal(other.Starts) && s.Ends.Equal(other.Ends) && s.AllDay == other.AllDay
}

// SpanFields are the time fields of an event in a request body (contract 4.2); nil is a field not given. Set A:
// AllDayField, StartsAtText, EndsAtText. Set B: AllDay, StartsAt, EndsAt. Fields of both sets together are a fault.
type SpanFields struct {
	AllDayField  *bool   `json:"all_day_field"`
	StartsAtText *string `json:"starts_at_text"`
	EndsAtText   *string `json:"ends_at_text"`
	AllDay       *bool   `json:"all_day"`
	StartsAt     *string `json:"starts_at"`
	EndsAt       *string `json:"ends_at"`
}

// Faults are what is wrong with the fields: field name to messages, as the errors object of a 422 holds them. The
// names are always starts_at and ends_at, whichever set was used. Nil means no fault.
type Faults map[string][]string

func (f *Faults) add(field, message string) {
	if *f == nil {
		*f = Faults{}
	}
	(*f)[field] = append((*f)[field], message)
}

// The days an event may touch, 1970-01-01 to 2199-12-31. They are counted 0 to 84005, so a day fits five digits and is
// never negative; the keys that events are found by rely on it.
const (
	minDay Day = 0
	maxDay Day = 84005
)

const (
	startsAt = "starts_at"
	endsAt   = "ends_at"

	blank          = "can't be blank"
	notADate       = "is not a date"
	outOfBounds    = "must be in the years 1970 to 2199"
	beforeTheStart = "is before the start"
	mixedSets      = "can't mix all_day_field, starts_at_text, ends_at_text with all_day, starts_at, ends_at"
)

// NewSpan is the span of an event to be created (contract 4.2, decisions part 4).
//
// Set A, where the service adjusts the end: a missing or blank ends_at_text gives zero length, or one day when
// all-day. An all-day end is inclusive; clock times of an all-day event are ignored, as it takes the whole days.
//
// Set B, stored as given: ends_at is required and exclusive. All-day takes dates and date-times that are midnights in
// the zone, at least a day apart.
//
// A bare date in a timed event means its midnight. Days outside 1970 to 2199 are a fault.
func (z Zone) NewSpan(f SpanFields) (Span, Faults) {
	return z.span(f, nil)
}

// ChangeSpan is the span of a stored event after a PATCH with a subset of the fields; without any field it is old. A
// field not given keeps its value: moving only the start keeps the end, and is a fault when that is before the new
// start. Fields given follow the rules of their set, as in NewSpan; a blank ends_at_text asks for the default end.
//
// When only the all-day flag changes: a timed event that becomes all-day takes the whole days it touches, in either
// set, as the times kept were not given with the flag; an all-day event that becomes timed keeps its two midnights.
func (z Zone) ChangeSpan(old Span, f SpanFields) (Span, Faults) {
	if f == (SpanFields{}) {
		return old, nil
	}
	return z.span(f, &old)
}

// span reads f over the stored span, which is nil for a new event.
func (z Zone) span(f SpanFields, old *Span) (Span, Faults) {
	adjusts := f.AllDayField != nil || f.StartsAtText != nil || f.EndsAtText != nil
	asGiven := f.AllDay != nil || f.StartsAt != nil || f.EndsAt != nil
	if adjusts && asGiven {
		return Span{}, Faults{startsAt: {mixedSets}}
	}
	d := draft{zone: z, adjusts: !asGiven, old: old}
	if asGiven {
		return d.resolve(f.AllDay, f.StartsAt, f.EndsAt)
	}
	return d.resolve(f.AllDayField, f.StartsAtText, f.EndsAtText)
}

// draft is a span in the making.
type draft struct {
	zone    Zone
	adjusts bool // set A
	old     *Span
	span    Span
	faults  Faults
}

func (d *draft) resolve(allDay *bool, starts, ends *string) (Span, Faults) {
	if allDay != nil {
		d.span.AllDay = *allDay
	} else if d.old != nil {
		d.span.AllDay = d.old.AllDay
	}
	startKnown := d.start(starts)
	endKnown := d.end(ends, startKnown)
	if startKnown && endKnown {
		tooEarly := d.span.Ends.Before(d.span.Starts)
		if d.span.AllDay {
			tooEarly = !d.span.Ends.After(d.span.Starts)
		}
		if tooEarly {
			d.faults.add(endsAt, beforeTheStart)
		}
	}
	if d.faults != nil {
		return Span{}, d.faults
	}
	return d.span, nil
}

// start sets span.Starts and tells whether it could.
func (d *draft) start(text *string) bool {
	if text == nil && d.old != nil {
		d.span.Starts = d.old.Starts
		if d.span.AllDay {
			d.span.Starts = d.zone.Midnight(d.zone.DayOf(d.old.Starts))
		}
		return true
	}
	if text == nil || isBlank(*text) {
		d.faults.add(startsAt, blank)
		return false
	}
	m, ok := d.read(startsAt, *text, false)
	d.span.Starts = m.at
	if d.span.AllDay {
		d.span.Starts = d.zone.Midnight(m.day)
	}
	return ok
}

// end sets span.Ends and tells whether it could. A default end needs the start.
func (d *draft) end(text *string, startKnown bool) bool {
	if text == nil && d.old != nil {
		d.span.Ends = d.old.Ends
		if d.span.AllDay {
			_, d.span.Ends = d.zone.Bounds(d.zone.Days(d.old.Starts, d.old.Ends))
		}
		return true
	}
	if text == nil || isBlank(*text) {
		if !d.adjusts {
			d.faults.add(endsAt, blank)
			return false
		}
		if startKnown {
			d.span.Ends = d.span.Starts
			if d.span.AllDay {
				d.span.Ends = d.zone.Midnight(d.zone.DayOf(d.span.Starts) + 1)
			}
		}
		return startKnown
	}
	inclusive := d.adjusts && d.span.AllDay
	m, ok := d.read(endsAt, *text, !inclusive)
	d.span.Ends = m.at
	if inclusive {
		d.span.Ends = d.zone.Midnight(m.day + 1)
	}
	return ok
}

// read resolves a text that is not blank and reports what is wrong with it. An exclusive end may be the midnight that
// ends the last day.
func (d *draft) read(field, text string, exclusiveEnd bool) (moment, bool) {
	m, ok := d.zone.parseMoment(text)
	if !ok || d.span.AllDay && !d.adjusts && !m.at.Equal(d.zone.Midnight(m.day)) {
		d.faults.add(field, notADate)
		return moment{}, false
	}
	endOfDays := exclusiveEnd && m.at.Equal(d.zone.Midnight(maxDay+1))
	if m.day < minDay || m.day > maxDay && !endOfDays {
		d.faults.add(field, outOfBounds)
		return moment{}, false
	}
	return m, true
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
