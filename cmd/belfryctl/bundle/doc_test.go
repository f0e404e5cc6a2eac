package bundle_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/cmd/belfryctl/bundle"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// The table of docs/bundle.md has the columns that are read, in their order, and so has the table of each file, which
// says what they mean.
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
		if kind == bundle.Users { // docs/rights.md lists the permissions
			read[kind.File()] = strings.Replace(read[kind.File()], strings.Join(principal.PermissionNames(), ","),
				"*permissions*", 1)
		}
	}
	if diff := cmp.Diff(read, documented); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(read, explained(t, string(guide))); diff != "" {
		t.Errorf("the tables of each file's columns: %s", diff)
	}
}

// explained lists the columns of each file in whose section the guide has a line with their meaning and what an empty
// cell is.
func explained(t *testing.T, guide string) map[string]string {
	t.Helper()
	columns, section := map[string][]string{}, ""
	for line := range strings.Lines(guide) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		switch {
		case strings.HasPrefix(line, "#"):
			section = line
		case len(cells) != 5 || !strings.Contains(section, ".csv`"), strings.Trim(cells[1], " -") == "":
		case strings.TrimSpace(cells[1]) == "column":
		case strings.TrimSpace(cells[2]) == "" || strings.TrimSpace(cells[3]) == "":
			t.Errorf("%s: %s has no meaning, or nothing is said of an empty cell", section, cells[1])
		default:
			columns[section] = append(columns[section], strings.TrimSpace(cells[1]))
		}
	}
	files := map[string]string{}
	for heading, names := range columns {
		for file := range strings.SplitSeq(strings.TrimLeft(heading, "# "), ",") {
			files[strings.Trim(file, " `\n")] = strings.Join(names, ",")
		}
	}
	return files
}
