package oneroster

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/cmd/belfryctl/bundle"
	"github.com/belfry-schools/belfry/cmd/belfryctl/csvfile"
	"github.com/belfry-schools/belfry/cmd/belfryctl/load"
)

// Roster is a folder as records of a bundle, ready to be loaded. It is safe for use by several goroutines.
type Roster struct {
	kinds   map[bundle.Kind][]bundle.Row // of the tables that the folder has
	there   map[string]bool              // elements of the folder's, as Type:key
	whole   []string                     // how the keys of those elements begin of which the folder has all
	skipped []Skipped
	ended   []load.Ended
}

// Skipped counts rows that were left out, and says why.
type Skipped struct {
	File   string `json:"file"`
	Rows   int    `json:"rows"`
	Reason string `json:"reason"`
}

// String returns file: rows: reason.
func (s Skipped) String() string {
	return fmt.Sprintf("%s: %s left out: %s", s.File, csvfile.Plural(s.Rows, "row"), s.Reason)
}

// Skipped lists what was left out, by file and reason.
func (r *Roster) Skipped() []Skipped { return r.skipped }

// Ended says how many memberships Prune ends since a file in bulk lacks them. It lists those files that there were
// memberships of, today or later.
func (r *Roster) Ended() []load.Ended { return r.ended }

// Has says whether the folder has a file for the kind.
func (r *Roster) Has(kind bundle.Kind) bool {
	_, ok := r.kinds[kind]
	return ok
}

// Count is the number of records of the kind.
func (r *Roster) Count(kind bundle.Kind) int { return len(r.kinds[kind]) }

// Rows yields the records of the kind, never an error.
func (r *Roster) Rows(kind bundle.Kind) iter.Seq2[bundle.Row, error] {
	return func(yield func(bundle.Row, error) bool) {
		for _, row := range r.kinds[kind] {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Gone says whether an element, given as Type:key, came from a roster and is in none of the files that the folder has
// in bulk.
func (r *Roster) Gone(reference string) bool {
	_, key, _ := strings.Cut(reference, ":")
	return !r.there[reference] &&
		slices.ContainsFunc(r.whole, func(keys string) bool { return strings.HasPrefix(key, keys) })
}

// add adds the record of the element in the line of a file.
func (r *Roster) add(kind bundle.Kind, t table, line int, key string, record any) {
	r.kinds[kind] = append(r.kinds[kind], bundle.Row{File: t.file(), Line: line, Key: key, Record: record})
	r.there[kind.EntityType()+":"+key] = true
}

// tallies counts rows by file and reason.
type tallies map[[2]string]int

func (t tallies) add(from table, reason string) { t[[2]string{from.file(), reason}]++ }

func (t tallies) list() []Skipped {
	var all []Skipped
	for at, rows := range t {
		all = append(all, Skipped{File: at[0], Rows: rows, Reason: at[1]})
	}
	slices.SortFunc(all,
		func(a, b Skipped) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Reason, b.Reason)) })
	return all
}

// pairs collects the rows by group and member.
type pairs struct {
	order []*pair
	known map[string]*pair
}

type pair struct {
	from    table
	line    int // the first that says something
	key     string
	group   string
	member  string
	spans   []bundle.Span // of a table in bulk: all there are
	changes []bundle.MembershipChange
}

// of returns the pair of a group's key and a member's Type:key; it adds the pair when it is new.
func (p *pairs) of(from table, line int, group, member string) *pair {
	key := "Group:" + group + "/" + member
	found, ok := p.known[key]
	if !ok {
		found = &pair{from: from, line: line, key: key, group: group, member: member}
		p.known[key] = found
		p.order = append(p.order, found)
	}
	return found
}

// says adds the days of a source: in bulk all its days, in a delta a change.
func (p *pair) says(m mode, span bundle.Span) {
	if m == bulk {
		p.spans = append(p.spans, span)
		return
	}
	p.changes = append(p.changes, bundle.MembershipChange{Span: span})
}

// ends adds the end, before a day, of the membership of one source or of all.
func (p *pair) ends(source, day string) {
	p.changes = append(p.changes, bundle.MembershipChange{Span: bundle.Span{Source: source}, EndsBefore: day})
}

// rows makes a record of each pair. The result does not depend on the order of a file's lines.
func (p *pairs) rows() []bundle.Row {
	rows := make([]bundle.Row, 0, len(p.order))
	for _, pair := range p.order {
		row := bundle.Row{File: pair.from.file(), Line: pair.line, Key: pair.key}
		if pair.spans != nil {
			slices.SortFunc(pair.spans, func(a, b bundle.Span) int { return cmp.Compare(a.Source, b.Source) })
			row.Record = bundle.MembershipRecord{Key: pair.key, Group: pair.group, Member: pair.member,
				Spans: pair.spans}
		} else {
			slices.SortFunc(pair.changes,
				func(a, b bundle.MembershipChange) int { return cmp.Compare(a.Source, b.Source) })
			row.Record = bundle.MembershipChanges{Key: pair.key, Group: pair.group, Member: pair.member,
				Changes: pair.changes}
		}
		rows = append(rows, row)
	}
	return rows
}

// has says whether the folder has the pair.
func (p *pairs) has(group, member string) bool {
	_, ok := p.known["Group:"+group+"/"+member]
	return ok
}
