package series

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// run makes a prepared change, or tries it without writing.
func (t *transformation) run(ctx context.Context, p principal.Principal) (ChangeView, error) {
	several, err := t.taking(ctx, p)
	if err != nil {
		return ChangeView{}, err
	}
	if record.IsDryRun(ctx) {
		return t.trial(ctx, p, several)
	}
	var done Series
	write := func(clashes [][]event.Clash) (err error) {
		if err = t.decide(several, clashes); err == nil {
			t.markHeld()
			done, err = t.s.start(ctx, t)
		}
		return err
	}
	if t.exact {
		err = t.s.o.Clashes.BookEach(ctx, several, write)
	} else {
		err = write(nil)
	}
	if err != nil {
		return ChangeView{}, err
	}
	i := slices.IndexFunc(done.Changed, func(o Outcome) bool { return o.Number == t.change.Number })
	if i < 0 { // the event named was changed or deleted meanwhile
		return ChangeView{}, event.ErrOutdated
	}
	return t.s.outcome(ctx, p, done, done.Changed[i], t.q.Clashes)
}

// taking are the events, as they will be, whose clashes are found: those that will book their elements at a new time
// or, when clashes are reported, all.
func (t *transformation) taking(ctx context.Context, p principal.Principal) (event.Several, error) {
	several := event.Several{Moving: t.exact, Reader: t.s.reader(p, t.q.Clashes)}
	if t.q.Clashes == event.AllowClashes {
		return several, nil
	}
	var before, later []event.Event
	for i, e := range t.events {
		if a := t.change.Events[i]; a.Reason == "" {
			before, later = append(before, e), append(later, t.change.later(e, a))
		}
	}
	var err error
	several.Events, err = t.s.o.Clashes.Moving(ctx, before, later, t.q.Clashes)
	several.Elements = elementsOf(several.Events, t.facts)
	return several, err
}

// committed are the ids of the elements that the events commit, in rising order.
func committed(events []event.Event) (ids []int64) {
	for _, e := range events {
		for _, c := range e.Commitments {
			ids = append(ids, c.ElementID)
		}
	}
	return sequence.Distinct(ids)
}

// elementsOf are the elements that the events commit, in order of id.
func elementsOf(events []event.Event, facts map[int64]fact.Element) []fact.Element {
	var elements []fact.Element
	for _, id := range committed(events) {
		if element, exists := facts[id]; exists {
			elements = append(elements, element)
		}
	}
	return elements
}

// decide leaves events that clash out of the change. A ClashError when clashes are refused and there are some, or when
// the event named clashes.
func (t *transformation) decide(several event.Several, clashes [][]event.Clash) error {
	var taken []event.Taken
	for i, found := range clashes {
		if len(found) == 0 {
			continue
		}
		e := several.Events[i]
		if t.q.Clashes == event.RefuseClashes || e.ID == t.named.ID {
			taken = append(taken, event.Taken{Place: e.Place, Span: e.Span, Clashes: found})
			continue
		}
		at := slices.IndexFunc(t.change.Events, func(a Altered) bool { return a.EventID == e.ID })
		a := &t.change.Events[at]
		a.Reason, a.OtherID, a.ElementID = Clashes, found[0].Event.ID, found[0].Element.ID
	}
	if len(taken) > 0 {
		return event.NewClashError(taken...)
	}
	return nil
}

// markHeld decides which events are held: those that would clash with others if they did not move. It compares only
// times, so it may hold a few more.
func (t *transformation) markHeld() {
	if !t.exact || !t.common.Times {
		return
	}
	events := t.change.Events
	for i := range events {
		for _, other := range events {
			standing := t.events[i].Span
			if other.Reason == "" && other.EventID != events[i].EventID &&
				!other.Span.Starts.After(standing.Ends) && !standing.Starts.After(other.Span.Ends) {
				events[i].Held = events[i].Reason == ""
			}
		}
	}
}

// trial answers as the change would, and writes nothing.
func (t *transformation) trial(ctx context.Context, p principal.Principal, several event.Several) (ChangeView, error) {
	var clashes [][]event.Clash
	var err error
	if t.q.Clashes != event.AllowClashes {
		if clashes, err = t.s.o.Clashes.Each(ctx, several); err != nil {
			return ChangeView{}, err
		}
	}
	if t.exact {
		if err := t.decide(several, clashes); err != nil {
			return ChangeView{}, err
		}
	}
	v := ChangeView{SeriesID: t.found.ID}
	for i, a := range t.change.Events {
		if a.Reason != "" {
			v.Kept = append(v.Kept, KeptEvent{a.Kept, t.events[i]})
			continue
		}
		v.Changed = append(v.Changed, t.change.later(t.events[i], a))
	}
	if t.q.Clashes == event.ReportClashes {
		v.Clashes = byEvent(v.Changed, several.Events, clashes)
	}
	v.Event, err = t.s.o.Events.Show(ctx, p, t.change.later(t.named, t.change.named()))
	return v, err
}

// outcome shows what a change has done, with the events as they are now.
func (s *Service) outcome(
	ctx context.Context, p principal.Principal, of Series, o Outcome, clashes event.Clashing,
) (ChangeView, error) {
	all, err := s.o.Store.FindEvents(ctx, of.ID)
	if err != nil {
		return ChangeView{}, err
	}
	byID := sequence.By(all, func(e event.Event) int64 { return e.ID })
	named, exists := byID[o.EventID]
	if !exists {
		return ChangeView{}, problem.Missing(event.Record, o.EventID)
	}
	v := ChangeView{SeriesID: of.ID}
	for _, id := range o.Changed {
		if e, exists := byID[id]; exists {
			v.Changed = append(v.Changed, e)
		}
	}
	for _, k := range o.Kept {
		v.Kept = append(v.Kept, KeptEvent{k, byID[k.EventID]})
	}
	if clashes == event.ReportClashes {
		if v.Clashes, err = s.clashesOf(ctx, p, v.Changed); err != nil {
			return ChangeView{}, err
		}
	}
	v.Event, err = s.o.Events.Show(ctx, p, named)
	return v, err
}

// clashesOf returns the clashes of each of the events with events other than these, as p may see them.
func (s *Service) clashesOf(ctx context.Context, p principal.Principal, events []event.Event) ([][]event.Clash, error) {
	several := event.Several{Reader: s.reader(p, event.ReportClashes)}
	var err error
	if several.Events, err = s.o.Clashes.Moving(ctx, events, events, event.ReportClashes); err != nil {
		return nil, err
	}
	facts, err := s.o.Events.Facts(ctx, p, committed(several.Events))
	if err != nil {
		return nil, err
	}
	several.Elements = elementsOf(several.Events, facts)
	found, err := s.o.Clashes.Each(ctx, several)
	return byEvent(events, several.Events, found), err
}

// byEvent returns the clashes of each of the events; those of some of them are given.
func byEvent(events, some []event.Event, of [][]event.Clash) [][]event.Clash {
	clashes := make([][]event.Clash, len(events))
	for i, found := range of {
		at := slices.IndexFunc(events, func(e event.Event) bool { return e.ID == some[i].ID })
		clashes[at] = found
	}
	return clashes
}

// trimChange removes the events that p does not see: those of the series, and those that they clash with.
func (s *Service) trimChange(ctx context.Context, p principal.Principal, v ChangeView) (_ ChangeView, err error) {
	if v, err = s.trimChanged(ctx, p, v); err != nil {
		return v, err
	}
	if v.Kept, err = s.trimKept(ctx, p, v.Kept); err != nil {
		return v, err
	}
	var all bool
	if v.Clashes, all, err = s.o.Events.SeenClashes(ctx, p, v.Clashes); err != nil {
		return v, err
	}
	elements := sequence.Map(v.Kept, func(k KeptEvent) int64 { return k.ElementID })
	if err := s.hide(ctx, p, all, elements, func(i int) { v.Kept[i].OtherID = 0 }); err != nil || all {
		return v, err
	}
	found, err := s.o.Events.Findable(ctx, p, elements)
	for i := range v.Kept {
		if !found[v.Kept[i].ElementID] {
			v.Kept[i].ElementID = 0
		}
	}
	return v, err
}

// trimChanged removes the changed events that p does not see.
func (s *Service) trimChanged(ctx context.Context, p principal.Principal, v ChangeView) (ChangeView, error) {
	access, err := s.o.Events.Access(ctx, p, v.Changed)
	if err != nil {
		return v, err
	}
	seen := 0
	for i := range v.Changed {
		if !access[i].Sees {
			continue
		}
		v.Changed[seen] = v.Changed[i]
		if v.Clashes != nil {
			v.Clashes[seen] = v.Clashes[i]
		}
		seen++
	}
	v.Changed = v.Changed[:seen]
	if v.Clashes != nil {
		v.Clashes = v.Clashes[:seen]
	}
	return v, nil
}

// trimKept removes id and event of kept events that p does not see.
func (s *Service) trimKept(ctx context.Context, p principal.Principal, kept []KeptEvent) ([]KeptEvent, error) {
	events := sequence.Map(kept, func(k KeptEvent) event.Event { return k.Event })
	access, err := s.o.Events.Access(ctx, p, events)
	for i, of := range access {
		if !of.Sees && (kept[i].Event.ID != 0 || kept[i].Reason == Forbidden) {
			kept[i].EventID, kept[i].Event = 0, event.Event{}
		}
	}
	return kept, err
}
