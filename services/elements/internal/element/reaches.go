package element

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Reaches returns whose commitments count for the existing elements, in the order of the question. It records the
// viewer's read, if there is a viewer.
func (s *Service) Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error) {
	elements, err := s.find(ctx, q.IDs)
	if err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(slices.Clone(q.IDs), func(id int64) bool { return elements[id] == nil })
	reaches, err := s.reaches(ctx, ids, q.Days)
	if err != nil {
		return nil, err
	}
	var hidden map[int64]bool
	if q.Onlooker != nil {
		asked := sequence.Map(ids, func(id int64) Element { return *elements[id] })
		if hidden, err = s.elsewhere(ctx, q.Viewer(), asked...); err != nil {
			return nil, err
		}
	}
	all := make([]fact.ElementReaches, len(ids))
	for n, id := range ids {
		if hidden[id] {
			all[n] = fact.ElementReaches{ElementID: id, Hidden: true}
			continue
		}
		if q.Onlooker != nil {
			s.recordRead(ctx, *q.Onlooker, audit.ReadEvents, *elements[id])
		}
		all[n] = fact.ElementReaches{ElementID: id, Reaches: reaches[n]}
	}
	return all, nil
}

// reaches returns for each of the elements whose commitments count for it: first itself, on all the days, then its
// groups in order of id, each on the days on which the element belongs to it.
func (s *Service) reaches(ctx context.Context, ids []int64, days wiretime.Days) ([][]fact.Reach, error) {
	if len(ids) != 1 {
		return reachesOf(ctx, s.upward(days), ids, days)
	}
	always, err := s.Memberships.Reaches(ctx, ids[0], func(ctx context.Context) ([]fact.Reach, error) {
		all, err := reachesOf(ctx, s.upward(allDays), ids, allDays)
		return all[0], err
	})
	return [][]fact.Reach{during(always, days)}, err
}

// reachesOf is reaches by the memberships that up looks up.
func reachesOf(ctx context.Context, up lookup, ids []int64, days wiretime.Days) ([][]fact.Reach, error) {
	memberships, err := above(ctx, up, ids)
	return sequence.Map(ids, func(id int64) []fact.Reach {
		reaches := []fact.Reach{{ElementID: id, Days: []wiretime.Days{days}}}
		for group, held := range groupsOf(memberships, id, days) {
			reaches = append(reaches, fact.Reach{ElementID: group, Days: held})
		}
		slices.SortFunc(reaches[1:], func(a, b fact.Reach) int { return cmp.Compare(a.ElementID, b.ElementID) })
		return reaches
	}), err
}

// during limits the reaches to the days.
func during(reaches []fact.Reach, days wiretime.Days) []fact.Reach {
	var some []fact.Reach
	for _, r := range reaches {
		if r.Days = wiretime.IntersectDays(r.Days, []wiretime.Days{days}); len(r.Days) > 0 {
			some = append(some, r)
		}
	}
	return some
}

// union returns reaches that cover everything that any of the lists covers, each element once.
func union(lists [][]fact.Reach) []fact.Reach {
	var all []fact.Reach
	days := map[int64][]wiretime.Days{}
	for _, r := range slices.Concat(lists...) {
		if _, seen := days[r.ElementID]; !seen {
			all = append(all, fact.Reach{ElementID: r.ElementID})
		}
		days[r.ElementID] = append(days[r.ElementID], r.Days...)
	}
	for i := range all {
		all[i].Days = wiretime.MergeDays(days[all[i].ElementID])
	}
	return all
}
