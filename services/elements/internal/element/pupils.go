package element

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
)

// Pupils returns the current pupils who are one of the elements or a member of one on any of the days, as peopleAndThings finds them, in order of id. One
// read for each level of nesting below the elements, and one of all people and things found.
func (s *Service) Pupils(ctx context.Context, q fact.PupilsQuestion) ([]form.Element, error) {
	days := q.Days
	members, err := peopleAndThings(ctx, s.down(days), q.IDs, days)
	if err != nil {
		return nil, err
	}
	found, err := s.Store.ElementsByID(ctx, distinctIDs(slices.Concat(q.IDs, members)))
	if err != nil {
		return nil, err
	}
	pupils := lists(slices.DeleteFunc(found, func(e Element) bool { return e.EntityType != form.Pupil || !e.Current }))
	slices.SortFunc(pupils, func(a, b form.Element) int { return cmp.Compare(a.ID, b.ID) })
	return pupils, nil
}
