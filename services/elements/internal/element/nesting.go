package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// lookup reads the memberships of one level of nesting: those of the elements as members, or as groups.
type lookup func(ctx context.Context, ids []int64) ([]Membership, error)

// above returns all memberships above the elements, by member. It calls up once for each level of nesting, and never
// twice for an element.
func above(ctx context.Context, up lookup, ids []int64) (map[int64][]Membership, error) {
	memberships := map[int64][]Membership{}
	for _, id := range ids {
		memberships[id] = nil
	}
	for next := ids; len(next) > 0; {
		found, err := up(ctx, next)
		if err != nil {
			return nil, err
		}
		next = nil
		for _, m := range found {
			memberships[m.Member] = append(memberships[m.Member], m)
			if _, asked := memberships[m.Group]; !asked {
				memberships[m.Group] = nil
				next = append(next, m.Group)
			}
		}
	}
	return memberships, nil
}

// groupsOf returns the groups that an element belongs to by the memberships above it, directly or through groups, each
// with those of the days on which it does. Along a chain of groups, these are the days on which every membership of it
// holds; with several chains, the days of any of them. A cycle needs no guard: the sets of days only grow, and a chain
// that returns to a group adds no day.
func groupsOf(memberships map[int64][]Membership, id int64, days wiretime.Days) map[int64][]wiretime.Days {
	reached := map[int64][]wiretime.Days{id: {days}}
	for grown := []int64{id}; len(grown) > 0; {
		var groups []int64 // that have got more days
		for _, member := range grown {
			for _, m := range memberships[member] {
				before := reached[m.Group]
				after := wiretime.MergeDays(slices.Concat(before, wiretime.IntersectDays(reached[member], m.Days)))
				if !slices.Equal(before, after) {
					reached[m.Group] = after
					groups = append(groups, m.Group)
				}
			}
		}
		grown = sequence.Distinct(groups)
	}
	delete(reached, id)
	return reached
}

// peopleAndThings returns the ids of the people and things that are in the groups on any of the days, directly or
// through other groups, each once, in order. For one day the result is exact. For several, members of a nested group
// are included even if the two memberships share no day. It calls down as descend does.
func peopleAndThings(ctx context.Context, down lookup, groups []int64, on wiretime.Days) ([]int64, error) {
	var all []int64
	_, err := descend(ctx, down, groups, on, func(m *Membership) {
		if !m.Nested {
			all = append(all, m.Member)
		}
	})
	return sequence.Distinct(all), err
}

// descend calls each for every membership in the groups that holds on any of the days, directly or through other
// groups, and returns the groups whose members it has looked up. It calls down once for each level of nesting, and
// never twice for a group.
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
