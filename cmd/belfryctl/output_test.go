package main

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
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
	if out := list("name"); out != "1\n2\n" {
		t.Errorf("%q", out)
	}
	rows, err := csv.NewReader(strings.NewReader(list("csv"))).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][2] != "'=Hall, \"great\"" || rows[1][8] != "GH" || rows[2][8] != "" {
		t.Errorf("%v: %q", err, rows)
	}
	var fromJSON, fromYAML any
	if err := json.Unmarshal([]byte(list("json")), &fromJSON); err != nil {
		t.Error(err)
	}
	text, err := yaml.YAMLToJSON([]byte(list("yaml")))
	if err == nil {
		err = json.Unmarshal(text, &fromYAML)
	}
	if diff := cmp.Diff(fromJSON, fromYAML); err != nil || diff != "" {
		t.Errorf("%v, (-JSON +YAML):\n%s", err, diff)
	}
	wantOut(t, o.does(t, "elements", "show", "1", "-o", "csv"), "id,key,name")
	o.fails(t, exitUsage, "there are table, wide, csv, name, json, yaml", "elements", "list", "-o", "xml")
	o.fails(t, exitUsage, `"csv" is not for this command; there are table, json, yaml`, "version", "-o", "csv")
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
		wantOut(t, out, want)
	}
	rows, err := csv.NewReader(strings.NewReader(o.does(t, "audit", "--record", "User:2", "-o", "csv"))).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][3] != "First administrator" || rows[1][6] != "Anna Bell" {
		t.Errorf("%v: %q", err, rows)
	}
	o.does(t, "cancel", chess)
	wantOut(t, o.does(t, "audit", "--record", "Event:"+chess), "delete")
	o.does(t, "elements", "show", "Staff:1")
	wantOut(t, o.does(t, "access"), "AB - Anna Bell")
}
