package series

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Clock is a span as the zone's clock shows it.
type Clock struct {
	// Start is in UTC, with the date and time of the clock; for an all-day span, 00:00 of its first day.
	Start  time.Time `bson:"clock,omitempty"`
	Lasts  int64     `bson:"lasts,omitempty"` // seconds
	AllDay bool      `bson:"-"`               // as the span that it is stored with
}

func (c Clock) lasts() time.Duration { return time.Duration(c.Lasts) * time.Second }

func clockOf(zone wiretime.Zone, span wiretime.Span) Clock {
	c := Clock{Start: zone.Wall(span.Starts), AllDay: span.AllDay}
	ends := zone.Wall(span.Ends)
	if span.AllDay {
		days := zone.Days(span.Starts, span.Ends)
		c.Start, ends = days.First.Date(), days.Last.AddDays(1).Date()
	}
	lasts := ends.Sub(c.Start)
	if lasts <= 0 { // of no length, or across the hour that comes twice
		lasts = span.Ends.Sub(span.Starts)
	}
	c.Lasts = int64(lasts / time.Second)
	return c
}

// in returns the clock and the span of an occurrence, which may have been planned before the deployment's zone changed:
// then it keeps its instants, and, all day, its days, as stored events do.
func (o Occurrence) in(zone wiretime.Zone) (Clock, wiretime.Span) {
	c := o.Clock
	c.AllDay = o.Span.AllDay
	switch {
	case zone.Wall(o.Span.Starts).Equal(c.Start), c.span(zone).Starts.Equal(o.Span.Starts):
		return c, o.Span
	case c.AllDay:
		return c, c.span(zone)
	}
	return clockOf(zone, o.Span), o.Span
}

// span begins and ends at the times that the clock shows. A start in a gap of the clock is read with the offset before
// the gap (RFC 5545, 3.3.5), and the span keeps its length. A day that the zone skips becomes the next one.
func (c Clock) span(zone wiretime.Zone) wiretime.Span {
	if c.AllDay {
		first := zone.DayOf(zone.Midnight(wiretime.DayOf(c.Start)))
		return wiretime.Span{
			Starts: zone.Midnight(first), Ends: zone.Midnight(first.AddDays(int(c.lasts() / day))), AllDay: true,
		}
	}
	s := wiretime.Span{Starts: zone.FromWall(c.Start), Ends: zone.FromWall(c.Start.Add(c.lasts()))}
	if !zone.Wall(s.Starts).Equal(c.Start) {
		s.Ends = s.Starts.Add(c.lasts())
	}
	return s
}

// from is span for an event that was at the span was, which before shows. A start or end at the second of two instants
// with the same clock time stays at a second one where the new time has two.
func (c Clock) from(zone wiretime.Zone, before Clock, was wiretime.Span) wiretime.Span {
	if c.Start.Equal(before.Start) && c.Lasts == before.Lasts && c.AllDay == before.AllDay {
		return was
	}
	s := c.span(zone)
	if c.AllDay || !zone.Wall(s.Starts).Equal(c.Start) {
		return s
	}
	moved := func(was, first, clock time.Time) time.Time {
		shown, isFirst := zone.Clock(was)
		if at := was.Add(clock.Sub(shown)); !isFirst && zone.Wall(at).Equal(clock) {
			return at
		}
		return first
	}
	s.Starts = moved(was.Starts, s.Starts, c.Start)
	s.Ends = moved(was.Ends, s.Ends, c.Start.Add(c.lasts()))
	if s.Ends.Before(s.Starts) { // the first of two, which the event was without
		s.Ends = s.Starts.Add(c.lasts())
	}
	return s
}

const day = 24 * time.Hour

// spans returns the occurrences of the rule, in order, each once, with only Span and Clock, or a fault of the rule.
func spans(zone wiretime.Zone, rule Rule, first wiretime.Span) ([]Occurrence, problem.Fields) {
	if rule.clocks() && first.AllDay {
		return nil, problem.Fields{ruleField: {"can't name times of the day for an all-day event"}}
	}
	clock := clockOf(zone, first)
	starts, err := rule.starts(clock.Start, zone)
	if err != nil {
		return nil, problem.Fields{ruleField: {err.Error()}}
	}
	var found []Occurrence
	given := clock
	for _, start := range starts {
		clock.Start = start
		s := clock.span(zone)
		if start.Sub(given.Start) < day { // as it was given, which may be the second of times that come twice
			s = clock.from(zone, given, first)
		}
		if zone.Wall(s.Ends.Add(-time.Second)).Year() > lastYear {
			return nil, problem.Fields{ruleField: {"goes beyond the year 2199"}}
		}
		if n := len(found); n == 0 || found[n-1].Span.Starts.Before(s.Starts) {
			found = append(found, Occurrence{Span: s, Clock: clock})
		}
	}
	return found, nil
}

// touched is an event of a calendar with the days that it touches.
type touched struct {
	eventID int64
	days    wiretime.Days
}

// calendar returns the events of a calendar that touch a day of the occurrences, of which there is at least one. It
// leaves out events that p may not know, since the days that a series leaves out would reveal them.
func (s *Service) calendar(
	ctx context.Context, p principal.Principal, c Calendar, all []Occurrence,
) ([]touched, error) {
	from, to := all[0].Span.Starts, all[0].Span.Ends
	for _, o := range all {
		if o.Span.Ends.After(to) {
			to = o.Span.Ends
		}
	}
	events, err := s.o.Events.InCategory(
		ctx, p, c.CategoryID, from.Add(-longestCalendar), s.o.Zone.Midnight(s.o.Zone.DayOf(to)+1),
	)
	if err != nil {
		return nil, err
	}
	var found []touched
	for _, e := range events {
		if c.Body == "" || strings.EqualFold(strings.TrimSpace(e.Body), c.Body) {
			found = append(found, touched{e.ID, e.Days(s.o.Zone)})
		}
	}
	return found, nil
}

// sift separates the occurrences that the exceptions and calendars leave out from the others.
func (s *Service) sift(
	ctx context.Context, p principal.Principal, r Repeat, all []Occurrence,
) (kept []Occurrence, left []LeftOut, err error) {
	if len(all) == 0 {
		return nil, nil, nil
	}
	var during, without []touched
	if r.During != nil {
		if during, err = s.calendar(ctx, p, *r.During, all); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range r.NotDuring {
		found, err := s.calendar(ctx, p, c, all)
		if err != nil {
			return nil, nil, err
		}
		without = append(without, found...)
	}
	for _, o := range all {
		span := o.Span
		days := s.o.Zone.Days(span.Starts, span.Ends)
		on := func(t touched) bool { return t.days.Has(days.First) }
		in := slices.IndexFunc(without, func(t touched) bool { return t.days.Overlaps(days) })
		switch {
		case slices.Contains(r.Except, days.First):
			left = append(left, LeftOut{Starts: span.Starts, Reason: Excepted})
		case r.During != nil && !slices.ContainsFunc(during, on):
			left = append(left, LeftOut{Starts: span.Starts, Reason: Outside})
		case in >= 0:
			left = append(left, LeftOut{Starts: span.Starts, Reason: Within, EventID: without[in].eventID})
		default:
			kept = append(kept, o)
		}
	}
	return kept, left, nil
}
