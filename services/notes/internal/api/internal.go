package api

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web/room"
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

// shortly is how long a listing waits for the room that any may need. Most take it for one read of the store.
const shortly = 25 * time.Millisecond

// list answers neighbour.NotesOfEvent. It takes the room that any listing may need. If large ones leave too little, it
// finds out how much it needs, by one more read.
func (h handlers) list(ctx context.Context, q fact.NotesOfEventQuestion) ([]form.Note, error) {
	hold := room.Of(ctx)
	soon, cancel := context.WithTimeout(ctx, shortly)
	defer cancel()
	if hold.Take(soon, note.MostListed) != nil {
		size, err := h.notes.Listed(ctx, q.EventID)
		if err != nil {
			return nil, err
		}
		if size > room.Small {
			if err := hold.Take(ctx, size); err != nil {
				return nil, err
			}
		}
	}
	notes, err := h.notes.List(ctx, q)
	return sequence.Map(notes, func(n note.View) form.Note { return shape(n, nil) }), err
}

func (h handlers) erase(ctx context.Context, q fact.ErasureQuestion) (fact.ErasureStep, error) {
	parts := []erasure.Part{h.notes.Erase(q.Person), h.audit.Erase(q.Person)}
	next, changed, err := erasure.Step(audit.WithErasure(ctx), parts, q.After)
	return fact.ErasureStep{After: next, Changed: changed}, err
}
