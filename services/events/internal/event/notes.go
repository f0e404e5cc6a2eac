package event

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Notes returns the notes of an event that p may see, as the notes service shows them: none where what the event is, is
// not for p. Missing.
func (s *Service) Notes(ctx context.Context, p principal.Principal, id int64) (json.RawMessage, error) {
	e, err := s.store.Get(ctx, id)
	if err != nil {
		return nil, record.Missing(err, Record, id)
	}
	if err := s.hush(ctx, p, slices.Values([]*Event{&e})); err != nil {
		return nil, err
	}
	if e.Hushed {
		return json.RawMessage("[]"), nil
	}
	return s.notes.OfEvent(ctx, fact.NotesOfEventQuestion{EventID: id, Viewer: fact.ViewerOf(p)})
}

// AddNote makes a note on any event, owned by p (contract 4.3 rule 1). Missing; Forbidden without can_add_notes. An
// invalid note comes back with its errors.
func (s *Service) AddNote(ctx context.Context, p principal.Principal, note fact.NewNote) (form.Note, error) {
	if !p.Permissions.CanAddNotes {
		return form.Note{}, forbidden()
	}
	if _, err := s.store.Get(ctx, note.EventID); err != nil {
		return form.Note{}, record.Missing(err, Record, note.EventID)
	}
	note.AuthorID = p.UserID
	return s.notes.Create(ctx, note)
}

// Hushed returns those of the events whose notes are not for who looks, as what the events are is not.
func (s *Service) Hushed(ctx context.Context, ids []int64, who fact.Sight) (map[int64]bool, error) {
	found, err := s.Summaries(ctx, ids, nil, &who)
	hushed := map[int64]bool{}
	for _, f := range found {
		hushed[f.ID] = f.Hushed
	}
	return hushed, err
}
