package note

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Change edits a note of the viewer's own and returns it with its parent (contract 4.3, rules 2 and 3). NotFound as
// Get; Forbidden to all but the owner; PreconditionFailed at another version; a record.InvalidError of the note as
// the API shows it.
func (s *Service) Change(ctx context.Context, v fact.Viewer, id int64, e Edit, match record.Match) (View, error) {
	n, err := s.getVisible(ctx, v, id)
	if err != nil {
		return View{}, err
	}
	owner, parent, err := s.surroundings(ctx, n)
	if err != nil {
		return View{}, err
	}
	if err := n.checkChangeable(v, match); err != nil {
		return View{}, err
	}
	if faults := e.apply(&n); len(faults) > 0 {
		return View{}, record.Invalid(invalidForm(n, owner, parent, faults), faults)
	}
	n, err = s.store.Change(ctx, id, func(n *Note) error {
		if err := n.checkChangeable(v, match); err != nil {
			return err
		}
		if e.Contents != nil && *e.Contents != n.Contents {
			n.Markup = 0
		}
		e.apply(n)
		return s.render(n)
	})
	if err != nil {
		return View{}, missing(err, id)
	}
	return s.view(n, owner, parent)
}

// checkChangeable returns Forbidden to all but the owner, and PreconditionFailed at another version.
func (n Note) checkChangeable(v fact.Viewer, match record.Match) error {
	if !n.OwnedBy(v) {
		return problem.New(problem.Forbidden, "")
	}
	return match.Check(n.Version)
}
