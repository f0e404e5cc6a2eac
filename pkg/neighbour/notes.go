package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Notes asks the notes service.
type Notes struct{ peer peer }

// NewNotes returns the client for the service whose internal listener is at base.
func NewNotes(t *Transport, base string) *Notes { return &Notes{peer{t, base, "notes"}} }

// Where notes answers the calls below.
const (
	NotesOfEventPath = "/internal/notes/of-event"
	NewNotePath      = "/internal/notes/new"
	SystemNotesPath  = "/internal/notes/system"
	NotedPath        = "/internal/notes/noted"
)

// Viewer is who looks: it decides which notes there are to see (decisions, part 6).
type Viewer struct {
	UserID int64          `json:"user_id"`
	Kind   principal.Kind `json:"kind"`
	Admin  bool           `json:"admin"`
}

// ViewerOf returns the effective user of p as a viewer.
func ViewerOf(p principal.Principal) Viewer {
	return Viewer{UserID: p.UserID, Kind: p.Kind, Admin: p.Permissions.Admin}
}

// NotesOfEventQuestion asks for the notes of an event; the caller has seen that the event exists.
type NotesOfEventQuestion struct {
	EventID int64  `json:"event_id"`
	Viewer  Viewer `json:"viewer"`
}

// NotesReply holds notes without parent, in order of id.
type NotesReply struct {
	Notes []form.Note `json:"notes"`
}

// OfEvent returns the notes of an event that the viewer may see.
func (n *Notes) OfEvent(ctx context.Context, q NotesOfEventQuestion) ([]form.Note, error) {
	reply, err := read[NotesOfEventQuestion, NotesReply](ctx, n.peer, NotesOfEventPath, q)
	return reply.Notes, err
}

// NewNote is a note to be made; the caller has seen that the event exists and that the author may add notes. Fields that are nil take
// the defaults of contract 4.3. Faults are those of fields that the caller could not read: the note is then not made, and comes back
// with them and with what its rules find besides.
type NewNote struct {
	EventID      int64   `json:"event_id"`
	AuthorID     int64   `json:"author_id"`
	Contents     *string `json:"contents,omitempty"`
	VisibleGuest *bool   `json:"visible_guest,omitempty"`
	VisibleStaff *bool   `json:"visible_staff,omitempty"`
	VisiblePupil *bool   `json:"visible_pupil,omitempty"`

	Faults problem.Fields `json:"faults,omitempty"`

	// Ticket is that of the request; with one, a note is made once however often it is asked for.
	Ticket idempotency.Ticket `json:"ticket,omitzero"`
}

// NoteReply holds the note that was made, without parent; or, when it is invalid and was not made, the note with id null, valid false
// and its errors.
type NoteReply struct {
	Note form.Note `json:"note"`
}

// Create makes a note.
func (n *Notes) Create(ctx context.Context, q NewNote) (form.Note, error) {
	reply, err := write[NewNote, NoteReply](ctx, n.peer, NewNotePath, q)
	return reply.Note, err
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

// SystemNotesQuestion asks for the notes on a topic of these events to become what is given; each event comes once.
type SystemNotesQuestion struct {
	Topic  Topic        `json:"topic"`
	Notes  []SystemNote `json:"notes"`
	DryRun bool         `json:"dry_run,omitempty"` // answer as if, and write nothing
}

// NoteChange is what became of an event's note on a topic.
type NoteChange string

// The changes.
const (
	NoNote        NoteChange = "" // there was none and there is none
	NoteCreated   NoteChange = "created"
	NoteUpdated   NoteChange = "updated"
	NoteUnchanged NoteChange = "unchanged" // not touched: what it says and its day are the same
	NoteRemoved   NoteChange = "removed"
)

// SystemNotesReply holds the changes in the order of the question's notes.
type SystemNotesReply struct {
	Changes []NoteChange `json:"changes"`
}

// KeepSystemNotes makes the notes on a topic of events what is given, each as a whole. Asking again is harmless, and so is asking at the same time: there
// never are two notes of an event.
func (n *Notes) KeepSystemNotes(ctx context.Context, q SystemNotesQuestion) ([]NoteChange, error) {
	if len(q.Notes) == 0 {
		return nil, nil
	}
	reply, err := read[SystemNotesQuestion, SystemNotesReply](ctx, n.peer, SystemNotesPath, q)
	return reply.Changes, err
}

// NotedQuestion asks which events have a note on a topic that was written when they started on one of the days.
type NotedQuestion struct {
	Topic Topic `json:"topic"`
	Days  Days  `json:"days"`
}

// NotedReply holds the events' ids in no order.
type NotedReply struct {
	EventIDs []int64 `json:"event_ids"`
}

// Noted returns the events that have a note on a topic by the day that the note was written for.
func (n *Notes) Noted(ctx context.Context, q NotedQuestion) ([]int64, error) {
	reply, err := read[NotedQuestion, NotedReply](ctx, n.peer, NotedPath, q)
	return reply.EventIDs, err
}
