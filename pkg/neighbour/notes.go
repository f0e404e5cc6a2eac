package neighbour

import (
	"context"
	"encoding/json"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// maxNotes bounds a question that has notes. JSON may write a character in six bytes or twelve, and contents that are
// too long must arrive to be refused with the note's faults.
const maxNotes = 4 << 20

// What notes answers.
var (
	NotesOfEvent = Question[fact.NotesOfEventQuestion, []form.Note]{
		Path: "/internal/notes/of-event", Field: "notes", Large: true,
	}
	NewNote = Question[fact.NewNote, form.Note]{
		Path: "/internal/notes/new", Field: "note", Writes: true, MaxBody: maxNotes,
	}
	SystemNotes = Question[fact.SystemNotesQuestion, []fact.NoteChange]{
		Path: "/internal/notes/system", Field: "changes", MaxBody: maxNotes,
		Nothing: func(q fact.SystemNotesQuestion) bool { return len(q.Notes) == 0 },
	}
	Noted      = Question[fact.NotedQuestion, []int64]{Path: "/internal/notes/noted", Field: "event_ids"}
	EraseNotes = erasureQuestion("/internal/erase/notes")
)

// Notes asks the notes service.
type Notes struct{ peer *peer }

// NewNotes returns the client of the service whose internal listener is at base.
func NewNotes(t *Transport, base string) *Notes { return &Notes{t.peer("notes", base)} }

// encodedNotes is NotesOfEvent whose answer is not decoded.
var encodedNotes = Question[fact.NotesOfEventQuestion, json.RawMessage]{
	Path: NotesOfEvent.Path, Field: NotesOfEvent.Field,
}

// OfEvent returns the notes of an event that the viewer may see, without parent, as they were written: the JSON of an
// array of form.Note, which may have megabytes and is passed on as it is.
func (n *Notes) OfEvent(ctx context.Context, q fact.NotesOfEventQuestion) (json.RawMessage, error) {
	return ask(ctx, n.peer, encodedNotes, q)
}

// Create creates a note and returns it without parent. An invalid one is not created: it comes back with id null,
// valid false and its errors.
func (n *Notes) Create(ctx context.Context, q fact.NewNote) (form.Note, error) {
	return ask(ctx, n.peer, NewNote, q)
}

// KeepSystemNotes makes the notes of events on a topic as given, each as a whole, and returns the changes in the
// order of the question's notes. It may be repeated, or called twice at once: an event never gets two notes. So it is
// sent again when there is no answer.
func (n *Notes) KeepSystemNotes(ctx context.Context, q fact.SystemNotesQuestion) ([]fact.NoteChange, error) {
	return ask(ctx, n.peer, SystemNotes, q)
}

// Noted returns the ids, in no order, of the events that have a note on a topic, by the day that the note was written
// for.
func (n *Notes) Noted(ctx context.Context, q fact.NotedQuestion) ([]int64, error) {
	return ask(ctx, n.peer, Noted, q)
}

// Erase does the next step of an erasure. It may be repeated.
func (n *Notes) Erase(ctx context.Context, q fact.ErasureQuestion) (fact.ErasureStep, error) {
	return ask(ctx, n.peer, EraseNotes, q)
}
