package event

import (
	"context"
	"encoding/json"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Notes returns the notes of an event that p may see, as the notes service shows them: none where p may not know what
// the event is. Missing, also while notes is away. The event is read while notes is asked.
func (s *Service) Notes(ctx context.Context, p principal.Principal, id int64) (json.RawMessage, error) {
	var e Event
	var notes json.RawMessage
	var unanswered error // counts for an event that is there, and of which p may know what it is
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		notes, unanswered = s.o.Notes.OfEvent(gctx, fact.NotesOfEventQuestion{EventID: id, Viewer: fact.ViewerOf(p)})
		return nil
	})
	g.Go(func() (err error) {
		if e, err = s.o.Store.Get(gctx, id); err != nil {
			return record.Missing(err, Record, id)
		}
		return s.redact(gctx, p, slices.Values([]*Event{&e}))
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if e.Redacted {
		return json.RawMessage("[]"), nil
	}
	return notes, unanswered
}

// AddNote makes a note on any event, owned by p (contract 4.3 rule 1). Missing; Forbidden without can_add_notes. An
// invalid note comes back with its errors.
func (s *Service) AddNote(ctx context.Context, p principal.Principal, note fact.NewNote) (form.Note, error) {
	if !p.Permissions.CanAddNotes {
		return form.Note{}, forbidden()
	}
	if _, err := s.o.Store.Get(ctx, note.EventID); err != nil {
		return form.Note{}, record.Missing(err, Record, note.EventID)
	}
	note.AuthorID = p.UserID
	return s.o.Notes.Create(ctx, note)
}

// Redacted returns those of the events, which may be deleted, that even a viewer who sees everything sees redacted and
// without notes. An unknown event counts as redacted.
func (s *Service) Redacted(ctx context.Context, ids []int64, who fact.Sight) (map[int64]bool, error) {
	found, err := s.findEver(ctx, ids)
	if err != nil {
		return nil, err
	}
	l, err := s.lensOf(ctx, Sight{Sight: who}, EachOf(found, Itself))
	redacted := map[int64]bool{}
	for _, id := range ids {
		redacted[id] = !slices.ContainsFunc(found, func(e Event) bool { return e.ID == id && l.tells(&e) })
	}
	return redacted, err
}
