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

// NewNote is a note to be created; the caller has checked that the event exists and that the author may add notes.
// Fields that are nil have the defaults of contract 4.3. Faults are of fields that the caller could not read.
// With any of them the note is not created; the answer has them and the faults of the note's own rules.
type NewNote struct {
	EventID      int64   `json:"event_id"`
	AuthorID     int64   `json:"author_id"`
	Contents     *string `json:"contents,omitempty"`
	VisibleGuest *bool   `json:"visible_guest,omitempty"`
	VisibleStaff *bool   `json:"visible_staff,omitempty"`
	VisiblePupil *bool   `json:"visible_pupil,omitempty"`

	Faults problem.Fields `json:"faults,omitempty"`

	// IdempotencyKey is that of the request; with one, repeated requests create one note.
	IdempotencyKey idempotency.Key `json:"ticket"`
}

// Topic is a subject of the notes that the system writes. An event has at most one such note on each topic.
type Topic string

// Absences is the topic of an event's pupils who are elsewhere.
const Absences Topic = "absences"

// SystemNote is the note that an event should have on a topic.
type SystemNote struct {
	EventID int64 `json:"event_id"`
	// Day is the day on which the event starts; NotedQuestion finds the note by it.
	Day wiretime.Day `json:"day"`
	// Contents is Markdown for staff, with TitleOf where the title of another event is to stand; empty: the event
	// should have no note.
	Contents string `json:"contents,omitempty"`
}

// SystemNotesQuestion asks to make the notes on a topic of these events as given; each event comes once.
type SystemNotesQuestion struct {
	Topic  Topic        `json:"topic"`
	Notes  []SystemNote `json:"notes"`
	DryRun bool         `json:"dry_run,omitempty"` // answer as if, and write nothing
}

// NoteChange says what was done with an event's note on a topic.
type NoteChange string

// The changes.
const (
	NoNote        NoteChange = "" // there was no note and there is none
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
