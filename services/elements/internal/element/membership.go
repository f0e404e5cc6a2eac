package element

import (
	"cmp"
	"slices"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// MaxRuns bounds the runs of days of a membership, and the days of its sources.
const MaxRuns = 1000

// Membership is all the days on which one element is a member of one group.
type Membership struct {
	ID      int64 `bson:"-"`
	Version int64 `bson:"-"` // at which it was read

	Group      int64           `bson:"group"`
	Member     int64           `bson:"member"`
	Nested     bool            `bson:"nested"`                // the member is a group
	Days       []wiretime.Days `bson:"spans"`                 // merged; empty once the membership was taken back
	ImportHash string          `bson:"import_hash,omitempty"` // of the row that was imported last
	// Sources are the days with their sources if an import gave any, otherwise nil. Merged, they are Days.
	Sources []Sourced `bson:"sources,omitempty"`
}

// Sourced are days that come from one record of an import's own source, such as an enrollment of a roster.
type Sourced struct {
	// Source is the record's id there; empty when the source gives none, or for days that were added by hand.
	Source        string `bson:"source,omitempty"`
	wiretime.Days `bson:",inline"`
}

// MembershipChange changes the days of one source, or ends those of all sources.
type MembershipChange struct {
	Sourced
	// Before, when not nil, ends the days of the source before that day; without a source, the days of all sources.
	// When it is nil, the source's days are replaced by the change's own.
	Before *wiretime.Day
}

// isFull says whether the membership exceeds MaxRuns.
func (m Membership) isFull() bool { return max(len(m.Days), len(m.Sources)) > MaxRuns }

// pair is a group and a member of it.
type pair struct{ group, member int64 }

// apply returns the days of the sources after the change.
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
	return sortSources(after)
}

// withDays returns the sources with days that come from none, nil when there are no sources.
func (m Membership) withDays(days []wiretime.Days) []Sourced {
	if m.Sources == nil {
		return nil
	}
	var sources []Sourced
	for _, s := range m.Sources {
		if s.Source == "" {
			days = append(slices.Clone(days), s.Days)
			continue
		}
		sources = append(sources, s)
	}
	for _, d := range wiretime.MergeDays(days) {
		sources = append(sources, Sourced{Days: d})
	}
	return sortSources(sources)
}

// sortSources sorts in place, so that equal sources are stored in the same order.
func sortSources(sources []Sourced) []Sourced {
	slices.SortFunc(sources, func(a, b Sourced) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
	})
	return sources
}

// mergeSources returns the days of all sources.
func mergeSources(sources []Sourced) []wiretime.Days {
	days := sequence.Map(sources, func(s Sourced) wiretime.Days { return s.Days })
	return wiretime.MergeDays(days)
}

// daysBefore returns the days before from.
func daysBefore(days []wiretime.Days, from wiretime.Day) []wiretime.Days {
	var before []wiretime.Days
	for _, d := range days {
		if d.First < from {
			before = append(before, wiretime.Days{First: d.First, Last: min(d.Last, from-1)})
		}
	}
	return before
}
