package fact

import (
	"encoding/json"
	"time"

	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// EventsStream is the outbox stream of the events service. EventDeleted is the kind of its messages about deleted
// events; the subject of such a message is the event's id.
const (
	EventsStream = "events"
	EventDeleted = "event.deleted"
)

// Event is the summary of an event.
type Event struct {
	form.Event
	Key      string `json:"key,omitempty"`      // of the import; empty when the event was made by hand
	Hidden   bool   `json:"hidden,omitempty"`   // the viewer does not see it: it has its id, Busy and a time long ago
	Redacted bool   `json:"redacted,omitempty"` // the viewer may not see its details or read its notes
}

// SummariesQuestion asks for events by id and by import key.
type SummariesQuestion struct {
	IDs   []int64  `json:"ids,omitempty"`
	Keys  []string `json:"keys,omitempty"`
	Sight *Sight   `json:"sight,omitempty"` // the viewer; events asks for missing surroundings; nil: a service for itself
}

// LivingQuestion asks which of the events exist and are not deleted.
type LivingQuestion struct {
	IDs []int64 `json:"ids"`
}

// Commitment is a commitment with its event. Elements are named by their ids.
type Commitment struct {
	ID        int64           `json:"id"`
	Status    string          `json:"status"`
	ElementID int64           `json:"element_id"`
	Event     json.RawMessage `json:"event"`              // its summary, a form.Event that is passed on as it is
	Involved  []int64         `json:"involved,omitempty"` // the directly committed elements, in order of commitment id
	// Decision is there only where it is asked for, and for the viewer.
	Decision *form.Decision `json:"decision,omitempty"`
}

// CommitmentsQuestion asks for the commitments of the elements reached, to events that touch one of the days of the
// reach.
type CommitmentsQuestion struct {
	Reaches []Reach `json:"reaches"`
	// Involved asks for Commitment.Involved as well.
	Involved bool `json:"involved,omitempty"`
	// Category asks for the category of each event as well.
	Category bool `json:"category,omitempty"`
	// Busy asks whether each event's category is busy.
	Busy bool `json:"busy,omitempty"`
	// Decisions asks who asked for each commitment, and who decided on it, when and why. Administers are those of the
	// elements reached that the viewer decides on.
	Decisions   bool    `json:"decisions,omitempty"`
	Administers []int64 `json:"administers,omitempty"`
	Sight       *Sight  `json:"sight,omitempty"` // the viewer, with its surroundings; nil: a service for itself
}

// Request is a request with its event, without its element.
type Request struct {
	form.Request
	Involved []int64 `json:"involved,omitempty"` // as in Commitment
}

// RequestsQuestion asks for the requests for a resource group by events that touch the days. Its other fields are as in
// CommitmentsQuestion.
type RequestsQuestion struct {
	ElementID   int64         `json:"element_id"`
	Days        wiretime.Days `json:"days"`
	Involved    bool          `json:"involved,omitempty"`
	Category    bool          `json:"category,omitempty"`
	Busy        bool          `json:"busy,omitempty"`
	Decisions   bool          `json:"decisions,omitempty"`
	Administers bool          `json:"administers,omitempty"` // the viewer decides on the group
	Sight       *Sight        `json:"sight,omitempty"`
}

// Busy is a time, perhaps of zero length, during which an event makes an element busy.
type Busy struct {
	ElementID int64     `json:"element_id"`
	Starts    time.Time `json:"starts"`
	Ends      time.Time `json:"ends"`
}

// BusyQuestion asks when the elements reached are busy.
type BusyQuestion struct {
	Reaches []Reach `json:"reaches"`
	// Except is an event whose commitments make no one busy; 0: there is none.
	Except int64 `json:"except,omitempty"`
	// Allocations says that allocations count for events of every category.
	Allocations bool   `json:"allocations,omitempty"`
	Sight       *Sight `json:"sight,omitempty"` // as in CommitmentsQuestion
}

// CalendarEvent is an event as a calendar shows it.
type CalendarEvent struct {
	ID       int64     `json:"id"`
	Version  int64     `json:"version"`  // 1 at first, more after each change
	Modified time.Time `json:"modified"` // of the last change
	Body     string    `json:"body"`
	Starts   time.Time `json:"starts"`
	Ends     time.Time `json:"ends"`
	AllDay   bool      `json:"all_day"`
	Busy     bool      `json:"busy"` // its category is
	// Firm are the elements whose commitments are uncontrolled or confirmed, in order of commitment id.
	Firm []int64 `json:"firm"`
}

// CalendarQuestion asks for the events with uncontrolled or confirmed commitments of the elements reached.
type CalendarQuestion struct {
	Reaches []Reach `json:"reaches"`
	Sight   *Sight  `json:"sight,omitempty"` // as in CommitmentsQuestion
}
