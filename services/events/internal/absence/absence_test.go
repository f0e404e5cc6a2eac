package absence

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Who is elsewhere agrees with a model that checks every quarter of an hour: whether there is one in which the
// pupil is part of both events, by the memberships of its day.
func TestAbsences_WhoIsElsewhereIsThoseOfTheSlowModelAcrossClockChanges(t *testing.T) {
	const pupils, groups = 3, 3 // pupils are elements 1 to 3, groups 11 to 13
	rapid.Check(t, func(t *rapid.T) {
		z := timetest.Zone(t, rapid.SampledFrom([]string{"Europe/London", "America/New_York",
			"Australia/Lord_Howe"}).Draw(t, "zone"))
		origin := timetest.Day(t, rapid.SampledFrom([]string{"2026-03-28", "2026-10-24", "2026-03-07",
			"2026-10-31", "2026-04-04"}).Draw(t, "around"))
		s := &Service{Options: Options{Zone: z}}
		from := z.Midnight(origin)
		element := rapid.OneOf(rapid.Int64Range(1, pupils), rapid.Int64Range(11, 10+groups))
		var all []placed
		for id := range int64(rapid.IntRange(1, 7).Draw(t, "events")) {
			starts := from.Add(time.Duration(rapid.IntRange(0, 3*96).Draw(t, "start")) * 15 * time.Minute)
			length := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, 150)).Draw(t, "quarters")
			e := event.Event{ID: id + 1, Span: wiretime.Span{Starts: starts,
				Ends: starts.Add(time.Duration(length) * 15 * time.Minute)}}
			for n, of := range rapid.SliceOfNDistinct(element, 0, 3, rapid.ID[int64]).Draw(t, "elements") {
				status := rapid.SampledFrom([]event.Status{event.Uncontrolled, event.Requested, event.Rejected}).Draw(t,
					"status")
				e.Commitments = append(e.Commitments, event.Commitment{ID: int64(n), ElementID: of, Status: status})
			}
			all = append(all, placed{e, e.Days(z)})
		}
		whole := wiretime.Days{First: origin, Last: origin + 6}
		var people []pupil
		for id := range int64(pupils) {
			p := pupil{form.Element{ID: id + 1}, []fact.Reach{{ElementID: id + 1, Days: []wiretime.Days{whole}}}}
			for group := range int64(groups) {
				r := fact.Reach{ElementID: 11 + group}
				for day := whole.First; day <= whole.Last; day++ {
					if rapid.Bool().Draw(t, "member") {
						r.Days = append(r.Days, wiretime.Days{First: day, Last: day})
					}
				}
				p.reaches = append(p.reaches, r)
			}
			people = append(people, p)
		}
		taken := map[int64][]placed{} // the events with an odd id are busy as well
		for _, e := range all {
			for _, id := range attending(e.Event) {
				if e.ID%2 == 1 {
					taken[id] = append(taken[id], e)
				}
			}
		}

		part := func(p pupil, e placed, at time.Time) bool {
			day := z.DayOf(at)
			return !at.Before(e.Span.Starts) && at.Before(e.Span.Ends) &&
				slices.ContainsFunc(p.reaches, func(r fact.Reach) bool {
					return slices.Contains(attending(e.Event), r.ElementID) &&
						slices.ContainsFunc(r.Days, func(d wiretime.Days) bool {
							return d.First <= day &&
								day <= d.Last
						})
				})
		}
		ever := func(holds func(at time.Time) bool) bool {
			for at := from; at.Before(from.Add(6 * 24 * time.Hour)); at = at.Add(15 * time.Minute) {
				if holds(at) {
					return true
				}
			}
			return false
		}
		var want strings.Builder
		for _, e := range all {
			mine, missing, where := 0, 0, map[int64][]int64{}
			for _, p := range people {
				if ever(func(at time.Time) bool { return part(p, e, at) }) {
					mine++
				}
				away := false
				for _, other := range all {
					if other.ID%2 == 1 && other.ID != e.ID &&
						ever(func(at time.Time) bool { return part(p, e, at) && part(p, other, at) }) {
						where[other.ID], away = append(where[other.ID], p.ID), true
					}
				}
				if away {
					missing++
				}
			}
			if missing > 0 {
				fmt.Fprintln(&want, e.ID, missing, mine, where)
			}
		}
		var got strings.Builder
		for _, a := range s.absences(all, people, taken) {
			where := map[int64][]int64{}
			for _, at := range a.places {
				for _, p := range at.pupils {
					where[at.event.ID] = append(where[at.event.ID], p.ID)
				}
			}
			fmt.Fprintln(&got, a.Event.ID, a.Elsewhere, a.Pupils, where)
		}
		valuetest.MustSame(t, got.String(), want.String(),
			"event, elsewhere, pupils, by other event:\n%sthe model says\n%s", got.String(), want.String())
	})
}

func TestAbsences_ContentsOfANote(t *testing.T) {
	s := &Service{Options: Options{Zone: timetest.Zone(t, "Europe/London")}}
	var titles []string // by the event's id, from 1
	at := func(starts, ends string, allDay bool, body string, rooms []string, pupils ...string) place {
		from, _ := time.Parse(time.RFC3339, starts)
		to, _ := time.Parse(time.RFC3339, ends)
		titles = append(titles, body)
		p := place{event: &event.Event{
			ID: int64(len(titles)), Texts: event.Texts{Body: body},
			Span: wiretime.Span{Starts: from, Ends: to, AllDay: allDay},
		}, rooms: rooms}
		for _, name := range pupils {
			p.pupils = append(p.pupils, form.Element{Name: name})
		}
		return p
	}
	many := make([]string, 57)
	for i := range many {
		many[i] = fmt.Sprintf("P%02d", i)
	}
	crowd := Absence{Pupils: 24, Elsewhere: 24}
	for range 22 {
		crowd.places = append(crowd.places,
			at("2026-09-07T08:00:00Z", "2026-09-07T09:00:00Z", false, "Trip", nil, "Ann"))
	}
	line := "- Mon 7 Sep 2026, 09\\:00 to 10\\:00, Trip: Ann\n"
	for want, a := range map[string]Absence{
		"1 of 1 pupil is elsewhere:\n\n- Mon 7 Sep 2026, 09\\:00 to 10\\:00, Trip: Ann\n": {Pupils: 1, Elsewhere: 1,
			places: crowd.places[:1]},
		"2 of 24 pupils are elsewhere:\n\n- Mon 7 Sep 2026, Museum \\& zoo (Hall, St\\. Mary's): Bob (9A), " +
			"\\<Cyd\\>\n- Mon 7 Sep 2026 to Tue 8 Sep 2026, Trek (A, B, C, …): Bob\n": {
			Pupils: 24, Elsewhere: 2, places: []place{
				at("2026-09-06T23:00:00Z", "2026-09-07T23:00:00Z", true, "Museum & zoo", []string{"Hall", "St. Mary's"},
					"Bob (9A)", "<Cyd>"),
				at("2026-09-06T23:00:00Z", "2026-09-08T23:00:00Z", true, "Trek", []string{"A", "B", "C", "D"}, "Bob"),
			}},
		"57 of 60 pupils are elsewhere:\n\n- Mon 7 Sep 2026, 09\\:00 to 10\\:00, Trip: " +
			strings.Join(many[:20], ", ") + " … and 37 more\n": {
			Pupils: 60, Elsewhere: 57, places: []place{at("2026-09-07T08:00:00Z", "2026-09-07T09:00:00Z", false, "Trip",
				nil, many...)}},
		"24 of 24 pupils are elsewhere:\n\n" + strings.Repeat(line, 20) + "- and at 2 other events\n": crowd,
	} {
		got := fact.WithTitles(s.contents(a), func(id int64) string { return fact.PlainMarkdown(titles[id-1], 80) })
		valuetest.Same(t, got, want)
	}
}

func TestAbsences_ANoteIsNeverTooLong(t *testing.T) {
	s := &Service{Options: Options{Zone: timetest.Zone(t, "Europe/London")}}
	hostile := strings.Repeat("*", 5000)
	a := Absence{Pupils: 1 << 40, Elsewhere: 1 << 40}
	for range 200 {
		p := place{event: &event.Event{ID: 1, Texts: event.Texts{Body: hostile}, Span: wiretime.Span{Ends: time.Now()}},
			rooms: []string{hostile, hostile, hostile, hostile}}
		for range 3000 {
			p.pupils = append(p.pupils, form.Element{Name: hostile})
		}
		a.places = append(a.places, p)
	}
	contents := s.contents(a)
	valuetest.Lacks(t, contents, hostile[:9], "a title is stored with the note")
	shown := fact.WithTitles(contents, func(int64) string { return fact.PlainMarkdown(hostile, 80) })
	if n := utf8.RuneCountInString(shown); n > 65536 || n < 50000 {
		t.Errorf("%d characters", n)
	}
}

// school answers for the neighbours and the store: one set (1) of so many pupils (from 101 on), all of them in a
// match (events 1 and 2).
type school struct {
	pupils                                          int
	pupilsAsked, reachesAsked, busyAsked, keepAsked atomic.Int64
	others                                          atomic.Int64 // all other questions
	kept                                            []fact.SystemNote
	told                                            []audit.Entry
	day                                             wiretime.Day
}

func (s *school) events() []event.Event {
	var all []event.Event
	starts := time.Unix(int64(s.day)*86400+9*3600, 0)
	for id := range int64(2) {
		e := event.Event{ID: id + 1, CategoryID: id + 1,
			Span: wiretime.Span{Starts: starts, Ends: starts.Add(time.Hour)}}
		e.Commitments = []event.Commitment{{ID: id + 1, ElementID: 1, Status: event.Uncontrolled}}
		all = append(all, e)
	}
	return all
}

func (s *school) Busy(
	_ context.Context, reaches []fact.Reach, _ int64, _ bool,
) ([]event.Placed[event.Commitment], error) {
	s.busyAsked.Add(1)
	var found []event.Placed[event.Commitment]
	for _, r := range reaches {
		if r.ElementID == 1 {
			e := s.events()[1]
			found = append(found, event.Placed[event.Commitment]{Event: &e, Item: &e.Commitments[0]})
		}
	}
	return found, nil
}

func (s *school) Find(context.Context, []int64, []string) ([]event.Event, error) {
	s.others.Add(1)
	return nil, nil
}

func (s *school) FindInCategories(_ context.Context, categories []int64, from, to time.Time) ([]event.Event, error) {
	s.others.Add(1)
	return slices.DeleteFunc(s.events(), func(e event.Event) bool {
		return !slices.Contains(categories, e.CategoryID) || e.Span.Starts.Before(from) || !e.Span.Starts.Before(to)
	}), nil
}

func (s *school) List(context.Context, int64, int) ([]category.Category, error) {
	s.others.Add(1)
	return []category.Category{{ID: 1, Flags: category.Flags{ClashCheck: true}},
		{ID: 2, Flags: category.Flags{Busy: true}}}, nil
}

func (s *school) Pupils(context.Context, fact.PupilsQuestion) ([]form.Element, error) {
	s.pupilsAsked.Add(1)
	all := make([]form.Element, s.pupils)
	for i := range all {
		all[i] = form.Element{ID: int64(101 + i), Name: fmt.Sprint("Pupil ", i)}
	}
	return all, nil
}

func (s *school) Reaches(_ context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error) {
	s.reachesAsked.Add(1)
	var all []fact.ElementReaches
	for _, id := range q.IDs {
		days := []wiretime.Days{q.Days}
		all = append(all, fact.ElementReaches{ElementID: id,
			Reaches: []fact.Reach{{ElementID: id, Days: days}, {ElementID: 1, Days: days}}})
	}
	return all, nil
}

func (s *school) Facts(context.Context, fact.ElementsQuestion) ([]fact.Element, error) {
	s.others.Add(1)
	return nil, nil
}

func (s *school) Noted(context.Context, fact.NotedQuestion) ([]int64, error) {
	s.others.Add(1)
	return nil, nil
}

func (s *school) KeepSystemNotes(_ context.Context, q fact.SystemNotesQuestion) ([]fact.NoteChange, error) {
	if len(q.Notes) == 0 {
		return nil, nil
	}
	s.keepAsked.Add(1)
	s.kept = append(s.kept, q.Notes...)
	return slices.Repeat([]fact.NoteChange{fact.NoteCreated}, len(q.Notes)), nil
}

func (s *school) Record(_ context.Context, entries ...audit.Entry) error {
	s.told = append(s.told, entries...)
	return nil
}

func (s *school) Done(context.Context) (time.Time, error)  { return time.Time{}, nil }
func (s *school) SetDone(context.Context, time.Time) error { return nil }
func (s *school) Lead(ctx context.Context, work func(context.Context) error) error {
	return work(ctx)
}

func (s *school) Wrote(context.Context, fact.NoteChange)       {}
func (s *school) Checked(context.Context, time.Duration, bool) {}

// checker is the service in that school.
func (s *school) checker(t *testing.T) *Service {
	t.Helper()
	return New(Options{
		Clashes: s, Store: s, Categories: s, Nights: s, Elements: s, Notes: s, Audit: s,
		Zone: timetest.Zone(t, "Europe/London"), Now: time.Now,
		Log: slog.New(slog.DiscardHandler), Metrics: s,
	})
}

func TestAbsences_ACheckAsksByTheHundredAndNotForEachPupil(t *testing.T) {
	day := timetest.Day(t, "2026-09-07")
	all := &school{pupils: 1000, day: day}
	s := all.checker(t)
	report, next, err := s.Check(t.Context(), wiretime.Days{First: day, Last: day}, false)
	if err != nil || next != nil || report.Checked != 1 || len(report.Absences) != 1 ||
		report.Absences[0].Elsewhere != 1000 || report.Absences[0].Note != fact.NoteCreated {
		t.Fatalf("%+v, %v, %v", report, next, err)
	}
	if asked := [5]int64{all.pupilsAsked.Load(), all.reachesAsked.Load(), all.busyAsked.Load(), all.keepAsked.Load(),
		all.others.Load()}; asked != [5]int64{1, 4, 6, 1, 5} {
		t.Errorf("asked %v times for pupils, reaches, busy events, notes to be kept, and the rest", asked)
	}
	if len(all.told) != 1 || all.told[0].Record != "Absences:2026-09-07" || all.told[0].Action != audit.Check {
		t.Errorf("the audit was told %+v", all.told)
	}
}

// A check that runs out of time says where to go on, and has done at least a day.
func TestAbsences_ACheckEndsAtHalfOfItsDeadline(t *testing.T) {
	all := &school{pupils: 1, day: 20000}
	s := all.checker(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, next, err := s.Check(ctx, wiretime.Days{First: 20000, Last: 20002}, true)
	valuetest.Holds(t, err == nil && next != nil && *next == 20001, "next %v, %v", next, err)
	if _, next, err := s.Check(t.Context(), wiretime.Days{First: 20000, Last: 20100}, true); err != nil ||
		next != nil || len(all.told) > 0 {
		t.Errorf("next %v, %v, told %v", next, err, all.told)
	}
}
