package series

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Change is an unfinished change of several events of a series. The event named is written first and decides: unless it
// is written nothing changes, and once it is, all the others follow. Before that, the events whose times others of them
// take are held; if one can't be held, the change is dropped.
type Change struct {
	Number    int64           `bson:"number"` // rises from one change of the series to the next
	Since     time.Time       `bson:"since"`
	Actor     audit.Actor     `bson:"actor"` // who makes it
	Key       idempotency.Key `bson:",inline"`
	EventID   int64           `bson:"event_id"`            // the event named
	Committed bool            `bson:"committed,omitempty"` // it is written
	Dropped   bool            `bson:"dropped,omitempty"`   // it is not written, and never will be
	Common    event.Common    `bson:",inline"`
	Overwrite bool            `bson:"overwrite,omitempty"` // events that were changed by themselves too
	Staying   []int64         `bson:"staying,omitempty"`   // elements whose decisions stay where events are re-timed
	Events    []Altered       `bson:"events"`
}

// Altered is an event as a change will make it.
type Altered struct {
	Kept `bson:",inline"`

	Version int64         `bson:"version,omitempty"` // at which alone it is changed; 0: at any
	Held    bool          `bson:"held,omitempty"`    // it is held, as others of them take its place
	Span    wiretime.Span `bson:",inline"`
	Clock   Clock         `bson:",inline"`
}

// Kept is an event that a change left as it was, with the reason.
type Kept struct {
	Place     int    `bson:"place"` // each has one of its own
	EventID   int64  `bson:"id"`
	Reason    Reason `bson:"reason,omitempty"`     // "": it is changed
	OtherID   int64  `bson:"other_id,omitempty"`   // the event that stands in the way; 0: none
	ElementID int64  `bson:"element_id,omitempty"` // what it takes up; 0: none
}

// Outcome is what a change has done.
type Outcome struct {
	Number  int64           `bson:"number"`
	At      time.Time       `bson:"at"`
	Key     idempotency.Key `bson:",inline"`
	EventID int64           `bson:"event_id"`
	Changed []int64         `bson:"changed,omitempty"` // events
	Kept    []Kept          `bson:"kept,omitempty"`
}

// ChangeRequest says how events of a series are to be changed.
type ChangeRequest struct {
	Fields    event.Fields // of the event named
	Scope     Scope
	Overwrite bool // events that were changed by themselves too
	Clashes   event.Clashing
	Match     record.Match
	Key       idempotency.Key
}

// ChangeView is a change for showing.
type ChangeView struct {
	Event    event.View
	SeriesID int64         // 0: the event is in no series, and was changed alone
	Changed  []event.Event // in order of places
	Kept     []KeptEvent
	Clashes  [][]event.Clash // of each of Changed; nil: not asked for
}

// KeptEvent is an event that was left as it was.
type KeptEvent struct {
	Kept

	Event event.Event // the zero Event: it is deleted
}

// Change changes an event as event.Service.Change does, and the others of its series that the scope covers: they get
// the title, category and organiser of the fields, and move by the clock as the event does. Those that p may not change
// individually stay. It returns the errors of event.Service.Change for the event named; a ClashError when, with clashes
// refused, another clashes; Invalid when another would leave the years of events; Conflict while several events of the
// series are being made, changed or deleted. The change is done completely or not at all: when the process dies,
// another completes it. changeEvent in pkg/apidoc/events.yaml says which events stay as they are.
func (s *Service) Change(ctx context.Context, p principal.Principal, id int64, q ChangeRequest) (ChangeView, error) {
	for range tries {
		v, err := s.change(ctx, p, id, q)
		if errors.Is(err, event.ErrOutdated) {
			continue
		}
		if err != nil {
			return ChangeView{}, err
		}
		return s.trimChange(ctx, p, v)
	}
	return ChangeView{}, problem.New(problem.Conflict, "the event is being changed")
}

// tries bounds how often a change is tried when its event or the series changes meanwhile.
const tries = 5

func (s *Service) change(ctx context.Context, p principal.Principal, id int64, q ChangeRequest) (ChangeView, error) {
	if q.Scope == One {
		return s.changeOne(ctx, p, id, q)
	}
	e, err := s.o.Events.Editable(ctx, p, id, record.Match{})
	if err != nil {
		return ChangeView{}, err
	}
	if e.SeriesID == 0 {
		return s.changeOne(ctx, p, id, q)
	}
	found, err := s.o.Store.Get(ctx, e.SeriesID)
	if err != nil {
		return ChangeView{}, record.Missing(err, event.Record, id)
	}
	if v, done, err := s.changedBefore(ctx, p, found, q); done || err != nil {
		return v, err
	}
	if err := q.Match.Check(e.Version); err != nil {
		return ChangeView{}, err
	}
	if err := found.quiet(); err != nil {
		return ChangeView{}, err
	}
	after, common, err := s.o.Events.Redraft(ctx, p, e, q.Fields)
	if err != nil {
		return ChangeView{}, err
	}
	t := &transformation{s: s, q: q, found: found, named: e, after: after, common: common, zone: s.o.Zone}
	if err := t.load(ctx, p); err != nil {
		return ChangeView{}, err
	}
	v, err := t.run(ctx, p)
	return v, s.o.Events.Refusal(ctx, p, err)
}

// changeOne changes one event alone.
func (s *Service) changeOne(ctx context.Context, p principal.Principal, id int64, q ChangeRequest) (ChangeView, error) {
	v, err := s.o.Events.Change(ctx, p, id, q.Fields, q.Match, q.Clashes)
	return ChangeView{Event: v}, err
}

// quiet returns Conflict while several events of the series are being made, changed or deleted.
func (s *Series) quiet() error {
	if s.Ending != nil {
		return problem.New(problem.Conflict, "events of the series are being deleted")
	}
	return s.unchanging()
}

// changedBefore finds the change that a request with the same key has begun, and completes it.
func (s *Service) changedBefore(
	ctx context.Context, p principal.Principal, found Series, q ChangeRequest,
) (v ChangeView, done bool, err error) {
	if !q.Key.Given() {
		return ChangeView{}, false, nil
	}
	if c := found.Changing; c != nil && c.Key.ID == q.Key.ID {
		if found, err = s.finish(ctx, found); err != nil {
			return ChangeView{}, false, err
		}
	}
	i := slices.IndexFunc(found.Changed, func(o Outcome) bool {
		return o.Key.ID == q.Key.ID && time.Since(o.At) < idempotency.Lifetime
	})
	if i < 0 {
		return ChangeView{}, false, nil
	}
	if err := q.Key.Repeats(found.Changed[i].Key); err != nil {
		return ChangeView{}, false, err
	}
	v, err = s.outcome(ctx, p, found, found.Changed[i], q.Clashes)
	return v, true, err
}

// transformation is a change that is being prepared.
type transformation struct {
	s      *Service
	q      ChangeRequest
	found  Series
	named  event.Event // as it is
	after  event.Event // as it will be
	common event.Common
	zone   wiretime.Zone

	events []event.Event // those that the scope covers, in order of places
	exact  bool          // clashes decide which events change: one that has changed since they were found stays
	facts  map[int64]fact.Element
	change Change
}

// load finds the events and their elements, and works out the change of each. Invalid when one would leave the years of
// events.
func (t *transformation) load(ctx context.Context, p principal.Principal) (err error) {
	t.change = Change{
		Since: time.Now().UTC().Truncate(time.Millisecond), Actor: audit.ActorOf(ctx), Key: t.q.Key,
		EventID: t.named.ID, Common: t.common, Overwrite: t.q.Overwrite,
	}
	t.exact = t.q.Clashes.Exact()
	if t.events, err = t.s.inScope(ctx, t.named, t.q.Scope); err != nil {
		return err
	}
	if !slices.ContainsFunc(t.events, func(e event.Event) bool {
		return e.ID == t.named.ID && e.Version == t.named.Version
	}) {
		return event.ErrOutdated
	}
	access, err := t.s.o.Events.Access(ctx, p, t.events)
	if err != nil {
		return err
	}
	usable, err := t.usable(ctx, p)
	if err != nil {
		return err
	}
	for i, e := range t.events {
		a := t.altered(e)
		if !access[i].Edits || !usable && e.CategoryID != *t.common.CategoryID {
			a.Reason = Forbidden
		}
		if e.ID == t.named.ID || t.exact || !access[i].Owns {
			a.Version = e.Version
		}
		t.change.Events = append(t.change.Events, a)
	}
	if err := t.checkYears(); err != nil {
		return err
	}
	return t.ask(ctx, p)
}

// inScope returns the events of a series that a scope covers from one of them, in order of places.
func (s *Service) inScope(ctx context.Context, named event.Event, scope Scope) ([]event.Event, error) {
	all, err := s.o.Store.FindEvents(ctx, named.SeriesID)
	return slices.DeleteFunc(all, func(e event.Event) bool {
		return scope == Following && e.Place < named.Place
	}), err
}

// usable says whether p may put further events into the new category, if there is one. The event named may stay in a
// category that p may not use.
func (t *transformation) usable(ctx context.Context, p principal.Principal) (bool, error) {
	if t.common.CategoryID == nil || *t.common.CategoryID != t.named.CategoryID {
		return true, nil
	}
	_, err := t.s.o.Categories.GetToUse(ctx, p, t.named.CategoryID)
	if problem.Is(err, problem.Forbidden) || problem.Is(err, problem.NotFound) { // of a former school
		return false, nil
	}
	return true, err
}

// altered returns one of the events as it will be.
func (t *transformation) altered(e event.Event) Altered {
	a := Altered{Kept: Kept{Place: e.Place, EventID: e.ID}, Span: e.Span}
	if e.ID != t.named.ID && !t.q.Overwrite && len(e.Own) > 0 {
		a.Reason = Changed
	}
	if !t.common.Times {
		return a
	}
	if e.ID == t.named.ID {
		a.Span, a.Clock = t.after.Span, clockOf(t.zone, t.after.Span)
		return a
	}
	before, was := clockOf(t.zone, e.Span), e.Span
	for _, o := range t.found.Plan {
		if o.EventID == e.ID {
			before, was = o.in(t.zone)
		}
	}
	a.Clock = before.moved(clockOf(t.zone, t.named.Span), clockOf(t.zone, t.after.Span))
	a.Span = a.Clock.from(t.zone, before, was)
	return a
}

// moved is the clock of an event that moves like another: by the same days and hours of the clock, or by the same days
// if the other becomes all-day, and with the other's new length if that changes.
func (c Clock) moved(from, to Clock) Clock {
	if from.AllDay != to.AllDay || from.Lasts != to.Lasts {
		c.Lasts = to.Lasts
	}
	if c.AllDay = to.AllDay; c.AllDay {
		c.Start, from.Start = c.Start.Truncate(day), from.Start.Truncate(day)
	}
	c.Start = c.Start.Add(to.Start.Sub(from.Start))
	return c
}

// checkYears returns Invalid when an event would leave the years of events.
func (t *transformation) checkYears() error {
	for _, a := range t.change.Events {
		days := t.zone.Days(a.Span.Starts, a.Span.Ends)
		if a.Reason == "" && (days.First < wiretime.FirstEventDay || days.Last > wiretime.LastEventDay) {
			return record.Invalid(t.after, problem.Fields{
				"starts_at": {fmt.Sprintf("moves event %d of the series out of the years 1970 to 2199", a.Place)},
			})
		}
	}
	return nil
}

// ask asks for the events' elements when the events are re-timed or clashes are to be found.
func (t *transformation) ask(ctx context.Context, p principal.Principal) (err error) {
	if !t.common.Times && t.q.Clashes == event.AllowClashes {
		return nil
	}
	var changing []event.Event
	for i, e := range t.events {
		if t.change.Events[i].Reason == "" {
			changing = append(changing, e)
		}
	}
	ids := committed(changing)
	if t.facts, err = t.s.o.Events.Facts(ctx, p, ids); err != nil {
		return err
	}
	for _, id := range ids {
		if event.StaysDecided(p, t.facts[id]) {
			t.change.Staying = append(t.change.Staying, id)
		}
	}
	return nil
}

// later returns an event as the change makes it.
func (c *Change) later(e event.Event, a Altered) event.Event {
	e.Commitments = slices.Clone(e.Commitments)
	e.Take(c.Common, a.Span, c.stays)
	return e
}

func (c *Change) stays(element int64) bool {
	_, found := slices.BinarySearch(c.Staying, element)
	return found
}
