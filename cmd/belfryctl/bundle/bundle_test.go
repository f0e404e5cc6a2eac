package bundle_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/cmd/belfryctl/bundle"
	"github.com/belfry-schools/belfry/cmd/belfryctl/csvfile"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// school is a bundle without faults that uses every file.
var school = map[string]string{
	"staff.csv":      "key,initials,forename,surname\n17,ABC,Ann,Byrne-Cole\n",
	"pupils.csv":     "key,forename,surname\n1,Zoë,Núñez\n",
	"locations.csv":  "key,name\nG7,Room G7\n",
	"groups.csv":     "key,name,resource\n9A,Class 9A,\nschool,School,false\nbuses,Minibuses,true\n",
	"properties.csv": "key,name\n1,Calendar\n",
	"services.csv":   "key,name\nbus1,Minibus 1\n",
	"subjects.csv":   "key,name\nMa,Mathematics\n",
	"memberships.csv": "group,member,first_day,last_day\n9A,Pupil:1,2027-01-01,\n9A,Pupil:1,,2026-12-31\n" +
		"school,Group:9A,,\nbuses,Service:bus1,,\n",
	"users.csv": "key,name,email,kind,element,uuid,admin\n" +
		"1,Ann,ann@school.example,staff,Staff:17,6e0f5f44-5a53-4c8f-9d4e-2f6d2a1b7c01,true\n",
	"administrators.csv":  "element,user\nProperty:1,1\n",
	"eventcategories.csv": "key,name,pecking_order,busy\nlesson,Lesson,10,true\n",
	"events.csv": "key,body,category,starts_at,ends_at,all_day,organiser,owner,elements\n" +
		"e1,Maths,lesson,2026-09-07 09:00,2026-09-07 10:00,,17,1,Group:9A;Staff:17;Location:G7;Group:buses;" +
		"Group:buses\n" +
		"e2,Trip,lesson,2026-09-07,2026-09-09,true,,,\n",
	"notes.csv": "key,event,contents,owner,visible_guest\nn1,e1,Bring *books*,1,\n",
}

// with is the school with some files replaced.
func with(files map[string]string) map[string]string {
	all := map[string]string{}
	for name, text := range school {
		all[name] = text
	}
	for name, text := range files {
		all[name] = text
	}
	return all
}

// faultsOf opens a bundle and lists its faults as printed.
func faultsOf(t *testing.T, files map[string]string) []string {
	t.Helper()
	_, err := bundle.Open(clienttest.Folder(t, files), timetest.London(t))
	if err == nil {
		return nil
	}
	var faults *csvfile.FaultsError
	if !errors.As(err, &faults) {
		t.Fatalf("Open: %v, want faults", err)
	}
	if faults.Total != len(faults.First) {
		t.Errorf("total %d, listed %d", faults.Total, len(faults.First))
	}
	var lines []string
	for _, f := range faults.First {
		lines = append(lines, f.String())
	}
	return lines
}

// open opens a bundle without faults.
func open(t *testing.T, path string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Open(path, timetest.London(t))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sent lists the line, the key and the JSON of a kind's records.
func sent(t *testing.T, b *bundle.Bundle, kind bundle.Kind) string {
	t.Helper()
	var lines []string
	for row, err := range b.Rows(kind) {
		record, jsonErr := json.Marshal(row.Record)
		if err = errors.Join(err, jsonErr); err != nil {
			t.Fatal(err)
		}
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

func TestOpenAcceptsTheWholeSchool(t *testing.T) {
	b := open(t, clienttest.Folder(t, school))
	counts := map[bundle.Kind]int{}
	for _, kind := range bundle.Kinds() {
		counts[kind] = b.Count(kind)
	}
	want := map[bundle.Kind]int{"staff": 1, "pupils": 1, "locations": 1, "groups": 3, "properties": 1, "services": 1,
		"subjects": 1, "memberships": 3, "users": 1, "administrators": 1, "eventcategories": 1, "events": 2, "notes": 1}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
	for _, there := range []string{"Group:9A", "Group:oneroster:class:9A"} {
		if b.Gone(there) {
			t.Errorf("%s is gone", there)
		}
	}
	for _, gone := range []string{"Group:9B", "Pupil:9A", "9A"} {
		if !b.Gone(gone) {
			t.Errorf("%s is not gone", gone)
		}
	}
}

func TestRowsAreTheRecordsOfTheImportCalls(t *testing.T) {
	b := open(t, clienttest.Folder(t, school))
	want := map[bundle.Kind]string{
		"staff":  `2 17 {"key":"17","initials":"ABC","forename":"Ann","surname":"Byrne-Cole"}`,
		"pupils": `2 1 {"key":"1","forename":"Zoë","surname":"Núñez"}`,
		"groups": `2 9A {"key":"9A","name":"Class 9A"}` + "\n" +
			`3 school {"key":"school","name":"School","resource":false}` + "\n" +
			`4 buses {"key":"buses","name":"Minibuses","resource":true}`,
		"memberships": `2 Group:9A/Pupil:1 {"key":"Group:9A/Pupil:1","group":"9A","member":"Pupil:1","spans":[` +
			`{"first_day":null,"last_day":"2026-12-31"},{"first_day":"2027-01-01","last_day":null}]}` + "\n" +
			`4 Group:school/Group:9A {"key":"Group:school/Group:9A","group":"school","member":"Group:9A",` +
			`"spans":[{"first_day":null,"last_day":null}]}` +
			"\n" +
			`5 Group:buses/Service:bus1 {"key":"Group:buses/Service:bus1","group":"buses","member":"Service:bus1",` +
			`"spans":[{"first_day":null,"last_day":null}]}`,
		"users": `2 1 {"key":"1","name":"Ann","email":"ann@school.example","kind":"staff","element":"Staff:17",` +
			`"uuid":"6e0f5f44-5a53-4c8f-9d4e-2f6d2a1b7c01","admin":true}`,
		"administrators":  `2 Property:1/1 {"key":"Property:1/1","element":"Property:1","user":"1"}`,
		"eventcategories": `2 lesson {"key":"lesson","name":"Lesson","pecking_order":10,"busy":true}`,
		"events": `2 e1 {"key":"e1","body":"Maths","category":"lesson","starts_at":"2026-09-07 ` +
			`09:00","ends_at":"2026-09-07 10:00",` +
			`"organiser":"17","owner":"1","elements":["Group:9A","Staff:17","Location:G7","Group:buses",` +
			`"Group:buses"]}` +
			"\n" +
			`3 e2 {"key":"e2","body":"Trip","category":"lesson","starts_at":"2026-09-07","ends_at":"2026-09-09",` +
			`"all_day":true}`,
		"notes": `2 n1 {"key":"n1","event":"e1","contents":"Bring *books*","owner":"1"}`,
	}
	for kind, text := range want {
		if diff := cmp.Diff(text, sent(t, b, kind)); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

func TestOpenTakesWhatSpreadsheetsWrite(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"columns in any order": {"staff.csv": "surname,key,forename,initials\nC,17,B,A\n"},
		"quotes":               {"staff.csv": "\"key\",initials,forename,surname\n17,A,\"B \"\"Bob\"\", Jr\",C\n"},
		"spaces around cells":  {"staff.csv": "key, initials,forename,surname\n 17 ,A,B ,C\n"},
		"header only":          {"notes.csv": "key,event,contents\n"},
		"other files":          {"README.md": "not ours"},
		"the last autumn Sunday": {
			"events.csv": "key,body,category,starts_at,ends_at\ne1,x,lesson,2026-10-25 01:30,2026-10-25 01:30\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := faultsOf(t, with(files)); got != nil {
				t.Errorf("faults %q", got)
			}
		})
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
	if diff != "" {
		t.Error(diff)
	}
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
	if diff := cmp.Diff(want, faultsOf(t, files)); diff != "" {
		t.Error(diff)
	}
}

// book writes the files of a bundle as the sheets of a workbook.
func book(t *testing.T, files map[string]string) string {
	t.Helper()
	f := excelize.NewFile()
	for name, text := range files {
		sheet := strings.TrimSuffix(name, ".csv")
		if _, err := f.NewSheet(sheet); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i, cells := range rows {
			if err := f.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &cells); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "School.XLSX")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Write(file), file.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAWorkbookIsTheSameBundleAsItsSheetsAsFiles(t *testing.T) {
	if diff := cmp.Diff(allSent(t, clienttest.Folder(t, school)), allSent(t, book(t, school))); diff != "" {
		t.Error(diff)
	}
	path := book(t, map[string]string{"subjects.csv": "key,name\n1,\n", "Staffs.csv": "key\n"})
	_, err := bundle.Open(path, timetest.London(t))
	var faults *csvfile.FaultsError
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	want := []string{"School.XLSX#Staffs:1: file: is not a sheet of the bundle; did you mean staff?",
		"School.XLSX#subjects:2: name: can't be blank"}
	if diff := cmp.Diff(want, []string{faults.First[0].String(), faults.First[1].String()}); diff != "" {
		t.Error(diff)
	}
	_, err = bundle.Open(filepath.Dir(path), timetest.London(t))
	if err == nil || !strings.HasSuffix(err.Error(), "give the workbook itself: "+path) {
		t.Errorf("its folder: %v", err)
	}
}

func TestEveryFaultIsReportedByFileLineAndColumn(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	event := func(rest string) map[string]string {
		return map[string]string{"events.csv": "key,body,category,starts_at,ends_at,all_day,organiser,owner," +
			"elements\ne1," +
			rest + "\n"}
	}
	cases := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"misspelt file", map[string]string{"pupil.csv": ""},
			[]string{"pupil.csv:1: file: is not a file of the bundle; did you mean pupils.csv?"}},
		{"copy of a file", map[string]string{"Staff (2).csv": ""},
			[]string{"Staff (2).csv:1: file: is not a file of the bundle; did you mean staff.csv?"}},
		{"unknown file", map[string]string{"timetable.csv": ""},
			[]string{"timetable.csv:1: file: is not a file of the bundle"}},
		{"file twice", map[string]string{"Staff.CSV": school["staff.csv"]},
			[]string{"staff.csv:1: file: is there besides Staff.CSV; only one of them can be meant"}},
		{"sheet of a spreadsheet", map[string]string{"Staff.xls": ""},
			[]string{"Staff.xls:1: file: is not read; save it as staff.csv"}},
		{"empty file", map[string]string{"notes.csv": ""}, []string{"notes.csv:1: header: is missing"}},
		{"unknown column", map[string]string{"notes.csv": "key,event,contents,colour\nn,e1,x,red\n"},
			[]string{"notes.csv:1: colour: is not a column of this file"}},
		{"column twice", map[string]string{"notes.csv": "key,event,contents,event\nn,e1,x,e1\n"},
			[]string{"notes.csv:1: event: is there twice"}},
		{"missing column", map[string]string{"notes.csv": "key,contents\nn,x\n"},
			[]string{"notes.csv:1: event: the column is missing"}},
		{"bare quote", map[string]string{"notes.csv": "key,event,contents\nn,e1,a \"b\"\n"},
			[]string{
				`notes.csv:2: row: has a quote inside a cell that does not start with one (write the cell as "…", ` +
					`a quote in it as "")`}},
		{"open quote", map[string]string{"notes.csv": "key,event,contents\nn,e1,\"a\nb\n"},
			[]string{
				`notes.csv:2: row: has a cell whose closing quote is missing or followed by text (write a quote in ` +
					`it as "")`}},
		{"NUL", map[string]string{"notes.csv": "key,event,contents\nn,e1,a\x00\n"},
			[]string{"notes.csv:2: contents: has a NUL character"}},
		{"line of the cell, not of the row", map[string]string{"notes.csv": "key,contents,event\nn,\"a\nb\nc\",nope\n"},
			[]string{`notes.csv:4: event: no row of events.csv has the key "nope"`}},

		{"empty key", map[string]string{"subjects.csv": "key,name\n ,x\n"},
			[]string{"subjects.csv:2: key: can't be blank"}},
		{"long key", map[string]string{"subjects.csv": "key,name\n" + long(256) + ",x\n"},
			[]string{"subjects.csv:2: key: has 256 characters, at most 255 are allowed"}},
		{"semicolon in a key", map[string]string{"subjects.csv": "key,name\na;b,x\n"},
			[]string{"subjects.csv:2: key: has a semicolon"}},
		{"key of OneRoster", map[string]string{"subjects.csv": "key,name\noneroster:a,x\n"},
			[]string{`subjects.csv:2: key: begins with "oneroster:", which is kept for OneRoster`}},
		{"invisible name", map[string]string{"subjects.csv": "key,name\na,\u200b\n"},
			[]string{"subjects.csv:2: name: has nothing that can be seen"}},
		{"boolean", map[string]string{"subjects.csv": "key,name,current\na,x,perhaps\n"},
			[]string{"subjects.csv:2: current: must be true or false"}},
		{"number too large", map[string]string{"eventcategories.csv": "key,name,pecking_order\nlesson,x,2147483648\n"},
			[]string{"eventcategories.csv:2: pecking_order: is not a whole number"}},
		{"category name twice", map[string]string{"eventcategories.csv": "key,name\nlesson,Lesson\nb,Lesson\n"},
			[]string{"eventcategories.csv:3: name: the name is already in line 2"}},
		{"category name twice in a school",
			map[string]string{"eventcategories.csv": "key,name,school\nlesson,Lesson,\na,Club,school\nb,Club,9A\n" +
				"c,Club,school\n"},
			[]string{"eventcategories.csv:5: name: the name is already in line 3"}},
		{"school of a category", map[string]string{"eventcategories.csv": "key,name,school\nlesson,Lesson,9B\n"},
			[]string{`eventcategories.csv:2: school: no row of groups.csv has the key "9B"`}},

		{"group without group", map[string]string{"memberships.csv": "group,member\n9Z,Pupil:1\n"},
			[]string{`memberships.csv:2: group: no row of groups.csv has the key "9Z"`}},
		{"membership without a member", map[string]string{"memberships.csv": "group,member\n9A,\n"},
			[]string{"memberships.csv:2: member: can't be blank"}},
		{"member without a type", map[string]string{"memberships.csv": "group,member\n9A,1\n"},
			[]string{`memberships.csv:2: member: "1" is not Type:key, such as Staff:17`}},
		{"member of an unknown type",
			map[string]string{"memberships.csv": "group,member\n9A,Person:1\n9A,pupils:1\n"},
			[]string{`memberships.csv:2: member: "Person:1" is not Type:key, such as Staff:17`,
				`memberships.csv:3: member: "pupils:1" is not Type:key, such as Staff:17; did you mean Pupil?`}},
		{"group given with a type in small letters",
			map[string]string{"memberships.csv": "group,member\ngroup:9A,Pupil:1\n"},
			[]string{`memberships.csv:2: group: "group:9A" must be a key of groups.csv alone, without a type`}},
		{"member that is not there", map[string]string{"memberships.csv": "group,member\n9A,Pupil:99\n"},
			[]string{`memberships.csv:2: member: no row of pupils.csv has the key "99"`}},
		{"group in itself", map[string]string{"memberships.csv": "group,member\n9A,Group:9A\n"},
			[]string{"memberships.csv:2: member: is the group itself"}},
		{"day that is not there",
			map[string]string{"memberships.csv": "group,member,first_day,last_day\n9A,Pupil:1,2026-02-29,1/9/2026\n"},
			[]string{"memberships.csv:2: first_day: is not a date (YYYY-MM-DD)",
				"memberships.csv:2: last_day: is not a date (YYYY-MM-DD)"}},
		{"days reversed",
			map[string]string{"memberships.csv": "group,member,first_day,last_day\n9A,Pupil:1,2026-09-02,2026-09-01\n"},
			[]string{"memberships.csv:2: last_day: is before first_day"}},

		{"user without an address", map[string]string{"users.csv": "key,name,email\n1,Ann,\n"},
			[]string{"users.csv:2: email: can't be blank"}},
		{"address", map[string]string{"users.csv": "key,name,email\n1,Ann,Ann <a@b.example>\n"},
			[]string{"users.csv:2: email: is not an e-mail address"}},
		{"long address",
			map[string]string{"users.csv": "key,name,email\n1,Ann," + strings.Repeat("a", 250) + "@b.example\n"},
			[]string{"users.csv:2: email: has 260 characters, at most 254 are allowed"}},
		{"kind of user", map[string]string{"users.csv": "key,name,email,kind\n1,Ann,a@b.example,teacher\n"},
			[]string{"users.csv:2: kind: must be one of staff, pupil, guest"}},
		{"element of a user", map[string]string{"users.csv": "key,name,email,element\n1,Ann,a@b.example,Staff:99\n"},
			[]string{`users.csv:2: element: no row of staff.csv has the key "99"`}},
		{"uuid", map[string]string{"users.csv": "key,name,email,uuid\n1,Ann,a@b.example,secret\n"},
			[]string{"users.csv:2: uuid: is not a uuid (8-4-4-4-12 hexadecimal digits)"}},
		{"uuid twice",
			map[string]string{"users.csv": "key,name,email,uuid\n" +
				"1,Ann,a@b.example,6e0f5f44-5a53-4c8f-9d4e-2f6d2a1b7c01\n" +
				"2,Bob,b@b.example,6E0F5F44-5A53-4C8F-9D4E-2F6D2A1B7C01\n"},
			[]string{"users.csv:3: uuid: this uuid is already in line 2"}},
		{"administrator of no group", administering("9B"),
			[]string{`users.csv:2: admin_of: no row of groups.csv has the key "9B"`}},
		{"administrator of no school", administering("north;9A"),
			[]string{`users.csv:2: admin_of: "9A" is no current school in groups.csv`}},
		{"administrator of a school that is retired", administering("old"),
			[]string{`users.csv:2: admin_of: "old" is no current school in groups.csv`}},
		{"administrator of a school twice", administering("north; south;north"),
			[]string{`users.csv:2: admin_of: "north" is there twice`}},
		{"administrator of a school with a type", administering("Group:north"),
			[]string{`users.csv:2: admin_of: "Group:north" must be a key of groups.csv alone, without a type`}},
		{"empty place among schools", administering("north;"),
			[]string{"users.csv:2: admin_of: has an empty place between semicolons"}},
		{"administrator of too many schools", administering(strings.Repeat("north;", 100) + "north"),
			[]string{"users.csv:2: admin_of: has 101 schools, at most 100 are allowed"}},
		{"school that is said in no way to be one", map[string]string{
			"groups.csv":      "key,name,school\n9A,Class 9A,maybe\n",
			"memberships.csv": "group,member\n9A,Pupil:1\n", "events.csv": "key,body,category,starts_at,ends_at\n",
			"notes.csv": "key,event,contents\n", "users.csv": "key,name,email,admin_of\n1,Ann,a@b.example,9A\n"},
			[]string{"groups.csv:2: school: must be true or false"}},
		{"administrator", map[string]string{"administrators.csv": "element,user\nGroup:9A,7\n"},
			[]string{`administrators.csv:2: user: no row of users.csv has the key "7"`}},
		{"administrator twice", map[string]string{"administrators.csv": "element,user\nGroup:9A,1\nGroup:9A,1\n"},
			[]string{"administrators.csv:3: user: this user of this element is already in line 2"}},

		{"blank body", event(" ,lesson,2026-09-07,2026-09-07,,,,"), []string{"events.csv:2: body: can't be blank"}},
		{"long body", event(long(4097) + ",lesson,2026-09-07,2026-09-07,,,,"),
			[]string{"events.csv:2: body: has 4097 characters, at most 4096 are allowed"}},
		{"no category", event("x,,2026-09-07,2026-09-07,,,,"), []string{"events.csv:2: category: can't be blank"}},
		{"unknown category", event("x,exam,2026-09-07,2026-09-07,,,,"),
			[]string{`events.csv:2: category: no row of eventcategories.csv has the key "exam"`}},
		{"no times", event("x,lesson,,,,,,"),
			[]string{"events.csv:2: starts_at: can't be blank", "events.csv:2: ends_at: can't be blank"}},
		{"times", event("x,lesson,2026-09-07 9:00,2026-09-31,,,,"),
			[]string{"events.csv:2: starts_at: is not a date", "events.csv:2: ends_at: is not a date"}},
		{"time that the clock skips", event("x,lesson,2026-03-29 01:30,2026-03-29 02:30,,,,"),
			[]string{"events.csv:2: starts_at: is skipped when the clock goes forward"}},
		{"end before start", event("x,lesson,2026-09-07 09:00,2026-09-07 08:59,,,,"),
			[]string{"events.csv:2: ends_at: is before the start"}},
		{"end before start by offset", event("x,lesson,2026-09-07 09:00,2026-09-07 09:30+03:00,,,,"),
			[]string{"events.csv:2: ends_at: is before the start"}},
		{"all-day of no day", event("x,lesson,2026-09-07,2026-09-07,true,,,"),
			[]string{"events.csv:2: ends_at: is before the start"}},
		{"all-day with clock times", event("x,lesson,2026-09-07 09:00,2026-09-08,true,,,"),
			[]string{"events.csv:2: starts_at: is not a date"}},
		{"year", event("x,lesson,1969-12-31,1970-01-01,,,,"),
			[]string{"events.csv:2: starts_at: must be in the years 1970 to 2199"}},
		{"organiser that is no staff", event("x,lesson,2026-09-07,2026-09-07,,Pupil:1,,"),
			[]string{`events.csv:2: organiser: "Pupil:1" must be a key of staff.csv alone, without a type`}},
		{"unknown organiser", event("x,lesson,2026-09-07,2026-09-07,,1,,"),
			[]string{`events.csv:2: organiser: no row of staff.csv has the key "1"`}},
		{"unknown owner", event("x,lesson,2026-09-07,2026-09-07,,,17,"),
			[]string{`events.csv:2: owner: no row of users.csv has the key "17"`}},
		{"unknown element", event("x,lesson,2026-09-07,2026-09-07,,,,Staff:17;Subject:Ph"),
			[]string{`events.csv:2: elements: no row of subjects.csv has the key "Ph"`}},
		{"element twice", event("x,lesson,2026-09-07,2026-09-07,,,,Group:9A;Group:9A"),
			[]string{`events.csv:2: elements: "Group:9A" is there twice, which only a resource group may be`}},
		{"gap in the elements", event("x,lesson,2026-09-07,2026-09-07,,,,Group:9A;"),
			[]string{"events.csv:2: elements: has an empty place between semicolons"}},
		{"too many elements",
			event("x,lesson,2026-09-07,2026-09-07,,,," + strings.Repeat("Group:buses;", 1000) + "Group:buses"),
			[]string{"events.csv:2: elements: has 1001 elements, at most 1000 are allowed"}},
		{"decision of nothing", map[string]string{"commitments.csv": "event,element,status,decided_by\n" +
			"e1,Location:G7,perhaps,\ne1,Location:G7,noted,9\ne9,Group:9A,,\ne1,Group:buses,noted,\n"},
			[]string{"commitments.csv:2: status: must be one of confirmed, rejected, noted, requested",
				`commitments.csv:3: decided_by: no row of users.csv has the key "9"`,
				"commitments.csv:3: element: this element of this event is already in line 2",
				"commitments.csv:4: status: can't be blank",
				"commitments.csv:5: element: is a resource group, whose requests are not decided but allocated",
				"commitments.csv:4: event: no row of events.csv has the key of this row's event"}},
		{"asked by no one", map[string]string{"commitments.csv": "event,element,status,asked_by,reason\n" +
			"e1,Location:G7,uncontrolled,,\ne1,Group:9A,requested,9,\ne1,Group:buses,requested,1,Full\n"},
			[]string{"commitments.csv:2: status: must be one of confirmed, rejected, noted, requested",
				`commitments.csv:3: asked_by: no row of users.csv has the key "9"`,
				"commitments.csv:4: element: is a resource group, whose requests are not decided but allocated"}},
		{"decision of what needs none", map[string]string{"commitments.csv": "event,element,status,asked_by,reason\n" +
			"e1,Location:G7,uncontrolled,1,Full\n"},
			[]string{"commitments.csv:2: status: uncontrolled says no more than asked_by, and nothing was decided"}},
		{"decision at no time", map[string]string{
			"commitments.csv": "event,element,status,decided_at\ne1,Location:G7,noted,May\n"},
			[]string{"commitments.csv:2: decided_at: is not an instant (2026-09-07T09:00:00Z)"}},
		{"allocation to what is not requested", map[string]string{"commitments.csv": "event,element,status,request\n" +
			"e1,Location:G7,uncontrolled,\ne1,Group:9A,confirmed,Group:9A\ne2,Location:G7,uncontrolled,Group:buses\n"},
			[]string{"commitments.csv:2: status: must be one of confirmed, rejected, noted, requested",
				`commitments.csv:3: request: "Group:9A" is no resource group`,
				`events.csv:3: elements: "Group:buses" is missing, though commitments.csv has a decision on it`}},
		{"decision of another element",
			map[string]string{"commitments.csv": "event,element,status\ne2,Group:9A,noted\n"},
			[]string{`events.csv:3: elements: "Group:9A" is missing, though commitments.csv has a decision on it`}},
		{"note of no event", map[string]string{"notes.csv": "key,event,contents\nn,e9,x\n"},
			[]string{`notes.csv:2: event: no row of events.csv has the key "e9"`}},
		{"long note", map[string]string{"notes.csv": "key,event,contents\nn,e1," + long(65537) + "\n"},
			[]string{"notes.csv:2: contents: has 65537 characters, at most 65536 are allowed"}},

		{"faults of several files", map[string]string{
			"staff.csv":  "key,initials,forename,surname,current\n17,,Ann,Byrne,maybe\n",
			"groups.csv": "key,name\n9A,\n",
			"events.csv": "key,body,category,starts_at,ends_at\ne1,,lesson,2026-09-07,2026-09-07\n"},
			[]string{"staff.csv:2: initials: can't be blank", "staff.csv:2: current: must be true or false",
				"groups.csv:2: name: can't be blank",
				`memberships.csv:4: group: no row of groups.csv has the key "school"`,
				`memberships.csv:5: group: no row of groups.csv has the key "buses"`,
				"events.csv:2: body: can't be blank"}},
		{"references to a file with unreadable rows are not faults",
			map[string]string{"staff.csv": "key,initials,forename,surname\n17,A\n"},
			[]string{"staff.csv:2: row: 2 cells where the header has 4 columns"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, faultsOf(t, with(c.files))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenSaysWhatCannotBeRead(t *testing.T) {
	_, err := bundle.Open(filepath.Join(t.TempDir(), "nowhere"), timetest.London(t))
	if err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("missing folder: %v", err)
	}
	_, err = bundle.Open(t.TempDir(), timetest.London(t))
	if err == nil || !strings.Contains(err.Error(), "holds no file of a bundle") {
		t.Errorf("empty folder: %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "staff.csv"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Open(dir, timetest.London(t)); err == nil || !strings.Contains(err.Error(), "staff.csv") {
		t.Errorf("folder in place of a file: %v", err)
	}
}

func TestRowsNoticesAFileThatWentWrongSince(t *testing.T) {
	dir := clienttest.Folder(t, school)
	b := open(t, dir)
	err := os.WriteFile(filepath.Join(dir, "subjects.csv"), []byte("key,name\na,x\nb,\nc,x\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff([]string{"a"}, keys); diff != "" {
		t.Error(diff)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(school["events.csv"]))
	f.Add([]byte("\ufeff\"key\",body\n\"\n"))
	zone := timetest.London(f)
	f.Fuzz(func(t *testing.T, events []byte) {
		dir := clienttest.Folder(t, with(map[string]string{"events.csv": string(events)}))
		b, err := bundle.Open(dir, zone)
		if err != nil {
			return
		}
		n := 0
		for _, err := range b.Rows(bundle.Events) {
			if err != nil {
				t.Fatalf("no faults at first, then %v", err)
			}
			n++
		}
		if n != b.Count(bundle.Events) {
			t.Errorf("%d rows counted, %d read", b.Count(bundle.Events), n)
		}
	})
}
