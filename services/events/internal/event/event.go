// Package event has the rules and use cases of events with their commitments and requests (contract 2.2 to 2.4, 3.1,
// 3.2 and 4.2; decisions, parts 4 and 5). Commitments and requests are parts of their event, and every rule about one
// event is a plain function of that event, so that a store can make each change in one atomic write.
//
// Begin with event.go (the record) and service.go (what the use cases need); each use case has a file named by its
// verb.
package event

import (
	"cmp"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// The types' names in exception bodies.
const (
	Record           = "Event"
	CommitmentRecord = "Commitment"
	RequestRecord    = "Request"
)

const (
	// maxBody bounds an event's title, in characters after trimming.
	maxBody = 4096
	// maxReason bounds the reason of a decision, in characters.
	maxReason = 4096
	// maxReasons bounds the reasons of one event together, in bytes as JSON: its notices and answers have all of them.
	maxReasons = 1 << 20
	// maxQuantity bounds the quantity of a request.
	maxQuantity = 1000
	// MaxSubmitted bounds the elements of one create, add or import record.
	MaxSubmitted = 1000
	// maxElements bounds the commitments and requests of one event together, so that an event of any length has few
	// enough keys in the store's indexes.
	maxElements = 1500
)

// Event is a titled span of time with the elements involved in it. The tags name its fields as they are stored, and in
// JSON as an export shows them.
type Event struct {
	ID         int64     `bson:"-" json:"id"`
	Version    int64     `bson:"-" json:"-"`                         // rises with each change; the store's
	Modified   time.Time `bson:"modified,omitempty" json:"-"`        // the time of the last change; the store's
	Key        string    `bson:"key,omitempty" json:"key,omitempty"` // the import's own id; empty when made by hand
	ImportHash string    `bson:"import_hash,omitempty" json:"-"`     // of the row that was last imported
	Texts      `bson:",inline"`

	CategoryID  int64         `bson:"category_id" json:"category_id"`
	Span        wiretime.Span `bson:",inline" json:"-"`
	OwnerID     int64         `bson:"owner_id,omitempty" json:"owner_id,omitempty"`         // a user; 0: none
	OrganiserID int64         `bson:"organiser_id,omitempty" json:"organiser_id,omitempty"` // a staff element; 0: none
	SeriesID    int64         `bson:"series_id,omitempty" json:"series_id,omitempty"`       // that made it; 0: none
	Place       int           `bson:"series_place,omitempty" json:"series_place,omitempty"` // in that series, from 1
	// Own are the parts that were changed in this event alone, unlike the rest of its series; sorted.
	Own []Own `bson:"series_own,omitempty" json:"-"`
	// Shared is the number of the newest change of its series that the event has taken, Held that of the change that is
	// about to move it; 0: none.
	Shared      int64        `bson:"series_shared,omitempty" json:"-"`
	Held        int64        `bson:"series_held,omitempty" json:"-"`
	Commitments []Commitment `bson:"commitments,omitempty" json:"commitments"` // in the order of their addition
	Requests    []Request    `bson:"requests,omitempty" json:"requests"`       // likewise
	Fences      int64        `bson:"shut_outs,omitempty" json:"-"`             // how often it was fenced; see Store.Fence
	// Actor is the user who is changing the event; 0: none, or an import. The store sets it, and Create.
	Actor int64 `bson:"-" json:"-"`
	// IdempotencyRecords are those of the requests that made it and added to it, the newest last.
	IdempotencyRecords []IdempotencyRecord `bson:"receipts,omitempty" json:"-"`
	// Redacted says that the texts were removed because the viewer may not know what the event is.
	Redacted bool `bson:"-" json:"-"`
}

// Commitment links an element to an event.
type Commitment struct {
	ID        int64  `bson:"id" json:"id"`
	ElementID int64  `bson:"element_id" json:"element_id"`
	Status    Status `bson:"status" json:"status"`
	// RequestID is the request that it was allocated to; 0: none.
	RequestID int64     `bson:"request_id,omitempty" json:"request_id,omitempty"`
	Reason    string    `bson:"reason,omitempty" json:"reason,omitempty"`
	DecidedBy int64     `bson:"decided_by,omitempty" json:"decided_by,omitempty"` // a user; 0: it was not decided
	DecidedAt time.Time `bson:"decided_at,omitempty" json:"-"`
	AddedBy   int64     `bson:"added_by,omitempty" json:"asked_by,omitempty"` // a user; 0: not known
}

// Request asks for a quantity of items of a resource group.
type Request struct {
	ID        int64 `bson:"id" json:"id"`
	ElementID int64 `bson:"element_id" json:"element_id"`
	Quantity  int   `bson:"quantity" json:"quantity"`
	AddedBy   int64 `bson:"added_by,omitempty" json:"asked_by,omitempty"` // the user who first asked; 0: not known
}

// Commitment returns the commitment of that id; nil when the event does not have it.
func (e *Event) Commitment(id int64) *Commitment {
	if i := slices.IndexFunc(e.Commitments, func(c Commitment) bool { return c.ID == id }); i >= 0 {
		return &e.Commitments[i]
	}
	return nil
}

// Request returns the request of that id; nil when the event does not have it.
func (e *Event) Request(id int64) *Request {
	if i := slices.IndexFunc(e.Requests, func(r Request) bool { return r.ID == id }); i >= 0 {
		return &e.Requests[i]
	}
	return nil
}

// committed are the elements that the event has commitments to, for looking up.
func (e *Event) committed() map[int64]bool {
	committed := make(map[int64]bool, len(e.Commitments))
	for _, c := range e.Commitments {
		committed[c.ElementID] = true
	}
	return committed
}

func byID[T Item](a, b T) int {
	one, _ := a.ids()
	other, _ := b.ids()
	return cmp.Compare(one, other)
}

// Involved returns the directly committed elements in order of commitment id.
func (e *Event) Involved() []int64 {
	ordered := slices.SortedFunc(slices.Values(e.Commitments), byID)
	return sequence.Map(ordered, func(c Commitment) int64 { return c.ElementID })
}

// Lasts says whether the event has a length above zero.
func (e *Event) Lasts() bool { return e.Span.Ends.After(e.Span.Starts) }

// Days are those of the zone that the event touches.
func (e *Event) Days(zone wiretime.Zone) wiretime.Days { return zone.Days(e.Span.Starts, e.Span.Ends) }

// CompareSpan is the order of start, then end.
func (e *Event) CompareSpan(other *Event) int {
	return cmp.Or(e.Span.Starts.Compare(other.Span.Starts), e.Span.Ends.Compare(other.Span.Ends))
}

// Compare is the order of start, end and id.
func (e *Event) Compare(other *Event) int {
	return cmp.Or(e.CompareSpan(other), cmp.Compare(e.ID, other.ID))
}

// Allocated counts the commitments that were allocated to a request: its num_allocated.
func (e *Event) Allocated(requestID int64) int {
	n := 0
	for _, c := range e.Commitments {
		if c.RequestID == requestID && requestID != 0 {
			n++
		}
	}
	return n
}

// Outstanding says whether fewer items are allocated to one of the event's requests than it asks for.
func (e *Event) Outstanding(r Request) bool { return e.Allocated(r.ID) < r.Quantity }

// removeCommitment removes a commitment; removing an allocation lowers its request's num_allocated.
func (e *Event) removeCommitment(id int64) {
	e.Commitments = slices.DeleteFunc(e.Commitments, func(c Commitment) bool { return c.ID == id })
}

// removeRequest removes a request with its allocations.
func (e *Event) removeRequest(id int64) {
	e.Requests = slices.DeleteFunc(e.Requests, func(r Request) bool { return r.ID == id })
	e.Commitments = slices.DeleteFunc(e.Commitments, func(c Commitment) bool { return c.RequestID == id })
}

// elementIDs are all elements that showing the event names: those committed, those requested, and the organiser.
func (e *Event) elementIDs() []int64 {
	ids := make([]int64, 0, len(e.Commitments)+len(e.Requests)+1)
	for _, c := range e.Commitments {
		ids = append(ids, c.ElementID)
	}
	for _, r := range e.Requests {
		ids = append(ids, r.ElementID)
	}
	if e.OrganiserID != 0 {
		ids = append(ids, e.OrganiserID)
	}
	return ids
}
