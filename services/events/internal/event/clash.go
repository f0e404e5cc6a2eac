package event

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/ifmatch"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Clashing says what is to be done where an addition clashes.
type Clashing string

// The ways to deal with clashes.
const (
	IgnoreClashes Clashing = ""
	ReportClashes Clashing = "report" // add, and say with what it clashes
	RefuseClashes Clashing = "refuse" // fail what clashes
)

// Submission is the elements that a client sends to be added, and what is to be done about clashes.
type Submission struct {
	Elements       []Submitted
	Clashes        Clashing
	IdempotencyKey idempotency.Key // of the request
	Match          ifmatch.Match   // the versions of the event that may be added to
}

// Clash is an element of an event with another event that takes it up at the same time.
type Clash struct {
	Element fact.Element
	Event   Event
}

// maxClashes bounds how many clashes are reported of one change.
const maxClashes = 1000

// Lasts says whether the event takes any time at all.
func (e *Event) Lasts() bool { return e.Span.Ends.After(e.Span.Starts) }

// canClash says whether an element is of use to one event at a time. Properties and subjects mark events: any number may have the same at
// once. A resource group gets requests.
func canClash(element fact.Element) bool {
	return !element.Resource && element.EntityType != form.Property && element.EntityType != form.Subject
}

// Busy returns those of the commitments to the reached elements in which they are taken up: not rejected, of an event that lasts, in a busy
// category; in the order of commitments. One read of events and one of their categories.
func (s *Service) Busy(ctx context.Context, reaches []fact.Reach) ([]Placed[Commitment], error) {
	found, err := s.CommitmentsIn(ctx, reaches)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, p := range found {
		ids = append(ids, p.Event.CategoryID)
	}
	busy, err := s.categories.Busy(ctx, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(p Placed[Commitment]) bool {
		return p.Item.Status == Rejected || !p.Event.Lasts() || !busy[p.Event.CategoryID]
	}), nil
}

// clashes returns, by element, the other events that take it up while e goes on: directly, or through a group that it belongs to on a day on
// which both do. Each event is there once, in the order of commitments.
func (s *Service) clashes(ctx context.Context, e *Event, elements []fact.ElementReaches) (map[int64][]Event, error) {
	var reaches []fact.Reach
	for _, element := range elements {
		reaches = append(reaches, element.Reaches...)
	}
	found, err := s.Busy(ctx, reaches)
	if err != nil {
		return nil, err
	}
	others := map[int64][]Event{} // by the element committed
	for _, p := range found {
		if p.Event.ID != e.ID {
			others[p.Item.ElementID] = append(others[p.Item.ElementID], p.Event)
		}
	}
	all := map[int64][]Event{}
	for _, element := range elements {
		var clashing []Event
		for _, reach := range element.Reaches {
			for _, other := range others[reach.ElementID] {
				if s.meet(e, &other, reach.Days) {
					clashing = append(clashing, other)
				}
			}
		}
		if len(clashing) > 0 {
			slices.SortFunc(clashing, func(a, b Event) int { return cmp.Or(a.CompareSpan(b), cmp.Compare(a.ID, b.ID)) })
			all[element.ElementID] = slices.CompactFunc(clashing, func(a, b Event) bool { return a.ID == b.ID })
		}
	}
	return all, nil
}

// Common returns the days on which two events go on at the same time, and false when they never do. An event that starts as the other ends does not
// meet it, and one of zero length meets none.
func (s *Service) Common(a, b *Event) (wiretime.Days, bool) {
	starts, ends := a.Span.Starts, a.Span.Ends
	if b.Span.Starts.After(starts) {
		starts = b.Span.Starts
	}
	if b.Span.Ends.Before(ends) {
		ends = b.Span.Ends
	}
	if !ends.After(starts) {
		return wiretime.Days{}, false
	}
	return s.zone.Days(starts, ends), true
}

// meet says whether two events have some time in common on one of the days.
func (s *Service) meet(a, b *Event, days []wiretime.Days) bool {
	common, ok := s.Common(a, b)
	return ok && slices.ContainsFunc(days, common.Overlaps)
}

// watch is what a change that minds clashes has to know. The zero watch minds none.
type watch struct {
	mode     Clashing
	asOf     Event                 // the event that it was made for
	elements []fact.ElementReaches // those submitted that can clash and are not on the event
	claims   *claims               // nil: nothing is refused
	booked   map[int64]bool        // the elements to be refused
}

// watch asks for what a change of e needs about clashes; with RefuseClashes it claims the elements, and settle must be called after the write. An event that
// takes no time, or of a category that is not busy, clashes with nothing; a nil category is one still to be read. One question to elements; for what refusing costs besides, see claim.
func (s *Service) watch(ctx context.Context, e *Event, of *category.Category, k *known, submission Submission) (w watch, err error) {
	w = watch{mode: submission.Clashes, asOf: *e}
	if w.mode == IgnoreClashes || !e.Lasts() {
		return w, nil
	}
	busy := of != nil && of.Busy
	if of == nil {
		answer, err := s.categories.Busy(ctx, []int64{e.CategoryID})
		if err != nil {
			return w, err
		}
		busy = answer[e.CategoryID]
	}
	if !busy {
		return w, nil
	}
	var ids []int64
	for _, id := range elementsOf(submission.Elements) {
		element, exists := k.elements[id]
		present := slices.ContainsFunc(e.Commitments, func(c Commitment) bool { return c.ElementID == id })
		if exists && canClash(element) && !present {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids) // all who claim several do so in this order, so that no two wait for each other
	w.elements, err = s.elements.Reaches(ctx, fact.ReachesQuestion{IDs: ids, Days: s.Days(*e)})
	if err != nil || w.mode != RefuseClashes {
		return w, err
	}
	w.claims, w.booked, err = s.claim(ctx, e, w.elements)
	return w, err
}

// settle ends the claims after the write. When it is not known whether the write may still come, they stay, and whoever meets them shuts it
// out.
func (w *watch) settle(ctx context.Context, err error) {
	if w.claims != nil && (err == nil || errors.Is(err, ErrShutOut) || errors.Is(err, errOutdated)) {
		w.claims.release(ctx)
	}
}

// outdated says whether the event has changed so that the watch no longer serves it.
func (w *watch) outdated(e *Event) bool {
	return w.mode != IgnoreClashes && (!e.Span.Equal(w.asOf.Span) || e.CategoryID != w.asOf.CategoryID || e.ShutOuts != w.asOf.ShutOuts)
}

// report returns the clashes of the elements that were added, nil when none were asked for. It is asked after the write: of two who add at
// once, at least one is told.
func (s *Service) report(ctx context.Context, w watch, v View, added []Commitment) ([]Clash, error) {
	if w.mode != ReportClashes {
		return nil, nil
	}
	all := []Clash{}
	elements := slices.DeleteFunc(slices.Clone(w.elements), func(r fact.ElementReaches) bool {
		return !slices.ContainsFunc(added, func(c Commitment) bool { return c.ElementID == r.ElementID })
	})
	found, err := s.clashes(ctx, &v.Event, elements)
	if err != nil {
		return nil, err
	}
	for _, c := range added {
		for _, other := range found[c.ElementID] {
			if len(all) < maxClashes {
				all = append(all, Clash{v.Elements[c.ElementID], other})
			}
		}
	}
	return all, nil
}
