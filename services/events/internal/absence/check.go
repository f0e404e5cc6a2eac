package absence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	// longest is how many days a checked event may touch, which keeps every check small.
	longest = 14
	// together is the number of days whose events are checked at once.
	together = 7
)

// check checks the events that start on the days, and those that did when their note was written, and makes their notes
// what they should be; a dry run writes none. With onlyNoted it checks only those that have a note already.
func (s *Service) check(ctx context.Context, days wiretime.Days, onlyNoted, dryRun bool) (Report, error) {
	noted, err := s.Notes.Noted(ctx, fact.NotedQuestion{Topic: fact.Absences, Days: days})
	if err != nil {
		return Report{}, err
	}
	checked, others, err := s.candidates(ctx, days, onlyNoted, noted)
	if err != nil {
		return Report{}, err
	}
	report := Report{Changes: map[fact.NoteChange]int{}}
	if err := s.keep(ctx, nil, others, &report, dryRun); err != nil {
		return report, err
	}
	for week := range weeks(checked) {
		absences, err := s.find(ctx, week)
		if err != nil {
			return report, err
		}
		if err := s.keep(ctx, absences, week, &report, dryRun); err != nil {
			return report, err
		}
		report.Checked += len(week)
		report.Absences = append(report.Absences, absences...)
	}
	slices.SortFunc(report.Absences, func(a, b Absence) int { return a.Event.Compare(&b.Event) })
	return report, nil
}

// placed is an event with the days that it touches.
type placed struct {
	event.Event
	days wiretime.Days
}

// candidates returns the events to be checked, in order of the day on which they start, and those with notes that no
// longer need a check or no longer exist.
func (s *Service) candidates(
	ctx context.Context, days wiretime.Days, onlyNoted bool, noted []int64,
) (checked, others []placed, err error) {
	categories, err := s.Categories.List(ctx, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	var ids []int64
	for _, c := range categories {
		if c.ClashCheck {
			ids = append(ids, c.ID)
		}
	}
	var events []event.Event
	if !onlyNoted {
		from, to := s.Zone.Midnight(days.First), s.Zone.Midnight(days.Last.AddDays(1))
		if events, err = s.Store.FindInCategories(ctx, ids, from, to); err != nil {
			return nil, nil, err
		}
	}
	missing := map[int64]bool{}
	for _, id := range noted {
		missing[id] = true
	}
	for _, e := range events {
		delete(missing, e.ID)
	}
	moved, err := s.Store.Find(ctx, slices.Sorted(maps.Keys(missing)), nil)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range append(events, moved...) {
		delete(missing, e.ID)
		p := placed{e, e.Days(s.Zone)}
		if slices.Contains(ids, e.CategoryID) && e.Lasts() && p.days.Last-p.days.First < longest {
			checked = append(checked, p)
		} else {
			others = append(others, p)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		others = append(others, placed{Event: event.Event{ID: id}})
	}
	slices.SortFunc(
		checked,
		func(a, b placed) int { return cmp.Or(cmp.Compare(a.days.First, b.days.First), cmp.Compare(a.ID, b.ID)) },
	)
	return checked, others, nil
}

// weeks splits events, in order of the day on which they start, into parts that start within a week.
func weeks(events []placed) iter.Seq[[]placed] {
	return func(yield func([]placed) bool) {
		for len(events) > 0 {
			n := slices.IndexFunc(events, func(p placed) bool { return p.days.First >= events[0].days.First+together })
			if n < 0 {
				n = len(events)
			}
			if !yield(events[:n]) {
				return
			}
			events = events[n:]
		}
	}
}

const (
	// notesAtOnce and contentsAtOnce bound one question to notes, in notes and in bytes of what they say.
	notesAtOnce    = 1000
	contentsAtOnce = 512 << 10
)

// keep makes the notes of all the events match the absences, removes those without any, and counts the changes in the
// report.
func (s *Service) keep(ctx context.Context, absences []Absence, events []placed, report *Report, dryRun bool) error {
	absent := make(map[int64]*Absence, len(absences))
	for i := range absences {
		absent[absences[i].Event.ID] = &absences[i]
	}
	question := fact.SystemNotesQuestion{Topic: fact.Absences, DryRun: dryRun}
	size := 0
	send := func() error {
		changes, err := s.Notes.KeepSystemNotes(ctx, question)
		if err != nil {
			return err
		}
		for i, change := range changes {
			report.Changes[change]++
			if a := absent[question.Notes[i].EventID]; a != nil {
				a.Note = change
			}
			if !dryRun && change != fact.NoNote && change != fact.NoteUnchanged {
				s.Metrics.Wrote(ctx, change)
			}
		}
		question.Notes, size = nil, 0
		return nil
	}
	for _, e := range events {
		n := fact.SystemNote{EventID: e.ID, Day: e.days.First}
		if a := absent[e.ID]; a != nil {
			n.Contents = s.contents(*a)
		}
		question.Notes, size = append(question.Notes, n), size+len(n.Contents)
		if len(question.Notes) == notesAtOnce || size >= contentsAtOnce {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

// Check checks the events that start on the days, the first days first, and returns the day to continue with if half of
// the context's deadline was not enough; nil when all are done. It begins with one day, and checks more of them at
// once, up to a week, as long as that is quick. A dry run finds the same and writes nothing.
func (s *Service) Check(
	ctx context.Context, days wiretime.Days, dryRun bool,
) (report Report, next *wiretime.Day, err error) {
	report = Report{Changes: map[fact.NoteChange]int{}}
	half := time.Hour // where there is no deadline
	if deadline, limited := ctx.Deadline(); limited {
		half = time.Until(deadline) / 2
	}
	began := time.Now()
	first := days.First
	for size := 1; err == nil && first <= days.Last && (first == days.First || time.Since(began) < half); {
		last := min(first.AddDays(size-1), days.Last)
		started := time.Now()
		var found Report
		found, err = s.check(ctx, wiretime.Days{First: first, Last: last}, false, dryRun)
		report.add(found)
		if 4*time.Since(started) < half-time.Since(began) {
			size = min(2*size, together)
		} else {
			size = 1
		}
		first = last + 1
	}
	if !dryRun {
		err = errors.Join(err, s.audit(ctx, days, report))
	}
	if first <= days.Last {
		next = &first
	}
	return report, next, err
}

// audit records a check of days in the audit if it wrote anything.
func (s *Service) audit(ctx context.Context, days wiretime.Days, report Report) error {
	if report.Written() == 0 {
		return nil
	}
	counts := []audit.Value{audit.Text("last_day", days.Last.String())}
	for _, change := range []fact.NoteChange{fact.NoteCreated, fact.NoteUpdated, fact.NoteRemoved} {
		counts = append(counts, audit.Int(string(change), int64(report.Changes[change])))
	}
	checked := audit.Record{Type: "Absences", ID: days.First.String()}
	return s.Audit.Record(ctx, audit.Make(ctx, audit.Check, checked, audit.Compare(nil, counts)))
}

const (
	// weekTime bounds the check of a week. It is shorter than the time after which notes removes notes that were added
	// to deleted events.
	weekTime = time.Minute
	// firstRetry is the pause after a failed check, which doubles up to longestRetry: neighbours that start at the same
	// time are up within seconds.
	firstRetry   = time.Second
	longestRetry = time.Minute
	// longestSleep bounds how late it is noticed that the clock was set.
	longestSleep = 10 * time.Minute
)

// Run checks every night, in one replica, until ctx ends, then returns nil. If checks were missed because no replica
// ran, one is done at the start; a failed one is tried again.
func (s *Service) Run(ctx context.Context) error {
	if !s.Nightly.At.Given() {
		<-ctx.Done()
		return nil
	}
	loop := background.New(background.Options{
		Name: "the nightly check of absences", Log: s.Log, Retry: firstRetry, LongestRetry: longestRetry,
		Step: func(ctx context.Context) error { return s.catchUp(ctx, s.Zone.Latest(s.Nightly.At, s.Now())) },
		Until: func() time.Duration {
			now := s.Now()
			return min(s.Zone.Next(s.Nightly.At, now).Sub(now), longestSleep)
		},
	})
	return loop.Run(ctx)
}

// catchUp does the check that was due, unless it is done.
func (s *Service) catchUp(ctx context.Context, due time.Time) error {
	if done, err := s.Nights.Done(ctx); err != nil || !done.Before(due) {
		return err
	}
	return s.Nights.Lead(ctx, func(ctx context.Context) error {
		if done, err := s.Nights.Done(ctx); err != nil || !done.Before(due) { // another replica was at it meanwhile
			return err
		}
		if err := s.night(ctx); err != nil {
			return err
		}
		return s.Nights.SetDone(ctx, due)
	})
}

// night checks the usual days week by week, and events of later days that have notes.
func (s *Service) night(ctx context.Context) (err error) {
	began := time.Now()
	report := Report{Changes: map[fact.NoteChange]int{}}
	usual := s.Usual()
	defer func() { s.ended(ctx, usual, report, time.Since(began), err) }()
	for first := usual.First; first <= usual.Last; first += together {
		days := wiretime.Days{First: first, Last: min(first+together-1, usual.Last)}
		if err := s.add(ctx, &report, days, false); err != nil {
			return err
		}
	}
	return s.add(ctx, &report, wiretime.Days{First: usual.Last + 1, Last: wiretime.LastDay}, true)
}

// add checks days within weekTime.
func (s *Service) add(ctx context.Context, report *Report, days wiretime.Days, onlyNoted bool) error {
	ctx, cancel := context.WithTimeout(ctx, weekTime)
	defer cancel()
	found, err := s.check(ctx, days, onlyNoted, false)
	report.add(found)
	return err
}

// ended records a nightly check in the audit and the metrics, and one that was done in the log.
func (s *Service) ended(ctx context.Context, days wiretime.Days, report Report, took time.Duration, err error) {
	s.Metrics.Checked(ctx, took, err == nil)
	if err := s.audit(ctx, days, report); err != nil {
		s.Log.WarnContext(ctx, "a check of absences is not in the audit", "error", err)
	}
	if err != nil {
		return
	}
	s.Log.InfoContext(ctx, "absences checked", "first_day", days.First.String(), "last_day", days.Last.String(),
		"events", report.Checked, "with_absences", len(report.Absences), "created", report.Changes[fact.NoteCreated],
		"updated", report.Changes[fact.NoteUpdated], "unchanged", report.Changes[fact.NoteUnchanged],
		"removed", report.Changes[fact.NoteRemoved], "took", took)
}

// maxDays bounds how many days ahead the nightly check looks.
const maxDays = 92

// Nightly is the settings of the nightly check, beside service.Config.
type Nightly struct {
	At   wiretime.TimeOfDay `envconfig:"BELFRY_CLASH_NOTES_AT" default:"03:00" desc:"time of day (HH:MM in the configured zone) at which the notes on pupils who are elsewhere are updated for all events of categories with clash_check; set but empty: never"`
	Days int                `envconfig:"BELFRY_CLASH_DAYS" default:"14" desc:"how many days are checked, from today on, 1 to 92"`
}

// Check implements settings.Checker.
func (n *Nightly) Check() error {
	if n.Days < 1 || n.Days > maxDays {
		return fmt.Errorf("BELFRY_CLASH_DAYS: must be 1 to %d", maxDays)
	}
	return nil
}
