package event

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Include says what a client asked an answer about events to include.
type Include struct {
	Staff, Locations bool // that are committed themselves
	Category, Busy   bool
	Decisions        bool // who asked for commitments and requests, and who decided, when and why
	People           bool // owner and organiser, which GET of one event shows always
}

// Included is what an answer includes for its viewer.
type Included struct {
	include    Include
	who        fact.Sight
	categories map[int64]category.Category
	users      map[int64]fact.User
	deciders   map[int64][]int64      // the users who decide on what waits, by element; nil: not asked for
	elements   map[int64]fact.Element // those committed
	lens       lens
	one        bool // of one event, which the viewer may see, if only to decide on an entry
}

// Decided says how a commitment or a request came to its status. A missing user is nil.
type Decided struct {
	AskedBy, DecidedBy *form.User
	At                 time.Time // zero: it was not decided
	Reason             string
	Deciders           []form.User // who will decide, as far as the viewer may know them and they can log in
}

// everything is the sight of another service that asks on behalf of no viewer.
var everything = fact.Sight{Scope: principal.SeesAll, Admin: true, Privileged: true}

// Included returns what include asks for of events that a viewer sees, as they are shown to it. Nil sees everything.
func (s *Service) Included(
	ctx context.Context, who *fact.Sight, include Include, events iter.Seq[*Event],
) (Included, error) {
	if who == nil {
		who = &everything
	}
	return s.fill(ctx, Included{include: include, who: *who}, events)
}

// IncludedIn is Included for an event that is shown by itself, whose decisions also tell who will decide.
func (s *Service) IncludedIn(ctx context.Context, who fact.Sight, include Include, v *View) (b Included, err error) {
	b = Included{include: include, who: who, one: true}
	if include.Decisions {
		if b.deciders, err = Deciders(ctx, s.o.Elements, s.o.Users, v.waiting()); err != nil {
			return b, err
		}
	}
	return s.fill(ctx, b, slices.Values([]*Event{&v.Event}))
}

func (s *Service) fill(ctx context.Context, b Included, events iter.Seq[*Event]) (_ Included, err error) {
	if b.include.Category || b.include.Busy {
		var ids []int64
		for e := range events {
			ids = append(ids, e.CategoryID)
		}
		if b.categories, err = s.categoriesByID(ctx, ids); err != nil {
			return b, err
		}
	}
	if b.include.Decisions {
		if b.users, err = s.usersOf(ctx, b.deciders, events); err != nil {
			return b, err
		}
	}
	if b.include.Staff || b.include.Locations {
		err = s.includeElements(ctx, &b, events)
	}
	return b, err
}

// includeElements finds the elements for the staff and locations of events.
func (s *Service) includeElements(ctx context.Context, b *Included, events iter.Seq[*Event]) error {
	l := newLookupFor(b.who)
	var ids []int64
	for e := range events {
		ids = append(ids, e.Involved()...)
	}
	if err := s.fetch(ctx, l, sequence.Distinct(ids)); err != nil {
		return err
	}
	b.elements = l.elements
	v, err := s.surround(ctx, b.who)
	if err == nil {
		b.lens, err = s.lensOf(ctx, v, events)
	}
	return err
}

// Staff returns the initials of the staff who are committed to an event themselves, in order of commitment id and
// separated by commas; nil when they were not asked for.
func (b Included) Staff(e *Event) *string { return b.texts(e, b.include.Staff, form.Staff) }

// Locations returns the short names of the locations in the same way.
func (b Included) Locations(e *Event) *string { return b.texts(e, b.include.Locations, form.Location) }

// texts are those of the elements of a type whose commitments the viewer is shown. Of an event in a list that the
// viewer does not see, these are the ones that it decides on. An event shown by itself may lack the commitment by which
// the viewer sees it.
func (b Included) texts(e *Event, asked bool, entityType string) *string {
	if !asked {
		return nil
	}
	seen, touched := b.one || b.lens.sees(e), e.Days(b.lens.zone)
	var texts []string
	for _, c := range slices.SortedFunc(slices.Values(e.Commitments), byID) {
		of := b.elements[c.ElementID]
		if of.EntityType == entityType && (seen && b.lens.shows(c, of, touched) || b.lens.decides(of)) {
			texts = append(texts, of.Short)
		}
	}
	return new(strings.Join(texts, ","))
}

// usersOf are the users who asked for the events' entries, who decided on them and who will, by id.
func (s *Service) usersOf(
	ctx context.Context, deciders map[int64][]int64, events iter.Seq[*Event],
) (map[int64]fact.User, error) {
	ids := slices.Concat(slices.Collect(maps.Values(deciders))...)
	for e := range events {
		for _, c := range e.Commitments {
			ids = append(ids, c.AddedBy, c.DecidedBy)
		}
		for _, r := range e.Requests {
			ids = append(ids, r.AddedBy)
		}
	}
	ids = filter(sequence.Distinct(ids), func(id int64) bool { return id != 0 })
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.o.Users.Users(ctx, fact.UsersQuestion{IDs: ids})
	return sequence.By(found, func(u fact.User) int64 { return u.ID }), err
}

// Category returns the category of an event; nil when it was not asked for, would reveal a confidential event, or is
// privileged and the viewer is not.
func (b Included) Category(e *Event) *category.Category {
	of, known := b.categories[e.CategoryID]
	if !known || !b.include.Category || e.Redacted || of.Privileged && !b.who.Privileged {
		return nil
	}
	return &of
}

// Busy says whether the category of an event is busy, which free and busy times reveal too; nil when it was not asked
// for.
func (b Included) Busy(e *Event) *bool {
	if !b.include.Busy {
		return nil
	}
	return new(b.categories[e.CategoryID].Busy)
}

// Decision returns the decision on a commitment; nil when it was not asked for, or is hidden.
func (b Included) Decision(e *Event, c Commitment, of fact.Element) *Decided {
	if !b.shows(e, c.AddedBy, of) {
		return nil
	}
	asker := b.asker(c.AddedBy, c.Status.decidable() && b.decides(of))
	d := &Decided{AskedBy: asker, DecidedBy: b.user(c.DecidedBy), At: c.DecidedAt, Reason: c.Reason}
	if c.Status.waits() {
		d.Deciders = b.decidersOf(c.ElementID)
	}
	return d
}

// Asked is Decision for a request, which only says who asked: items are allocated to it as commitments.
func (b Included) Asked(e *Event, r Request, of fact.Element) *Decided {
	if !b.shows(e, r.AddedBy, of) {
		return nil
	}
	return &Decided{AskedBy: b.asker(r.AddedBy, b.decides(of)), Deciders: b.decidersOf(r.ElementID)}
}

// decidersOf are the users who will decide on an element, in order of id.
func (b Included) decidersOf(element int64) (users []form.User) {
	for _, id := range slices.Sorted(slices.Values(b.deciders[element])) {
		if u := b.user(id); u != nil && b.users[id].MayLogIn() {
			users = append(users, *u)
		}
	}
	return users
}

// shows says whether the viewer is shown the decision on an entry: viewers who see everything, unless the event is
// confidential to them, the event's owner, the user who asked, and those who decide.
func (b Included) shows(e *Event, askedBy int64, of fact.Element) bool {
	concerned := slices.Contains([]int64{e.OwnerID, askedBy}, b.who.UserID) || b.decides(of)
	return b.include.Decisions && (concerned || b.who.All() && !e.Redacted)
}

func (b Included) decides(of fact.Element) bool { return Sight{Sight: b.who}.decides(of) }

// asker returns the user who asked for an entry if the viewer may know. Pupils and guests may if they decide on the
// entry (decisions, part 9), and are then shown only the name, as for owners.
func (b Included) asker(id int64, decides bool) *form.User {
	if shown := b.user(id); shown != nil || !decides {
		return shown
	}
	u, known := b.users[id]
	if !known {
		return nil
	}
	u.Email = hiddenEmail
	return &u.User
}

// user returns a user if the viewer may know who it is: pupils and guests are shown only themselves.
func (b Included) user(id int64) *form.User {
	u, known := b.users[id]
	if !known || !b.who.All() && id != b.who.UserID {
		return nil
	}
	return &u.User
}
