package bundle_test

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// school is a bundle without faults that uses every file.
var school = func() map[string]string {
	files := map[string]string{}
	for _, kind := range bundle.Kinds() {
		text, err := os.ReadFile(filepath.Join("testdata", "school", kind.File()))
		if err != nil {
			panic(err)
		}
		files[kind.File()] = string(text)
	}
	return files
}()

// with is the school with some files replaced.
func with(files map[string]string) map[string]string {
	all := maps.Clone(school)
	maps.Copy(all, files)
	return all
}

// faultsOf opens a bundle and lists its faults as printed.
func faultsOf(t *testing.T, files map[string]string) []string {
	t.Helper()
	_, err := bundle.Open(clienttest.Folder(t, files), bundle.Options{Zone: timetest.London(t)})
	return csvtest.Faults(err)
}

// open opens a bundle without faults.
func open(t *testing.T, path string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Open(path, bundle.Options{Zone: timetest.London(t)})
	if err != nil {
		t.Fatal(csvtest.Faults(err))
	}
	return b
}

// sent lists the line, the key and the JSON of a kind's records.
func sent(t *testing.T, b *bundle.Bundle, kind bundle.Kind) string {
	t.Helper()
	var lines []string
	for row, err := range b.Rows(kind) {
		record, jsonErr := json.Marshal(row.Record)
		errortest.None(t, errors.Join(err, jsonErr))
		lines = append(lines, fmt.Sprintf("%d %s %s", row.Line, row.Key, record))
	}
	return strings.Join(lines, "\n")
}

// allSent is what is sent of all kinds.
func allSent(t *testing.T, path string) map[bundle.Kind]string {
	t.Helper()
	b, all := open(t, path), map[bundle.Kind]string{}
	for _, kind := range bundle.Kinds() {
		all[kind] = sent(t, b, kind)
	}
	return all
}

func TestRowsAreTheRecordsOfTheImportCalls(t *testing.T) {
	b := open(t, "testdata/school")
	var all strings.Builder
	for _, kind := range bundle.Kinds() {
		fmt.Fprintf(&all, "%s, %d\n%s\n", kind, b.Count(kind), sent(t, b, kind))
	}
	want, err := os.ReadFile("testdata/school.golden")
	if diff := cmp.Diff(string(want), all.String()); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for reference, gone := range map[string]bool{"Group:9A": false, "Group:oneroster:class:9A": false, "Group:9B": true,
		"Pupil:9A": true, "9A": true} {
		valuetest.Same(t, b.Gone(reference), gone, "%s is gone", reference)
	}
}

// administering is a district with these schools in a user's admin_of.
func administering(schools string) map[string]string {
	return map[string]string{
		"groups.csv": "key,name,resource,school,current\n9A,Class 9A,,,\nschool,School,,,\nbuses,Minibuses,true,,\n" +
			"north,North,,true,\nsouth,South,,yes,true\nold,Old,,true,false\n",
		"users.csv": "key,name,email,admin_of\n1,Ann,a@b.example," + schools + "\n",
	}
}

// The schools that a user administers are sent as a list, an empty one where the cell is empty, and not at all without
// the column.
func TestTheSchoolsOfAnAdministratorAreSentAsAList(t *testing.T) {
	for users, want := range map[string]string{
		administering("north ; south")["users.csv"]: `"admin_of":["north","south"]}`,
		administering(" ")["users.csv"]:             `"admin_of":[]}`,
		"key,name,email\n1,Ann,a@b.example\n":       `"email":"a@b.example"}`,
	} {
		files := with(administering(""))
		files["users.csv"] = users
		for _, path := range []string{clienttest.Folder(t, files), book(t, files)} {
			if got := sent(t, open(t, path), bundle.Users); !strings.HasSuffix(got, want) {
				t.Errorf("%q is sent as %s", users, got)
			}
		}
	}
}

// The words of the format are understood in any case, with spaces around them, and are sent as the services know them.
func TestWordsOfTheFormatAreKnownInAnyCase(t *testing.T) {
	plain := with(map[string]string{
		"users.csv": "key,name,email,kind,element\n1,Ann,a@b.example,staff,Staff:17\n" +
			"2,Zoë,z@b.example,pupil,Pupil:1\n",
		"commitments.csv": "event,element,status,request\ne1,Location:G7,confirmed,\n" +
			"e1,Service:bus1,uncontrolled,Group:buses\n",
	})
	loose := map[string]string{}
	inAnyCase := strings.NewReplacer(",staff,", ", STAFF ,", ",pupil,", ",Pupil,", "Staff:", " staff : ",
		"Pupil:", "PUPIL:", "Location:", "location:", "Service:", " service: ", "Group:", "GROUP:",
		"Property:", "property:", ",confirmed,", ",Confirmed ,", ",uncontrolled,", ",UNCONTROLLED,")
	for name, text := range plain {
		loose[name] = inAnyCase.Replace(text)
	}
	diff := cmp.Diff(allSent(t, clienttest.Folder(t, plain)), allSent(t, clienttest.Folder(t, loose)))
	valuetest.Holds(t, diff == "", diff)
}

// Who asked is known of elements that are free, too, and of a resource group.
func TestDecisionsAreSentWithTheirEvents(t *testing.T) {
	for _, c := range []struct{ rows, want string }{
		{"event,element,status,reason,decided_by\ne1,Location:G7,rejected,Being painted,1\ne1,Group:9A,confirmed,,\n",
			`[{"element":"Location:G7","status":"rejected","reason":"Being painted","decided_by":"1"},` +
				`{"element":"Group:9A","status":"confirmed"}]`},
		{"event,element,status,decided_by,asked_by\ne1,Location:G7,requested,1,1\ne1,Group:9A,uncontrolled,,1\n" +
			"e1,Group:buses,requested,,1\n",
			`[{"element":"Location:G7","status":"requested","decided_by":"1","asked_by":"1"},` +
				`{"element":"Group:9A","status":"uncontrolled","asked_by":"1"},` +
				`{"element":"Group:buses","status":"requested","asked_by":"1"}]`},
	} {
		b := open(t, clienttest.Folder(t, with(map[string]string{"Commitments.csv": c.rows})))
		got := sent(t, b, bundle.Events)
		if !strings.Contains(got, `"decisions":`+c.want+"}\n3 e2 ") || strings.Count(got, "decisions") != 1 {
			t.Errorf("%q is sent as %s", c.rows, got)
		}
	}
}

func TestNamesOfFilesAreKnownInAnyCase(t *testing.T) {
	files := map[string]string{"Staff.csv": "key,initials,forename,surname\n17,A,B,C\n",
		"EVENTCATEGORIES.CSV": "key,name\nlesson,Lesson\n",
		"Events.csv":          "key,body,category,starts_at,ends_at,organiser\ne1,x,lesson,2026-09-07,2026-09-07,17\n"}
	if got := faultsOf(t, files); got != nil {
		t.Errorf("faults %q", got)
	}
	files["Events.csv"] = strings.Replace(files["Events.csv"], ",17\n", ",18\n", 1)
	want := []string{`Events.csv:2: organiser: no row of Staff.csv has the key "18"`}
	valuetest.Equal(t, want, faultsOf(t, files))
}

// book writes the files of a bundle as the sheets of a workbook.
func book(t *testing.T, files map[string]string) string {
	t.Helper()
	f := excelize.NewFile()
	for name, text := range files {
		sheet := strings.TrimSuffix(name, ".csv")
		_, err := f.NewSheet(sheet)
		errortest.None(t, err)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		errortest.None(t, err)
		for i, cells := range rows {
			errortest.None(t, f.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &cells))
		}
	}
	path := filepath.Join(t.TempDir(), "School.XLSX")
	file, err := os.Create(path)
	errortest.None(t, err)
	errortest.None(t, errors.Join(f.Write(file), file.Close(), f.Close()))
	return path
}

// packed writes files as macOS packs their folder.
func packed(t testing.TB, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "School.ZIP")
	file, err := os.Create(path)
	errortest.None(t, err)
	all := fstest.MapFS{}
	for name, text := range files {
		all["school/"+name], all["__MACOSX/._"+name] = &fstest.MapFile{Data: []byte(text)}, &fstest.MapFile{}
	}
	w := zip.NewWriter(file)
	errortest.None(t, errors.Join(w.AddFS(all), w.Close(), file.Close()))
	return path
}

func TestAWorkbookIsTheSameBundleAsItsSheetsAsFiles(t *testing.T) {
	valuetest.Equal(t, allSent(t, clienttest.Folder(t, school)), allSent(t, book(t, school)))
	if diff := cmp.Diff(allSent(t, clienttest.Folder(t, school)), allSent(t, packed(t, school))); diff != "" {
		t.Errorf("a zip file: %s", diff)
	}
	path := book(t, map[string]string{"subjects.csv": "key,name\n1,\n", "Staffs.csv": "key\n"})
	_, err := bundle.Open(path, bundle.Options{Zone: timetest.London(t)})
	want := []string{"School.XLSX#Staffs:1: file: is not a sheet of the bundle; did you mean staff?",
		"School.XLSX#subjects:2: name: can't be blank"}
	valuetest.Equal(t, want, csvtest.Faults(err))
	_, err = bundle.Open(filepath.Dir(path), bundle.Options{Zone: timetest.London(t)})
	if err == nil || !strings.HasSuffix(err.Error(), "give the workbook itself: "+path) {
		t.Errorf("its folder: %v", err)
	}
	broken := filepath.Join(t.TempDir(), "school.zip") // the error did not say of what
	errortest.None(t, os.WriteFile(broken, []byte("no zip"), 0o600))
	_, err = bundle.Open(broken, bundle.Options{})
	errortest.Says(t, err, "reading the bundle: "+broken+": zip: not a valid zip file", "a broken zip file")
}

// Every fault is reported by file, line and column; what spreadsheets write is not a fault.
func TestEveryFaultIsReportedByFileLineAndColumn(t *testing.T) {
	cases := csvtest.Read(t, "testdata/faults.txt")
	const events = "key,body,category,starts_at,ends_at,elements\ne1,"
	for _, c := range []struct{ file, text, fault string }{
		{"notes.csv", "key,event,contents\nn,e1,a\x00\n", "2: contents: has a NUL character"},
		{"notes.csv", "key,event,contents\nn,e1," + strings.Repeat("é", 65537) + "\n",
			"2: contents: has 65537 characters, at most 65536 are allowed"},
		{"subjects.csv", "key,name\n" + strings.Repeat("é", 256) + ",x\n",
			"2: key: has 256 characters, at most 255 are allowed"},
		{"subjects.csv", "key,name\na,\u200b\n", "2: name: has no visible character"},
		{"users.csv", "key,name,email\n1,Ann," + strings.Repeat("a", 250) + "@b.example\n",
			"2: email: has 260 characters, at most 254 are allowed"},
		{"users.csv", "key,name,email,admin_of\n1,Ann,a@b.example," + strings.Repeat("north;", 100) + "north\n",
			"2: admin_of: has 101 schools, at most 100 are allowed"},
		{"users.csv", "key,name,email,stands_for\n1,Ann,a@b.example," + strings.Repeat("1;", 20) + "1\n",
			"2: stands_for: has 21 pupils, at most 20 are allowed"},
		{"events.csv", events + strings.Repeat("é", 4097) + ",lesson,2026-09-07,2026-09-07,\n",
			"2: body: has 4097 characters, at most 4096 are allowed"},
		{"events.csv", events + "x,lesson,2026-09-07,2026-09-07," + strings.Repeat("Group:buses;", 1000) +
			"Group:buses\n", "2: elements: has 1001 elements, at most 1000 are allowed"},
	} {
		cases = append(cases,
			csvtest.Case{Name: c.fault, Files: map[string]string{c.file: c.text},
				Faults: []string{c.file + ":" + c.fault}})
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			valuetest.Equal(t, c.Faults, faultsOf(t, with(c.Files)))
		})
	}
}

func TestOpenSaysWhatCannotBeRead(t *testing.T) {
	inPlaceOfAFile := t.TempDir()
	errortest.None(t, os.Mkdir(filepath.Join(inPlaceOfAFile, "staff.csv"), 0o700))
	for dir, want := range map[string]string{filepath.Join(t.TempDir(), "nowhere"): "nowhere",
		t.TempDir(): "has no file of a bundle", inPlaceOfAFile: "staff.csv"} {
		_, err := bundle.Open(dir, bundle.Options{Zone: timetest.London(t)})
		errortest.Says(t, err, want)
	}
}

func TestRowsNoticesAFileThatWentWrongSince(t *testing.T) {
	dir := clienttest.Folder(t, school)
	b := open(t, dir)
	err := os.WriteFile(filepath.Join(dir, "subjects.csv"), []byte("key,name\na,x\nb,\nc,x\n"), 0o600)
	errortest.None(t, err)
	var keys []string
	for row, rowErr := range b.Rows(bundle.Subjects) {
		if err = rowErr; err == nil {
			keys = append(keys, row.Key)
		}
	}
	if err == nil ||
		err.Error() != "subjects.csv has changed since it was checked: subjects.csv:3: name: can't be blank" {
		t.Errorf("got %v", err)
	}
	valuetest.Equal(t, []string{"a"}, keys)
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(school["events.csv"]))
	f.Add([]byte("\ufeff\"key\",body\n\"\n"))
	zone := timetest.London(f)
	f.Fuzz(func(t *testing.T, events []byte) {
		dir := clienttest.Folder(t, with(map[string]string{"events.csv": string(events)}))
		b, err := bundle.Open(dir, bundle.Options{Zone: zone})
		if err != nil {
			return
		}
		n := 0
		for _, err := range b.Rows(bundle.Events) {
			errortest.None(t, err, "no faults at first, then")
			n++
		}
		valuetest.Same(t, n, b.Count(bundle.Events), "rows read, and those that are counted")
	})
}

// A template is a bundle without faults and without rows, with every file that is read.
func TestATemplateIsAnEmptyBundle(t *testing.T) {
	zone := timetest.London(t)
	for _, name := range []string{"school", "school.xlsx"} {
		path := filepath.Join(t.TempDir(), name)
		errortest.None(t, bundle.WriteTemplate(path))
		b, err := bundle.Open(path, bundle.Options{Zone: zone})
		errortest.None(t, err, name)
		for _, kind := range bundle.Files() {
			if !b.Has(kind) || b.Count(kind) != 0 {
				t.Errorf("%s: %s is there: %v, with %d rows", name, kind, b.Has(kind), b.Count(kind))
			}
		}
		errortest.Some(t, bundle.WriteTemplate(path), "%s is written over", name)
	}
}

// TestRows_TakeLittleMemory, however long keys are: of an event less than its key is kept.
func TestRows_TakeLittleMemory(t *testing.T) {
	const events, members = 30_000, 20_000
	const perEvent, perPair = 80, 400 // bytes; with the keys and days themselves 100 to 133, and 589
	dir := t.TempDir()
	write := func(name, head string, n int, row func(i int) string) {
		t.Helper()
		var b strings.Builder
		b.WriteString(head + "\n")
		for i := range n {
			b.WriteString(row(i) + "\n")
		}
		errortest.None(t, os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600))
	}
	long := strings.Repeat("k", 60)
	write("pupils.csv", "key,forename,surname", members, func(i int) string { return fmt.Sprintf("%d,A,B", i) })
	write("groups.csv", "key,name", 2, func(i int) string { return fmt.Sprintf("%s%d,G%d", long, i, i) })
	write("eventcategories.csv", "key,name", 1, func(int) string { return "c,Lesson" })
	write("memberships.csv", "group,member,first_day,last_day", members, func(i int) string {
		return fmt.Sprintf("%s%d,Pupil:%d,2026-09-01,2027-07-21", long, i%2, i)
	})
	write("events.csv", "key,body,category,starts_at,ends_at", events, func(i int) string {
		return fmt.Sprintf("%s%d,Lesson,c,2026-09-07 09:00,2026-09-07 10:00", long, i)
	})
	zone := timetest.London(t)
	start := inUse()
	b, err := bundle.Open(dir, bundle.Options{Zone: zone})
	errortest.None(t, err)
	kept := inUse() - start
	t.Logf("%d bytes of %d keys", kept, events+members)
	if most := perEvent * (events + members); kept > most {
		t.Errorf("%d bytes are kept of %d keys, at most %d are expected", kept, events+members, most)
	}
	mosts := map[bundle.Kind]int{bundle.Events: perEvent * events, bundle.Memberships: perPair * members}
	for kind, most := range mosts {
		n := 0
		for _, err := range b.Rows(kind) {
			errortest.None(t, err)
			if n++; n == b.Count(kind) {
				took := inUse() - start - kept
				t.Logf("%s: %d bytes of %d rows", kind, took, n)
				if took > most {
					t.Errorf("%s: %d bytes at the end of %d rows, at most %d are expected", kind, took, n, most)
				}
			}
		}
	}
	runtime.KeepAlive(b)
}

// inUse is how much of the heap is in use.
func inUse() int {
	runtime.GC()
	runtime.GC() // what finalizers of the first let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestColumns_AreTheFieldsOfTheImports, as the interface's document has them: an export leaves out what is not a
// column.
func TestColumns_AreTheFieldsOfTheImports(t *testing.T) {
	operations := apidoctest.Operations(t)
	for _, kind := range bundle.Kinds() {
		call := operations["POST /api/admin/import/"+string(kind)]
		fields := apidoctest.RequestFields(t, call, "application/x-ndjson", "")
		columns := kind.Columns()
		switch kind {
		case bundle.Memberships: // a record is made of several rows
			continue
		case bundle.Administrators: // the key is made of the other columns
			columns = append(columns, "key")
		case bundle.Events: // these are the rows of commitments.csv
			columns = append(columns, "decisions")
		}
		valuetest.List(t, slices.Sorted(slices.Values(columns)), fields, "columns of %s", kind)
	}
}
