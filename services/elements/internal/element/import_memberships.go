package element

import (
	"cmp"
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// MembershipRow is a record of all days on which one element is a member of one group.
type MembershipRow struct {
	Key    string // "Group:9A/Pupil:17"
	Hash   string
	Group  string // its key without the type
	Member string // its key with the type
	Days   []Sourced
	// Changes, unless nil, are told in place of Days: what the record does not name stays.
	Changes []MembershipChange
	Faults  problem.Fields
}

// MembershipChange changes what one source says of a pair's days, or ends what all of them say.
type MembershipChange struct {
	Sourced
	Before *wiretime.Day // the source's days from then on go, or, without a source, everyone's; nil: the days are all that the source says
}

// apply returns what the sources say after the change.
func (c MembershipChange) apply(sources []Sourced) []Sourced {
	var after []Sourced
	for _, s := range sources {
		switch {
		case c.Before == nil && s.Source == c.Source:
		case c.Before == nil, c.Source != "" && s.Source != c.Source:
			after = append(after, s)
		case s.First < *c.Before:
			s.Last = min(s.Last, *c.Before-1)
			after = append(after, s)
		}
	}
	if c.Before == nil {
		after = append(after, c.Sourced)
	}
	return inOrder(after)
}

// inOrder sorts what sources say, so that the same is always stored alike.
func inOrder(sources []Sourced) []Sourced {
	slices.SortFunc(sources, func(a, b Sourced) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
	})
	return sources
}

// withDays returns the sources with days that nobody's source says, nil when there are no sources.
func (m Membership) withDays(days []wiretime.Days) []Sourced {
	if m.Sources == nil {
		return nil
	}
	sources := slices.Clone(m.Sources)
	for _, d := range days {
		sources = append(sources, Sourced{Days: d})
	}
	return inOrder(sources)
}

func (r MembershipRow) groupKey() string { return form.Group + ":" + r.Group }

func (r MembershipRow) check() problem.Fields {
	faults := problem.Fields{}
	for field, messages := range r.Faults {
		faults[field] = slices.Clone(messages)
	}
	if r.groupKey() == r.Member {
		faults.Add("member", "is the group itself")
	}
	if len(faults) == 0 && r.Key != r.groupKey()+"/"+r.Member {
		faults.Add("key", "does not name the group and the member")
	}
	for _, days := range r.Days {
		if days.Last < days.First {
			faults.Add("spans", "last_day is before first_day")
		}
	}
	for _, change := range r.Changes {
		switch {
		case change.Source == "" && change.Before == nil:
			faults.Add("changes", "source can't be blank")
		case change.Last < change.First:
			faults.Add("changes", "last_day is before first_day")
		}
	}
	switch {
	case r.Changes != nil && len(r.Days) > 0:
		faults.Add("changes", "can't be told with spans")
	case r.Changes == nil && len(r.Days) == 0 && len(faults["spans"]) == 0:
		faults.Add("spans", "can't be blank")
	}
	return faults
}

// apply makes the membership what the record says, and says whether that is another than it was. A record of days is the pair's whole
// truth unless it came last time as well; one of changes is compared with what is stored.
func (r MembershipRow) apply(m *Membership) bool {
	if r.Changes == nil {
		if m.ImportHash == r.Hash {
			return false
		}
		m.Days, m.Sources, m.ImportHash = mergeSourced(r.Days), nil, r.Hash
		if slices.ContainsFunc(r.Days, func(s Sourced) bool { return s.Source != "" }) {
			m.Sources = inOrder(slices.Clone(r.Days))
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
	m.Days, m.Sources, m.ImportHash = mergeSourced(after), after, "" // so that the next record of days counts
	return true
}

// ImportMemberships is ImportElements for memberships. It costs one read of the elements and one of the memberships, a block of ids and
// one insert for what is new, one bulk write for what changed. In a dry run a reference that leads nowhere is no fault: it may be of the
// same bundle.
func (s *Service) ImportMemberships(ctx context.Context, rows []MembershipRow, dry bool) ([]Outcome, error) {
	outcomes := make([]Outcome, len(rows))
	var keys []string
	for i, r := range rows {
		if faults := r.check(); len(faults) > 0 {
			outcomes[i].fail(faults)
			continue
		}
		keys = append(keys, r.groupKey(), r.Member)
	}
	elements, err := s.byKey(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		if outcomes[i].Result != Failed && !dry {
			outcomes[i].failMissing(elements, map[string]string{"group": r.groupKey(), "member": r.Member})
		}
	}
	err = s.settle(ctx, func(ctx context.Context) (bool, error) {
		return s.importMemberships(ctx, rows, elements, outcomes, dry)
	})
	return outcomes, err
}

// failMissing fails a record whose fields refer to elements that do not exist.
func (o *Outcome) failMissing(elements map[string]Element, references map[string]string) {
	faults := problem.Fields{}
	for field, key := range references {
		if _, exists := elements[key]; !exists {
			faults.Add(field, "must exist")
		}
	}
	if len(faults) > 0 {
		o.fail(faults)
	}
}

func (s *Service) importMemberships(ctx context.Context, rows []MembershipRow, elements map[string]Element, outcomes []Outcome, dry bool) (bool, error) {
	existing, err := s.pairsOf(ctx, rows, elements, outcomes)
	if err != nil {
		return false, err
	}
	var fresh, changed []Membership
	var freshRows []int
	for i, r := range rows {
		if outcomes[i].settled() {
			continue
		}
		group, member := elements[r.groupKey()], elements[r.Member]
		m, exists := existing[pair{group.ID, member.ID}]
		if !r.apply(&m) {
			outcomes[i].same(m.ID)
			continue
		}
		m.Group, m.Member, m.Nested = group.ID, member.ID, member.IsGroup()
		if exists {
			outcomes[i] = Outcome{Result: Updated, ID: m.ID}
			changed = append(changed, m)
			continue
		}
		outcomes[i] = Outcome{Result: Created}
		fresh, freshRows = append(fresh, m), append(freshRows, i)
	}
	if dry {
		return true, nil
	}
	taken, err := s.Store.AddMemberships(ctx, fresh)
	if err != nil {
		return false, err
	}
	for i, row := range freshRows {
		outcomes[row].ID = fresh[i].ID
	}
	for _, i := range taken {
		outcomes[freshRows[i]] = Outcome{}
	}
	all, err := s.Store.ReplaceMemberships(ctx, changed)
	return all && len(taken) == 0, err
}

// pairsOf reads the memberships of the rows that are still open.
func (s *Service) pairsOf(ctx context.Context, rows []MembershipRow, elements map[string]Element, outcomes []Outcome) (map[pair]Membership, error) {
	var groups, members []int64
	for i, r := range rows {
		if !outcomes[i].settled() {
			groups = append(groups, elements[r.groupKey()].ID)
			members = append(members, elements[r.Member].ID)
		}
	}
	return s.pairs(ctx, distinctIDs(groups), distinctIDs(members))
}
