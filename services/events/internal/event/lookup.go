package event

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/fact"
)

// lookup is what the neighbours have answered so far in one use case.
type lookup struct {
	elements map[int64]fact.Element
	asked    map[int64]bool // the elements asked for, there or not
	users    map[int64]fact.User
}

func newLookup() *lookup {
	return &lookup{map[int64]fact.Element{}, map[int64]bool{}, map[int64]fact.User{}}
}

// notAsked returns those of the elements that were not asked for, each once.
func (l *lookup) notAsked(elements []int64) []int64 {
	var missing []int64
	seen := map[int64]bool{}
	for _, id := range elements {
		if !l.asked[id] && !seen[id] {
			seen[id] = true
			missing = append(missing, id)
		}
	}
	return missing
}

// fetch asks for those of the elements that were not asked for, and for the users, both at the same time. A neighbour
// from whom nothing is wanted is not asked.
func (s *Service) fetch(ctx context.Context, l *lookup, elements []int64, users ...int64) error {
	var facts []fact.Element
	var people []fact.User
	missing := l.notAsked(elements)
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
		l.asked[id] = true
	}
	for _, f := range facts {
		l.elements[f.ID] = f
	}
	for _, u := range people {
		l.users[u.ID] = u
	}
	return nil
}

// change is Store.Change for decisions that need the facts of all elements that the event names, those among them that
// another writer added meanwhile.
func (s *Service) change(ctx context.Context, id int64, l *lookup, decide func(*Event) error) (Event, error) {
	return s.store.Change(ctx, id, func(e *Event) error {
		if err := s.fetch(ctx, l, e.elementIDs()); err != nil {
			return err
		}
		return decide(e)
	})
}

// View is an event with what showing it takes.
type View struct {
	Event
	Elements map[int64]fact.Element // by id: all that the event names
	Owner    *fact.User             // nil: none, or not asked for
	Clashes  []Clash                // of what was added; nil: not asked for

	allocated map[int64]int // by request, of an event of which something is left out; nil: nothing is
}

// Allocated counts the commitments that were allocated to a request, those that are left out too.
func (v *View) Allocated(requestID int64) int {
	if v.allocated != nil {
		return v.allocated[requestID]
	}
	return v.Event.Allocated(requestID)
}

// view returns the view of an event all of whose elements were asked for. An element that its owner does not know
// is a fault: elements are never removed.
func (s *Service) view(e Event, l *lookup) (View, error) {
	for _, id := range e.elementIDs() {
		if _, exists := l.elements[id]; !exists {
			return View{}, fmt.Errorf("event %d names element %d, which elements does not know", e.ID, id)
		}
	}
	v := View{Event: e, Elements: l.elements}
	if owner, exists := l.users[e.OwnerID]; exists {
		v.Owner = &owner
	}
	return v, nil
}
