package series

import (
	"context"
	"log/slog"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	// maxExcept bounds the exceptions of a series.
	maxExcept = 1000
	// maxBookings bounds the commitments and requests of all events of a series together.
	maxBookings = 10_000
	// longestCalendar is how long before a series an event that counts for it may begin.
	longestCalendar = 366 * day
	// perBatch is how many events are written at once.
	perBatch = 50
	// abandoned is the age at which a series that is not yet made counts as one whose process died. A process that is
	// only slow makes the same series.
	abandoned = 20 * time.Second
	// sweepEvery is the pause between searches for them.
	sweepEvery = 10 * time.Second
)

// Store keeps series. What gets or changes one returns record.ErrNotFound when there is none.
type Store interface {
	Get(ctx context.Context, id int64) (Series, error)
	// GetByKey returns the series that the request with the idempotency.Key of that id made.
	GetByKey(ctx context.Context, keyID string) (Series, error)
	// ListUnmade returns the series whose creation, deletion or change was begun before a time and is not complete,
	// oldest first, up to limit.
	ListUnmade(ctx context.Context, before time.Time, limit int) ([]Series, error)
	NewID(ctx context.Context) (int64, error)
	// Insert stores a new series; ErrTaken when another has its idempotency key.
	Insert(ctx context.Context, s Series) error
	Change(ctx context.Context, id int64, change func(*Series) error) (Series, error)
	// Delete removes a series, which need not be there.
	Delete(ctx context.Context, id int64) error
	// ForgetKeys removes the idempotency keys of series that were begun before a time.
	ForgetKeys(ctx context.Context, before time.Time) error

	// InsertEvents stores those of the events whose ids are not taken, and returns the indexes of the others.
	InsertEvents(ctx context.Context, events []event.Event) (taken []int, err error)
	// FindEvents returns the events of a series in order of their places.
	FindEvents(ctx context.Context, id int64) ([]event.Event, error)
	// Lead runs work while no other process does.
	Lead(ctx context.Context, work func(context.Context) error) error
}

// IDs gives new events, commitments and requests their ids, and writes events; event.Store implements it.
type IDs interface {
	NewEventIDs(ctx context.Context, n int) ([]int64, error)
	NewCommitmentIDs(ctx context.Context, n int) ([]int64, error)
	NewRequestIDs(ctx context.Context, n int) ([]int64, error)
	// Change lets change decide on the event with that id, as one atomic step; see event.Store.
	Change(ctx context.Context, id int64, change func(*event.Event) error) (event.Event, error)
	// Hold lets hold decide on the event as Change does, and stores only whether it is held.
	Hold(ctx context.Context, id int64, hold func(*event.Event) error) error
	// Delete removes the event with that id. Fence makes sure that none is stored under it.
	Delete(ctx context.Context, id int64, may func(*event.Event) error) error
	Fence(ctx context.Context, id int64) error
}

// Events is what is asked of the use cases of events.
type Events interface {
	Draft(ctx context.Context, p principal.Principal, f event.Fields, s event.Submission) (event.Draft, error)
	Delete(ctx context.Context, p principal.Principal, id int64, match record.Match, may func(*event.Event) error) error
	// Access returns what p may do with each of the events.
	Access(ctx context.Context, p principal.Principal, events []event.Event) ([]event.Access, error)
	// Seen returns those of the events that p sees, and whether p sees everything.
	Seen(ctx context.Context, p principal.Principal, events []event.Event) (seen []event.Event, all bool, err error)
	// InCategory returns those events of a category of which p knows it that start from one time on and before another.
	InCategory(
		ctx context.Context, p principal.Principal, categoryID int64, from, to time.Time,
	) ([]event.Event, error)
	// SeenClashes leaves out of the clashes of each event those with events that p does not see, and says whether p
	// sees everything.
	SeenClashes(
		ctx context.Context, p principal.Principal, clashes [][]event.Clash,
	) (seen [][]event.Clash, all bool, err error)
	// Reader returns the viewer of a report for p. Hidden returns the elements whose events p may not be told of,
	// though it sees everything.
	Reader(p principal.Principal) fact.Sight
	Hidden(ctx context.Context, p principal.Principal, ids []int64) (map[int64]bool, error)
	Change(
		ctx context.Context, p principal.Principal, id int64, f event.Fields, match record.Match,
	) (event.View, error)
	// Editable returns an event that p may change and delete.
	Editable(ctx context.Context, p principal.Principal, id int64, match record.Match) (event.Event, error)
	// Redraft returns an event as Change would make it, and what the fields give the others of its series.
	Redraft(
		ctx context.Context, p principal.Principal, e event.Event, f event.Fields,
	) (event.Event, event.Common, error)
	// Show returns an event for showing, as far as p sees it.
	Show(ctx context.Context, p principal.Principal, e event.Event) (event.View, error)
	// Facts returns those of the elements that exist, by id, as they are for p.
	Facts(ctx context.Context, p principal.Principal, ids []int64) (map[int64]fact.Element, error)
	// Submitted returns the elements of a submission that exist, by id.
	Submitted(ctx context.Context, s event.Submission) (map[int64]fact.Element, error)
}

// Clasher finds clashes of several events, and reserves their elements; package clash implements it.
type Clasher interface {
	Each(ctx context.Context, several clash.Several) ([][]event.Clash, error)
	BookEach(ctx context.Context, several clash.Several, write func([][]event.Clash) error) error
}

// Categories is what is asked of the use cases of categories.
type Categories interface {
	Get(ctx context.Context, p principal.Principal, id int64) (category.Category, error)
	// GetKept is Get for a series that has it already.
	GetKept(ctx context.Context, p principal.Principal, id int64) (category.Category, error)
	// Find returns those of the categories that exist, by id and by import key, in no order.
	Find(ctx context.Context, ids []int64, keys []string) ([]category.Category, error)
	// Busy says which of the categories are busy.
	Busy(ctx context.Context, ids []int64) (map[int64]bool, error)
}

// Options of a Service; all are needed.
type Options struct {
	Store      Store
	IDs        IDs
	Events     Events
	Clashes    Clasher
	Categories Categories
	Zone       wiretime.Zone
	Log        *slog.Logger
}

// Service is the use cases of series. It is safe for concurrent use.
type Service struct{ o Options }

// New returns the use cases.
func New(o Options) *Service { return &Service{o} }
