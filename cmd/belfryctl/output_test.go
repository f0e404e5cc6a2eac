package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// Each listing has each format, as one function prints them all; elements stand for them.
func TestInterface_ListingsHaveSixFormats(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	admin.Import(t, "locations", object{"key": "1", "name": "=Hall, \"great\"", "short_name": "GH"},
		object{"key": "2", "name": "no"})
	list := func(format string) string { return o.does(t, "elements", "list", "-o", format) }
	if lines := cells(list("table")); len(lines) != 3 || len(lines[0]) != 6 {
		t.Errorf("%q", lines)
	}
	if lines := cells(list("wide")); len(lines) != 3 || lines[0][8] != "short_name" {
		t.Errorf("%q", lines)
	}
	valuetest.Same(t, list("name"), "1\n2\n")
	rows, err := csv.NewReader(strings.NewReader(list("csv"))).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][2] != "'=Hall, \"great\"" || rows[1][8] != "GH" || rows[2][8] != "" {
		t.Errorf("%v: %q", err, rows)
	}
	var fromJSON, fromYAML any
	errortest.Report(t, json.Unmarshal([]byte(list("json")), &fromJSON))
	text, err := yaml.YAMLToJSON([]byte(list("yaml")))
	if err == nil {
		err = json.Unmarshal(text, &fromYAML)
	}
	if diff := cmp.Diff(fromJSON, fromYAML); err != nil || diff != "" {
		t.Errorf("%v, (-JSON +YAML):\n%s", err, diff)
	}
	valuetest.Has(t, o.does(t, "elements", "show", "1", "-o", "csv"), "id,key,name")
	o.fails(t, exitUsage, "there are table, wide, csv, name, json, yaml", "elements", "list", "-o", "xml")
	o.fails(t, exitUsage, `this command has no "csv"; it has table, json, yaml`, "version", "-o", "csv")
}

// An exchange printed two objects, the csv of an event lacked its elements, and sentences and secrets were printed as
// csv and name.
func (o office) formats(t *testing.T, chess, drama string) {
	o.does(t, "note", chess, "Boards.")
	o.does(t, "feed", "add", "hall")
	choir := o.choir(t, 3)[0]
	for line, tall := range map[string]bool{ // whether wide has a line for each head
		"book Quiz hall gym --category Club --from 2026-12-09 --dry-run": true,
		"move " + chess + " 2026-12-03 --dry-run":                        true,
		"swap " + chess + " anna cora --dry-run":                         true,
		"swap " + chess + " hall " + drama + " gym --dry-run":            true,
		"cancel " + choir + " --following --dry-run":                     false,
		"find chess":                     false,
		"day hall 2026-12-02":            false,
		"note " + chess:                  false,
		"free Location --event " + chess: false,
		"series show 1":                  false,
		"feed list hall":                 false,
		"whoami":                         true,
		"users list":                     false,
		"users show 1":                   true,
		"elements list":                  false,
		"elements show Location:1":       true,
		"administrators list Location:1": false,
		"categories list":                false,
		"commitments decide noted --filter type=Location": false,
		"webhooks list": false,
	} {
		as := func(format string) string { return o.does(t, append(strings.Fields(line), "-o", format)...) }
		fromJSON := json.NewDecoder(strings.NewReader(as("json")))
		fromYAML := yaml.NewDecoder(strings.NewReader(as("yaml")))
		for format, decode := range map[string]func(any) error{"json": fromJSON.Decode, "yaml": fromYAML.Decode} {
			var first map[string]any
			var more any
			if err, end := decode(&first), decode(&more); err != nil || !errors.Is(end, io.EOF) {
				t.Errorf("%s -o %s is not one object: %v, %v", line, format, err, end)
			}
		}
		rows, err := csv.NewReader(strings.NewReader(as("csv"))).ReadAll()
		if err != nil {
			t.Errorf("%s -o csv: %v", line, err)
			continue
		}
		wide, heads := as("wide"), strings.Join(rows[0], " ")
		valuetest.Same(t, strings.Join(headsOf(wide, rows[0][0], tall), " "), heads,
			"%s -o csv has the columns %s, wide has\n%s", line, heads, wide)
		for _, id := range strings.Fields(as("name")) {
			if _, is := idOf(id); !is {
				t.Errorf("%s -o name prints %q", line, id)
			}
		}
	}

	for _, line := range []string{"users deactivate 1", "users new-uuid 1", "users end-sessions 1", "sessions end 1",
		"elements retire 1", "members end 1 1", "administrators remove 1 1", "webhooks remove 1",
		"webhooks new-secret 1", "feed add hall", "feed end hall"} {
		for _, format := range []string{"wide", "csv", "name"} {
			o.fails(t, exitUsage, "it has table, json, yaml", append(strings.Fields(line), "-o", format)...)
		}
	}
	o.fails(t, exitUsage, "times have no ids", "free", "--of", "hall", "--from", "2026-12-02", "--to", "2026-12-02",
		"-o", "name")
	valuetest.Len(t, o.ids(t, "cancel", choir, "--all"), 3)
}

// headsOf returns the heads of a table, the first of which is known.
func headsOf(table, first string, tall bool) (heads []string) {
	lines := strings.Split(table, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, first+" ") })
	if at < 0 || !tall {
		return strings.Fields(lines[max(at, 0)])
	}
	for _, line := range lines[at:] {
		if line == "" || len(heads) > 0 && strings.HasPrefix(line, first+" ") {
			break
		}
		heads = append(heads, strings.Fields(line)[0])
	}
	return heads
}

// TestInterface_TheAuditHasNamesBesideIDs: of users, switched ones too, and of records that are there.
func TestInterface_TheAuditHasNamesBesideIDs(t *testing.T) {
	t.Parallel()
	o, chess, _ := everyDay(t)
	o.does(t, "users", "add", "--name", "Anna Bell", "--email", "anna@school.example", "--element", "Staff:1")
	out := o.does(t, "audit", "--limit", "1000")
	for _, want := range []string{
		" 1       First administrator", "Event:" + chess + "                 House chess", "User:2 ",
	} {
		valuetest.Has(t, out, want)
	}
	rows, err := csv.NewReader(strings.NewReader(o.does(t, "audit", "--record", "User:2", "-o", "csv"))).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][3] != "First administrator" || rows[1][6] != "Anna Bell" {
		t.Errorf("%v: %q", err, rows)
	}
	o.does(t, "cancel", chess)
	valuetest.Has(t, o.does(t, "audit", "--record", "Event:"+chess), "delete")
	o.does(t, "elements", "show", "Staff:1")
	valuetest.Has(t, o.does(t, "access"), "AB - Anna Bell")
}

// terminal is a file that is one.
func terminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	errortest.None(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestColour_OnlyOnATerminalAndNotAgainstNoColor(t *testing.T) {
	t.Parallel()
	file, err := os.Create(t.TempDir() + "/out")
	errortest.None(t, err)
	defer func() { _ = file.Close() }()
	tty := terminal(t)
	for name, c := range map[string]struct {
		s    surroundings
		want bool
	}{
		"a terminal":         {surroundings{out: tty, env: environment()}, true},
		"with NO_COLOR":      {surroundings{out: tty, env: environment("NO_COLOR", "1")}, false},
		"with an empty one":  {surroundings{out: tty, env: environment("NO_COLOR", "")}, true},
		"that can't":         {surroundings{out: tty, env: environment("TERM", "dumb")}, false},
		"a file":             {surroundings{out: file, env: environment()}, false},
		"a pipe or a buffer": {surroundings{out: &bytes.Buffer{}, env: environment()}, false},
	} {
		valuetest.Same(t, c.s.coloured(), c.want, name)
	}
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// A table is the same with and without colours, but for them: cells stay in line.
func TestColour_LeavesATableInLine(t *testing.T) {
	t.Parallel()
	text, status := table([]string{"body", "status", "through"}, [][]any{
		{"Théâtre", "requested", "-"}, {"M", "uncontrolled", ""}, {"Requested", "rejected", "7A rejected"},
	})
	plain := surroundings{out: &bytes.Buffer{}, env: environment()}.paintTable(text, status)
	s := surroundings{out: terminal(t), env: environment()}
	painted := s.paintTable(text, status)
	for _, want := range []string{
		"\x1b[1mbody", "\x1b[33mrequested\x1b[0m ", "\x1b[31mrejected\x1b[0m ", "7A rejected\n",
		"\nM          uncontrolled",
	} {
		valuetest.Has(t, painted, want)
	}
	bare := painted
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[33m"} {
		bare = strings.ReplaceAll(bare, code, "")
	}
	valuetest.Holds(t, bare == plain && plain == text, "%q without colours, want %q", bare, plain)
}
