// Package csvfile reads CSV files of other programs and checks them cell by cell. It reports all faults at once, each
// by file, line and column. Bundles and OneRoster folders consist of such files.
package csvfile

import "fmt"

// Fault is one thing that is wrong with a file. It never holds the text of a password cell.
type Fault struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // of the cell, counted from 1, the header line included
	Column string `json:"column"` // its name; "row" for a row that can't be read, "header" or "file" where it is those
	Reason string `json:"reason"`
}

// String returns file:line: column: reason.
func (f Fault) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Column, f.Reason)
}

// maxKept bounds the memory for faults: further ones are counted, not kept.
const maxKept = 1000

// FaultsError is the error of a folder that cannot be imported.
type FaultsError struct {
	What  string  // what the folder is: "bundle"
	Total int     // all of them
	First []Fault // the first 1,000, in the order in which they were found
}

// Error states the number of faults; the caller lists them.
func (f *FaultsError) Error() string {
	return "the " + f.What + " has " + Plural(f.Total, "fault")
}

// Add counts a fault, and keeps it while there is room.
func (f *FaultsError) Add(fault Fault) {
	f.Total++
	if len(f.First) < maxKept {
		f.First = append(f.First, fault)
	}
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
