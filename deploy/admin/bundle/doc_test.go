package bundle_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/deploy/admin/bundle"
)

// The table of docs/bundle.md has the columns that are read, in their order.
func TestTheGuideListsTheColumns(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/bundle.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for line := range strings.Lines(string(guide)) {
		if cells := strings.Split(line, "|"); len(cells) == 4 && strings.Contains(cells[1], ".csv`") {
			for file := range strings.SplitSeq(cells[1], ",") {
				documented[strings.Trim(file, " `")] = strings.NewReplacer("[", "", "]", "", " ", "").Replace(cells[2])
			}
		}
	}
	read := map[string]string{}
	for _, kind := range append(bundle.Kinds(), bundle.Commitments) {
		read[kind.File()] = strings.Join(kind.Columns(), ",")
	}
	if diff := cmp.Diff(read, documented); diff != "" {
		t.Error(diff)
	}
}
