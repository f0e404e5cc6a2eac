// Package csvfile reads tables that other programs wrote, CSV files above all, and checks them cell by cell. It reports
// all faults at once, each by file, line and column, and those of one cause together. Bundles and OneRoster folders
// consist of such tables.
package csvfile

import "fmt"

// Fault is one error in a file. It never holds the text of a password cell.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // of the cell, counted from 1, the header line included
	Column  string `json:"column"` // its name; "row", "header" or "file" if it is the fault of those
	Reason  string `json:"reason"`
	Further int    `json:"further,omitempty"`   // faults of the same cause in the same column that are not listed
	Last    int    `json:"last_line,omitempty"` // the line of the last of them
}

// String returns file:line: column: reason, and the number of further faults like it.
func (f Fault) String() string {
	text := fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Column, f.Reason)
	if f.Further > 0 {
		text += fmt.Sprintf(" (and %d more like it, the last in line %d)", f.Further, f.Last)
	}
	return text
}

const (
	// maxAlike bounds the faults of one cause that are listed: the last of them counts the others.
	maxAlike = 3
	// maxKept bounds the memory for faults: further ones are counted, not kept.
	maxKept = 1000
)

// FaultsError is the error of a folder that cannot be imported.
type FaultsError struct {
	What  string  // what the folder is: "bundle"
	Total int     // all of them
	First []Fault // the first 1,000, in the order in which they were found, of each cause three at most

	alike map[cause]alike
}

// cause is what makes faults alike: the same error in a column, whatever the cells hold.
type cause struct{ file, column, reason string }

type alike struct{ count, last int } // last is a place in First

// Add counts a fault, and keeps it while there is room.
func (f *FaultsError) Add(fault Fault) {
	f.addLike(cause{fault.File, fault.Column, fault.Reason}, fault)
}

// addLike is Add for a fault whose reason quotes a cell, or that several columns may have.
func (f *FaultsError) addLike(c cause, fault Fault) {
	f.Total++
	known, seen := f.alike[c]
	switch {
	case known.count >= maxAlike:
		f.First[known.last].Further++
		f.First[known.last].Last = fault.Line
		return
	case len(f.First) >= maxKept:
		return
	case !seen && f.alike == nil:
		f.alike = map[cause]alike{}
	}
	f.First = append(f.First, fault)
	f.alike[c] = alike{known.count + 1, len(f.First) - 1}
}

// Listed is the number of faults that the first n of First represent.
func (f *FaultsError) Listed(n int) int {
	listed := n
	for _, fault := range f.First[:n] {
		listed += fault.Further
	}
	return listed
}

// Error states the number of faults; the caller lists them.
func (f *FaultsError) Error() string {
	return "the " + f.What + " has " + Plural(f.Total, "fault")
}

// OrNil is the error when there is a fault, nil otherwise.
func (f *FaultsError) OrNil() error {
	if f.Total == 0 {
		return nil
	}
	return f
}

// Plural counts in English: "1 cell", "2 cells".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Brief shortens a text that a fault repeats.
func Brief(text string) string {
	const limit = 60
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
