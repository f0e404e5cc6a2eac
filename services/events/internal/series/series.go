// Package series creates events by a rule, such as every second Tuesday in term. Each of them, an occurrence, is an
// ordinary event that knows its series and its place in it.
//
// A series is planned, then made. The plan has every event with all its ids, and is stored before the first of them. So
// any process can complete the plan of one that died, and several may do so at once: the result is the same series.
// Begin with plan.go (which days) and create.go.
package series

import (
	"context"
	"log/slog"
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Record is the type's name in exception bodies.
const Record = "Series"

// State is the progress of a series.
type State string

// The states. A withdrawn series is deleted once none of its events is left.
const (
	Planned   State = "planned"
	Made      State = "made"
	Withdrawn State = "withdrawn"
)

// Series is a series. The tags name its fields as they are stored.
type Series struct {
	ID      int64           `bson:"-"`
	Version int64           `bson:"-"` // the store's
	State   State           `bson:"state"`
	Begun   time.Time       `bson:"begun"`
	Actor   audit.Actor     `bson:"actor"`   // who made it
	Key     idempotency.Key `bson:",inline"` // of the request
	Repeat  Repeat          `bson:",inline"`
	Pattern event.Event     `bson:"pattern"` // of its events, as they were made
	Plan    []Occurrence    `bson:"plan"`
	LeftOut []LeftOut       `bson:"left_out,omitempty"`

	Ending   *Ending   `bson:"ending,omitempty"`   // what is being deleted of it; nil: nothing
	Changes  int64     `bson:"changes,omitempty"`  // how many changes of several of its events were begun
	Changing *Change   `bson:"changing,omitempty"` // the one that is under way; nil: none
	Changed  []Outcome `bson:"changed,omitempty"`  // of the last ones, the newest last

	Failures []event.Failure `bson:"refused,omitempty"` // elements that none of its events got
}

// Ending is an unfinished deletion of several events of a series. The event named is deleted first, if it still has
// that version, and decides: unless it is deleted, nothing is.
type Ending struct {
	Since   time.Time   `bson:"since"`
	Actor   audit.Actor `bson:"actor"`    // who deletes them
	EventID int64       `bson:"event_id"` // the event named
	Version int64       `bson:"version"`
	Events  []int64     `bson:"events"`
	// Versions are those at which alone the Events are deleted; 0: at any, as for those beyond its end.
	Versions []int64 `bson:"versions,omitempty"`
	Decided  bool    `bson:"decided,omitempty"` // the event named was deleted, so the others must be
}

// Repeat says how a series repeats.
type Repeat struct {
	Rule      string         `bson:"rule"`
	Except    []wiretime.Day `bson:"except,omitempty"`
	During    *Calendar      `bson:"during,omitempty"`
	NotDuring []Calendar     `bson:"not_during,omitempty"` // none of them
	Clashes   event.Clashing `bson:"clashes"`
}

// Calendar is the days that events of a category touch, such as terms, holidays and the weeks of a letter.
type Calendar struct {
	CategoryID int64  `bson:"category_id"`
	Body       string `bson:"body,omitempty"` // of those events, in any case; "": any
}

// Occurrence is a planned event of a series.
type Occurrence struct {
	EventID     int64         `bson:"id"`
	Place       int           `bson:"place"`
	Span        wiretime.Span `bson:",inline"`               // of its event, unless that has times of its own
	Clock       Clock         `bson:",inline"`               // that of the span
	Commitments []int64       `bson:"commitments,omitempty"` // ids, in the order of the pattern's
	Requests    []int64       `bson:"requests,omitempty"`    // likewise
}

// Reason says why an occurrence of a rule has no event, or why an event was left as it was.
type Reason string

// The reasons.
const (
	Excepted  Reason = "except"     // its day is one of the exceptions
	Outside   Reason = "during"     // its day is none of those
	Within    Reason = "not_during" // one of its days is one of those of a calendar
	Clashes   Reason = "clash"      // an element is taken up
	Overtaken Reason = "overtaken"  // another call wrote it, or booked its element, meanwhile
	Changed   Reason = "changed"    // of a change: it was changed by itself before
	Deleted   Reason = "deleted"    // of a change: it was deleted meanwhile
	Forbidden Reason = "forbidden"  // of a change or a deletion: the caller may not change it
)

// LeftOut is an occurrence of the rule that has no event.
type LeftOut struct {
	Starts    time.Time `bson:"starts"`
	Reason    Reason    `bson:"reason"`
	EventID   int64     `bson:"event_id,omitempty"`   // the event that stands in the way; 0: none
	ElementID int64     `bson:"element_id,omitempty"` // what it takes up; 0: none
}

// events returns the planned events.
func (s *Series) events() []event.Event {
	events := make([]event.Event, len(s.Plan))
	for i, o := range s.Plan {
		events[i] = s.Pattern.At(o.EventID, o.Span, o.Commitments, o.Requests)
		events[i].SeriesID, events[i].Place = s.ID, o.Place
		events[i].Actor = s.Pattern.OwnerID
	}
	return events
}

const (
	// maxExcept bounds the exceptions of a series.
	maxExcept = 1000
	// maxCalendars bounds the calendars that a series avoids.
	maxCalendars = 20
	// maxBookings bounds the commitments and requests of all events of a series together.
	maxBookings = 10_000
	// longestCalendar is how long before a series an event of its calendars may begin.
	longestCalendar = 366 * day
	// perBatch is how many events are written at once.
	perBatch = 50
	// abandoned is the age at which a series that is not yet made counts as one whose process died. A process that is
	// only slow makes the same series.
	abandoned = 20 * time.Second
	// sweepEvery is the pause between searches for them.
	sweepEvery = 10 * time.Second
)

// Store keeps series. Methods that get or change one return record.ErrNotFound when there is none.
type Store interface {
	Get(ctx context.Context, id int64) (Series, error)
	// GetByKey returns the series that the request with the idempotency.Key of that id made.
	GetByKey(ctx context.Context, keyID string) (Series, error)
	// ListUnmade returns the series with a creation, deletion or change that was begun before a time and is not
	// complete, oldest first, up to limit.
	ListUnmade(ctx context.Context, before time.Time, limit int) ([]Series, error)
	NewID(ctx context.Context) (int64, error)
	// Insert stores a new series; ErrTaken when another has its idempotency key.
	Insert(ctx context.Context, s Series) error
	Change(ctx context.Context, id int64, change func(*Series) error) (Series, error)
	// Delete removes a series, which need not exist.
	Delete(ctx context.Context, id int64) error

	// InsertEvents stores those of the events whose ids are not taken, and returns the indexes of the others.
	InsertEvents(ctx context.Context, events []event.Event) (taken []int, err error)
	// FindEvents returns the events of a series in order of their places.
	FindEvents(ctx context.Context, id int64) ([]event.Event, error)
	// Lead runs work while no other process does.
	Lead(ctx context.Context, work func(context.Context) error) error
}

// EventStore keeps the events.
type EventStore interface {
	event.Store

	// Hold lets hold decide on the event as Change does, and stores only whether it is held.
	Hold(ctx context.Context, id int64, hold func(*event.Event) error) error
}

// Options of a Service; all are needed.
type Options struct {
	Store      Store
	EventStore EventStore
	Events     *event.Service
	Clashes    *clash.Service
	Categories *category.Service
	Zone       wiretime.Zone
	Log        *slog.Logger
}

// Service has the use cases of series. It is safe for concurrent use.
type Service struct{ o Options }

// New returns the use cases.
func New(o Options) *Service { return &Service{o} }
