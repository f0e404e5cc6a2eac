// Package note is the domain of the notes service: what a note is, who sees it and who changes it (contract 2.5, 4.3;
// decisions, part 6), and how notes are imported and deleted with their event.
package note

import (
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// MaxContents bounds the contents of a note in characters (decisions, part 6).
const MaxContents = 65536

// TypeName names notes in answers and in the audit.
const TypeName = "Note"

// Note is a text attached to an event. The tags name its fields in an export and as they are stored.
type Note struct {
	ID         int64  `json:"id" bson:"-"`
	Version    int64  `json:"-" bson:"-"`                         // of the stored record: rises with every change
	Key        string `json:"key,omitempty" bson:"key,omitempty"` // of the import; "" when not imported
	ImportHash string `json:"-" bson:"import_hash,omitempty"`     // of the record that was imported last
	EventID    int64  `json:"event_id" bson:"event_id"`
	OwnerID    int64  `json:"owner_id,omitempty" bson:"owner_id"` // 0: the system's
	// Topic is that of a note of the system, of which an event has at most one on each topic; "" for all others.
	Topic fact.Topic `json:"topic,omitempty" bson:"-"`
	// Day is, with a topic, the day on which the event started when the note was written.
	Day        wiretime.Day `json:"-" bson:"-"`
	Contents   string       `json:"contents" bson:"contents"` // Markdown, at most MaxContents characters
	Visibility `bson:",inline"`

	// HTML is the Contents rendered by a renderer of version Markup.
	HTML   string `json:"-" bson:"html"`
	Markup int    `json:"-" bson:"markup"`

	// IdempotencyKey is that of the request that made the note, as long as it may be repeated.
	IdempotencyKey idempotency.Key `json:"-" bson:"-"`
}

// Visibility says which kinds of user see a note besides its owner and admins.
type Visibility struct {
	Guest bool `json:"visible_guest" bson:"visible_guest"`
	Staff bool `json:"visible_staff" bson:"visible_staff"`
	Pupil bool `json:"visible_pupil" bson:"visible_pupil"`
}

// VisibleTo says whether the viewer sees the note. For others it does not exist.
func (n Note) VisibleTo(v fact.Viewer) bool { return n.Audience().Has(v.UserID, v.Kind, v.Admin) }

// Audience is who sees the note.
func (n Note) Audience() change.Audience {
	return change.Audience{OwnerID: n.OwnerID, Guest: n.Guest, Staff: n.Staff, Pupil: n.Pupil}
}

// OwnedBy says whether the viewer owns the note, and so may change and delete it. No one owns the system's notes.
func (n Note) OwnedBy(v fact.Viewer) bool { return n.OwnerID != 0 && n.OwnerID == v.UserID }

// fresh returns a note of an event with the defaults of contract 4.3.
func fresh(eventID, ownerID int64) Note {
	return Note{EventID: eventID, OwnerID: ownerID, Visibility: Visibility{Staff: true}}
}
