package bundle

import "fmt"

// Fault is one thing that is wrong with a bundle. It never holds the text of a uuid cell, which is a password.
type Fault struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // of the cell, counted from 1, the header line included
	Column string `json:"column"` // its name; "row" for a row that can't be read, "header" or "file" where it is those
	Reason string `json:"reason"`
}

// String gives file:line: column: reason.
func (f Fault) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Column, f.Reason)
}

// maxKept bounds the memory that a hopeless bundle takes: faults beyond it are counted, not kept.
const maxKept = 1000

// FaultsError is the error of a bundle that can't be imported.
type FaultsError struct {
	Total int     // all of them
	First []Fault // the first 1,000, by file in the order of import, then by line
}

// Error gives the number of faults; the caller lists them.
func (f *FaultsError) Error() string {
	if f.Total == 1 {
		return "the bundle has 1 fault"
	}
	return fmt.Sprintf("the bundle has %d faults", f.Total)
}

func (f *FaultsError) add(fault Fault) {
	f.Total++
	if len(f.First) < maxKept {
		f.First = append(f.First, fault)
	}
}
