package series

import (
	"context"
	"log/slog"
	"time"

	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

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
