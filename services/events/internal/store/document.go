// Package store keeps events and event categories in MongoDB: collections events, event_categories and
// event_settings. An event with its commitments and requests is one document, each change of which is one atomic
// write.
package store

import (
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

	Key         string               `bson:"key,omitempty"`
	ImportHash  string               `bson:"import_hash,omitempty"`
	Body        string               `bson:"body"`
	CategoryID  int64                `bson:"category_id"`
	Starts      time.Time            `bson:"starts"`
	Ends        time.Time            `bson:"ends"`
	AllDay      bool                 `bson:"all_day"`
	OwnerID     int64                `bson:"owner_id,omitempty"`
	OrganiserID int64                `bson:"organiser_id,omitempty"`
	SeriesID    int64                `bson:"series_id,omitempty"`
	Place       int                  `bson:"series_place,omitempty"`
	Own         []event.Own          `bson:"series_own,omitempty"`
	Shared      int64                `bson:"series_shared,omitempty"`
	Held        int64                `bson:"series_held,omitempty"`
	Commitments []commitmentDocument `bson:"commitments,omitempty"`
	Requests    []requestDocument    `bson:"requests,omitempty"`

	IdempotencyRecords []idempotencyDocument `bson:"receipts,omitempty"`

	Brief             []byte  `bson:"brief,omitempty"` // see briefOf
	CommitmentPeriods []int64 `bson:"commitment_periods,omitempty"`
	RequestPeriods    []int64 `bson:"request_periods,omitempty"`
	CommitmentStates  []int64 `bson:"commitment_states,omitempty"`  // see statesOf
	OutstandingGroups []int64 `bson:"outstanding_groups,omitempty"` // of outstanding requests
	SearchKeys        []int64 `bson:"search_keys,omitempty"`        // see searchKeysOf

	Fences   int64     `bson:"shut_outs,omitempty"`
	Modified time.Time `bson:"modified,omitempty"`

	journal.Tail `bson:",inline"`
}

type commitmentDocument struct {
	ID        int64        `bson:"id"`
	ElementID int64        `bson:"element_id"`
	Status    event.Status `bson:"status"`
	RequestID int64        `bson:"request_id,omitempty"`
	Reason    string       `bson:"reason,omitempty"`
	DecidedBy int64        `bson:"decided_by,omitempty"`
	DecidedAt time.Time    `bson:"decided_at,omitempty"`
	AddedBy   int64        `bson:"added_by,omitempty"`
}

type requestDocument struct {
	ID        int64 `bson:"id"`
	ElementID int64 `bson:"element_id"`
	Quantity  int   `bson:"quantity"`
	AddedBy   int64 `bson:"added_by,omitempty"`
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
	e := event.Event{
		ID:          d.ID,
		Version:     d.Version,
		Modified:    d.Modified,
		Key:         d.Key,
		ImportHash:  d.ImportHash,
		Body:        d.Body,
		CategoryID:  d.CategoryID,
		Span:        wiretime.Span{Starts: d.Starts, Ends: d.Ends, AllDay: d.AllDay},
		OwnerID:     d.OwnerID,
		OrganiserID: d.OrganiserID,
		SeriesID:    d.SeriesID,
		Place:       d.Place,
		Own:         d.Own,
		Shared:      d.Shared,
		Held:        d.Held,
		Fences:      d.Fences,
	}
	for _, c := range d.Commitments {
		e.Commitments = append(e.Commitments, event.Commitment(c))
	}
	if len(d.Commitments) == 0 {
		e.Commitments = commitmentsOf(d.Brief)
	}
	for _, r := range d.Requests {
		e.Requests = append(e.Requests, event.Request(r))
	}
	for _, r := range d.IdempotencyRecords {
		e.IdempotencyRecords = append(e.IdempotencyRecords, r.record())
	}
	return e
}

// set makes the document say e, periods included; the version and the tail stay.
func (d *eventDocument) set(e event.Event, zone wiretime.Zone) {
	*d = eventDocument{
		Head: mongostore.Head{ID: e.ID, Version: d.Version, Schema: eventSchema},
		Key:  e.Key, ImportHash: e.ImportHash, Body: e.Body, CategoryID: e.CategoryID,
		Starts: e.Span.Starts, Ends: e.Span.Ends, AllDay: e.Span.AllDay,
		OwnerID: e.OwnerID, OrganiserID: e.OrganiserID, SeriesID: e.SeriesID, Place: e.Place,
		Own: e.Own, Shared: e.Shared, Held: e.Held,
		Fences: e.Fences, Modified: e.Modified, Tail: d.Tail,
	}
	var committed, requested []int64
	for _, c := range e.Commitments {
		d.Commitments = append(d.Commitments, commitmentDocument(c))
		committed = append(committed, c.ElementID)
	}
	for _, r := range e.Requests {
		d.Requests = append(d.Requests, requestDocument(r))
		requested = append(requested, r.ElementID)
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

	Key          string        `bson:"key,omitempty"`
	ImportHash   string        `bson:"import_hash,omitempty"`
	Name         string        `bson:"name"`
	PeckingOrder int           `bson:"pecking_order"`
	School       int64         `bson:"school_id,omitempty"`
	Flags        flagsDocument `bson:",inline"`

	journal.Tail `bson:",inline"`
}

type flagsDocument struct {
	Schoolwide  bool `bson:"schoolwide"`
	Publish     bool `bson:"publish"`
	Visible     bool `bson:"visible"`
	Unimportant bool `bson:"unimportant"`
	CanMerge    bool `bson:"can_merge"`
	CanBorrow   bool `bson:"can_borrow"`
	Compactable bool `bson:"compactable"`
	Privileged  bool `bson:"privileged"`
	ClashCheck  bool `bson:"clash_check"`
	Busy        bool `bson:"busy"`
	Timetable   bool `bson:"timetable"`

	Confidential bool `bson:"confidential,omitempty"`
}

// category returns what the document says.
func (d *categoryDocument) category() category.Category {
	return category.Category{
		ID:           d.ID,
		Key:          d.Key,
		ImportHash:   d.ImportHash,
		Name:         d.Name,
		PeckingOrder: d.PeckingOrder,
		School:       d.School,
		Flags:        category.Flags(d.Flags),
	}
}

// set makes the document say c.
func (d *categoryDocument) set(c category.Category) {
	*d = categoryDocument{
		Head:         mongostore.Head{ID: c.ID, Schema: schema},
		Key:          c.Key,
		ImportHash:   c.ImportHash,
		Name:         c.Name,
		PeckingOrder: c.PeckingOrder,
		School:       c.School,
		Flags:        flagsDocument(c.Flags),
	}
}
