// Package absence finds the pupils of events who are elsewhere at that time, and keeps a note on each such event that
// says who, where, and how many of how many. It checks events of categories with clash_check; a pupil is elsewhere when
// another event makes the pupil busy, by the rules of free and busy times (docs/api-decisions.md). Every night one
// replica checks the days ahead; administrators may check any days at any time.
//
// A note depends only on what is stored when it is written, and writing it again is harmless. So runs share no state
// but the notes: a run that dies is repeated, and two concurrent runs have the same result.
package absence

import (
	"context"
	"log/slog"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Clashes is what is asked of clash.Service.
type Clashes interface {
	Busy(
		ctx context.Context, reaches []fact.Reach, except int64, allocates bool,
	) ([]event.Placed[event.Commitment], error)
}

// Store is what is asked of store.Events.
type Store interface {
	Find(ctx context.Context, ids []int64, keys []string) ([]event.Event, error)
	FindInCategories(ctx context.Context, categories []int64, from, to time.Time) ([]event.Event, error)
}

// Categories is what is asked of the category.Store.
type Categories interface {
	List(ctx context.Context, after int64, limit int) ([]category.Category, error)
}

// Nights remembers the nightly check, for all replicas together.
type Nights interface {
	// Done returns the due time of the last check that was done, the zero time when none was.
	Done(ctx context.Context) (time.Time, error)
	SetDone(ctx context.Context, due time.Time) error
	// Lead runs work while no other replica does, as mongostore.WithLease does.
	Lead(ctx context.Context, work func(context.Context) error) error
}

// Elements is what is asked of the elements service.
type Elements interface {
	Pupils(ctx context.Context, q fact.PupilsQuestion) ([]form.Element, error)
	Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error)
	Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error)
}

// Notes is what is asked of the notes service.
type Notes interface {
	Noted(ctx context.Context, q fact.NotedQuestion) ([]int64, error)
	KeepSystemNotes(ctx context.Context, q fact.SystemNotesQuestion) ([]fact.NoteChange, error)
}

// Audit keeps entries of the runs that wrote notes.
type Audit interface {
	Record(ctx context.Context, entries ...audit.Entry) error
}

// Metrics counts what is done.
type Metrics interface {
	// Wrote counts a note that was created, updated or removed.
	Wrote(ctx context.Context, change fact.NoteChange)
	// Checked records how long a nightly check took, and whether it was done or failed.
	Checked(ctx context.Context, took time.Duration, done bool)
}

// Options of a Service; all are needed.
type Options struct {
	Nightly    Nightly
	Clashes    Clashes
	Store      Store
	Categories Categories
	Nights     Nights
	Elements   Elements
	Notes      Notes
	Audit      Audit
	Zone       wiretime.Zone
	Now        func() time.Time
	Log        *slog.Logger
	Metrics    Metrics
}

// Service finds absences and keeps the notes on them. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service; the nightly check does nothing until Run.
func New(o Options) *Service { return &Service{o} }

// Usual are the days of the nightly check.
func (s *Service) Usual() wiretime.Days {
	today := s.Zone.DayOf(s.Now())
	return wiretime.Days{First: today, Last: today.AddDays(s.Nightly.Days - 1)}
}

// Absence is an event some of whose pupils are elsewhere.
type Absence struct {
	Event     event.Event
	Pupils    int // of the event
	Elsewhere int // of them
	Note      fact.NoteChange

	places []place
}

// place is another event that has pupils of this one.
type place struct {
	event  *event.Event
	rooms  []string       // the names of its locations, in order of id
	pupils []form.Element // in order of name, then id
}

// Report is what a check found and did.
type Report struct {
	Absences []Absence // in order of start, end and id
	Checked  int       // events
	Changes  map[fact.NoteChange]int
}

func (r *Report) add(other Report) {
	r.Absences = append(r.Absences, other.Absences...)
	r.Checked += other.Checked
	for change, n := range other.Changes {
		r.Changes[change] += n
	}
}

// Written counts the notes that were created, updated and removed.
func (r *Report) Written() int {
	return r.Changes[fact.NoteCreated] + r.Changes[fact.NoteUpdated] + r.Changes[fact.NoteRemoved]
}
