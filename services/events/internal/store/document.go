// Package store keeps events and event categories in MongoDB: collections events, event_categories and
// event_settings. An event with its commitments and requests is one document, each change of which is one atomic
// write.
package store

import (
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// The shapes of the documents: eventSchema of events, and schema of all others.
const (
	schema      = 1
	eventSchema = 4
)

// eventDocument is an event as it is stored.
type eventDocument struct {
	mongostore.Head `bson:",inline"`

	Event event.Event `bson:",inline"`

	IdempotencyRecords []idempotencyDocument `bson:"receipts,omitempty"`

	Brief             []byte  `bson:"brief,omitempty"` // see briefOf
	CommitmentPeriods []int64 `bson:"commitment_periods,omitempty"`
	RequestPeriods    []int64 `bson:"request_periods,omitempty"`
	CommitmentStates  []int64 `bson:"commitment_states,omitempty"`  // see statesOf
	OutstandingGroups []int64 `bson:"outstanding_groups,omitempty"` // of outstanding requests
	SearchKeys        []int64 `bson:"search_keys,omitempty"`        // see searchKeysOf

	journal.Tail `bson:",inline"`
}

type idempotencyDocument struct {
	Key      string            `bson:"key"`
	Body     string            `bson:"body"`
	At       time.Time         `bson:"at"`
	Failures []failureDocument `bson:"failures,omitempty"`
}

// failureDocument is a failure without what was submitted: of a commitment there is a status, of a request a
// quantity, and of what is no element neither.
type failureDocument struct {
	Index     int            `bson:"index"`
	Status    event.Status   `bson:"status,omitempty"`
	Quantity  int            `bson:"quantity,omitempty"`
	Allocated int            `bson:"allocated,omitempty"`
	Errors    problem.Fields `bson:"errors,omitempty"`
}

func (d idempotencyDocument) record() event.IdempotencyRecord {
	r := event.IdempotencyRecord{Key: idempotency.Key{ID: d.Key, Body: d.Body}, At: d.At}
	for _, f := range d.Failures {
		failure := event.Failure{Index: f.Index, Allocated: f.Allocated, Errors: f.Errors}
		switch {
		case f.Status != "":
			failure.Commitment = &event.Commitment{Status: f.Status}
		case f.Quantity != 0:
			failure.Request = &event.Request{Quantity: f.Quantity}
		}
		r.Failures = append(r.Failures, failure)
	}
	return r
}

func idempotencyDocumentOf(r event.IdempotencyRecord) idempotencyDocument {
	d := idempotencyDocument{Key: r.Key.ID, Body: r.Key.Body, At: r.At}
	for _, f := range r.Failures {
		failure := failureDocument{Index: f.Index, Allocated: f.Allocated, Errors: f.Errors}
		switch {
		case f.Commitment != nil:
			failure.Status = f.Commitment.Status
		case f.Request != nil:
			failure.Quantity = f.Request.Quantity
		}
		d.Failures = append(d.Failures, failure)
	}
	return d
}

// event returns what the document says. Where it was read without its commitments, they are those in brief.
func (d *eventDocument) event() event.Event {
	e := d.Event
	e.ID, e.Version = d.ID, d.Version
	e.Commitments, e.Requests, e.Own = slices.Clone(e.Commitments), slices.Clone(e.Requests), slices.Clone(e.Own)
	if len(e.Commitments) == 0 {
		e.Commitments = commitmentsOf(d.Brief)
	}
	for _, r := range d.IdempotencyRecords {
		e.IdempotencyRecords = append(e.IdempotencyRecords, r.record())
	}
	return e
}

// set makes the document say e, periods included; the version and the tail stay.
func (d *eventDocument) set(e event.Event, zone wiretime.Zone) {
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
	for _, r := range e.IdempotencyRecords {
		d.IdempotencyRecords = append(d.IdempotencyRecords, idempotencyDocumentOf(r))
	}
	d.Brief = briefOf(e.Commitments)
	d.CommitmentStates = statesOf(e.Commitments)
	d.SearchKeys = searchKeysOf(&e, zone)
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

// category returns what the document says.
func (d *categoryDocument) category() category.Category {
	c := d.Category
	c.ID = d.ID
	return c
}

// set makes the document say c.
func (d *categoryDocument) set(c category.Category) {
	*d = categoryDocument{Head: mongostore.Head{ID: c.ID, Schema: schema}, Category: c}
}
