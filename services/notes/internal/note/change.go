package note

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Change edits a note of the viewer's own and returns it with its parent (contract 4.3, rules 2 and 3). NotFound as
// Get; Forbidden to all but the owner; PreconditionFailed at another version; a record.InvalidError of the View.
func (s *Service) Change(ctx context.Context, v fact.Viewer, id int64, e Edit, match record.Match) (View, error) {
	read, err := s.read(ctx, v, id)
	if err != nil {
		return View{}, err
	}
	n, owner, parent := read.Note, read.Owner, read.Parent
	if err := n.checkChangeable(v, match); err != nil {
		return View{}, err
	}
	if faults := e.check(); len(faults) > 0 {
		e.apply(&n)
		return View{}, invalid(n, owner, parent, faults)
	}
	changed, err := s.edit(ctx, v, n, e, match)
	if errors.Is(err, ErrFull) {
		e.apply(&n)
		return View{}, invalid(n, owner, parent, tooMuch())
	}
	if err != nil {
		return View{}, missing(err, id)
	}
	return s.view(changed, owner, parent)
}

// edit stores an edit of a note that was read. The contents are rendered once, however many writers compete.
func (s *Service) edit(ctx context.Context, v fact.Viewer, n Note, e Edit, match record.Match) (Note, error) {
	var rendered Note
	if e.Contents != nil {
		rendered.Contents = *e.Contents
		if err := s.render(&rendered); err != nil {
			return Note{}, err
		}
	}
	return s.change(ctx, n, func(n *Note) error {
		if err := n.checkChangeable(v, match); err != nil {
			return err
		}
		before := *n
		if e.Contents != nil && *e.Contents != n.Contents {
			n.HTML, n.Markup = rendered.HTML, rendered.Markup
		}
		e.apply(n)
		if err := s.render(n); err != nil || *n != before {
			return err
		}
		return record.ErrUnchanged
	})
}

// checkChangeable returns Forbidden to all but the owner, and PreconditionFailed at another version.
func (n Note) checkChangeable(v fact.Viewer, match record.Match) error {
	if !n.OwnedBy(v) {
		return problem.New(problem.Forbidden, "")
	}
	return match.Check(n.Version)
}
