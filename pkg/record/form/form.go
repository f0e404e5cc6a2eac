// Package form holds the JSON shapes of the contract's part 2 that more than one service writes. The keys are in the
// order of the fields: that of the tables in part 2, then valid, then errors.
package form

import "github.com/belfry-schools/belfry/pkg/problem"

// Entity types of elements (contract 2.1, decisions part 3).
const (
	Staff    = "Staff"
	Pupil    = "Pupil"
	Location = "Location"
	Group    = "Group"
	Property = "Property"
	Service  = "Service"
	Subject  = "Subject"
)

// Element is the list form of an element (contract 2.1).
type Element struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	EntityType string `json:"entity_type"`
	EntityID   int64  `json:"entity_id"`
	Valid      bool   `json:"valid"`
}

// User is the list form of a user (contract 2.6).
type User struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	Valid bool   `json:"valid"`
}

// Category is the list form of an event category (contract 2.7).
type Category struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Valid bool   `json:"valid"`
}

// Decision is who asked for a commitment or a request, and who decided on it, when and why. Nil (null): no one, not
// yet, or not for the viewer to know. Deciders will decide on a pending entry; only in answers about one event.
type Decision struct {
	AskedBy   *User   `json:"asked_by"`
	DecidedBy *User   `json:"decided_by"`
	DecidedAt *string `json:"decided_at"` // as the times of events
	Reason    *string `json:"reason"`
	Deciders  []User  `json:"deciders,omitempty"`
}

// Commitment is every form of a commitment (contract 2.2).
type Commitment struct {
	ID      *int64         `json:"id"` // nil (null): never stored
	Status  string         `json:"status"`
	Element *Element       `json:"element,omitempty"`
	Event   *Event         `json:"event,omitempty"`
	Valid   bool           `json:"valid"`
	Errors  problem.Fields `json:"errors,omitempty"`
	// Decision is there only where it is asked for.
	Decision *Decision `json:"decision,omitempty"`
}

// Request is every form of a request (contract 2.4).
type Request struct {
	ID           *int64         `json:"id"` // nil (null): never stored
	Quantity     int            `json:"quantity"`
	NumAllocated int            `json:"num_allocated"`
	Element      *Element       `json:"element,omitempty"`
	Event        *Event         `json:"event,omitempty"`
	Valid        bool           `json:"valid"`
	Errors       problem.Fields `json:"errors,omitempty"`
	Decision     *Decision      `json:"decision,omitempty"` // only where it is asked for
}

// Note is every form of a note (contract 2.5). Owner is always written; it is null for a note of the system.
type Note struct {
	ID                *int64         `json:"id"` // nil (null): never stored
	Contents          string         `json:"contents"`
	VisibleGuest      bool           `json:"visible_guest"`
	VisibleStaff      bool           `json:"visible_staff"`
	VisiblePupil      bool           `json:"visible_pupil"`
	FormattedContents string         `json:"formatted_contents"`
	Owner             *User          `json:"owner"`
	Parent            *Event         `json:"parent,omitempty"`
	Valid             bool           `json:"valid"`
	Errors            problem.Fields `json:"errors,omitempty"`
}

// OrNull returns a pointer to a value, and nil, which is null in JSON, for the zero value.
func OrNull[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// Set sets a field to the value of a pointer; nil leaves it as it is.
func Set[T any](field, given *T) {
	if given != nil {
		*field = *given
	}
}

// OrZero returns the value of a pointer, or the zero value for nil.
func OrZero[T any](given *T) (value T) {
	if given != nil {
		value = *given
	}
	return value
}
