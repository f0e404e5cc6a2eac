// Package event holds the rules of events with their commitments and requests, and of event categories (contract 2.2 to 2.4, 2.7, 3.1,
// 3.2, 4.2 and 4.4; decisions, parts 4, 5 and 7). An event is decided on as a whole: its commitments and requests are parts of it, and
// every rule about one event is a plain function of that event, so that a store can make each change one atomic write.
package event

import (
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// maxBody bounds an event's title, in characters after trimming.
	maxBody = 4096
	// maxReason bounds the reason of a decision, in characters.
	maxReason = 4096
	// maxQuantity bounds the quantity of a request.
	maxQuantity = 1000
	// MaxSubmitted bounds the elements of one create, add or import record.
	MaxSubmitted = 1000
	// maxElements bounds the commitments and requests of one event together, so that an event of any length fits the store's largest
	// document with the periods that it is found by.
	maxElements = 3000
)

// Event is a titled span of time with the elements involved in it.
type Event struct {
	ID          int64
	Version     int64     // rises with each change; the store's
	Modified    time.Time // of the last change, kept by the store; the zero time when that was before it kept it
	Key         string    // the import's own id of it; empty when made by hand
	ImportHash  string    // of the row that was last imported
	Body        string
	CategoryID  int64
	Span        wiretime.Span
	OwnerID     int64        // a user; 0: none
	OrganiserID int64        // an element of type Staff; 0: none
	Commitments []Commitment // in the order in which they were added
	Requests    []Request    // likewise
	ShutOuts    int64        // how often a change of it that had fallen silent was shut out; see Store.ShutOut
	Actor       int64        // the user who is changing the event; 0: nobody, or an import. Set by the store, and by Create; not stored
	Receipts    []Receipt    // of the requests that made and filled it, the newest last
}

// Commitment links an element to an event.
type Commitment struct {
	ID        int64
	ElementID int64
	Status    Status
	RequestID int64 // the request that it was allocated to; 0: none
	Reason    string
	DecidedBy int64 // the user who made the last decision; 0: none was made
	DecidedAt time.Time
	AddedBy   int64 // the user who added the element; 0: not known
}

// Request asks for a quantity of items of a resource group.
type Request struct {
	ID        int64
	ElementID int64
	Quantity  int
	AddedBy   int64 // the user who first asked; 0: not known
}

// Commitment returns the commitment of that id, nil when the event has none such.
func (e *Event) Commitment(id int64) *Commitment {
	if i := slices.IndexFunc(e.Commitments, func(c Commitment) bool { return c.ID == id }); i >= 0 {
		return &e.Commitments[i]
	}
	return nil
}

// Request returns the request of that id, nil when the event has none such.
func (e *Event) Request(id int64) *Request {
	if i := slices.IndexFunc(e.Requests, func(r Request) bool { return r.ID == id }); i >= 0 {
		return &e.Requests[i]
	}
	return nil
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

// Outstanding says whether one of the event's requests has less allocated than it asks for.
func (e *Event) Outstanding(r Request) bool { return e.Allocated(r.ID) < r.Quantity }

// removeCommitment takes a commitment off the event; one that was allocated lowers its request's num_allocated by that.
func (e *Event) removeCommitment(id int64) {
	e.Commitments = slices.DeleteFunc(e.Commitments, func(c Commitment) bool { return c.ID == id })
}

// removeRequest takes a request off the event, with its allocations.
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
