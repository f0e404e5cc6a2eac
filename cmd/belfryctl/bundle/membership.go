package bundle

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// MembershipRecord is all that memberships.csv says of one group and one member. It replaces the pair's memberships.
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

// pairs collects the rows of memberships.csv by group and member; the rows of a pair may be apart in the file. The keys
// and days of tens of thousands of pairs are few, and each is kept once.
type pairs struct {
	order []*pair
	known map[string]*pair
	texts map[string]*string
}

type pair struct {
	line   int
	record MembershipRecord
}

func newPairs() *pairs { return &pairs{known: map[string]*pair{}, texts: map[string]*string{}} }

// once returns the one copy of a text, which keeps nothing of its row in memory.
func (p *pairs) once(text string) *string {
	kept, ok := p.texts[text]
	if !ok {
		text = strings.Clone(text)
		kept = &text
		p.texts[text] = kept
	}
	return kept
}

func (p *pairs) day(day *string) *string {
	if day == nil {
		return nil
	}
	return p.once(*day)
}

func (p *pairs) add(line int, group, member string, span Span) {
	key := "Group:" + group + "/" + member
	known, ok := p.known[key]
	if !ok {
		known = &pair{line: line, record: MembershipRecord{Key: key, Group: *p.once(group), Member: *p.once(member)}}
		p.known[key] = known
		p.order = append(p.order, known)
	}
	span.FirstDay, span.LastDay = p.day(span.FirstDay), p.day(span.LastDay)
	known.record.Spans = append(known.record.Spans, span)
}

// rows has one record for each pair, its spans in order of days and without repetition, so that the result does not
// depend on the order of the lines.
func (p *pairs) rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for _, pair := range p.order {
			slices.SortFunc(pair.record.Spans, compareSpans)
			pair.record.Spans = slices.CompactFunc(pair.record.Spans,
				func(a, b Span) bool { return compareSpans(a, b) == 0 })
			if !yield(Row{Line: pair.line, Key: pair.record.Key, Record: pair.record}) {
				return
			}
		}
	}
}

// compareSpans orders by first day, then by last day. Days written YYYY-MM-DD sort as texts; an open end comes first
// or last on its side.
func compareSpans(a, b Span) int {
	return cmp.Or(cmp.Compare(text(a.FirstDay, ""), text(b.FirstDay, "")),
		cmp.Compare(text(a.LastDay, "9999-99"), text(b.LastDay, "9999-99")))
}

func text(day *string, open string) string {
	if day == nil {
		return open
	}
	return *day
}

// membershipRow is a row of memberships.csv. It is no record yet: other rows of the pair may follow.
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
	if m.FirstDay != nil && m.LastDay != nil && *m.LastDay < *m.FirstDay {
		r.Fault("last_day", "is before first_day")
	}
	if m.Group != "" && m.Member != "" {
		r.pass.pairs.add(r.Line(), m.Group, m.Member, Span{FirstDay: m.FirstDay, LastDay: m.LastDay})
	}
}
