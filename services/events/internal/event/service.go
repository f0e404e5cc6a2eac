package event

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Store keeps events. A record that does not exist, or no longer, is a NotFound problem that names its type.
type Store interface {
	// Event returns the event of that id.
	Event(ctx context.Context, id int64) (Event, error)
	// OfCommitment returns the event that has the commitment of that id.
	OfCommitment(ctx context.Context, commitmentID int64) (Event, error)
	// OfRequest returns the event that has the request of that id.
	OfRequest(ctx context.Context, requestID int64) (Event, error)
	// GetByIdempotencyKey returns the event that has a receipt for the ticket with that key, and false when there is none.
	GetByIdempotencyKey(ctx context.Context, key string) (Event, bool, error)
	// Find returns those of the events asked for, by id and by import key, that exist, in no order.
	Find(ctx context.Context, ids []int64, keys []string) ([]Event, error)
	// Touching returns the events that may touch one of the days of a reach with a commitment to its element: all that do, each once, and
	// few besides.
	Touching(ctx context.Context, reaches []fact.Reach) ([]Event, error)
	// Requesting returns the events that may touch the days with a request for the element: all that do, and few besides.
	Requesting(ctx context.Context, elementID int64, days wiretime.Days) ([]Event, error)

	// Deciding returns the events with a commitment of one of the statuses, of those that a decision may leave, to one of the elements, in
	// order of start, then id, from that of the place on: up to limit.
	Deciding(ctx context.Context, elements []int64, statuses []Status, from Place, limit int) ([]Event, error)
	// Outstanding returns, in the same way, those with an outstanding request for one of the groups.
	Outstanding(ctx context.Context, groups []int64, from Place, limit int) ([]Event, error)

	// NewEvents, NewCommitments and NewRequests return n ids that nobody else gets, in rising order.
	NewEvents(ctx context.Context, n int) ([]int64, error)
	NewCommitments(ctx context.Context, n int) ([]int64, error)
	NewRequests(ctx context.Context, n int) ([]int64, error)

	// Insert stores new events with their commitments and requests, each as a whole. Those whose import key or ticket another event has are
	// not stored; their indexes are returned. ErrShutOut when one was shut out.
	Insert(ctx context.Context, events []Event) (taken []int, err error)
	// Change lets change decide on the event of that id and stores what it leaves, as one atomic step: when another writer came between, it
	// is asked again on the event as it is then. Nothing is written when it returns false or an error.
	Change(ctx context.Context, id int64, change func(*Event) (bool, error)) (Event, error)
	// ForgetReceipts removes the receipts of before a time from all events, whose versions stay.
	ForgetReceipts(ctx context.Context, before time.Time) error
	// ShutOut makes sure that no change of the event of that id is written that was decided on what it is now: ShutOuts rises, or, when
	// there is no such event, none can be stored under that id any more.
	ShutOut(ctx context.Context, id int64) error
	// Delete removes the event of that id with its commitments and requests when may allows it, and tells the other services, as one
	// atomic step.
	Delete(ctx context.Context, id int64, may func(*Event) error) error
}

// Categories is what events asks of the use cases of categories.
type Categories interface {
	// Get returns the category for p to use; see category.Service.
	Get(ctx context.Context, p principal.Principal, id int64) (category.Category, error)
	// Find returns those of the categories that exist, by id and by import key, in no order.
	Find(ctx context.Context, ids []int64, keys []string) ([]category.Category, error)
	// Busy says which of the categories are busy.
	Busy(ctx context.Context, ids []int64) (map[int64]bool, error)
}

// Elements is what events asks of the elements service.
type Elements interface {
	Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error)
	Administered(ctx context.Context, q fact.AdministeredQuestion) ([]fact.Element, error)
	Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error)
}

// Users is what events asks of the identity service.
type Users interface {
	Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error)
}

// Notes is what events asks of the notes service.
type Notes interface {
	OfEvent(ctx context.Context, q fact.NotesOfEventQuestion) ([]form.Note, error)
	Create(ctx context.Context, q fact.NewNote) (form.Note, error)
}

// Service is the use cases of events. It is safe for concurrent use. What it needs of its neighbours it asks before it writes: when one is
// away, the answer is an Unavailable problem and nothing is written.
type Service struct {
	store      Store
	claims     Claims
	categories Categories
	elements   Elements
	users      Users
	notes      Notes
	zone       wiretime.Zone
}

// NewService returns the use cases over their stores and neighbours.
func NewService(store Store, claims Claims, categories Categories, elements Elements, users Users, notes Notes, zone wiretime.Zone) *Service {
	return &Service{store, claims, categories, elements, users, notes, zone}
}

// View is an event with what showing it takes.
type View struct {
	Event
	Elements map[int64]fact.Element // by id: all that the event names
	Owner    *form.User             // nil: none, or not asked for
	Clashes  []Clash                // of what was added; nil: not asked for
}

// known is what the neighbours have said so far.
type known struct {
	elements map[int64]fact.Element
	asked    map[int64]bool // the elements asked for, there or not
	users    map[int64]form.User
}

func newKnown() *known {
	return &known{map[int64]fact.Element{}, map[int64]bool{}, map[int64]form.User{}}
}

// unknownError says which elements a change has to know before it can be decided.
type unknownError struct{ elements []int64 }

func (e *unknownError) Error() string {
	return fmt.Sprintf("facts are missing of elements %v", e.elements)
}

// covers returns an *unknownError when the event names elements that were not asked for.
func (k *known) covers(e *Event) error {
	if missing := k.lacking(e.elementIDs()); len(missing) > 0 {
		return &unknownError{missing}
	}
	return nil
}

func (k *known) lacking(elements []int64) []int64 {
	var missing []int64
	seen := map[int64]bool{}
	for _, id := range elements {
		if !k.asked[id] && !seen[id] {
			seen[id] = true
			missing = append(missing, id)
		}
	}
	return missing
}

// learn asks for what is not known yet of the elements and the users, both at the same time; one round trip, none when all is known.
func (s *Service) learn(ctx context.Context, k *known, elements []int64, users ...int64) error {
	var facts []fact.Element
	var people []fact.User
	missing := k.lacking(elements)
	g, ctx := errgroup.WithContext(ctx)
	if len(missing) > 0 {
		g.Go(func() (err error) {
			facts, err = s.elements.Facts(ctx, fact.ElementsQuestion{IDs: missing})
			return err
		})
	}
	if len(users) > 0 && users[0] != 0 {
		g.Go(func() (err error) {
			people, err = s.users.Users(ctx, fact.UsersQuestion{IDs: users})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, id := range missing {
		k.asked[id] = true
	}
	for _, f := range facts {
		k.elements[f.ID] = f
	}
	for _, u := range people {
		k.users[u.ID] = u.User
	}
	return nil
}

// change is Store.Change for decisions that need to know the elements that the event names. decide runs only when all are known; those that
// others brought in meanwhile are asked for, and it is tried again.
func (s *Service) change(ctx context.Context, id int64, k *known, decide func(*Event) (bool, error)) (Event, error) {
	for {
		e, err := s.store.Change(ctx, id, func(e *Event) (bool, error) {
			if err := k.covers(e); err != nil {
				return false, err
			}
			return decide(e)
		})
		var unknown *unknownError
		if !errors.As(err, &unknown) {
			return e, err
		}
		if err := s.learn(ctx, k, unknown.elements); err != nil {
			return Event{}, err
		}
	}
}

// view makes the view of an event all of whose elements were asked for. An element that its owner no longer knows is a fault: elements
// are never removed.
func (s *Service) view(e Event, k *known) (View, error) {
	for _, id := range e.elementIDs() {
		if _, exists := k.elements[id]; !exists {
			return View{}, fmt.Errorf("event %d names element %d, which elements does not know", e.ID, id)
		}
	}
	v := View{Event: e, Elements: k.elements}
	if owner, exists := k.users[e.OwnerID]; exists {
		v.Owner = &owner
	}
	return v, nil
}
