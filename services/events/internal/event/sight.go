package event

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// This file, lens.go, rights.go and clashes.go decide who sees which event, and which parts of it, on every route
// (decisions, part 9). A use case that shows one event asks mustSee and then trim; one that lists events gets from show
// the visible ones, each reduced to what the viewer may see.

// RedactedBody is the body of an event of a confidential category, for viewers who may not know what it is.
const RedactedBody = "Busy"

// hiddenEmail stands for the address of an owner or a requester, which pupils and guests are not shown. No mail can
// reach it (RFC 2606).
const hiddenEmail = "hidden@belfry.invalid"

// Sight is a viewer of events, and what it sees of them.
type Sight struct {
	fact.Sight
	days   map[int64][]wiretime.Days // of the viewer and its groups
	public map[int64]bool            // properties
	zone   wiretime.Zone
}

// SightOf returns the sight of p, with its surroundings. Elements is asked only where p does not see everything.
func (s *Service) SightOf(ctx context.Context, p principal.Principal) (Sight, error) {
	return s.surround(ctx, s.Reader(p))
}

// sightIn is SightOf within one use case, which asks once.
func (s *Service) sightIn(ctx context.Context, p principal.Principal, l *lookup) (Sight, error) {
	if l.sight == nil {
		v, err := s.SightOf(ctx, p)
		if err != nil {
			return Sight{}, err
		}
		l.sight = &v
	}
	return *l.sight, nil
}

// surroundings is what Surround asks of the elements service.
type surroundings interface {
	Surroundings(ctx context.Context, q fact.SurroundingsQuestion) (fact.Surroundings, error)
}

// Surround returns the sight of a viewer, with the surroundings that elements is asked for unless it sees everything.
func Surround(ctx context.Context, elements surroundings, zone wiretime.Zone, who fact.Sight) (Sight, error) {
	if who.All() {
		return Sight{Sight: who}, nil
	}
	var err error
	who.Surroundings, err = elements.Surroundings(ctx, fact.SurroundingsQuestion{
		ElementID: who.ElementID, StandsFor: who.StandsFor, Scope: who.Scope, Days: AnyDays,
	})
	return surrounded(zone, who), err
}

func (s *Service) surround(ctx context.Context, who fact.Sight) (Sight, error) {
	return Surround(ctx, s.o.Elements, s.o.Zone, who)
}

// surrounded returns the sight of a viewer whose surroundings are known.
func surrounded(zone wiretime.Zone, who fact.Sight) Sight {
	v := Sight{Sight: who, days: daysOf(who.Reaches), public: map[int64]bool{}, zone: zone}
	for _, id := range who.Public {
		v.public[id] = true
	}
	return v
}

// Sees says whether an event of that category is seen.
func (v Sight) Sees(e *Event, of category.Category) bool {
	switch {
	case v.All(), v.owns(e), of.Schoolwide && of.School == 0:
		return true
	}
	touched := e.Days(v.zone)
	if of.Schoolwide && v.reaches(of.School, touched) { // as if it committed the school's group
		return true
	}
	return slices.ContainsFunc(e.Commitments, func(c Commitment) bool {
		return c.Status.firm() && v.public[c.ElementID] || v.reaches(c.ElementID, touched)
	})
}

func (v Sight) owns(e *Event) bool { return e.OwnerID != 0 && e.OwnerID == v.UserID }

// reaches says whether an element is the viewer, or a group that it is in on one of the days.
func (v Sight) reaches(elementID int64, days wiretime.Days) bool {
	return slices.ContainsFunc(v.days[elementID], days.Overlaps)
}

// shows says whether a commitment of an event on these days is shown to a viewer who sees the event. Every commitment
// to an element that the viewer decides on is.
func (v Sight) shows(c Commitment, of fact.Element, touched wiretime.Days) bool {
	switch {
	case v.All(), v.decides(of):
		return true
	case v.Scope == principal.SeesOwn:
		return !isPersonOrGroup(of) || v.SeesStaff && of.EntityType == form.Staff || v.reaches(c.ElementID, touched)
	}
	return c.Status.firm() &&
		(of.EntityType == form.Staff || of.EntityType == form.Group || of.EntityType == form.Location)
}

// showsRequest says the same of a request.
func (v Sight) showsRequest(r Request, of fact.Element, touched wiretime.Days) bool {
	return v.All() || v.decides(of) || v.Scope == principal.SeesOwn && v.reaches(r.ElementID, touched)
}

// Names says which elements of a notice's entry may be named to the viewer, who sees the event: the one committed, and
// the group that it was allocated from.
func (v Sight) Names(n Notice, e Entry, elements map[int64]fact.Element) (element, group bool) {
	touched := v.zone.Days(n.Event.Starts, n.Event.Ends)
	of, from := elements[e.ElementID], elements[e.GroupID]
	return v.mayName(of) || v.shows(Commitment{ElementID: of.ID, Status: e.Status}, of, touched),
		v.mayName(from) || v.showsRequest(Request{ElementID: from.ID}, from, touched)
}

// showsElement says whether the viewer, who sees an event, is shown that an element is on it.
func (v Sight) showsElement(e *Event, of fact.Element) bool {
	if v.All() {
		return true
	}
	touched := e.Days(v.zone)
	return slices.ContainsFunc(e.Commitments, func(c Commitment) bool {
		return c.ElementID == of.ID && v.shows(c, of, touched)
	}) || slices.ContainsFunc(e.Requests, func(r Request) bool {
		return r.ElementID == of.ID && v.showsRequest(r, of, touched)
	})
}

// entries says which entries of an event exist for a user who changes or removes one: those that the user is shown, has
// added or decides on. Rights on the event do not matter. The elements concerned must be in the lookup.
type entries struct {
	Sight
	*lookup
}

func (s *Service) entriesFor(ctx context.Context, p principal.Principal) (entries, error) {
	v, err := s.SightOf(ctx, p)
	return entries{v, newLookupBy(p)}, err
}

func (t entries) commitment(e *Event, c Commitment) bool {
	of := t.elements[c.ElementID]
	r := e.Request(c.RequestID) // who decides on its group may take back what was allocated
	return t.added(c.AddedBy) || t.shows(c, of, e.Days(t.zone)) || of.DecidedBy(*t.by) ||
		r != nil && t.elements[r.ElementID].DecidedBy(*t.by)
}

func (t entries) request(e *Event, r Request) bool {
	of := t.elements[r.ElementID]
	return t.added(r.AddedBy) || t.showsRequest(r, of, e.Days(t.zone)) || of.DecidedBy(*t.by)
}

// element says whether an entry for an element exists for the user.
func (t entries) element(e *Event, id int64) bool {
	return slices.ContainsFunc(e.Commitments, func(c Commitment) bool {
		return c.ElementID == id && t.commitment(e, c)
	}) || slices.ContainsFunc(e.Requests, func(r Request) bool { return r.ElementID == id && t.request(e, r) })
}

func (t entries) added(by int64) bool { return by != 0 && by == t.UserID }

// showsOrganiser says whether the viewer, who sees an event, is shown that an element is its organiser.
func (v Sight) showsOrganiser(e *Event, id int64) bool {
	return id != 0 && id == e.OrganiserID && (v.All() || v.SeesStaff || v.Is(id))
}

// decides says whether the viewer decides on an element, which was asked for by newLookupFor.
func (v Sight) decides(of fact.Element) bool {
	return slices.Contains(of.Administrators, v.UserID) || of.Control.Decides
}

func isPersonOrGroup(of fact.Element) bool {
	return of.EntityType == form.Staff || of.EntityType == form.Pupil || of.EntityType == form.Group
}

// seesToDecide says whether the viewer sees an event because it decides on one of its entries.
func (v Sight) seesToDecide(e *Event, elements map[int64]fact.Element) bool {
	return slices.ContainsFunc(e.Commitments, func(c Commitment) bool {
		return c.Status.decidable() && v.decides(elements[c.ElementID])
	}) || slices.ContainsFunc(e.Requests, func(r Request) bool { return v.decides(elements[r.ElementID]) })
}

// trim removes the parts of the event that the viewer does not see.
func (s *Service) trim(ctx context.Context, v Sight, view View) (View, error) {
	l, err := s.lensOf(ctx, v, slices.Values([]*Event{&view.Event}))
	if err != nil {
		return View{}, err
	}
	l.redact(&view.Event)
	return v.trim(view), nil
}

func (v Sight) trim(view View) View {
	if v.All() {
		return view
	}
	touched := view.Days(v.zone)
	view.allocated = map[int64]int{}
	for _, r := range view.Requests {
		view.allocated[r.ID] = view.Event.Allocated(r.ID)
	}
	view.Commitments = filter(view.Commitments, func(c Commitment) bool {
		return v.shows(c, view.Elements[c.ElementID], touched)
	})
	view.Requests = filter(view.Requests, func(r Request) bool {
		return v.showsRequest(r, view.Elements[r.ElementID], touched)
	})
	if !v.showsOrganiser(&view.Event, view.OrganiserID) {
		view.OrganiserID = 0
	}
	if view.Owner != nil && !v.owns(&view.Event) {
		view.Owner = v.owner(*view.Owner)
	}
	return view
}

// owner is the owner of an event, other than the viewer, as it is shown: staff by name, without the address.
func (v Sight) owner(u fact.User) *fact.User {
	if !v.SeesStaff || u.Kind != principal.Staff {
		return nil
	}
	u.Email = hiddenEmail
	return &u
}

// Named are the directly committed elements, in order of commitment id, that may be named to the viewer of another
// service, as far as that does not depend on their type. Nil sees everything.
func Named(e *Event, who *fact.Sight) []int64 {
	if who != nil && (Sight{Sight: *who}).firmAlone() {
		return e.firm()
	}
	return e.Involved()
}

// knows says whether the viewer may know what an event of a confidential category is: an admin, its owner, its
// organiser, those it commits directly, and users who stand for one of these.
func (v Sight) knows(e *Event) bool {
	return v.Admin || v.owns(e) || v.Is(e.OrganiserID) ||
		slices.ContainsFunc(e.Commitments, func(c Commitment) bool { return v.Is(c.ElementID) })
}

// narrow makes a store find only events that the viewer sees and, where finding an event reveals what it is, only those
// that the viewer may know. It reads the categories if that depends on them.
func (s *Service) narrow(ctx context.Context, v Sight, w *Wanted) error {
	tells := w.tellsWhat() && !v.Admin
	if v.All() && !tells {
		return nil
	}
	categories, err := s.o.Categories.All(ctx)
	if err != nil {
		return err
	}
	if !v.All() {
		w.Seen = v.seen(categories)
	}
	var untold []int64
	for _, of := range categories {
		if of.Confidential || of.ID == w.CategoryID && of.Privileged && !v.Privileged {
			untold = append(untold, of.ID)
		}
	}
	if tells && len(untold) > 0 {
		w.Told = &Told{Except: untold, OwnerID: v.UserID, Persons: v.Persons()}
	}
	return nil
}

// seen is what the viewer, who does not see everything, sees.
func (v Sight) seen(categories []category.Category) *Seen {
	seen := &Seen{Reaches: v.Reaches, Public: v.Public, OwnerID: v.UserID, FirmAlone: v.firmAlone()}
	for _, of := range categories {
		days := []wiretime.Days{AnyDays}
		if of.School != 0 {
			days = v.days[of.School]
		}
		if of.Schoolwide && len(days) > 0 {
			seen.Categories = append(seen.Categories, SeenCategory{of.ID, days})
		}
	}
	return seen
}

// counts says whether a search by status counts a commitment of an event on these days: for a viewer who does not see
// everything, only commitments that are shown whatever their elements' types.
func (v Sight) counts(c Commitment, days wiretime.Days) bool {
	return v.All() || v.reaches(c.ElementID, days) || v.public[c.ElementID] && c.Status.firm()
}

// firmAlone says whether only firm commitments are shown.
func (v Sight) firmAlone() bool { return v.Scope == principal.SeesPublic }

// shown is what p sees of an event that it has just written, with the failures and the clashes of what was added.
func (s *Service) shown(
	ctx context.Context, p principal.Principal, l *lookup, e Event, failures []Failure, clashes []Clash,
) (View, error) {
	view, err := s.view(e, l)
	if err != nil {
		return View{}, err
	}
	v, err := s.sightIn(ctx, p, l)
	if err != nil {
		return View{}, err
	}
	seen, err := s.showClashes(ctx, v, [][]Clash{clashes})
	if err != nil {
		return View{}, err
	}
	view.Failures, view.Clashes = failures, firstClashes(seen)[0]
	return s.trim(ctx, v, view)
}

// Reader is the sight of p, without its surroundings.
func (s *Service) Reader(p principal.Principal) fact.Sight { return fact.SightOf(s.o.Sights, p) }

// Findable returns those of the elements, 0 for none, that are named to p where they clash.
func (s *Service) Findable(ctx context.Context, p principal.Principal, ids []int64) (map[int64]bool, error) {
	v, err := s.SightOf(ctx, p)
	if err != nil {
		return nil, err
	}
	l := newLookup()
	err = s.fetch(ctx, l, filter(ids, func(id int64) bool { return id != 0 }))
	found := map[int64]bool{}
	for id, of := range l.elements {
		found[id] = v.mayName(of)
	}
	return found, err
}

// Hidden returns those of the elements that are persons whose events are hidden from p, though p sees everything in
// lists. Elements is asked only where there can be such persons, and records that p reads the others.
func (s *Service) Hidden(ctx context.Context, p principal.Principal, ids []int64) (map[int64]bool, error) {
	who := s.Reader(p)
	if !who.InSchool {
		return nil, nil
	}
	return s.read(ctx, who, ids)
}

// read records that a viewer reads events of the elements, and returns those of them that are persons whose events are
// hidden from it.
func (s *Service) read(ctx context.Context, who fact.Sight, ids []int64) (map[int64]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	asked := fact.ReachesQuestion{
		IDs:  sequence.Distinct(slices.Clone(ids)),
		Days: wiretime.Days{First: wiretime.FirstEventDay, Last: wiretime.FirstEventDay},
	}
	reached, err := s.o.Elements.Reaches(ctx, asked.By(who))
	hidden := map[int64]bool{}
	for _, r := range reached {
		hidden[r.ElementID] = r.Hidden
	}
	return hidden, err
}

// hide treats submitted elements as missing that p neither finds nor is shown on the event.
func (s *Service) hide(ctx context.Context, p principal.Principal, l *lookup, e *Event, submitted []int64) error {
	v, err := s.sightIn(ctx, p, l)
	if err != nil || v.All() {
		return err
	}
	for _, id := range submitted {
		if of, exists := l.elements[id]; exists && !v.finds(of) && !v.showsElement(e, of) && !v.showsOrganiser(e, id) {
			l.hidden[id] = true
		}
	}
	return nil
}

// within returns the reaches of an element; of groups, only those that the viewer is in.
func (v Sight) within(e fact.ElementReaches) []fact.Reach {
	if v.Scope != principal.SeesOwn {
		return e.Reaches
	}
	return filter(e.Reaches, func(r fact.Reach) bool {
		return r.ElementID == e.ElementID || v.days[r.ElementID] != nil
	})
}

// finds says whether a search would find an element for the viewer, on any day.
func (v Sight) finds(of fact.Element) bool {
	if v.public[of.ID] {
		return true
	}
	return v.Scope == principal.SeesOwn && (!isPersonOrGroup(of) && of.EntityType != form.Property ||
		v.days[of.ID] != nil)
}
