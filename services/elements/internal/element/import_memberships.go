package element

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// MembershipRow is all the days on which one element is a member of one group, or changes of them.
type MembershipRow struct {
	record.Row        // its key: "Group:9A/Pupil:17"
	Group      string // its key without the type
	Member     string // its key with the type
	Days       []Sourced
	// Changes, unless nil, are given instead of Days: days that the row does not name stay.
	Changes []MembershipChange
	Faults  problem.Fields
}

func (r MembershipRow) groupKey() string { return form.Group + ":" + r.Group }

func (r MembershipRow) check() problem.Fields {
	faults := r.Faults.Clone()
	if r.groupKey() == r.Member {
		faults.Add("member", "is the group itself")
	}
	if len(faults) == 0 && r.Key != r.groupKey()+"/"+r.Member {
		faults.Add("key", "does not name the group and the member")
	}
	if len(r.Days) > MaxRuns {
		faults.Add("spans", problem.TooMany(MaxRuns))
	}
	for _, days := range r.Days {
		switch {
		case utf8.RuneCountInString(days.Source) > maxText:
			faults.Add("spans", "source "+problem.TooLong(maxText))
		case days.Last < days.First:
			faults.Add("spans", "last_day is before first_day")
		}
	}
	if len(r.Changes) > MaxRuns {
		faults.Add("changes", problem.TooMany(MaxRuns))
	}
	for _, change := range r.Changes {
		switch {
		case utf8.RuneCountInString(change.Source) > maxText:
			faults.Add("changes", "source "+problem.TooLong(maxText))
		case change.Source == "" && change.Before == nil:
			faults.Add("changes", "source "+problem.Blank)
		case change.Last < change.First:
			faults.Add("changes", "last_day is before first_day")
		}
	}
	switch {
	case r.Changes != nil && len(r.Days) > 0:
		faults.Add("changes", "can't be combined with spans")
	case r.Changes == nil && len(r.Days) == 0 && len(faults["spans"]) == 0:
		faults.Add("spans", problem.Blank)
	}
	return faults
}

// apply applies the row to the membership, and says whether that changes it. A row with days replaces all of them,
// unless it is the one imported last. A row with changes is compared with what is stored.
func (r MembershipRow) apply(m *Membership) bool {
	if r.Changes == nil {
		if m.ImportHash == r.Hash {
			return false
		}
		m.Days, m.Sources, m.ImportHash = mergeSources(r.Days), nil, r.Hash
		if slices.ContainsFunc(r.Days, func(s Sourced) bool { return s.Source != "" }) {
			m.Sources = sortSources(slices.Clone(r.Days))
		}
		return true
	}
	before := m.Sources
	if before == nil {
		before = Membership{Sources: []Sourced{}}.withDays(m.Days)
	}
	after := before
	for _, change := range r.Changes {
		after = change.apply(after)
	}
	if slices.Equal(before, after) {
		return false
	}
	m.Days, m.Sources, m.ImportHash = mergeSources(after), after, "" // so that the next row with days is compared
	return true
}

// ImportMemberships is ImportElements for memberships. In a dry run, an unknown key is not a fault: the element may be
// in the same bundle. A row fails if its group or member is not p's: otherwise p could administer any element by adding
// it.
func (s *Service) ImportMemberships(
	ctx context.Context, p principal.Principal, rows []MembershipRow,
) ([]record.Outcome, error) {
	dry := record.IsDryRun(ctx)
	var elements map[string]Element
	var own authority.Own
	var erased map[string]bool
	return record.Import[MembershipRow, Membership]{
		DryRun: dry,
		Check:  MembershipRow.check,
		Find: func(ctx context.Context, rows []MembershipRow) (_ map[string]Membership, err error) {
			var keys []string
			for _, r := range rows {
				keys = append(keys, r.groupKey(), r.Member)
			}
			if elements, err = s.findByKeys(ctx, keys); err != nil {
				return nil, err
			}
			if erased, err = s.erased(ctx, keys, elements); err != nil {
				return nil, err
			}
			own, err = authority.AskOwn(ctx, p, idsOf(slices.Collect(maps.Values(elements))), s.Belonging)
			if err != nil {
				return nil, err
			}
			return s.findPairsOfRows(ctx, rows, elements)
		},
		Imported: func(m Membership) (int64, string) { return m.ID, m.ImportHash },
		Refuse: func(r MembershipRow, _ Membership) problem.Fields {
			faults := problem.Fields{}
			for field, key := range map[string]string{"group": r.groupKey(), "member": r.Member} {
				e, exists := elements[key]
				switch {
				case exists && !own.Has(e.ID):
					faults.Add(field, problem.NotAdministered)
				case erased[key]:
					faults.Add(field, erasure.Gone)
				case !exists && !dry:
					faults.Add(field, problem.MustExist)
				}
			}
			return faults
		},
		Apply: func(r MembershipRow, m Membership) (Membership, error) {
			if !r.apply(&m) {
				return m, record.ErrUnchanged
			}
			group, member := elements[r.groupKey()], elements[r.Member]
			m.Group, m.Member, m.Nested = group.ID, member.ID, member.IsGroup()
			faults := problem.Fields{}
			if m.isFull() {
				faults.Add("changes", fmt.Sprintf("would leave more than %d runs of days", MaxRuns))
			}
			return m, record.Invalid(m, faults)
		},
		Insert:  insertRows(s.Memberships),
		Replace: replaceRows(s.Memberships),
	}.Run(ctx, rows)
}

// findPairsOfRows returns the memberships of the rows, by their keys.
func (s *Service) findPairsOfRows(
	ctx context.Context, rows []MembershipRow, elements map[string]Element,
) (map[string]Membership, error) {
	var groups, members []int64
	for _, r := range rows {
		groups = append(groups, elements[r.groupKey()].ID)
		members = append(members, elements[r.Member].ID)
	}
	pairs, err := s.findPairs(ctx, sequence.Distinct(groups), sequence.Distinct(members))
	stored := make(map[string]Membership, len(pairs))
	for _, r := range rows {
		if m, exists := pairs[pair{elements[r.groupKey()].ID, elements[r.Member].ID}]; exists {
			stored[r.Key] = m
		}
	}
	return stored, err
}
