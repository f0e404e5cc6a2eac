package fact

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// EventsStream is the outbox stream of the events service. EventDeleted is the kind of its message that an event is gone: the message's
// subject is the event's id.
const (
	EventsStream = "events"
	EventDeleted = "event.deleted"
)

// Event is an event's summary with the key of the import.
type Event struct {
	form.Event
	Key string `json:"key,omitempty"`
}

// SummariesQuestion asks for events by id and by import key.
type SummariesQuestion struct {
	IDs  []int64  `json:"ids,omitempty"`
	Keys []string `json:"keys,omitempty"`
}

// Commitment is a commitment as events knows it: it names elements by their ids.
type Commitment struct {
	ID        int64      `json:"id"`
	Status    string     `json:"status"`
	ElementID int64      `json:"element_id"`
	Event     form.Event `json:"event"`              // event summary
	Involved  []int64    `json:"involved,omitempty"` // the directly committed elements, in order of commitment id
}

// CommitmentsQuestion asks for the commitments to any of the reached elements of events that touch one of their days.
type CommitmentsQuestion struct {
	Reaches []Reach `json:"reaches"`
	// Involved asks for each event's other committed elements as well.
	Involved bool `json:"involved,omitempty"`
}

// RequestsQuestion asks for the requests for a resource group of events that touch the days.
type RequestsQuestion struct {
	ElementID int64         `json:"element_id"`
	Days      wiretime.Days `json:"days"`
}

// Busy is a span of time, of more than zero length, for which an event takes an element up.
type Busy struct {
	ElementID int64     `json:"element_id"`
	Starts    time.Time `json:"starts"`
	Ends      time.Time `json:"ends"`
}

// BusyQuestion asks when the reached elements are taken up.
type BusyQuestion struct {
	Reaches []Reach `json:"reaches"`
}

// CalendarEvent is an event as a calendar shows it.
type CalendarEvent struct {
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

// CalendarQuestion asks for the events that reached elements are firmly part of.
type CalendarQuestion struct {
	Reaches []Reach `json:"reaches"`
}
