package bundle

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// MembershipRecord has everything that memberships.csv says about one group and one member. It replaces the pair's
// memberships.
type MembershipRecord struct {
	Key    string `json:"key"`
	Group  string `json:"group"`  // the key of the group
	Member string `json:"member"` // Type:key
	Spans  []Span `json:"spans"`
}

// Span is a time of membership, both days inclusive, nil for an open end.
type Span struct {
	FirstDay *string `json:"first_day"`
	LastDay  *string `json:"last_day"`
	Source   string  `json:"source,omitempty"` // the record that says so where the days come from; a bundle names none
}

// Days are those of a span that was checked, or of an answer.
func (s Span) Days() wiretime.Days {
	return wiretime.Days{First: dayOr(s.FirstDay, wiretime.FirstDay), Last: dayOr(s.LastDay, wiretime.LastDay)}
}

func dayOr(text *string, open wiretime.Day) wiretime.Day {
	if text == nil {
		return open
	}
	day, err := wiretime.ParseDay(*text)
	if err != nil {
		return open
	}
	return day
}

// days checks that a row's last day is not before its first one.
func (r *row) days(first, last *string) wiretime.Days {
	days := Span{FirstDay: first, LastDay: last}.Days()
	if days.Last < days.First {
		r.Fault("last_day", "is before first_day")
	}
	return days
}

// MembershipChanges says what has changed for one group and one member; the rest of the pair stays. A bundle has
// none.
type MembershipChanges struct {
	Key     string             `json:"key"`
	Group   string             `json:"group"`
	Member  string             `json:"member"`
	Changes []MembershipChange `json:"changes"`
}

// MembershipChange replaces the span of its source. With EndsBefore it ends that span; without a source, the spans of
// all sources.
type MembershipChange struct {
	Span
	EndsBefore string `json:"ends_before,omitempty"`
}

// Pairs collects what files say about groups and their members; the rows of a pair may be apart. Tens of thousands of
// pairs have few distinct keys and days, so each is kept once.
type Pairs struct {
	order []*Pair
	known map[string]*Pair
	texts map[string]*string
}

// Pair is a group, by its key, and a member, by Type:key.
type Pair struct {
	Spans   []Span             // all there are, unless nil
	Changes []MembershipChange // without Spans

	file          string
	line          int // the first of the pair
	group, member string
}

// NewPairs returns an empty collection.
func NewPairs() *Pairs { return &Pairs{known: map[string]*Pair{}, texts: map[string]*string{}} }

// once returns the single copy of a text, which does not keep its row in memory.
func (p *Pairs) once(text string) *string {
	kept, ok := p.texts[text]
	if !ok {
		text = strings.Clone(text)
		kept = &text
		p.texts[text] = kept
	}
	return kept
}

func (p *Pairs) day(day *string) *string {
	if day == nil {
		return nil
	}
	return p.once(*day)
}

// pairKey is what the services match a pair by.
func pairKey(group, member string) string { return "Group:" + group + "/" + member }

// Of returns a pair. The line of a file is its own if it is new.
func (p *Pairs) Of(file string, line int, group, member string) *Pair {
	key := pairKey(group, member)
	pair, ok := p.known[key]
	if !ok {
		pair = &Pair{file: file, line: line, group: *p.once(group), member: *p.once(member)}
		p.known[key] = pair
		p.order = append(p.order, pair)
	}
	return pair
}

// Has reports whether a file says anything about the pair.
func (p *Pairs) Has(group, member string) bool { return p.known[pairKey(group, member)] != nil }

// Rows has one record for each pair, its spans in order and without repetition, so that the result does not depend on
// the order of the lines.
func (p *Pairs) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for _, pair := range p.order {
			row := Row{File: pair.file, Line: pair.line, Key: pairKey(pair.group, pair.member)}
			if pair.Spans != nil {
				slices.SortFunc(pair.Spans, compareSpans)
				spans := slices.CompactFunc(pair.Spans, func(a, b Span) bool { return compareSpans(a, b) == 0 })
				row.Record = MembershipRecord{Key: row.Key, Group: pair.group, Member: pair.member, Spans: spans}
			} else {
				slices.SortFunc(pair.Changes,
					func(a, b MembershipChange) int { return cmp.Compare(a.Source, b.Source) })
				row.Record = MembershipChanges{Key: row.Key, Group: pair.group, Member: pair.member,
					Changes: pair.Changes}
			}
			if !yield(row) {
				return
			}
		}
	}
}

// compareSpans orders by source, first day and last day.
func compareSpans(a, b Span) int {
	x, y := a.Days(), b.Days()
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(x.First, y.First), cmp.Compare(x.Last, y.Last))
}

// membershipRow is a row of memberships.csv. It is not a record yet, since other rows of the pair may follow.
type membershipRow struct {
	Group    string  `json:"group" csv:"key of groups"`
	Member   string  `json:"member" csv:"element"`
	FirstDay *string `json:"first_day,omitempty"`
	LastDay  *string `json:"last_day,omitempty"`
}

func checkMembership(r *row, m *membershipRow) {
	if m.Member != "" && m.Member == "Group:"+m.Group {
		r.Fault("member", "is the group itself")
	}
	r.days(m.FirstDay, m.LastDay)
	if m.Group != "" && m.Member != "" {
		pairs := r.pass.pairs
		pair := pairs.Of(r.pass.file, r.Line(), m.Group, m.Member)
		pair.Spans = append(pair.Spans, Span{FirstDay: pairs.day(m.FirstDay), LastDay: pairs.day(m.LastDay)})
	}
}
