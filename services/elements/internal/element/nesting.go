package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// lookup reads the memberships of one level of nesting: those of the elements as members, or as groups.
type lookup func(ctx context.Context, ids []int64) ([]Membership, error)

// groupsOf returns the groups that an element belongs to, directly or through groups, each with those of the days on
// which it does. Along a chain of groups, these are the days on which every membership of it holds; by several
// chains, the days of any. It calls up once for each level of nesting, and asks for no element twice. A cycle needs
// no guard: the sets of days only grow, and a chain that returns to a group adds no day to it.
func groupsOf(ctx context.Context, up lookup, id int64, days wiretime.Days) (map[int64][]wiretime.Days, error) {
	reached := map[int64][]wiretime.Days{id: {days}}
	memberships := map[int64][]Membership{} // by member, of those looked up
	for grown := []int64{id}; len(grown) > 0; {
		var ids []int64
		for _, member := range grown {
			if _, fetched := memberships[member]; !fetched {
				memberships[member] = nil
				ids = append(ids, member)
			}
		}
		if len(ids) > 0 {
			found, err := up(ctx, ids)
			if err != nil {
				return nil, err
			}
			for _, m := range found {
				memberships[m.Member] = append(memberships[m.Member], m)
			}
		}
		grown = propagate(reached, memberships, grown)
	}
	delete(reached, id)
	return reached, nil
}

// propagate adds the days of the members to their groups, and returns the groups that got more days, in order of id.
func propagate(reached map[int64][]wiretime.Days, memberships map[int64][]Membership, members []int64) []int64 {
	var grown []int64
	for _, member := range members {
		for _, m := range memberships[member] {
			before := reached[m.Group]
			after := wiretime.MergeDays(slices.Concat(before, wiretime.IntersectDays(reached[member], m.Days)))
			if !slices.Equal(before, after) {
				reached[m.Group] = after
				grown = append(grown, m.Group)
			}
		}
	}
	return distinctIDs(grown)
}

// prefetch reads all memberships above the elements, level by level, and returns a lookup that answers for these
// elements from memory.
func prefetch(ctx context.Context, up lookup, ids []int64) (lookup, error) {
	memberships := map[int64][]Membership{} // by member
	for next := ids; len(next) > 0; {
		for _, member := range next {
			memberships[member] = nil
		}
		found, err := up(ctx, next)
		if err != nil {
			return nil, err
		}
		next = nil
		for _, m := range found {
			memberships[m.Member] = append(memberships[m.Member], m)
			if _, fetched := memberships[m.Group]; !fetched {
				memberships[m.Group] = nil
				next = append(next, m.Group)
			}
		}
	}
	return func(_ context.Context, members []int64) ([]Membership, error) {
		var found []Membership
		for _, member := range members {
			found = append(found, memberships[member]...)
		}
		return found, nil
	}, nil
}

// peopleAndThings returns the ids of the people and things that are in the groups on any of the days, directly or
// through other groups, each once, in order. On one day the result is exact. On several, a member of a nested group
// counts also when the two memberships share no day. It calls down as descend does.
func peopleAndThings(ctx context.Context, down lookup, groups []int64, on wiretime.Days) ([]int64, error) {
	var all []int64
	_, err := descend(ctx, down, groups, on, func(m *Membership) {
		if !m.Nested {
			all = append(all, m.Member)
		}
	})
	return distinctIDs(all), err
}

// descend calls each for every membership in the groups that holds on any of the days, directly or through other
// groups, and returns the groups whose members it has looked up. It calls down once for each level of nesting, and asks
// for no group twice.
func descend(
	ctx context.Context, down lookup, groups []int64, on wiretime.Days, each func(*Membership),
) (asked []int64, err error) {
	seen := map[int64]bool{}
	for _, group := range groups {
		seen[group] = true
	}
	for len(groups) > 0 {
		asked = append(asked, groups...)
		found, err := down(ctx, groups)
		if err != nil {
			return nil, err
		}
		groups = nil
		for i := range found {
			m := &found[i]
			if !slices.ContainsFunc(m.Days, on.Overlaps) {
				continue
			}
			each(m)
			if m.Nested && !seen[m.Member] {
				seen[m.Member] = true
				groups = append(groups, m.Member)
			}
		}
	}
	return asked, nil
}

// distinctIDs returns the ids in order, each once.
func distinctIDs(ids []int64) []int64 {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}
