package note

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Delete deletes a note of the viewer's own (contract 4.3, rules 3 and 4). Errors as those of Change.
func (s *Service) Delete(ctx context.Context, v fact.Viewer, id int64, match record.Match) error {
	n, err := s.getVisible(ctx, v, id)
	if err != nil {
		return err
	}
	parent, err := s.parent(ctx, v, n)
	if err == nil && parent.Redacted {
		err = missing(record.ErrNotFound, id)
	}
	if err != nil {
		return err
	}
	if err := n.checkChangeable(v, match); err != nil {
		return err
	}
	return missing(s.Store.Delete(ctx, id, deletableBy(v, match)), id)
}

// deletableBy checks a note right before it is deleted: record.ErrNotFound when the viewer does not own it,
// PreconditionFailed at another version.
func deletableBy(v fact.Viewer, match record.Match) func(*Note) error {
	return func(n *Note) error {
		if !n.OwnedBy(v) {
			return record.ErrNotFound
		}
		return match.Check(n.Version)
	}
}
