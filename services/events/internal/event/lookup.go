package event

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// lookup is what the neighbours have answered so far in one use case.
type lookup struct {
	elements map[int64]fact.Element
	asked    map[int64]bool // the elements asked for, there or not
	hidden   map[int64]bool // of elements, those that do not exist for what the user submits
	users    map[int64]fact.User
	by       *principal.Principal // the user whose controls are asked for; nil: none are
	several  bool                 // there are several schools
	sight    *Sight               // of the user; nil: not asked for yet
	category *category.Category   // of the event from now on; nil: none was given, or it does not exist
}

func newLookup() *lookup {
	return &lookup{
		elements: map[int64]fact.Element{}, asked: map[int64]bool{}, hidden: map[int64]bool{},
		users: map[int64]fact.User{},
	}
}

// newLookupBy returns a lookup that also asks which elements are controlled for p, and which p decides on.
func newLookupBy(p principal.Principal) *lookup {
	l := newLookup()
	l.by = &p
	return l
}

// newLookupFor returns a lookup for what a viewer is shown. For a viewer who administers schools it also asks which
// elements the viewer decides on.
func newLookupFor(who fact.Sight) *lookup {
	if len(who.AdminOf) == 0 {
		return newLookup()
	}
	return newLookupBy(principal.Principal{
		UserID: who.UserID, ElementID: who.ElementID, AdminOf: who.AdminOf,
		Permissions: principal.Permissions{Admin: who.Admin},
	})
}

// given returns the elements that the user may submit, by id.
func (l *lookup) given() map[int64]fact.Element {
	given := maps.Clone(l.elements)
	maps.DeleteFunc(given, func(id int64, _ fact.Element) bool { return l.hidden[id] })
	return given
}

// notAsked returns those of the elements that were not asked for, each once.
func (l *lookup) notAsked(elements []int64) []int64 {
	return slices.DeleteFunc(sequence.Distinct(slices.Clone(elements)), func(id int64) bool { return l.asked[id] })
}

// fetch asks for the elements that were not asked for yet and for the users, at the same time, and skips a neighbour of
// which it needs nothing. Where there are several schools, it then asks for their effect on the user of the lookup.
func (s *Service) fetch(ctx context.Context, l *lookup, elements []int64, users ...int64) error {
	var facts []fact.Element
	var people []fact.User
	missing := l.notAsked(elements)
	if len(missing) > 0 && l.by != nil {
		missing = append(missing, l.notAsked([]int64{fact.District})...)
	}
	g, gctx := errgroup.WithContext(ctx)
	if len(missing) > 0 {
		g.Go(func() (err error) {
			facts, err = s.o.Elements.Facts(gctx, fact.ElementsQuestion{IDs: missing})
			return err
		})
	}
	if len(users) > 0 && users[0] != 0 {
		g.Go(func() (err error) {
			people, err = s.o.Users.Users(gctx, fact.UsersQuestion{IDs: users})
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
		if f.ID == fact.District {
			l.several = f.Several
			continue
		}
		l.elements[f.ID] = f
	}
	for _, u := range people {
		l.users[u.ID] = u
	}
	return s.control(ctx, l, missing)
}

// control asks for the effect of the elements' schools on the user of the lookup.
func (s *Service) control(ctx context.Context, l *lookup, elements []int64) error {
	if l.by == nil || !l.several || l.by.Permissions.Admin && len(l.by.AdminOf) == 0 {
		return nil
	}
	controls, err := s.o.Elements.Control(ctx, fact.ControlQuestion{
		IDs: filter(elements, func(id int64) bool { return id != fact.District }), ElementID: l.by.ElementID,
		Admin: l.by.Permissions.Admin, AdminOf: l.by.AdminOf,
	})
	for _, c := range controls {
		if of, exists := l.elements[c.ElementID]; exists {
			of.Control = c
			l.elements[c.ElementID] = of
		}
	}
	return err
}

// change is Store.Change for decisions that need the facts of all elements that the event names, including those that
// another writer has just added.
func (s *Service) change(ctx context.Context, id int64, l *lookup, change func(*Event) error) (Event, error) {
	return s.o.Store.Change(ctx, id, func(e *Event) error {
		if err := s.fetch(ctx, l, e.elementIDs()); err != nil {
			return err
		}
		return change(e)
	})
}

// View is an event with everything needed to show it.
type View struct {
	Event
	Elements map[int64]fact.Element // by id: all that the event names
	Owner    *fact.User             // nil: none, or not asked for
	Failures []Failure              // of what was submitted
	Clashes  []Clash                // of what was added; nil: not asked for

	allocated map[int64]int // by request, of an event of which something is left out; nil: nothing is
}

// Allocated counts the commitments that were allocated to a request, including those that are left out.
func (v *View) Allocated(requestID int64) int {
	if v.allocated != nil {
		return v.allocated[requestID]
	}
	return v.Event.Allocated(requestID)
}

// view returns the view of an event whose elements have all been asked for. An element that the elements service does
// not know is an error: elements are never removed.
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
