package bundle

import (
	"slices"
	"testing"
)

// TestColumns_AreDescribedOnce: every file has its columns, each once, with a meaning and what an empty cell is.
func TestColumns_AreDescribedOnce(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, d := range descriptions {
		if !slices.Contains(files(), d.kind) || d.meaning == "" || (d.column == "") != (d.empty == "") {
			t.Errorf("%+v", d)
		}
		if cell := [2]string{string(d.kind), d.column}; seen[cell] {
			t.Errorf("%v is described twice", cell)
		} else {
			seen[cell] = true
		}
	}
	for _, kind := range files() {
		if len(kind.Columns()) < 2 {
			t.Errorf("%s has the columns %v", kind.File(), kind.Columns())
		}
	}
}
