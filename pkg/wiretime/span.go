package wiretime

import (
	"errors"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Span is the time of an event. Starts and Ends are UTC instants in whole seconds; Ends is exclusive and never before
// Starts. An all-day span goes from a midnight of the zone to a later one.
type Span struct {
	Starts time.Time `bson:"starts"`
	Ends   time.Time `bson:"ends"`
	AllDay bool      `bson:"all_day"`
}

// Equal reports whether two spans are the same, whatever the locations of their times.
func (s Span) Equal(other Span) bool {
	return s.Starts.Equal(other.Starts) && s.Ends.Equal(other.Ends) && s.AllDay == other.AllDay
}

// SpanFields are the time fields of an event in a request body (contract 4.2); a missing field is nil. Set A is
// AllDayField, StartsAtText and EndsAtText; set B is AllDay, StartsAt and EndsAt. Fields of both sets in one body
// are a fault.
type SpanFields struct {
	AllDayField  *bool   `json:"all_day_field"`
	StartsAtText *string `json:"starts_at_text"`
	EndsAtText   *string `json:"ends_at_text"`
	AllDay       *bool   `json:"all_day"`
	StartsAt     *string `json:"starts_at"`
	EndsAt       *string `json:"ends_at"`

	// Order is how dates with slashes are read in these fields.
	Order DateOrder `json:"-"`
}

const (
	startsAt = "starts_at"
	endsAt   = "ends_at"

	outOfBounds    = "must be in the years 1970 to 2199"
	beforeTheStart = "is before the start"
	mixedSets      = "can't mix all_day_field, starts_at_text, ends_at_text with all_day, starts_at, ends_at"
)

// NewSpan returns the span of a new event (contract 4.2, decisions part 4). Faults are by field, starts_at or ends_at,
// for both sets; nil when there is none. With faults the span is only for display: it has the times that could be read,
// and the zero time where a field has a fault.
//
// With set A the service adjusts the end. When ends_at_text is missing or blank, the event has zero length, or one day
// when it is all-day. An all-day end is inclusive, and 24:00 is of the day that it ends; an all-day event takes whole
// days, so its clock times are ignored.
//
// With set B the times are stored as given: ends_at is required and exclusive. An all-day event has dates, or
// date-times that are midnights in the zone, at least a day apart.
//
// A bare date in a timed event means its midnight. Days outside 1970 to 2199 are a fault; so are days and, of a timed
// event, clock times that the zone skips.
func (z Zone) NewSpan(f SpanFields) (Span, problem.Fields) {
	return z.span(f, nil)
}

// ChangeSpan returns the span of a stored event after a change of some fields; without any field it returns old.
// Faults are as in NewSpan; a field with one keeps its value in the span. So does a missing field: when only the start
// changes, the end stays, and it is a fault when the end is then before the start. Other fields follow the rules of
// their set, as in NewSpan. A blank ends_at_text means the default end.
//
// When only the all-day flag changes, in either set, a timed event is extended to the whole days that it touches,
// and an all-day event keeps its two midnights.
func (z Zone) ChangeSpan(old Span, f SpanFields) (Span, problem.Fields) {
	if f == (SpanFields{Order: f.Order}) {
		return old, nil
	}
	return z.span(f, &old)
}

// span applies f to the stored span, which is nil for a new event.
func (z Zone) span(f SpanFields, old *Span) (Span, problem.Fields) {
	adjusts := f.AllDayField != nil || f.StartsAtText != nil || f.EndsAtText != nil
	asGiven := f.AllDay != nil || f.StartsAt != nil || f.EndsAt != nil
	d := draft{zone: z, order: f.Order, adjusts: !asGiven, old: old, faults: problem.Fields{}}
	if adjusts && asGiven {
		return d.stored(), problem.Fields{startsAt: {mixedSets}}
	}
	if asGiven {
		return d.resolve(f.AllDay, f.StartsAt, f.EndsAt)
	}
	return d.resolve(f.AllDayField, f.StartsAtText, f.EndsAtText)
}

// draft is a span that is being parsed.
type draft struct {
	zone    Zone
	order   DateOrder
	adjusts bool // set A
	old     *Span
	span    Span
	faults  problem.Fields
}

func (d *draft) resolve(allDay *bool, starts, ends *string) (Span, problem.Fields) {
	if allDay != nil {
		d.span.AllDay = *allDay
	} else if d.old != nil {
		d.span.AllDay = d.old.AllDay
	}
	hasStart := d.start(starts)
	hasEnd := d.end(ends, hasStart)
	if hasStart && hasEnd {
		tooEarly := d.span.Ends.Before(d.span.Starts)
		if d.span.AllDay {
			tooEarly = !d.span.Ends.After(d.span.Starts)
		}
		if tooEarly {
			d.faults.Add(endsAt, beforeTheStart)
		}
	}
	if len(d.faults) == 0 {
		return d.span, nil
	}
	if !hasStart {
		d.span.Starts = d.stored().Starts
	}
	if !hasEnd || d.faults[endsAt] != nil {
		d.span.Ends = d.stored().Ends
	}
	return d.span, d.faults
}

// stored is the span as it is stored, the zero span for a new event.
func (d *draft) stored() Span {
	if d.old == nil {
		return Span{}
	}
	return *d.old
}

// start sets span.Starts, and reports whether the text is valid.
func (d *draft) start(text *string) bool {
	if text == nil && d.old != nil {
		d.span.Starts = d.old.Starts
		if d.span.AllDay {
			d.span.Starts = d.zone.Midnight(d.zone.DayOf(d.old.Starts))
		}
		return true
	}
	if text == nil || isBlank(*text) {
		d.faults.Add(startsAt, problem.Blank)
		return false
	}
	m, ok := d.read(startsAt, *text, false)
	d.span.Starts = m.at
	if d.span.AllDay {
		d.span.Starts = d.zone.Midnight(m.day)
	}
	return ok
}

// end sets span.Ends, and reports whether the text is valid. A default end needs the start.
func (d *draft) end(text *string, hasStart bool) bool {
	if text == nil && d.old != nil {
		d.span.Ends = d.old.Ends
		if d.span.AllDay {
			_, d.span.Ends = d.zone.Bounds(d.zone.Days(d.old.Starts, d.old.Ends))
		}
		return true
	}
	if text == nil || isBlank(*text) {
		if !d.adjusts {
			d.faults.Add(endsAt, problem.Blank)
			return false
		}
		if hasStart {
			d.span.Ends = d.span.Starts
			if d.span.AllDay {
				d.span.Ends = d.zone.Midnight(d.zone.DayOf(d.span.Starts) + 1)
			}
		}
		return hasStart
	}
	inclusive := d.adjusts && d.span.AllDay
	m, ok := d.read(endsAt, *text, !inclusive)
	d.span.Ends = m.at
	if inclusive {
		d.span.Ends = d.zone.Midnight(m.day + 1)
		if m.endsDay && m.at.After(d.span.Starts) {
			d.span.Ends = d.zone.Midnight(d.zone.DayOf(m.at.Add(-time.Second)) + 1)
		}
	}
	return ok
}

// read parses a text that is not blank, and adds its faults. An exclusive end may be the midnight after the last
// day.
func (d *draft) read(field, text string, exclusiveEnd bool) (moment, bool) {
	m, ok := d.zone.parseMoment(text, d.order)
	if ok && d.skipped(m, exclusiveEnd) {
		d.faults.Add(field, problem.Skipped)
		return moment{}, false
	}
	if !ok || d.span.AllDay && !d.adjusts && !m.at.Equal(d.zone.Midnight(m.day)) {
		d.faults.Add(field, problem.NotADate)
		return moment{}, false
	}
	endOfDays := (exclusiveEnd || field == endsAt && m.endsDay) && m.at.Equal(d.zone.Midnight(LastEventDay+1))
	if m.day < FirstEventDay || m.day > LastEventDay && !endOfDays {
		d.faults.Add(field, outOfBounds)
		return moment{}, false
	}
	return m, true
}

// skipped says whether the zone skips the day or time that is written. A day is there even when its midnight is
// skipped, and the end of the day before a skipped one is there too.
func (d *draft) skipped(m moment, exclusiveEnd bool) bool {
	dayAlone := d.span.AllDay && (d.adjusts || m.midnight)
	return m.noDay && !(exclusiveEnd && m.midnight) || m.noTime && !dayAlone
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

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
