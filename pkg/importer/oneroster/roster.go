package oneroster

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/load"
)

// Roster is a folder as records of a bundle, ready to be loaded. It is safe for use by several goroutines.
type Roster struct {
	kinds   map[bundle.Kind][]bundle.Row // of the tables that the folder has
	there   map[string]bool              // elements of the folder's, as Type:key
	whole   []string                     // prefixes of the keys of elements that the folder has in bulk
	skipped []Skipped
	ended   []load.Ended
}

// Skipped counts rows that were left out for a reason.
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

// Ended counts the memberships that Prune ends because a file in bulk lacks them, for each file that has memberships of
// today or later.
func (r *Roster) Ended() []load.Ended { return r.ended }

// Has reports whether the folder has a file for the kind.
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

// Gone reports whether an element, given as Type:key, came from a roster and is missing from the folder's files in
// bulk.
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
