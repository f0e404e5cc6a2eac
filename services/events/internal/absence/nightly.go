package absence

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

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
