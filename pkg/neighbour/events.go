package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
)

// Events asks the events service.
type Events struct{ peer peer }

// NewEvents returns the client for the service whose internal listener is at base.
func NewEvents(t *Transport, base string) *Events { return &Events{peer{t, base, "events"}} }

// Where events answers the calls below.
const (
	CommitmentsPath = "/internal/commitments"
	RequestsPath    = "/internal/requests"
	SummariesPath   = "/internal/events/summaries"
	BusyPath        = "/internal/events/busy"
	CalendarPath    = "/internal/events/calendar"
)

// CommitmentsReply holds the commitments in the order of decisions, part 3: event start, event end, commitment id.
type CommitmentsReply struct {
	Commitments []fact.Commitment `json:"commitments"`
}

// Commitments returns the commitments of a set of elements in a range.
func (e *Events) Commitments(ctx context.Context, q fact.CommitmentsQuestion) ([]fact.Commitment, error) {
	reply, err := read[fact.CommitmentsQuestion, CommitmentsReply](ctx, e.peer, CommitmentsPath, q)
	return reply.Commitments, err
}

// RequestsReply holds the requests without element, in the order of commitments.
type RequestsReply struct {
	Requests []form.Request `json:"requests"`
}

// Requests returns the requests for a resource group in a range.
func (e *Events) Requests(ctx context.Context, q fact.RequestsQuestion) ([]form.Request, error) {
	reply, err := read[fact.RequestsQuestion, RequestsReply](ctx, e.peer, RequestsPath, q)
	return reply.Requests, err
}

// SummariesReply holds the events that exist, in no order.
type SummariesReply struct {
	Events []fact.Event `json:"events"`
}

// Summaries returns those of the events asked for that exist.
func (e *Events) Summaries(ctx context.Context, q fact.SummariesQuestion) ([]fact.Event, error) {
	if len(q.IDs)+len(q.Keys) == 0 {
		return nil, nil
	}
	reply, err := read[fact.SummariesQuestion, SummariesReply](ctx, e.peer, SummariesPath, q)
	return reply.Events, err
}

// BusyReply holds the spans in the order of commitments; they may overlap.
type BusyReply struct {
	Busy []fact.Busy `json:"busy"`
}

// Busy returns the spans of the events that touch a day of a reach, whose category is busy, and that have a commitment to its element which
// was not rejected.
func (e *Events) Busy(ctx context.Context, q fact.BusyQuestion) ([]fact.Busy, error) {
	reply, err := read[fact.BusyQuestion, BusyReply](ctx, e.peer, BusyPath, q)
	return reply.Busy, err
}

// CalendarReply holds the events in order of start, end and id.
type CalendarReply struct {
	Events []fact.CalendarEvent `json:"events"`
}

// Calendar returns the events that touch a day of a reach with an uncontrolled or confirmed commitment to its element, each once.
func (e *Events) Calendar(ctx context.Context, q fact.CalendarQuestion) ([]fact.CalendarEvent, error) {
	reply, err := read[fact.CalendarQuestion, CalendarReply](ctx, e.peer, CalendarPath, q)
	return reply.Events, err
}
