package store

import (
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

func TestEventEntry_IsNamedAfterWhatWasDone(t *testing.T) {
	before := event.Event{
		ID: 12, Texts: event.Texts{Body: "Trip"},
		Commitments: []event.Commitment{{ID: 31, ElementID: 5, Status: event.Requested},
			{ID: 32, ElementID: 6, Status: event.Uncontrolled, RequestID: 7}},
		Requests: []event.Request{{ID: 7, ElementID: 90, Quantity: 2}},
	}
	changed := func(change func(*event.Event)) event.Event {
		e := before
		e.Commitments, e.Requests = slices.Clone(before.Commitments), slices.Clone(before.Requests)
		change(&e)
		return e
	}
	for name, c := range map[string]struct {
		before, after event.Event
		action        audit.Action
		record        string
		foundBy       string
	}{
		"created": {event.Event{}, before, audit.Create, "Event:12", "Request:7"},
		"deleted": {before, event.Event{}, audit.Delete, "Event:12", "Commitment:32"},
		"a title": {before, changed(func(e *event.Event) { e.Body = "Tour" }), audit.Update, "Event:12", "Event"},
		"a title and a status": {before,
			changed(func(e *event.Event) { e.Body, e.Commitments[0].Status = "Tour", event.Confirmed }), audit.Update,
			"Event:12",
			"Commitment:31"},
		"a decision": {before, changed(func(e *event.Event) { e.Commitments[0].Status = event.Confirmed }),
			audit.Decide, "Commitment:31", "Event:12"},
		"two statuses": {before, changed(func(e *event.Event) {
			e.Commitments[0].Status,
				e.Commitments[1].Status = event.Noted, event.Noted
		}), audit.Update, "Event:12",
			"Commitment:32"},
		"a commitment taken off": {before, changed(func(e *event.Event) { e.Commitments = e.Commitments[1:] }),
			audit.Delete, "Commitment:31", "Event:12"},
		"a request taken off, with its allocation": {before,
			changed(func(e *event.Event) { e.Requests, e.Commitments = nil, e.Commitments[:1] }), audit.Delete,
			"Request:7",
			"Commitment:32"},
		"a quantity": {before, changed(func(e *event.Event) { e.Requests[0].Quantity = 3 }), audit.Update, "Request:7",
			"Event:12"},
		"an allocation": {before, changed(func(e *event.Event) {
			e.Commitments = append(e.Commitments,
				event.Commitment{ID: 33, ElementID: 8, Status: event.Uncontrolled, RequestID: 7})
		}), audit.Allocate, "Request:7", "Commitment:33"},
		"an addition": {before, changed(func(e *event.Event) {
			e.Commitments = append(e.Commitments, event.Commitment{ID: 33, ElementID: 8, Status: event.Requested})
		}), audit.Update, "Event:12", "Commitment:33"},
	} {
		t.Run(name, func(t *testing.T) {
			entries := eventEntry(t.Context(), c.before, c.after)
			valuetest.MustSame(t, len(entries), 1, "%+v", entries)
			e := entries[0]
			if e.Action != c.action || e.Record != c.record || !slices.Contains(e.About, c.foundBy) ||
				!slices.Contains(e.About, "Event:12") {
				t.Errorf("%s %s, found by %v", e.Action, e.Record, e.About)
			}
		})
	}
	valuetest.Len(t, eventEntry(t.Context(), before, before), 0, "nothing happened")
}

func TestEventEntry_OfAVastEventIsFoundByABoundedNumber(t *testing.T) {
	vast := event.Event{ID: 12}
	for id := range int64(1000) {
		vast.Commitments = append(vast.Commitments,
			event.Commitment{ID: id + 1, ElementID: id + 1, Status: event.Uncontrolled})
	}
	e := eventEntry(t.Context(), event.Event{}, vast)[0]
	if len(e.About) > maxRelated+2 || len(e.Changes) < 2000 {
		t.Errorf("found by %d, %d changes", len(e.About), len(e.Changes))
	}
}
