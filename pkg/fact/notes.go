package fact

import (
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// NotesOfEventQuestion asks for the notes of an event; the caller has seen that the event exists.
type NotesOfEventQuestion struct {
	EventID int64  `json:"event_id"`
	Viewer  Viewer `json:"viewer"`
}

// NewNote is a note to be made; the caller has seen that the event exists and that the author may add notes. Fields
// that are nil take the defaults of contract 4.3. Faults are those of fields that the caller could not read: the note
// is then not made, and comes back with them and with what its rules find besides.
type NewNote struct {
	EventID      int64   `json:"event_id"`
	AuthorID     int64   `json:"author_id"`
	Contents     *string `json:"contents,omitempty"`
	VisibleGuest *bool   `json:"visible_guest,omitempty"`
	VisibleStaff *bool   `json:"visible_staff,omitempty"`
	VisiblePupil *bool   `json:"visible_pupil,omitempty"`

	Faults problem.Fields `json:"faults,omitempty"`

	// IdempotencyKey is that of the request; with one, a note is made once however often it is asked for.
	IdempotencyKey idempotency.Key `json:"ticket,omitzero"`
}

// Topic is what the system itself writes notes about. An event has one such note at most on each topic.
type Topic string

// Absences is the topic of the pupils of an event who are elsewhere.
const Absences Topic = "absences"

// SystemNote is what there is to be said about an event on a topic.
type SystemNote struct {
	EventID int64 `json:"event_id"`
	// Day is the one on which the event starts, by which NotedQuestion finds the note.
	Day wiretime.Day `json:"day"`
	// Contents is Markdown for staff to read; empty: there is to be no note.
	Contents string `json:"contents,omitempty"`
}

// SystemNotesQuestion asks that the notes on a topic of these events are as given; each event comes once.
type SystemNotesQuestion struct {
	Topic  Topic        `json:"topic"`
	Notes  []SystemNote `json:"notes"`
	DryRun bool         `json:"dry_run,omitempty"` // answer as if, and write nothing
}

// NoteChange is what was done with an event's note on a topic.
type NoteChange string

// The changes.
const (
	NoNote        NoteChange = "" // there was none and there is none
	NoteCreated   NoteChange = "created"
	NoteUpdated   NoteChange = "updated"
	NoteUnchanged NoteChange = "unchanged" // not touched: what it says and its day are the same
	NoteRemoved   NoteChange = "removed"
)

// NotedQuestion asks which events have a note on a topic that was written when they started on one of the days.
type NotedQuestion struct {
	Topic Topic         `json:"topic"`
	Days  wiretime.Days `json:"days"`
}
