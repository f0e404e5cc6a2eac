package api

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// commitments answers neighbour.Commitments.
func (h handlers) commitments(ctx context.Context, q fact.CommitmentsQuestion) ([]fact.Commitment, error) {
	found, err := h.events.CommitmentsIn(ctx, q.Reaches, q.Sight, q.Decisions)
	if err != nil {
		return nil, err
	}
	include := event.Include{Category: q.Category, Busy: q.Busy, Decisions: q.Decisions}
	included, err := h.events.Included(ctx, q.Sight, include, event.EventsOf(found))
	if err != nil {
		return nil, err
	}
	facts := make([]fact.Commitment, len(found))
	const each = 256 // bytes of an event, about
	text := make([]byte, 0, each*len(found))
	for i, f := range found {
		var of fact.Element // no more of it is known here than whether the viewer decides on it
		if q.Sight != nil && slices.Contains(q.Administers, f.Item.ElementID) {
			of.Administrators = []int64{q.Sight.UserID}
		}
		facts[i] = fact.Commitment{
			ID: f.Item.ID, Status: string(f.Item.Status), ElementID: f.Item.ElementID,
			Decision: h.shape.decision(included.Decision(f.Event, *f.Item, of)),
		}
		summary := h.shape.including(f.Event, included)
		begin := len(text)
		text = form.AppendEvent(text, &summary)
		facts[i].Event = text[begin:len(text):len(text)]
		if q.Involved {
			facts[i].Involved = event.Named(f.Event, q.Sight)
		}
	}
	return facts, nil
}

// requests answers neighbour.Requests.
func (h handlers) requests(ctx context.Context, q fact.RequestsQuestion) ([]fact.Request, error) {
	found, err := h.events.RequestsIn(ctx, q.ElementID, q.Days, q.Sight)
	if err != nil {
		return nil, err
	}
	include := event.Include{Category: q.Category, Busy: q.Busy, Decisions: q.Decisions}
	included, err := h.events.Included(ctx, q.Sight, include, event.EventsOf(found))
	if err != nil {
		return nil, err
	}
	var group fact.Element // as in commitments
	if q.Sight != nil && q.Administers {
		group.Administrators = []int64{q.Sight.UserID}
	}
	facts := make([]fact.Request, len(found))
	for i, f := range found {
		summary := h.shape.including(f.Event, included)
		facts[i] = fact.Request{Request: form.Request{
			ID: &f.Item.ID, Quantity: f.Item.Quantity, NumAllocated: f.Event.Allocated(f.Item.ID), Event: &summary,
			Valid: true, Decision: h.shape.decision(included.Asked(f.Event, *f.Item, group)),
		}}
		if q.Involved {
			facts[i].Involved = f.Event.Involved()
		}
	}
	return facts, nil
}

// summaries answers neighbour.Summaries.
func (h handlers) summaries(ctx context.Context, q fact.SummariesQuestion) ([]fact.Event, error) {
	events, err := h.events.Summaries(ctx, q.IDs, q.Keys, q.Sight)
	if err != nil {
		return nil, err
	}
	return sequence.Map(events, func(e event.Summary) fact.Event {
		return fact.Event{Event: h.shape.summary(e.Event), Key: e.Key, Hidden: e.Hidden, Redacted: e.Redacted}
	}), nil
}

// busy answers neighbour.Busy.
func (h handlers) busy(ctx context.Context, q fact.BusyQuestion) ([]fact.Busy, error) {
	found, err := h.clashes.Busy(ctx, q.Reaches, q.Except, q.Allocations)
	if err == nil {
		found, err = h.events.OfSeen(ctx, q.Sight, found)
	}
	if err != nil {
		return nil, err
	}
	return sequence.Map(found, func(f event.Placed[event.Commitment]) fact.Busy {
		return fact.Busy{ElementID: f.Item.ElementID, Starts: f.Event.Span.Starts, Ends: f.Event.Span.Ends}
	}), nil
}

// erase answers neighbour.EraseEvents.
func (h handlers) erase(ctx context.Context, q fact.ErasureQuestion) (fact.ErasureStep, error) {
	parts := append([]erasure.Part{
		h.events.Erase(q.Person), h.categories.Erase(q.Person), h.audit.Erase(q.Person),
	}, h.eraseRest(q.Person)...)
	next, changed, err := erasure.Step(audit.WithErasure(ctx), parts, q.After)
	return fact.ErasureStep{After: next, Changed: changed}, err
}
