package element

import (
	"context"
	"errors"
	"fmt"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/calendar"
)

// calendarDays is how many days a calendar has before today, and how many after.
const calendarDays = 366

// CalendarByToken returns the calendar of the feed with that token, as Calendar does. The context's actor has no user,
// only the client's address. A NotFound problem when there is no such feed or it does not work for its user.
func (s *Service) CalendarByToken(ctx context.Context, token string) ([]byte, error) {
	f, err := s.Feeds.GetByToken(ctx, hashOf(token))
	if errors.Is(err, record.ErrNotFound) {
		return nil, problem.New(problem.NotFound, "")
	}
	if err != nil {
		return nil, err
	}
	e, err := s.Get(ctx, f.ElementID)
	if err != nil {
		return nil, err
	}
	u, err := s.user(ctx, f.UserID)
	if err != nil {
		return nil, err
	}
	v, err := s.sightOf(ctx, s.viewerOf(u), s.calendarDays())
	if err != nil {
		return nil, err
	}
	others, err := s.elsewhere(ctx, v.Sight, e)
	if err != nil {
		return nil, err
	}
	if !f.worksFor(u, e) || !v.sees(e) || others[e.ID] {
		return nil, problem.New(problem.NotFound, "")
	}
	a := audit.ActorOf(ctx)
	a.User = f.UserID
	s.recordRead(audit.WithActor(ctx, a), v.ElementID, audit.ReadFeed, e)
	return s.calendarOf(ctx, v, e)
}

// Calendar returns an element's calendar as iCalendar text, from 366 days before today to 366 days after. Its events
// are those with a firm commitment of the element, or of a group that it belongs to on a day of the event. A Missing
// problem when there is no such element, Forbidden when p does not see it on any of these days.
func (s *Service) Calendar(ctx context.Context, p principal.Principal, id int64) ([]byte, error) {
	e, v, err := s.getSeen(ctx, p, id, s.calendarDays())
	if err != nil {
		return nil, err
	}
	s.recordRead(ctx, v.ElementID, audit.ReadCalendar, e)
	return s.calendarOf(ctx, v, e)
}

// calendarDays are the days of a calendar.
func (s *Service) calendarDays() wiretime.Days {
	today := s.today()
	return wiretime.Days{First: today.AddDays(-calendarDays), Last: today.AddDays(calendarDays)}
}

func (s *Service) calendarOf(ctx context.Context, v sight, e Element) ([]byte, error) {
	namespace, err := s.Feeds.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	days := s.calendarDays()
	reaches, err := s.reaches(ctx, []int64{e.ID}, days)
	if err != nil {
		return nil, err
	}
	q := fact.CalendarQuestion{Reaches: v.within(e, reaches[0])}
	if q.Sight, err = s.asked(ctx, v, e); err != nil {
		return nil, err
	}
	facts, err := s.Events.Calendar(ctx, q)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, f := range facts {
		ids = append(ids, f.Firm...)
	}
	elements, err := s.find(ctx, ids)
	if err != nil {
		return nil, err
	}
	c := calendar.Calendar{Name: e.Name, Zone: s.Zone, Events: make([]calendar.Event, len(facts))}
	c.From, c.To = s.Zone.Bounds(days)
	for i, f := range facts {
		c.Events[i] = calendar.Event{
			UID: fmt.Sprintf("event-%d@%s", f.ID, namespace), Sequence: f.Version - 1, Modified: f.Modified,
			Summary: f.Body, Location: shortTexts(f.Firm, elements, form.Location, v),
			Starts: f.Starts, Ends: f.Ends, AllDay: f.AllDay, Busy: f.Busy,
		}
	}
	return calendar.Encode(c), nil
}
