package clash

import (
	"context"
	random "crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Reservation keeps an element free for one booking, an addition that is about to book it for its event's time, while
// that is decided and written (docs/decisions/0010). The tags name its fields as they are stored.
type Reservation struct {
	Token   string    `bson:"token"` // the same for all reservations of one booking
	EventID int64     `bson:"event_id"`
	Starts  time.Time `bson:"starts"`
	Ends    time.Time `bson:"ends"`
}

// Overlaps says whether two reservations exclude each other.
func (r Reservation) Overlaps(other Reservation) bool {
	return wiretime.Overlaps(r.Starts, r.Ends, other.Starts, other.Ends)
}

// Reservations keeps the reservations of each element.
type Reservations interface {
	// Insert stores reservations of an element as one atomic step. If a stored one overlaps one of them, it is returned
	// instead. The given ones may overlap each other.
	Insert(ctx context.Context, elementID int64, r ...Reservation) (standing *Reservation, err error)
	// Delete removes an element's reservations with that token: those for the given events or, without events, all.
	// They need not exist.
	Delete(ctx context.Context, elementID int64, token string, eventIDs ...int64) error
}

const (
	// patience is how long a reservation may block another booking before its event is fenced. A slow booking then
	// starts over.
	patience = 3 * time.Second
	// releaseTime bounds the release of reservations, which goes on when the request's deadline has passed.
	releaseTime = 5 * time.Second
	// releasedAtOnce is the number of elements whose reservations are released at a time.
	releasedAtOnce = 8
	// firstPause and longestPause bound the random pause before a reservation is tried again.
	firstPause   = 5 * time.Millisecond
	longestPause = 80 * time.Millisecond
)

// errStanding says that another reservation overlaps.
var errStanding = errors.New("another reservation stands")

// booking holds the reservations of one addition.
type booking struct {
	o            Options
	token        string
	reservations []Reservation   // of each element
	held         []int64         // elements
	dead         map[string]bool // the tokens of bookings that this one no longer waits for
	fenced       map[fenced]bool // events of those that it has fenced
}

// fenced is an event of another booking.
type fenced struct {
	token   string
	eventID int64
}

// booking returns a booking of the events that holds nothing yet.
func (s *Service) booking(events ...event.Event) *booking {
	b := &booking{o: s.o, token: random.Text(), dead: map[string]bool{}, fenced: map[fenced]bool{}}
	for _, e := range events {
		b.reservations = append(b.reservations, Reservation{
			Token: b.token, EventID: e.ID, Starts: e.Span.Starts, Ends: e.Span.Ends,
		})
	}
	return b
}

// reserve reserves the free elements for an addition, and returns the others as booked. Until release, no other booking
// gets a reserved element for that time, and all earlier writes are visible. Elements must be in rising order of id.
func (s *Service) reserve(
	ctx context.Context, a event.Addition, elements []fact.ElementReaches,
) (*booking, event.Booked, error) {
	b := s.booking(a.Event)
	booked := event.Booked{}
	find := func() error {
		found, err := s.find(ctx, a, elements)
		maps.Copy(booked, found)
		return err
	}
	if err := find(); err != nil { // so that booked elements are refused without a reservation
		return nil, nil, err
	}
	free := slices.DeleteFunc(slices.Clone(elements), func(r fact.ElementReaches) bool {
		return booked.Has(r.ElementID)
	})
	if err := b.hold(ctx, free, find); err != nil {
		return nil, nil, err
	}
	return b, booked, nil
}

// hold reserves the elements, and then finds what was written before. With an error, or in a dry run, it holds none.
func (b *booking) hold(ctx context.Context, elements []fact.ElementReaches, find func() error) (err error) {
	if record.IsDryRun(ctx) {
		return nil
	}
	defer func() {
		if err != nil {
			b.release(ctx)
		}
	}()
	for _, element := range elements {
		if err := b.take(ctx, element.ElementID); err != nil {
			return err
		}
	}
	if len(b.held) == 0 {
		return nil
	}
	return find()
}

// take reserves an element. It waits while another reservation overlaps, and fences that one's event if it stays too
// long.
func (b *booking) take(ctx context.Context, elementID int64) error {
	var waited string // the token that is waited for
	var since time.Time
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		for {
			standing, err := b.o.Reservations.Insert(ctx, elementID, b.reservations...)
			if err != nil {
				return struct{}{}, backoff.Permanent(err)
			}
			if standing == nil {
				b.held = append(b.held, elementID)
				return struct{}{}, nil
			}
			if standing.Token != waited {
				waited, since = standing.Token, time.Now()
			}
			if !b.dead[waited] && time.Since(since) <= patience {
				return struct{}{}, errStanding
			}
			if err := b.fence(ctx, elementID, *standing); err != nil {
				return struct{}{}, backoff.Permanent(err)
			}
		}
	}, backoff.WithMaxElapsedTime(0), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: firstPause / 2, RandomizationFactor: 1, Multiplier: 2, MaxInterval: longestPause / 2}))
	return err
}

// fence ends a reservation whose booking makes no progress. It makes a late write of the booking fail, and then removes
// the reservation. Those of the booking's other events stay, as their writes may still come.
func (b *booking) fence(ctx context.Context, elementID int64, standing Reservation) error {
	b.dead[standing.Token] = true
	if of := (fenced{standing.Token, standing.EventID}); !b.fenced[of] {
		if err := b.o.Events.Fence(ctx, standing.EventID); err != nil {
			return err
		}
		b.fenced[of] = true
	}
	return b.o.Reservations.Delete(ctx, elementID, standing.Token, standing.EventID)
}

// release removes the reservations, even after the request's deadline. One that can't be removed is fenced by the next
// booking that meets it.
func (b *booking) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	var all errgroup.Group
	all.SetLimit(releasedAtOnce)
	for _, id := range b.held {
		all.Go(func() error {
			_ = b.o.Reservations.Delete(ctx, id, b.token)
			return nil
		})
	}
	_ = all.Wait() // none fails
}
