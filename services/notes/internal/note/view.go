package note

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// View is a note with what readers see beside it.
type View struct {
	Note
	Owner  *fact.User  // nil: a note of the system
	Parent *fact.Event // nil where the answer has none
}

// view is the note with HTML that this version of the renderer made.
func (s *Service) view(n Note, owner *fact.User, parent *fact.Event) (View, error) {
	if err := s.render(&n); err != nil {
		return View{}, err
	}
	return View{n, owner, parent}, nil
}

// invalid refuses a note as it would have been, without HTML.
func invalid(n Note, owner *fact.User, parent *fact.Event, faults problem.Fields) error {
	n.HTML = ""
	return record.Invalid(View{n, owner, parent}, faults)
}

// render makes the note's HTML, unless this version of the renderer has made it, with the same setting. Notes are
// rendered when they are written, and not when they are read, because a hostile text of the full length takes long.
func (s *Service) render(n *Note) error {
	if n.Markup == s.Markdown.Version() {
		return nil
	}
	html, err := s.Markdown.HTML(n.Contents)
	if err != nil {
		return err
	}
	n.HTML, n.Markup = html, s.Markdown.Version()
	return nil
}

// surroundings returns the owner and the parent of a note. NotFound when the viewer may not know what the event is. It
// inserts the titles of other events into the system's notes. It asks identity and events at the same time.
func (s *Service) surroundings(
	ctx context.Context, v fact.Viewer, n *Note,
) (owner *fact.User, parent *fact.Event, err error) {
	stored, shown := *n, []Note{*n}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		owners, err := s.owners(ctx, []Note{stored})
		owner = owners[stored.OwnerID]
		return err
	})
	group.Go(func() (err error) {
		if parent, err = s.parent(ctx, v, stored); err == nil && parent.Redacted {
			err = missing(record.ErrNotFound, stored.ID)
		}
		return err
	})
	group.Go(func() error { return s.titled(ctx, shown) })
	err = group.Wait()
	*n = shown[0]
	return owner, parent, err
}

// parent returns the summary of a note's event, as the viewer sees it: Busy, long ago, where it is hidden.
// NotFound, of the note, when the event is gone: the note will be deleted too (decisions, part 4).
func (s *Service) parent(ctx context.Context, v fact.Viewer, n Note) (*fact.Event, error) {
	events, err := s.Events.Summaries(ctx, fact.SummariesQuestion{IDs: []int64{n.EventID}, Sight: v.Sight(s.Sights)})
	if err != nil {
		return nil, err
	}
	if len(events) == 0 {
		return nil, missing(record.ErrNotFound, n.ID)
	}
	return &events[0], nil
}

// owners returns the owners of notes by id. Users are never removed, so only 0, the system, is not in it.
func (s *Service) owners(ctx context.Context, notes []Note) (map[int64]*fact.User, error) {
	owners := map[int64]*fact.User{}
	var ids []int64
	for _, n := range notes {
		if _, asked := owners[n.OwnerID]; !asked && n.OwnerID != 0 {
			owners[n.OwnerID] = nil
			ids = append(ids, n.OwnerID)
		}
	}
	users, err := s.Users.Users(ctx, fact.UsersQuestion{IDs: ids})
	for _, u := range users {
		owners[u.ID] = &u
	}
	return owners, err
}
