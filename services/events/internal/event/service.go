package event

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

var (
	// ErrFenced says that a new event was not stored because its id is fenced; see Store.Fence.
	ErrFenced = errors.New("the event is fenced")
	// ErrOutdated says that an event has changed since it was read, so the use case starts over.
	ErrOutdated = errors.New("the event has changed meanwhile")
)

// Store keeps events. Methods that get or change one event return record.ErrNotFound when there is none.
type Store interface {
	Get(ctx context.Context, id int64) (Event, error)
	// GetByCommitment and GetByRequest return the event that has the commitment or request of that id.
	GetByCommitment(ctx context.Context, commitmentID int64) (Event, error)
	GetByRequest(ctx context.Context, requestID int64) (Event, error)
	// GetByIdempotencyKey returns the event that has a record of the idempotency.Key with that id.
	GetByIdempotencyKey(ctx context.Context, keyID string) (Event, error)
	// Find returns those of the events that exist, by id and by import key, in no order.
	Find(ctx context.Context, ids []int64, keys []string) ([]Event, error)
	// List returns events with an id above after, in order of id: up to limit, or fewer, and then more, when they are
	// large.
	List(ctx context.Context, after int64, limit int) (found []Event, more bool, err error)
	// FindLiving returns the ids of those of the events that exist, in no order, as the primary has them.
	FindLiving(ctx context.Context, ids []int64) ([]int64, error)
	// FindTouching returns all events that touch one of the days of a reach with a commitment to its element, each
	// once, and a few others. They have only what a listing shows: id, version, time of change, body, category and
	// span, and of their commitments id, element and status; with whole, everything.
	FindTouching(ctx context.Context, reaches []fact.Reach, whole bool) ([]Event, error)
	// FindRequesting returns all events that touch the days with a request for the element, and a few others.
	FindRequesting(ctx context.Context, elementID int64, days wiretime.Days) ([]Event, error)
	// FindStarting returns all wanted events that start from one time on and before another, and a few others, in no
	// order, with their owner and what FindTouching returns. Events that are not Seen or Told are among them only if
	// they changed meanwhile. When there are more than limit (0: any number), it returns some of them, and more.
	FindStarting(
		ctx context.Context, wanted Wanted, from, to time.Time, limit int,
	) (found []Event, more bool, err error)
	// FindGoingOn returns, in the same way, the wanted events that began before a day and continue on it.
	FindGoingOn(ctx context.Context, wanted Wanted, day wiretime.Day) ([]Event, error)
	// ListDecidable returns the events with a commitment to one of the elements in one of the statuses that a decision
	// may change, in order of start, then id, from the place on: up to limit, or fewer, and then more, when they are
	// large.
	ListDecidable(
		ctx context.Context, elements []int64, statuses []Status, from Place, limit int,
	) (found []Event, more bool, err error)
	// ListOutstanding returns, in the same way, those with an outstanding request for one of the groups.
	ListOutstanding(ctx context.Context, groups []int64, from Place, limit int) (found []Event, more bool, err error)

	// NewIDs returns that many new ids of each kind.
	NewIDs(ctx context.Context, events, commitments, requests int) (IDs, error)

	// Insert stores new events with their commitments and requests, each as a whole. Those whose import key or
	// idempotency key another event has are not stored; their indexes are returned. ErrFenced when the id of one is
	// fenced.
	Insert(ctx context.Context, events []Event) (taken []int, err error)
	// Change lets change decide on the event and stores the result, as one atomic step: when another writer was first,
	// change runs again on the new state. Nothing is written when it returns an error; with record.ErrUnchanged the
	// event is returned as it is. It waits while the event is held by others; a Conflict problem when that takes too
	// long.
	Change(ctx context.Context, id int64, change func(*Event) error) (Event, error)
	// FindDeleted returns those of the events that were deleted, in no order, as the audit has them: the category,
	// owner and organiser that they had then, and the elements of their commitments and requests. A Malformed problem
	// when they are too many to be read at once.
	FindDeleted(ctx context.Context, ids []int64) ([]Event, error)
	// FindTexts returns the ids of the next events after a place in whose texts something is found, and the next place:
	// "" is before the first and after the last.
	FindTexts(ctx context.Context, texts *erasure.Texts, after string) (ids []int64, next string, err error)
	// Delete removes the event with its commitments and requests if may returns no error, and enqueues a message
	// for the other services, as one atomic step.
	Delete(ctx context.Context, id int64, may func(*Event) error) error
	// Fence makes sure that no change decided on the event's current state is stored: Fences rises or, when there is no
	// such event, none can be stored under that id any more. A Conflict problem where the event is held.
	Fence(ctx context.Context, id int64) error
}

// Clashes finds and refuses clashes; package clash has it.
type Clashes interface {
	// Book calls write for an addition, and treats clashes as the addition asks. It returns the event that write
	// returned, and the clashes of the added elements; nil unless the addition asks for them.
	Book(ctx context.Context, a Addition, write WriteAddition) (Event, []Clash, error)
	// Moving returns those of the changed events that may clash: in a busy category as they are, in others with their
	// allocations alone; unless clashes are reported, only those that did not book their elements at that time before.
	Moving(ctx context.Context, before, after []Event, mode Clashing) ([]Event, error)
	// Each returns the clashes of each of the events: all of those with other events, and among these events the first
	// MaxClashes and one of each.
	Each(ctx context.Context, several Several) ([][]Clash, error)
	// BookEach calls write with the clashes of each of the events, and keeps the elements of those without clashes
	// reserved until write has returned.
	BookEach(ctx context.Context, several Several, write func(clashes [][]Clash) error) error
	// Report returns the clashes of elements that were added to an event before.
	Report(ctx context.Context, a Addition, e Event, added []Commitment) ([]Clash, error)
}

// Categories is what events asks of category.Service.
type Categories interface {
	GetToUse(ctx context.Context, p principal.Principal, id int64) (category.Category, error)
	GetKept(ctx context.Context, p principal.Principal, id int64) (category.Category, error)
	Find(ctx context.Context, ids []int64, keys []string) ([]category.Category, error)
	All(ctx context.Context) ([]category.Category, error)
	Busy(ctx context.Context, ids []int64) (map[int64]bool, error)
}

// Elements is what events asks of the elements service.
type Elements interface {
	Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error)
	Administered(ctx context.Context, q fact.AdministeredQuestion) ([]fact.Element, error)
	Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error)
	Surroundings(ctx context.Context, q fact.SurroundingsQuestion) (fact.Surroundings, error)
	Belonging(ctx context.Context, q fact.BelongingQuestion) ([]int64, error)
	Control(ctx context.Context, q fact.ControlQuestion) ([]fact.Control, error)
}

// Users is what events asks of the identity service.
type Users interface {
	Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error)
}

// Notes is what events asks of the notes service.
type Notes interface {
	OfEvent(ctx context.Context, q fact.NotesOfEventQuestion) (json.RawMessage, error)
	Create(ctx context.Context, q fact.NewNote) (form.Note, error)
}

// Options of a Service; all are needed.
type Options struct {
	Store      Store
	Clashes    Clashes
	Categories Categories
	Elements   Elements
	Users      Users
	Notes      Notes
	Sights     principal.Sights
	Zone       wiretime.Zone
}

// Service has the use cases of events. It is safe for concurrent use. It asks its neighbours before it writes: when one
// is away, it returns an Unavailable problem and writes nothing.
type Service struct{ o Options }

// New returns the use cases.
func New(o Options) *Service { return &Service{o} }
