package element

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Membership is one group's one member, with all the days on which it is one. There is at most one for a pair.
type Membership struct {
	ID      int64 `bson:"-"`
	Version int64 `bson:"-"` // that it was read at; guards its replacement

	Group      int64           `bson:"group"`
	Member     int64           `bson:"member"`
	Nested     bool            `bson:"nested"` // the member is a group
	Days       []wiretime.Days `bson:"spans"`  // merged; empty once the membership was taken back altogether
	ImportHash string          `bson:"import_hash,omitempty"`
	// Sources are the days that an import told each with its source; nil when it did not. Days are theirs merged.
	Sources []Sourced `bson:"sources,omitempty"`
}

// level reads the memberships of one level of nesting: those of the elements as members, or as groups.
type level func(ctx context.Context, of []int64) ([]Membership, error)

// groupsOf returns the groups that an element belongs to, directly or through groups, with those of the days on which it does:
// along a chain of groups, those on which every link of it holds; by several chains, those of any. It asks up once for each level of
// nesting, for elements it has not asked for before, and needs no guard against cycles: the sets of days only grow, and a chain that
// returns to a group adds no day to it.
func groupsOf(ctx context.Context, up level, id int64, days wiretime.Days) (map[int64][]wiretime.Days, error) {
	reached := map[int64][]wiretime.Days{id: {days}}
	groups := map[int64][]Membership{} // by member, as far as asked
	for grown := []int64{id}; len(grown) > 0; {
		var unknown []int64
		for _, member := range grown {
			if _, asked := groups[member]; !asked {
				groups[member] = nil
				unknown = append(unknown, member)
			}
		}
		if len(unknown) > 0 {
			found, err := up(ctx, unknown)
			if err != nil {
				return nil, err
			}
			for _, m := range found {
				groups[m.Member] = append(groups[m.Member], m)
			}
		}
		grown = spread(reached, groups, grown)
	}
	delete(reached, id)
	return reached, nil
}

// gather asks up once for each level of nesting above all of the elements together, and returns a level that answers for them from memory.
func gather(ctx context.Context, up level, ids []int64) (level, error) {
	groups := map[int64][]Membership{} // by member
	for next := ids; len(next) > 0; {
		for _, member := range next {
			groups[member] = nil
		}
		found, err := up(ctx, next)
		if err != nil {
			return nil, err
		}
		next = nil
		for _, m := range found {
			groups[m.Member] = append(groups[m.Member], m)
			if _, asked := groups[m.Group]; !asked {
				groups[m.Group] = nil
				next = append(next, m.Group)
			}
		}
	}
	return func(_ context.Context, members []int64) ([]Membership, error) {
		var found []Membership
		for _, member := range members {
			found = append(found, groups[member]...)
		}
		return found, nil
	}, nil
}

// spread hands the days of the members on to their groups, and returns the groups that gained some, in order of id.
func spread(reached map[int64][]wiretime.Days, groups map[int64][]Membership, members []int64) []int64 {
	var grown []int64
	for _, member := range members {
		for _, m := range groups[member] {
			before := reached[m.Group]
			after := wiretime.MergeDays(slices.Concat(before, wiretime.IntersectDays(reached[member], m.Days)))
			if !slices.Equal(before, after) {
				reached[m.Group] = after
				grown = append(grown, m.Group)
			}
		}
	}
	slices.Sort(grown)
	return slices.Compact(grown)
}

// peopleAndThings returns the members that groups have on any of the days, nested groups resolved, each once, in order of id. On one day they are exact; on
// several a member of a nested group counts also when no single day holds both memberships. It asks down once for each level of nesting, and never
// twice for a group.
func peopleAndThings(ctx context.Context, down level, groups []int64, on wiretime.Days) ([]int64, error) {
	opened := map[int64]bool{}
	for _, group := range groups {
		opened[group] = true
	}
	var all []int64
	for len(groups) > 0 {
		found, err := down(ctx, groups)
		if err != nil {
			return nil, err
		}
		groups = nil
		for _, m := range found {
			switch {
			case len(wiretime.IntersectDays(m.Days, []wiretime.Days{on})) == 0:
			case !m.Nested:
				all = append(all, m.Member)
			case !opened[m.Member]:
				opened[m.Member] = true
				groups = append(groups, m.Member)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
