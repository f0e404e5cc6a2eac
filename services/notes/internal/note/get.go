package note

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Get returns a note with its parent (contract 4.3). NotFound when there is none, the viewer does not see it, or its
// event is gone.
func (s *Service) Get(ctx context.Context, v fact.Viewer, id int64) (View, error) {
	n, err := s.read(ctx, v, id)
	if err != nil {
		return View{}, err
	}
	return s.view(n.Note, n.Owner, n.Parent)
}

// read is Get with the HTML as it is stored.
func (s *Service) read(ctx context.Context, v fact.Viewer, id int64) (View, error) {
	n, err := s.getVisible(ctx, v, id)
	if err != nil {
		return View{}, err
	}
	owner, parent, err := s.surroundings(ctx, v, &n)
	return View{n, owner, parent}, err
}

// List returns the notes of an event that the viewer sees, without parent, as they were written. The caller has checked
// that the event exists.
func (s *Service) List(ctx context.Context, q fact.NotesOfEventQuestion) ([]View, error) {
	notes, err := s.Store.List(ctx, q.EventID)
	if err != nil {
		return nil, err
	}
	var visible []Note
	for _, n := range notes {
		if n.VisibleTo(q.Viewer) {
			visible = append(visible, n)
		}
	}
	shown := slices.Clone(visible)
	var owners map[int64]*fact.User
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		owners, err = s.owners(gctx, visible)
		return err
	})
	group.Go(func() error { return s.titled(gctx, shown) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	views := make([]View, len(shown))
	for i, n := range shown {
		if views[i], err = s.view(n, owners[n.OwnerID], nil); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// MaxEvents bounds the events of one call of EventsWithNotes.
const MaxEvents = 200

// EventsWithNotes returns those of the events, in order, for which List has notes that the viewer sees: no deleted
// ones, and none that the viewer may not know.
func (s *Service) EventsWithNotes(ctx context.Context, v fact.Viewer, ids []int64) ([]int64, error) {
	noted, err := s.Store.FindRead(ctx, ids, v)
	if err != nil || len(noted) == 0 {
		return nil, err
	}
	events, err := s.Events.Summaries(ctx, fact.SummariesQuestion{IDs: noted, Sight: v.Sight(s.Sights)})
	shown := map[int64]bool{}
	for _, e := range events {
		shown[*e.ID] = !e.Redacted
	}
	return slices.DeleteFunc(noted, func(id int64) bool { return !shown[id] }), err
}

// Upper bounds of the parts of a listing besides the texts of notes, in bytes.
const (
	listedWith = 4 << 10 // each note: its id, its flags and its owner
	MostListed = 8 << 20
)

// Listed returns an upper bound of the bytes of the listing of an event's notes, without reading them.
func (s *Service) Listed(ctx context.Context, eventID int64) (int64, error) {
	total, err := s.Store.Total(ctx, eventID)
	if errors.Is(err, record.ErrNotFound) {
		return MostListed, nil
	}
	return int64(total.Shown + (total.Notes+1)*listedWith), err
}

// getVisible returns a note that the viewer sees. For others it does not exist.
func (s *Service) getVisible(ctx context.Context, v fact.Viewer, id int64) (Note, error) {
	n, err := s.Store.Get(ctx, id)
	if err == nil && !n.VisibleTo(v) {
		err = record.ErrNotFound
	}
	if err != nil {
		return Note{}, missing(err, id)
	}
	return n, nil
}
