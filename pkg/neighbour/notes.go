package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
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

// NotesReply holds notes without parent, in order of id.
type NotesReply struct {
	Notes []form.Note `json:"notes"`
}

// OfEvent returns the notes of an event that the viewer may see.
func (n *Notes) OfEvent(ctx context.Context, q fact.NotesOfEventQuestion) ([]form.Note, error) {
	reply, err := read[fact.NotesOfEventQuestion, NotesReply](ctx, n.peer, NotesOfEventPath, q)
	return reply.Notes, err
}

// NoteReply holds the note that was made, without parent; or, when it is invalid and was not made, the note with id null, valid false
// and its errors.
type NoteReply struct {
	Note form.Note `json:"note"`
}

// Create makes a note.
func (n *Notes) Create(ctx context.Context, q fact.NewNote) (form.Note, error) {
	reply, err := write[fact.NewNote, NoteReply](ctx, n.peer, NewNotePath, q)
	return reply.Note, err
}

// SystemNotesReply holds the changes in the order of the question's notes.
type SystemNotesReply struct {
	Changes []fact.NoteChange `json:"changes"`
}

// KeepSystemNotes makes the notes on a topic of events what is given, each as a whole. Asking again is harmless, and so is asking at the same time: there
// never are two notes of an event.
func (n *Notes) KeepSystemNotes(ctx context.Context, q fact.SystemNotesQuestion) ([]fact.NoteChange, error) {
	if len(q.Notes) == 0 {
		return nil, nil
	}
	reply, err := read[fact.SystemNotesQuestion, SystemNotesReply](ctx, n.peer, SystemNotesPath, q)
	return reply.Changes, err
}

// NotedReply holds the events' ids in no order.
type NotedReply struct {
	EventIDs []int64 `json:"event_ids"`
}

// Noted returns the events that have a note on a topic by the day that the note was written for.
func (n *Notes) Noted(ctx context.Context, q fact.NotedQuestion) ([]int64, error) {
	reply, err := read[fact.NotedQuestion, NotedReply](ctx, n.peer, NotedPath, q)
	return reply.EventIDs, err
}
