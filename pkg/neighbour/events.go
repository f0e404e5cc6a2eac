package neighbour

import (
	"context"
	"time"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
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

// EventsStream is the outbox stream in which events tells what happened, and EventDeleted the kind of its message that an event is gone:
// the message's subject is the event's id.
const (
	EventsStream = "events"
	EventDeleted = "event.deleted"
)

// Days is a run of calendar days of the configured zone, both inclusive.
type Days struct {
	First wiretime.Day `json:"first"`
	Last  wiretime.Day `json:"last"`
}

// Reach is an element whose commitments count, on the days on which they do: the queried element itself on all days asked for, a group
// on those of the membership.
type Reach struct {
	ElementID int64  `json:"element_id"`
	Days      []Days `json:"days"`
}

// CommitmentsQuestion asks for the commitments to any of the reached elements of events that touch one of their days.
type CommitmentsQuestion struct {
	Reaches []Reach `json:"reaches"`
	// Involved asks for each event's other committed elements as well.
	Involved bool `json:"involved,omitempty"`
}

// CommitmentFact is a commitment as events knows it: it names elements by their ids.
type CommitmentFact struct {
	ID        int64      `json:"id"`
	Status    string     `json:"status"`
	ElementID int64      `json:"element_id"`
	Event     form.Event `json:"event"`              // event summary
	Involved  []int64    `json:"involved,omitempty"` // the directly committed elements, in order of commitment id
}

// CommitmentsReply holds the commitments in the order of decisions, part 3: event start, event end, commitment id.
type CommitmentsReply struct {
	Commitments []CommitmentFact `json:"commitments"`
}

// Commitments returns the commitments of a set of elements in a range.
func (e *Events) Commitments(ctx context.Context, q CommitmentsQuestion) ([]CommitmentFact, error) {
	reply, err := read[CommitmentsQuestion, CommitmentsReply](ctx, e.peer, CommitmentsPath, q)
	return reply.Commitments, err
}

// RequestsQuestion asks for the requests for a resource group of events that touch the days.
type RequestsQuestion struct {
	ElementID int64 `json:"element_id"`
	Days      Days  `json:"days"`
}

// RequestsReply holds the requests without element, in the order of commitments.
type RequestsReply struct {
	Requests []form.Request `json:"requests"`
}

// Requests returns the requests for a resource group in a range.
func (e *Events) Requests(ctx context.Context, q RequestsQuestion) ([]form.Request, error) {
	reply, err := read[RequestsQuestion, RequestsReply](ctx, e.peer, RequestsPath, q)
	return reply.Requests, err
}

// SummariesQuestion asks for events by id and by import key.
type SummariesQuestion struct {
	IDs  []int64  `json:"ids,omitempty"`
	Keys []string `json:"keys,omitempty"`
}

// EventFact is an event's summary with the key of the import.
type EventFact struct {
	form.Event
	Key string `json:"key,omitempty"`
}

// SummariesReply holds the events that exist, in no order.
type SummariesReply struct {
	Events []EventFact `json:"events"`
}

// Summaries returns those of the events asked for that exist.
func (e *Events) Summaries(ctx context.Context, q SummariesQuestion) ([]EventFact, error) {
	if len(q.IDs)+len(q.Keys) == 0 {
		return nil, nil
	}
	reply, err := read[SummariesQuestion, SummariesReply](ctx, e.peer, SummariesPath, q)
	return reply.Events, err
}

// BusyQuestion asks when the reached elements are taken up.
type BusyQuestion struct {
	Reaches []Reach `json:"reaches"`
}

// BusyFact is a span of time, of more than zero length, for which an event takes an element up.
type BusyFact struct {
	ElementID int64     `json:"element_id"`
	Starts    time.Time `json:"starts"`
	Ends      time.Time `json:"ends"`
}

// BusyReply holds the spans in the order of commitments; they may overlap.
type BusyReply struct {
	Busy []BusyFact `json:"busy"`
}

// Busy returns the spans of the events that touch a day of a reach, whose category is busy, and that have a commitment to its element which
// was not rejected.
func (e *Events) Busy(ctx context.Context, q BusyQuestion) ([]BusyFact, error) {
	reply, err := read[BusyQuestion, BusyReply](ctx, e.peer, BusyPath, q)
	return reply.Busy, err
}

// CalendarQuestion asks for the events that reached elements are firmly part of.
type CalendarQuestion struct {
	Reaches []Reach `json:"reaches"`
}

// CalendarFact is an event as a calendar shows it.
type CalendarFact struct {
	ID       int64     `json:"id"`
	Version  int64     `json:"version"`  // 1 when it was made, more after each change
	Modified time.Time `json:"modified"` // of the last change
	Body     string    `json:"body"`
	Starts   time.Time `json:"starts"`
	Ends     time.Time `json:"ends"`
	AllDay   bool      `json:"all_day"`
	Busy     bool      `json:"busy"` // its category is
	Firm     []int64   `json:"firm"` // the elements whose commitments are uncontrolled or confirmed, in order of commitment id
}

// CalendarReply holds the events in order of start, end and id.
type CalendarReply struct {
	Events []CalendarFact `json:"events"`
}

// Calendar returns the events that touch a day of a reach with an uncontrolled or confirmed commitment to its element, each once.
func (e *Events) Calendar(ctx context.Context, q CalendarQuestion) ([]CalendarFact, error) {
	reply, err := read[CalendarQuestion, CalendarReply](ctx, e.peer, CalendarPath, q)
	return reply.Events, err
}
