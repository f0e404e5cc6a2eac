package series

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// pattern is the span whose repetitions a series has, as the zone's clock shows it.
type pattern struct {
	zone   wiretime.Zone
	allDay bool
	start  time.Time // by the clock; of an all-day span 00:00 of its first day
	lasts  time.Duration
}

func patternOf(zone wiretime.Zone, span wiretime.Span) pattern {
	p := pattern{zone: zone, allDay: span.AllDay, start: zone.Wall(span.Starts)}
	ends := zone.Wall(span.Ends)
	if span.AllDay {
		p.start, ends = zone.DayOf(span.Starts).Date(), zone.DayOf(span.Ends).Date()
	}
	p.lasts = ends.Sub(p.start)
	if p.lasts < span.Ends.Sub(span.Starts) && p.lasts <= 0 { // across the hour that comes twice
		p.lasts = span.Ends.Sub(span.Starts)
	}
	return p
}

// at is the span that begins when the clock shows that, and ends when it shows the pattern's end. Where the clock skips
// or repeats one of these it lasts as long as the clock says.
func (p pattern) at(start time.Time) wiretime.Span {
	if p.allDay {
		return wiretime.Span{
			Starts: p.zone.Midnight(wiretime.DayOf(start)),
			Ends:   p.zone.Midnight(wiretime.DayOf(start.Add(p.lasts))),
			AllDay: true,
		}
	}
	s := wiretime.Span{Starts: p.zone.FromWall(start), Ends: p.zone.FromWall(start.Add(p.lasts))}
	if s.Ends.Before(s.Starts) || (p.lasts > 0 && !s.Ends.After(s.Starts)) {
		s.Ends = s.Starts.Add(p.lasts)
	}
	return s
}

const day = 24 * time.Hour

// spans returns when the rule's occurrences are, in order, each once; a fault of rule otherwise.
func spans(zone wiretime.Zone, rule Rule, first wiretime.Span) ([]wiretime.Span, problem.Fields) {
	if rule.clocks && first.AllDay {
		return nil, problem.Fields{ruleField: {"can't name times of the day for an all-day event"}}
	}
	p := patternOf(zone, first)
	starts, err := rule.starts(p.start, zone)
	if err != nil {
		return nil, problem.Fields{ruleField: {err.Error()}}
	}
	var found []wiretime.Span
	for _, start := range starts {
		s := p.at(start)
		if zone.Wall(s.Ends.Add(-time.Second)).Year() > lastYear {
			return nil, problem.Fields{ruleField: {"goes beyond the year 2199"}}
		}
		if n := len(found); n == 0 || found[n-1].Starts.Before(s.Starts) {
			found = append(found, s)
		}
	}
	return found, nil
}

// touched is an event of a calendar with the days that it touches.
type touched struct {
	eventID int64
	days    wiretime.Days
}

// calendar returns the events of a calendar that touch one of the days of the spans.
func (s *Service) calendar(ctx context.Context, c *Calendar, spans []wiretime.Span) ([]touched, error) {
	if c == nil || len(spans) == 0 {
		return nil, nil
	}
	from, to := spans[0].Starts, spans[0].Ends
	for _, span := range spans {
		if span.Ends.After(to) {
			to = span.Ends
		}
	}
	events, err := s.o.Store.FindInCategory(
		ctx, c.CategoryID, from.Add(-longestCalendar), s.o.Zone.Midnight(s.o.Zone.DayOf(to)+1),
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

// sift says of each of the spans why it is left out, if it is: by the exceptions and the calendars.
func (s *Service) sift(
	ctx context.Context, r Repeat, all []wiretime.Span,
) (kept []wiretime.Span, left []LeftOut, err error) {
	during, err := s.calendar(ctx, r.During, all)
	if err != nil {
		return nil, nil, err
	}
	without, err := s.calendar(ctx, r.NotDuring, all)
	if err != nil {
		return nil, nil, err
	}
	for _, span := range all {
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
			kept = append(kept, span)
		}
	}
	return kept, left, nil
}
