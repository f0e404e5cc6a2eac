package event

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// Notes returns the notes of an event that p may see. One read, then one question to notes.
func (s *Service) Notes(ctx context.Context, p principal.Principal, id int64) ([]form.Note, error) {
	if _, err := s.store.Event(ctx, id); err != nil {
		return nil, err
	}
	return s.notes.OfEvent(ctx, fact.NotesOfEventQuestion{EventID: id, Viewer: fact.ViewerOf(p)})
}

// AddNote makes a note of p's on any event (contract 4.3 rule 1). Forbidden without can_add_notes. An invalid note comes back with its
// errors. One read, then one call of notes.
func (s *Service) AddNote(ctx context.Context, p principal.Principal, note fact.NewNote) (form.Note, error) {
	if !p.Permissions.CanAddNotes {
		return form.Note{}, forbidden()
	}
	if _, err := s.store.Event(ctx, note.EventID); err != nil {
		return form.Note{}, err
	}
	note.AuthorID = p.UserID
	return s.notes.Create(ctx, note)
}
