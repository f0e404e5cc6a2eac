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

// Note is a text attached to an event.
type Note struct {
	ID       int64
	Version  int64 // of the stored record: rises with every change
	EventID  int64
	OwnerID  int64  // 0: the system's
	Contents string // Markdown, at most MaxContents characters
	Visible  Visibility

	// HTML is what a renderer of version Markup made of Contents.
	HTML   string
	Markup int

	Key        string // of the import; "" when not imported
	ImportHash string // of the record that was imported last

	IdempotencyKey idempotency.Key // of the request that made it, as long as that may be repeated

	Topic fact.Topic   // of the system's own notes, of which an event has one at most on each topic; "" for all others
	Day   wiretime.Day // with a topic: on which the event started when this was written
}

// Visibility says which kinds of user see a note besides its owner and admins.
type Visibility struct{ Guest, Staff, Pupil bool }

// VisibleTo says whether the viewer sees the note. For others it does not exist.
func (n Note) VisibleTo(v fact.Viewer) bool { return n.Audience().Has(v.UserID, v.Kind, v.Admin) }

// Audience is who sees the note.
func (n Note) Audience() change.Audience {
	return change.Audience{
		OwnerID: n.OwnerID, Guest: n.Visible.Guest, Staff: n.Visible.Staff, Pupil: n.Visible.Pupil,
	}
}

// OwnedBy says whether the viewer owns the note, and so may change and delete it. Nobody owns the system's notes.
func (n Note) OwnedBy(v fact.Viewer) bool { return n.OwnerID != 0 && n.OwnerID == v.UserID }

// fresh returns a note of an event with the defaults of contract 4.3.
func fresh(eventID, ownerID int64) Note {
	return Note{EventID: eventID, OwnerID: ownerID, Visible: Visibility{Staff: true}}
}
