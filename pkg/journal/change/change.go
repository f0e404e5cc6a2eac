// Package change records that a record was created, changed or deleted, for the list of changes. It is plain data: an
// [Item] is stored inside the document whose change it describes, in the same atomic write. Package changelog moves it
// from there to the service's log of changes.
package change

import (
	"fmt"
	"time"

	"github.com/belfry-schools/belfry/pkg/principal"
)

// Kind is the type of a record, as clients see it.
type Kind string

// The kinds. An event's commitments and requests are part of it.
const (
	Event      Kind = "Event"
	Note       Kind = "Note"
	Element    Kind = "Element"
	Membership Kind = "Membership"
)

// What says what was done to a record.
type What string

// What may be done.
const (
	Created What = "created"
	Changed What = "changed"
	Deleted What = "deleted"
)

// Item is one change of one record.
type Item struct {
	ID      string    `bson:"id" json:"id"` // of the record at that version: unique
	Kind    Kind      `bson:"kind" json:"kind"`
	Record  int64     `bson:"record" json:"record"` // the record's id
	Version int64     `bson:"version" json:"version"`
	What    What      `bson:"what" json:"what"`
	At      time.Time `bson:"at" json:"at"` // UTC, to the millisecond

	EventID  int64 `bson:"event,omitempty" json:"event,omitempty"`   // of a note
	GroupID  int64 `bson:"group,omitempty" json:"group,omitempty"`   // of a membership
	MemberID int64 `bson:"member,omitempty" json:"member,omitempty"` // of a membership

	// Before and After are the audiences of a note before and after; nil: it did not exist, or this is not a note.
	Before *Audience `bson:"before,omitempty" json:"before,omitempty"`
	After  *Audience `bson:"after,omitempty" json:"after,omitempty"`
}

// Of completes an item, whose kind is set, for a change that made that version of a record.
func (i Item) Of(record, version int64, what What) Item {
	i.ID = fmt.Sprintf("%s:%d:%d", i.Kind, record, version)
	i.Record, i.Version, i.What = record, version, what
	i.At = time.Now().UTC().Truncate(time.Millisecond)
	return i
}

// Audience says who sees a note (decisions, part 6).
type Audience struct {
	OwnerID int64 `bson:"owner,omitempty" json:"owner,omitempty"` // 0: the system
	Guest   bool  `bson:"guest,omitempty" json:"guest,omitempty"`
	Staff   bool  `bson:"staff,omitempty" json:"staff,omitempty"`
	Pupil   bool  `bson:"pupil,omitempty" json:"pupil,omitempty"`
}

// Has says whether a user is in the audience: admins, the owner, and users of a kind that sees the note.
func (a Audience) Has(userID int64, kind principal.Kind, admin bool) bool {
	switch {
	case admin, a.OwnerID != 0 && a.OwnerID == userID:
		return true
	case kind == principal.Guest:
		return a.Guest
	case kind == principal.Staff:
		return a.Staff
	case kind == principal.Pupil:
		return a.Pupil
	}
	return false
}

// Position is a place in a service's log: after a number of changes of one of its pages. The zero Position is invalid.
type Position struct {
	Page int64 `json:"page"`
	// Mark is a random number drawn when the page was made: pages of a log that was set back and has grown again have
	// others.
	Mark uint32 `json:"mark"`
	Read int    `json:"read"`
}

// Page is a page of a log, or its end.
type Page struct {
	Number  int64  `json:"number"`
	Mark    uint32 `json:"mark"`
	Skipped int    `json:"skipped,omitempty"` // how many of its changes come before those below
	Changes []Item `json:"changes"`
}

// After is the position after that many of the page's changes.
func (p Page) After(n int) Position { return Position{p.Number, p.Mark, p.Skipped + n} }

// Part is a part of a log.
type Part struct {
	Pages []Page `json:"pages"`
	More  bool   `json:"more"` // there is more after them
	// Waits says that acknowledged changes are not in the log yet. Then there is More, and Now is not the end.
	Waits bool `json:"waits,omitempty"`
	// Gone says that the position is before the oldest kept change, or of a log that was set back.
	Gone bool     `json:"gone,omitempty"`
	Now  Position `json:"now"` // when none was asked for: the end
}
