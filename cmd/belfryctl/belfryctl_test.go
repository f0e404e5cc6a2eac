package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// belfryctl runs the command as a shell would, and returns its exit code and output.
func belfryctl(t *testing.T, env map[string]string, args ...string) (code int, out, errs string) {
	t.Helper()
	return belfryctlUntil(t.Context(), env, args...)
}

// belfryctlUntil is belfryctl that the end of a context interrupts.
func belfryctlUntil(ctx context.Context, env map[string]string, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	s := surroundings{out: &stdout, err: &stderr, env: func(name string) string { return env[name] },
		wait: time.Millisecond}
	code = run(ctx, args, s)
	return code, stdout.String(), stderr.String()
}

// simulated returns an office of a simulated school.
func simulated(school *clienttest.School) office {
	return office{env: map[string]string{"BELFRY_UUID": clienttest.UUID, "BELFRY_URL": school.URL}}
}

var small = map[string]string{
	"subjects.csv":        "key,name\nMa,Mathematics\nEn,English\n",
	"eventcategories.csv": "key,name\nlesson,Lesson\n",
	"events.csv": "key,body,category,starts_at,ends_at,elements\n" +
		"1,Maths,lesson,2026-09-07 09:00,2026-09-07 10:00,Subject:Ma\n",
}

func TestUsageIsExitCode2(t *testing.T) {
	for want, args := range map[string][]string{
		"unknown command":               {"imprt"},
		"unknown flag: --quick":         {"import", "x", "--quick"},
		"accepts 1 arg(s), received 0":  {"import"},
		"--out is missing":              {"demo"},
		"invalid argument \"many\"":     {"demo", "--out", "x", "--pupils", "many"},
		"of 10 to 20,000 pupils":        {"demo", "--out", "x", "--pupils", "9"},
		"time zone \"Narnia\"":          {"import", "x", "--timezone", "Narnia"},
		"--format takes bundle or":      {"import", "x", "--format", "excel"},
		"--parallel takes 1 to 16":      {"import", "x", "--parallel", "0"},
		"--url: the address must look":  {"import", "x", "--url", "belfry"},
		"--url: the address must have ": {"import", "x", "--url", "http://u:p@belfry"},
	} {
		code, out, errs := belfryctl(t, map[string]string{"BELFRY_UUID": clienttest.UUID}, args...)
		if code != exitUsage || !strings.Contains(errs, want) || !strings.Contains(errs, "--help") || out != "" {
			t.Errorf("%q: %d %q %q", args, code, out, errs)
		}
	}
	office{}.fails(t, exitUsage, "no login: set BELFRY_UUID or give --uuid-file", "import", "x")
}

func TestImportShowsWhatBecameOfEachKind(t *testing.T) {
	school := clienttest.NewSchool(t)
	dir := clienttest.Folder(t, small)
	want := `             kind  created  updated  unchanged
         subjects        2        0          0
  eventcategories        1        0          0
           events        1        0          0
              all        4        0          0
`
	o := simulated(school)
	table, last, _ := strings.Cut(o.does(t, "import", dir), "4 records in ")
	if diff := cmp.Diff(want, table); diff != "" || !strings.HasSuffix(last, " a second\n") {
		t.Errorf("%s\n%q", diff, last)
	}
	valuetest.Has(t, o.does(t, "import", dir), "all        0        0          4\n")
}

func TestImportReadsTheLoginFromAFile(t *testing.T) {
	school := clienttest.NewSchool(t)
	file := filepath.Join(clienttest.Folder(t, map[string]string{"uuid": clienttest.UUID + "\n", "empty": ""}), "uuid")
	office{}.does(t, "import", clienttest.Folder(t, small), "--url", school.URL, "--uuid-file", file)
	for _, bad := range []string{filepath.Join(filepath.Dir(file), "empty"), "nowhere"} {
		simulated(school).fails(t, exitFailure, "reading the login", "import", clienttest.Folder(t, small),
			"--uuid-file", bad)
	}
}

// TestTheExampleOfANightlyImportImports runs the arguments of deploy/examples/nightly-import.yaml.
func TestTheExampleOfANightlyImportImports(t *testing.T) {
	school := clienttest.NewSchool(t)
	file := filepath.Join(clienttest.Folder(t, map[string]string{"uuid": clienttest.UUID}), "uuid")
	text := checkout.Read(t, "deploy/examples/nightly-import.yaml")
	args := regexp.MustCompile(`args: \[(.*)\]`).FindStringSubmatch(text)
	valuetest.MustHold(t, args != nil, "the example has no arguments")
	here := strings.NewReplacer("/school", clienttest.Folder(t, small), "https://belfry.school.example", school.URL,
		"/login/uuid", file)
	valuetest.Has(t, office{}.does(t, strings.Split(here.Replace(args[1]), ", ")...), "4 records in ")
}

// TestFaultsAreListedAndNothingIsAsked: of a folder, of a roster, and of a workbook with a formula, though it has the
// value that was computed.
func TestFaultsAreListedAndNothingIsAsked(t *testing.T) {
	subjects := "key,name\n"
	for i := range 1500 {
		subjects += fmt.Sprintf("%d,\n", i)
	}
	folder := clienttest.Folder(t, map[string]string{"subjects.csv": subjects})
	roster := clienttest.Folder(t, map[string]string{
		"manifest.csv": "propertyName,value\nmanifest.version,1.0\noneroster.version,1.1\nfile.users,bulk\n"})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{folder}, "subjects.csv:2: name: can't be blank\nsubjects.csv:3: name: can't be blank\n" +
			"subjects.csv:4: name: can't be blank (and 1497 more like it, the last in line 1501)\n" +
			"belfryctl: the bundle has 1500 faults\n"},
		{[]string{workbook(t)}, "school.xlsx#subjects:3: name: is a formula; paste its value in its place\n" +
			"belfryctl: the bundle has 1 fault\n"},
		{[]string{roster, "--format", "oneroster"}, "manifest.csv:4: file.users: users.csv is not in the folder\n" +
			"belfryctl: the roster has 1 fault\n"},
	} {
		school := clienttest.NewSchool(t)
		var calls atomic.Int32
		school.Before = func(http.ResponseWriter, *http.Request) bool { calls.Add(1); return false }
		code, out, errs := belfryctl(t, simulated(school).env, append([]string{"import"}, c.args...)...)
		if code != exitFaults || out != "" || errs != c.want || calls.Load() != 0 {
			t.Errorf("%q: %d %q %q, %d calls", c.args, code, out, errs, calls.Load())
		}
	}
}

// workbook is one of two subjects, of which one has a formula.
func workbook(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "school.xlsx")
	office{}.does(t, "template", path)
	book, err := excelize.OpenFile(path)
	errortest.None(t, err)
	for cell, text := range map[string]string{"A2": "Ma", "B2": "Mathematics", "A3": "En", "B3": "English"} {
		errortest.None(t, book.SetCellStr("subjects", cell, text))
	}
	errortest.None(t, book.SetCellFormula("subjects", "B3", `CONCAT("Eng","lish")`))
	errortest.None(t, errors.Join(book.Save(), book.Close()))
	return path
}

func TestJSONOutcome(t *testing.T) {
	school := clienttest.NewSchool(t)
	decode := func(text string) map[string]any {
		t.Helper()
		var fields map[string]any
		errortest.None(t, json.Unmarshal([]byte(text), &fields), "%q", text)
		delete(fields, "seconds")
		return fields
	}
	out := simulated(school).does(t, "import", clienttest.Folder(t, small), "-o=json", "--dry-run")
	tally := func(kind string, created float64) any {
		return map[string]any{"kind": kind, "created": created, "updated": 0.0, "unchanged": 0.0, "failed": 0.0,
			"retired": 0.0}
	}
	created := func(kind string, line float64, key, name string) any {
		return map[string]any{"kind": kind, "file": kind + ".csv", "line": line, "key": key, "name": name,
			"result": "created"}
	}
	want := map[string]any{"dry_run": true, "faults": 0.0, "first_faults": []any{}, "refused": 0.0,
		"first_refused": []any{}, "kinds": []any{tally("subjects", 2), tally("eventcategories", 1), tally("events", 1)},
		"records": []any{created("subjects", 2, "Ma", "Mathematics"), created("subjects", 3, "En", "English"),
			created("eventcategories", 2, "lesson", "Lesson"), created("events", 2, "1", "Maths")}}
	valuetest.Equal(t, want, decode(out))
	valuetest.Same(t, school.Count("subjects"), 0, "records that the dry run wrote")
	code, out, _ := belfryctl(t, simulated(school).env, "import",
		clienttest.Folder(t, map[string]string{"subjects.csv": "key,name\n1,\n"}), "-o=json")
	want = map[string]any{"error": "the bundle has 1 fault", "dry_run": false, "faults": 1.0, "refused": 0.0,
		"kinds": []any{}, "first_refused": []any{},
		"first_faults": []any{map[string]any{"file": "subjects.csv", "line": 2.0, "column": "name",
			"reason": "can't be blank"}}}
	if diff := cmp.Diff(want, decode(out)); diff != "" || code != exitFaults {
		t.Errorf("%d %s", code, diff)
	}
}

func TestRefusedRecordsAreExitCode4(t *testing.T) {
	school := clienttest.NewSchool(t)
	school.Refuse = func(kind, key string) map[string][]string {
		if kind == "subjects" && key == "En" {
			return map[string][]string{"name": {"is taken"}}
		}
		return nil
	}
	code, out, errs := belfryctl(t, simulated(school).env, "import", clienttest.Folder(t, small), "--prune")
	want := `             kind  created  updated  unchanged  refused  no longer current
         subjects        1        0          0        1                  0
`
	if code != exitRefused || !strings.HasPrefix(out, want) || !strings.Contains(out, "Nothing was pruned") {
		t.Errorf("%d\n%s", code, out)
	}
	want = "subjects.csv:3: name: is taken\nbelfryctl: some records were refused; correct them and import again\n"
	valuetest.Same(t, errs, want)
}

func TestPruneShowsWhatIsNoLongerCurrent(t *testing.T) {
	school := clienttest.NewSchool(t)
	o := simulated(school)
	o.does(t, "import", clienttest.Folder(t, small))
	fewer := clienttest.Folder(t, map[string]string{"subjects.csv": "key,name\nMa,Mathematics\n"})
	out := o.does(t, "import", fewer, "--prune", "--dry-run")
	if !strings.Contains(out, "subjects        0        0          1                  1\n") ||
		!strings.Contains(out, "Dry run: nothing was written.") || school.Count("subjects") != 2 {
		t.Errorf("dry run, %d subjects:\n%s", school.Count("subjects"), out)
	}
	out = o.does(t, "import", fewer, "--prune")
	valuetest.Same(t, school.Count("subjects"), 1, "subjects:\n%s", out)
}

func TestADryRunListsEachRecord(t *testing.T) {
	school := clienttest.NewSchool(t)
	pupils := map[string]string{"pupils.csv": "key,forename,surname,year_group,email\n1,Ann,Byrne,8,a@b.example\n" +
		"2,Bob,Cole,8,\n3,Cy,Dean,8,\n"}
	o := simulated(school)
	o.does(t, "import", clienttest.Folder(t, pupils))
	later := clienttest.Folder(t, map[string]string{"pupils.csv": "key,forename,surname,year_group,email\n" +
		"1,Ann,Cole,9,\n2,Bob,Cole,8,\n003,Eve,Fry,7,\n4,Gus,Hill,7,\n"})
	code, out, errs := belfryctl(t, o.env, "import", later, "--prune", "--dry-run")
	want := `pupils.csv:2: changed 1 Ann Cole: surname: Byrne → Cole; year_group: 8 → 9; email: a@b.example → (empty)
pupils.csv:4: created 003 Eve Fry
pupils.csv:5: created 4 Gus Hill
retired Pupil:3 Cy Dean
`
	list, _, _ := strings.Cut(out, "    kind")
	if diff := cmp.Diff(want, list); diff != "" || code != exitOK {
		t.Errorf("%d %s", code, diff)
	}
	valuetest.Same(t, errs,
		"warning: pupils.csv:4: the key \"003\" differs from \"3\" only in leading zeros\n")
	_, out, _ = belfryctl(t, o.env, "import", later, "--dry-run", "--all")
	valuetest.Has(t, out, "pupils.csv:3: unchanged 2 Bob Cole\n", "all")
}

func TestAnImportThatLooksWrongStopsWithoutReally(t *testing.T) {
	keyed := func(keys, unpadded int, surname string) string {
		text := "key,initials,forename,surname\n"
		for i := range keys {
			key := fmt.Sprintf("%03d", i)
			if i < unpadded {
				key = strconv.Itoa(i)
			}
			text += fmt.Sprintf("%s,A%d,F%c%s,%s\n", key, i, 'a'+i%26, surname, surname)
		}
		return clienttest.Folder(t, map[string]string{"staff.csv": text})
	}
	roster := func(keys int, surname string) string { return keyed(keys, 0, surname) }
	for name, c := range map[string]struct {
		dir   string
		prune bool
		wrong string // "" when nothing stops it
	}{
		"a tenth gone": {roster(90, "Old"), true,
			"warning: 10 of 100 current staff from such files would no longer be current\n"},
		"less than a tenth gone":   {roster(91, "Old"), true, ""},
		"a tenth gone, not pruned": {roster(90, "Old"), false, ""},
		"other people": {roster(100, "New"), false,
			"warning: and 90 more keys of staff now mean another person\n" +
				"warning: 100 of 100 keys of staff now mean another person\n"},
		"a tenth without leading zeros": {keyed(100, 10, "Old"), false,
			"the key \"9\" differs from \"009\" only in leading zeros\n" +
				"warning: 10 of 100 keys of staff differ from others only in leading zeros\n"},
		"no leading zeros": {keyed(100, 100, "Old"), false,
			"warning: and 90 more keys of staff differ from others only in leading zeros\n" +
				"warning: 100 of 100 keys of staff differ from others only in leading zeros\n"},
		"less than a tenth without leading zeros": {keyed(100, 9, "Old"), false, ""},
	} {
		school := clienttest.NewSchool(t)
		o := simulated(school)
		o.does(t, "import", roster(100, "Old"))
		before := len(school.Batches())
		args := []string{"import", c.dir, "--prune=" + fmt.Sprint(c.prune)}
		code, _, errs := belfryctl(t, o.env, args...)
		stopped := code == exitFailure && len(school.Batches()) == before && school.Count("staff") == 100
		if stopped != (c.wrong != "") || !strings.Contains(errs, c.wrong) {
			t.Errorf("%s: %d %s", name, code, errs)
		}
		if stopped && !strings.HasSuffix(errs, "import with --really staff\n") {
			t.Errorf("%s: %s", name, errs)
		}
		dry, out, errs := belfryctl(t, o.env, append(args, "--dry-run")...)
		if dry != code || !strings.HasSuffix(out, "Dry run: nothing was written.\n") {
			t.Errorf("%s, dry run: %d, not %d: %s", name, dry, code, errs)
		}
		if code, _, errs := belfryctl(t, o.env, append(args, "--really", "staff")...); code != exitOK {
			t.Errorf("%s, really: %d %s", name, code, errs)
		}
	}
}

// A template whose files were not all filled in would retire a small school's rooms. One room may go, and the last of
// a type.
func TestAnImportThatLooksWrong_FilesOfHeadingsAloneRetireNothing(t *testing.T) {
	const heading = "key,name\n"
	rooms := map[string]string{"locations.csv": heading + "1,Hall\n2,Gym\n", "subjects.csv": heading + "Ma,Maths\n"}
	for text, stops := range map[string]bool{heading: true, heading + "1,Hall\n": false} {
		school := clienttest.NewSchool(t)
		o := simulated(school)
		o.does(t, "import", clienttest.Folder(t, rooms))
		later := clienttest.Folder(t, map[string]string{"locations.csv": text, "subjects.csv": heading})
		code, _, errs := belfryctl(t, o.env, "import", later, "--prune")
		warned := strings.Contains(errs, "2 of 2 current locations from such files would no longer be current\n")
		if stopped := code == exitFailure; stopped != stops || warned != stops {
			t.Errorf("%q: %d %s", text, code, errs)
		}
		if stops {
			o.fails(t, exitFailure, "import with --really locations\n", "import", later, "--prune", "--really",
				"subjects")
		}
	}
}

// TestHardToBreak_Row20_AKeyThatMeansSomebodyElseIsConfirmedOneByOne: one key of a pupil that was used again was a
// warning, and the pupil was overwritten.
func TestHardToBreak_Row20_AKeyThatMeansSomebodyElseIsConfirmedOneByOne(t *testing.T) {
	t.Parallel()
	pupils := func(names ...string) string {
		text := "key,forename,surname\n"
		for i, name := range names {
			text += fmt.Sprintf("p %d,%s\n", i, name)
		}
		for i := range 30 { // so that they are less than a tenth
			text += fmt.Sprintf("%d,Same%c,Every\n", i, 'a'+i)
		}
		return clienttest.Folder(t, map[string]string{"pupils.csv": text})
	}
	school := clienttest.NewSchool(t)
	command := func(dir string, more ...string) (int, string, string) {
		return belfryctl(t, simulated(school).env, append([]string{"import", dir}, more...)...)
	}
	if code, _, errs := command(pupils("Ann,Byrne", "Zoe,Quill", "Max,Orr")); code != exitOK || errs != "" {
		t.Fatalf("%d %s", code, errs)
	}
	before := len(school.Batches())
	others := pupils("Bob,Cole", "Zoe,Other", "Una,Dean")
	const warned = `warning: pupils.csv:2: the key "p 0" was Ann Byrne and is now Bob Cole
warning: pupils.csv:4: the key "p 2" was Max Orr and is now Una Dean
`
	for _, more := range [][]string{nil, {"--dry-run"}, {"--really", "pupils"}, {"--really", "Pupil:p 1"}} {
		code, _, errs := command(others, more...)
		if code != exitFailure || !strings.HasPrefix(errs, warned) ||
			!strings.HasSuffix(errs, "import with --really 'Pupil:p 0' --really 'Pupil:p 2'\n") {
			t.Errorf("%v: %d %s", more, code, errs)
		}
	}
	for _, unknown := range []string{"Pupil:p 3", "p 0", "Staff:p 0", "pupil"} { // a typing error was ignored
		code, _, errs := command(pupils("Ann,Byrne", "Zoe,Quill", "Max,Orr"), "--really", unknown)
		if code != exitFailure || !strings.Contains(errs, unknown+`" to confirm is neither a kind of record`) {
			t.Errorf("%s: %d %s", unknown, code, errs)
		}
	}
	if code, _, errs := command(others, "--really", "Pupil:p 0"); code != exitFailure ||
		!strings.HasSuffix(errs, "import with --really 'Pupil:p 2'\n") {
		t.Errorf("one of two: %d %s", code, errs)
	}
	for _, b := range school.Batches()[before:] {
		valuetest.Holds(t, b.DryRun, "%s was written", b.Kind)
	}
	code, _, errs := command(others, "--really", "Pupil:p 0", "--really", "Pupil:p 2")
	valuetest.Same(t, code, exitOK, "both %s", errs)
}

// TestHardToBreak_Row20_ElementsThatAreBookedTwiceAreTold: a bundle that booked one room twice said nothing.
func TestHardToBreak_Row20_ElementsThatAreBookedTwiceAreTold(t *testing.T) {
	t.Parallel()
	school := clienttest.NewSchool(t)
	dir := clienttest.Folder(t, map[string]string{
		"locations.csv":       "key,name\nG7,Room G7\n",
		"eventcategories.csv": "key,name,busy\nlesson,Lesson,true\n",
		"events.csv": "key,body,category,starts_at,ends_at,elements\n" +
			"a,Maths,lesson,2026-09-07 09:00,2026-09-07 10:00,Location:G7\n" +
			"b,Art,lesson,2026-09-07 09:30,2026-09-07 10:00,Location:G7\n",
	})
	const told = "warning: events.csv:3: Location:G7 is booked twice at 2026-09-07T09:30:00+01:00: line 2 has it too\n"
	o, command := simulated(school), []string{"import", dir}
	for _, dry := range []string{"--dry-run", "--dry-run=false"} {
		code, _, errs := belfryctl(t, o.env, append(command, "--clashes", "refuse", dry)...)
		want := told + "belfryctl: nothing was written because the events book elements twice\n"
		if code != exitFailure ||
			!strings.HasPrefix(errs, want) || school.Count("events") != 0 {
			t.Errorf("refuse %s: %d %s", dry, code, errs)
		}
	}
	o.does(t, append(command, "--clashes", "allow", "--dry-run")...)
	const left = "warning: events left out because they clash: 1\n"
	if code, _, errs := belfryctl(t, o.env, append(command, "--clashes", "skip")...); code != exitOK ||
		errs != told+left || school.Count("events") != 1 {
		t.Errorf("skip: %d %s", code, errs)
	}
	valuetest.Has(t, o.does(t, append(command, "-o=json")...), `"clashes": 1`)
	valuetest.Same(t, school.Count("events"), 2, "events")
	o.fails(t, exitUsage, "--clashes takes", append(command, "--clashes", "perhaps")...)
}

func TestWaitingIsExplained(t *testing.T) {
	school := clienttest.NewSchool(t)
	var away atomic.Int32
	school.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || r.URL.Path == "/api/login" || away.Add(1) > 2 {
			return false
		}
		clienttest.Answer(w, http.StatusServiceUnavailable, map[string]any{"status": "Service unavailable"})
		return true
	}
	code, _, errs := belfryctl(t, simulated(school).env, "import", clienttest.Folder(t, small))
	want := strings.Repeat("POST /api/admin/import/subjects: 503 Service unavailable; trying again in 0s\n", 2)
	valuetest.Holds(t, code == exitOK && errs == want, "%d %q", code, errs)
}

// TestInterface_AnInterruptedCommandSaysWhetherItGoesOn: of a booking, the same command makes another one.
func TestInterface_AnInterruptedCommandSaysWhetherItGoesOn(t *testing.T) {
	for during, c := range map[string]struct {
		args []string
		want string
	}{
		"/api/admin/import/events": {[]string{"import", clienttest.Folder(t, small)},
			"belfryctl: interrupted; run the same command again to continue\n"},
		"/api/eventcategories": {[]string{"book", "Quiz", "--category", "Club", "--from", "2026-12-02"},
			"belfryctl: interrupted\n"},
	} {
		school := clienttest.NewSchool(t)
		ctx, interrupt := context.WithCancel(t.Context())
		school.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == during {
				interrupt()
			}
			return false
		}
		code, _, errs := belfryctlUntil(ctx, simulated(school).env, c.args...)
		valuetest.Holds(t, code == exitFailure && errs == c.want, "%q: %d %q", c.args, code, errs)
	}
}

// An administrator of a school whose rights end between the dry run and the writes has imported a part.
func TestAnImportThatEndsInTheMiddleSaysThatAPartIsIn(t *testing.T) {
	for name, c := range map[string]struct {
		refuses bool // single records; else the whole batch
		code    int
		want    string
	}{
		"a batch": {false, exitFailure, "403 Forbidden; what was written stays, at least 3 records; run the " +
			"import again\n"},
		"a record": {true, exitRefused, "have changed since; the 3 records already written stay\n"},
	} {
		school := clienttest.NewSchool(t)
		var moved atomic.Bool
		school.Before = func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.URL.Path == "/api/me":
				clienttest.Answer(w, http.StatusOK,
					map[string]any{"status": "OK", "permissions": map[string]any{"admin": false}})
				return true
			case strings.HasSuffix(r.URL.Path, "/import/events") && r.URL.Query().Get("dry_run") == "":
				moved.Store(true)
				if !c.refuses {
					clienttest.Answer(w, http.StatusForbidden, map[string]any{"status": "Forbidden"})
				}
				return !c.refuses
			}
			return false
		}
		school.Refuse = func(string, string) map[string][]string {
			if moved.Load() {
				return map[string][]string{"key": {"does not belong to a school that you administer"}}
			}
			return nil
		}
		code, out, errs := belfryctl(t, simulated(school).env, "import", clienttest.Folder(t, small))
		if code != c.code || !strings.HasSuffix(errs, c.want) || !strings.Contains(out, "all        3") {
			t.Errorf("%s: %d %s%s", name, code, errs, out)
		}
		if school.Count("subjects") != 2 || school.Count("events") != 0 {
			t.Errorf("%s: %d subjects, %d events", name, school.Count("subjects"), school.Count("events"))
		}
	}
}

// The login is a password, and so are the uuids of the bundle.
func TestNoOutputHoldsAUUID(t *testing.T) {
	school := clienttest.NewSchool(t)
	const wrong, users = "1b4e28ba-2fa1-11d2-883f-0016d3cca427", "6e0f5f44-5a53-4c8f-9d4e-2f6d2a1b7c01"
	file := filepath.Join(clienttest.Folder(t, map[string]string{"uuid": wrong}), "uuid")
	twice := map[string]string{"users.csv": "key,name,email,uuid\n1,A,a@b.example," + users + "\n2,B,b@b.example," +
		users + "\n3,C,c@b.example," + users + "x\n"}
	once := map[string]string{"users.csv": "key,name,email,uuid\n1,A,a@b.example," + users + "\n"}
	school.Refuse = func(_, _ string) map[string][]string {
		return map[string][]string{"uuid": {"has already been taken"}}
	}
	missed := map[string]string{"BELFRY_UUID": wrong, "BELFRY_URL": school.URL}
	inFile := map[string]string{"BELFRY_URL": school.URL}
	right := simulated(school).env
	for _, c := range []struct {
		env   map[string]string
		files map[string]string
		more  []string
		code  int
	}{
		{missed, once, nil, exitFailure},
		{inFile, once, []string{"--uuid-file", file}, exitFailure},
		{missed, once, []string{"--url", "http://127.0.0.1:1"}, exitFailure},
		{right, twice, nil, exitFaults},
		{right, twice, []string{"-o=json"}, exitFaults},
		{right, once, nil, exitRefused},
		{right, once, []string{"-o=json"}, exitRefused},
	} {
		args := append([]string{"import", clienttest.Folder(t, c.files)}, c.more...)
		code, out, errs := belfryctl(t, c.env, args...)
		valuetest.Same(t, code, c.code, "%q: %s", args, errs)
		for _, secret := range []string{wrong, users, clienttest.UUID} {
			valuetest.Lacks(t, out+errs, secret, "%q prints", args)
		}
	}
}

func TestDemoImportsWithoutAFault(t *testing.T) {
	school := clienttest.NewSchool(t)
	dir := filepath.Join(t.TempDir(), "school")
	out := office{}.does(t, "demo", "--pupils", "20", "--seed", "4", "--out", dir)
	valuetest.Has(t, out, "events")
	valuetest.Has(t, out, "become another user")
	if code, out, errs := belfryctl(t, simulated(school).env, "import", dir, "--parallel", "4"); code != exitOK {
		t.Fatalf("%d %q %q", code, out, errs)
	}
	var second outcome
	simulated(school).reads(t, &second, "import", dir)
	if len(second.Kinds) != 13 || second.Kinds[11].Unchanged != school.Count("events") {
		t.Errorf("second import: %+v, %d events", second.Kinds, school.Count("events"))
	}
	several := filepath.Join(t.TempDir(), "several")
	out = office{}.does(t, "demo", "--pupils", "10", "--schools", "2", "--out", several)
	if !strings.Contains(out, "District Administrator") || !strings.Contains(out, "\nAshdown Park School:\n") ||
		strings.Count(out, " School:\n") != 2 {
		t.Errorf("two schools: %q", out)
	}
	office{}.fails(t, exitFailure, "is not empty", "demo", "--out", dir)
}

func TestVersion(t *testing.T) {
	var b build
	office{}.reads(t, &b, "version")
	valuetest.Holds(t, strings.HasPrefix(b.Go, "go1.") && b.Version == release.Version(), "%+v", b)
	out := (office{}).does(t, "version")
	valuetest.Same(t, len(strings.Fields(out)), 4, "it prints %q, not program, version, commit and Go", out)
}

func TestProgressWithoutATerminalIsALineNowAndThen(t *testing.T) {
	var out bytes.Buffer
	p := &progress{out: &out}
	p.start(30000)
	p.add("events", 1000)
	if out.Len() > 0 {
		t.Errorf("too early: %q", out.String())
	}
	p.began, p.last = time.Now().Add(-10*time.Second), time.Now().Add(-every)
	p.add("events", 1000)
	p.add("events", 1000)
	got := out.String()
	if got != "events: 2,000 of 30,000 records, 199 a second\n" &&
		got != "events: 2,000 of 30,000 records, 200 a second\n" {
		t.Errorf("got %q", got)
	}
}
