package api

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// create answers neighbour.NewNote. An invalid note is an answer too: events shows it to the client.
func (h handlers) create(ctx context.Context, q fact.NewNote) (form.Note, error) {
	n, err := h.notes.Create(ctx, q)
	if invalid, ok := errors.AsType[*record.InvalidError[note.View]](err); ok {
		return shape(invalid.Record, invalid.Faults), nil
	}
	return shape(n, nil), err
}

// list answers neighbour.NotesOfEvent.
func (h handlers) list(ctx context.Context, q fact.NotesOfEventQuestion) ([]form.Note, error) {
	notes, err := h.notes.List(ctx, q)
	shown := make([]form.Note, len(notes))
	for i, n := range notes {
		shown[i] = shape(n, nil)
	}
	return shown, err
}
