// Package store keeps events and event categories in MongoDB: collections events, event_categories, event_titles and
// event_settings. An event with its commitments and requests is one document, each change of which is one atomic
// write.
package store

import (
	"slices"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// The versions of the documents' shapes: eventSchema for events, schema for all others.
const (
	schema      = 1
	eventSchema = 4
)

// eventDocument is an event as it is stored.
type eventDocument struct {
	mongostore.Head `bson:",inline"`

	Event event.Event `bson:",inline"`

	Brief             []byte  `bson:"brief,omitempty"` // see briefOf
	CommitmentPeriods []int64 `bson:"commitment_periods,omitempty"`
	RequestPeriods    []int64 `bson:"request_periods,omitempty"`
	CommitmentStates  []int64 `bson:"commitment_states,omitempty"`  // see statesOf
	OutstandingGroups []int64 `bson:"outstanding_groups,omitempty"` // of outstanding requests
	SearchKeys        []int64 `bson:"search_keys,omitempty"`        // see searchKeysOf

	journal.Tail `bson:",inline"`
}

// event returns the event of the document.
func (d *eventDocument) event() event.Event {
	e := d.Event
	e.ID, e.Version = d.ID, d.Version
	e.Commitments, e.Requests, e.Own = slices.Clone(e.Commitments), slices.Clone(e.Requests), slices.Clone(e.Own)
	e.IdempotencyRecords = slices.Clone(e.IdempotencyRecords)
	return e
}

// commitmentSize is what a commitment takes in memory, in bytes.
const commitmentSize = 96

// Weight implements mongostore.Weighty: of the document and the event made of it, each with its commitments.
func (d *eventDocument) Weight() int {
	const size = 900 // of both without commitments
	return size + 2*commitmentSize*len(d.Event.Commitments)
}

// set stores e in the document, periods included; the version and the tail stay.
func (d *eventDocument) set(e event.Event, zone wiretime.Zone, shared *titles) {
	*d = eventDocument{
		Head:  mongostore.Head{ID: e.ID, Version: d.Version, Schema: eventSchema},
		Event: e, Tail: d.Tail,
	}
	committed, requested := make([]int64, len(e.Commitments)), make([]int64, len(e.Requests))
	for i, c := range e.Commitments {
		committed[i] = c.ElementID
	}
	for i, r := range e.Requests {
		requested[i] = r.ElementID
		if e.Outstanding(r) {
			d.OutstandingGroups = append(d.OutstandingGroups, r.ElementID)
		}
	}
	d.Brief = briefOf(e.Commitments)
	d.CommitmentStates = statesOf(e.Commitments)
	d.SearchKeys = searchKeysOf(&e, zone, shared)
	most := mostPeriods(
		len(committed)+len(requested), len(d.CommitmentStates)+len(d.OutstandingGroups)+len(d.SearchKeys),
	)
	periods := periodsOf(zone.Days(e.Span.Starts, e.Span.Ends), most)
	d.CommitmentPeriods = keysOf(committed, periods)
	d.RequestPeriods = keysOf(requested, periods)
}

// categoryDocument is an event category as it is stored.
type categoryDocument struct {
	mongostore.Head `bson:",inline"`

	Category category.Category `bson:",inline"`

	journal.Tail `bson:",inline"`
}

// category returns the category of the document.
func (d *categoryDocument) category() category.Category {
	c := d.Category
	c.ID = d.ID
	return c
}

// set stores c in the document.
func (d *categoryDocument) set(c category.Category) {
	*d = categoryDocument{Head: mongostore.Head{ID: c.ID, Schema: schema}, Category: c}
}
