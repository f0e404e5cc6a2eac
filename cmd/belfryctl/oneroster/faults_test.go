package oneroster_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/cmd/belfryctl/csvfile"
	"github.com/belfry-schools/belfry/cmd/belfryctl/oneroster"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// folder is a folder of the testdata with some files replaced, or removed where the text is empty.
func folder(t testing.TB, of string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", of))); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.WriteFile(path, []byte(text), 0o600)
		if text == "" {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// faultsOf lists an error's faults as printed, or the error itself.
func faultsOf(err error) []string {
	var faults *csvfile.FaultsError
	if !errors.As(err, &faults) {
		return []string{err.Error()}
	}
	var lines []string
	for _, f := range faults.First {
		lines = append(lines, f.String())
	}
	return lines
}

// manifest is that of a version; more are further lines.
func manifest(version string, more ...string) string {
	return "propertyName,value\nmanifest.version,1.0\noneroster.version," + version + "\n" + strings.Join(more, "\n") +
		"\n"
}

const (
	userHead       = "sourcedId,enabledUser,orgSourcedIds,role,givenName,familyName,email\n"
	enrollmentHead = "sourcedId,classSourcedId,userSourcedId,role,beginDate,endDate\n"
	roleHead       = "sourcedId,userSourcedId,roleType,role,orgSourcedId,beginDate,endDate\n"
	sessionHead    = "sourcedId,title,type,startDate,endDate\n"
)

func TestEveryFaultIsReportedByFileLineAndColumn(t *testing.T) {
	cases := []struct {
		name, of string
		files    map[string]string
		want     []string
	}{
		{"manifest without its versions", "1.1-bulk", map[string]string{
			"manifest.csv": "propertyName,value\nfile.users,bulk\n"}, []string{
			"manifest.csv:1: manifest.version: the property is missing",
			"manifest.csv:1: oneroster.version: the property is missing",
			"orgs.csv:1: file: is absent by manifest.csv", "academicSessions.csv:1: file: is absent by manifest.csv",
			"courses.csv:1: file: is absent by manifest.csv", "classes.csv:1: file: is absent by manifest.csv",
			"enrollments.csv:1: file: is absent by manifest.csv"}},
		{"other versions", "1.1-bulk", map[string]string{
			"manifest.csv": "propertyName,value\nmanifest.version,2.0\noneroster.version,1.0\n"}, []string{
			"manifest.csv:2: value: manifest.version must be 1.0",
			"manifest.csv:3: value: oneroster.version must be one of 1.1, 1.2"}},
		{"mode", "1.1-delta", map[string]string{"manifest.csv": manifest("1.1", "file.users,full")},
			[]string{"manifest.csv:4: value: must be one of absent, bulk, delta"}},
		{"property twice", "1.1-delta",
			map[string]string{"manifest.csv": manifest("1.1", "file.users,delta", "file.users,bulk")},
			[]string{`manifest.csv:5: propertyName: "file.users" is already in line 4`}},
		{"file named but not there", "1.1-delta", map[string]string{"users.csv": ""},
			[]string{"manifest.csv:4: file.users: users.csv is not in the folder"}},
		{"file there but absent", "1.1-delta",
			map[string]string{"manifest.csv": manifest("1.1", "file.users,delta", "file.enrollments,absent")},
			[]string{"enrollments.csv:1: file: is absent by manifest.csv"}},
		{"misspelt file", "1.1-delta", map[string]string{"Users.csv": "x\n", "user.csv": "x\n"},
			[]string{"Users.csv:1: file: is not a file of OneRoster", "user.csv:1: file: is not a file of OneRoster"}},
		{"users without roles", "1.2-bulk", map[string]string{"roles.csv": "", "manifest.csv": manifest("1.2",
			"file.users,bulk", "file.orgs,bulk", "file.courses,bulk", "file.academicSessions,bulk",
			"file.classes,bulk", "file.enrollments,bulk")},
			[]string{"manifest.csv:4: file.users: users in bulk need their roles in bulk"}},

		{"missing column", "1.1-bulk", map[string]string{"enrollments.csv": enrollmentHead,
			"users.csv": "sourcedId,enabledUser,orgSourcedIds,role,givenName\nu1,true,s1,teacher,Hannah\n"},
			[]string{"users.csv:1: familyName: the column is missing"}},
		{"unknown column", "1.1-bulk",
			map[string]string{"courses.csv": "sourcedId,title,colour,metadata.colour\nma7,Maths,red,red\n"},
			[]string{"courses.csv:1: colour: is not a column of this file"}},
		{"column of the other version", "1.1-bulk",
			map[string]string{"courses.csv": "sourcedId,title,userProfileSourcedId\nma7,Maths,\n"},
			[]string{"courses.csv:1: userProfileSourcedId: is not a column of this file"}},
		{"sourcedId twice", "1.1-bulk", map[string]string{"courses.csv": "sourcedId,title\nma7,Maths\nma7,Maths\n"},
			[]string{`courses.csv:3: sourcedId: "ma7" is already in line 2`}},
		{"long sourcedId", "1.1-bulk",
			map[string]string{"courses.csv": "sourcedId,title\nma7,Maths\n" + strings.Repeat("é", 240) + ",x\n"},
			[]string{"courses.csv:3: sourcedId: has 240 characters, at most 239 are allowed"}},
		{"status", "1.1-bulk", map[string]string{"courses.csv": "sourcedId,status,title\nma7,inactive,Maths\n"},
			[]string{"courses.csv:2: status: must be one of active, tobedeleted"}},
		{"delta without status and time", "1.1-delta",
			map[string]string{"users.csv": userHead + "u1,true,s1,teacher,A,B,\n"},
			[]string{"users.csv:2: status: can't be blank", "users.csv:2: dateLastModified: can't be blank"}},
		{"time", "1.1-delta",
			map[string]string{"users.csv": "status,dateLastModified," + userHead +
				"active,20/11/2026,u1,true,,teacher,A,B,\n"},
			[]string{"users.csv:2: dateLastModified: is not a time (2026-09-01T08:00:00Z)"}},

		{"type of an org", "1.1-bulk",
			map[string]string{
				"orgs.csv": "sourcedId,name,type,parentSourcedId\nd1,D,region,\ns1,S,ext:campus,d1\ns2,S,school,d1\n"},
			[]string{"orgs.csv:2: type: must be one of department, school, district, local, state, national",
				"orgs.csv:3: type: must be one of department, school, district, local, state, national"}},
		{"parent that is not there", "1.1-bulk",
			map[string]string{
				"orgs.csv": "sourcedId,name,type,parentSourcedId\nd1,D,district,x1\ns1,S,school,\ns2,S,school,\n"},
			[]string{`orgs.csv:2: parentSourcedId: no row of orgs.csv has the sourcedId "x1"`}},
		{"org within itself", "1.1-bulk",
			map[string]string{
				"orgs.csv": "sourcedId,name,type,parentSourcedId\nd1,D,district,s2\ns1,S,school,d1\ns2,S,school,s1\n"},
			[]string{"orgs.csv:2: parentSourcedId: the org is within itself"}},
		{"dates of a session", "1.1-bulk",
			map[string]string{"academicSessions.csv": sessionHead +
				"t1,A,term,2026-09-31,\nt2,B,terms,2027-04-01,2027-03-31\ny27,Y,schoolYear,2026-09-01,2027-07-16\n"},
			[]string{"academicSessions.csv:2: startDate: is not a date (YYYY-MM-DD)",
				"academicSessions.csv:2: endDate: can't be blank",
				"academicSessions.csv:3: type: must be one of gradingPeriod, semester, schoolYear, term",
				"academicSessions.csv:3: endDate: is before startDate"}},
		{"references of a class", "1.1-bulk",
			map[string]string{
				"classes.csv": "sourcedId,title,courseSourcedId,termSourcedIds\nc1,Maths,xx,\"t1,t9\"\ns1,,,\n"},
			[]string{`classes.csv:2: courseSourcedId: no row of courses.csv has the sourcedId "xx"`,
				`classes.csv:2: termSourcedIds: no row of academicSessions.csv has the sourcedId "t9"`,
				"classes.csv:3: title: can't be blank", "classes.csv:3: courseSourcedId: can't be blank"}},
		{"a class of no school", "1.1-bulk",
			map[string]string{
				"classes.csv": "sourcedId,title,courseSourcedId,schoolSourcedId\nc1,Maths,ma7,s9\ns1,Maths,ma7,\n"},
			[]string{`classes.csv:2: schoolSourcedId: no row of orgs.csv has the sourcedId "s9"`}},
		{"user", "1.1-bulk", map[string]string{"enrollments.csv": enrollmentHead,
			"users.csv": userHead + "u1,yes,\"s1,s9\",principal,\"A\nB\",,unknown\n"},
			[]string{"users.csv:2: givenName: has a line break or another control character",
				"users.csv:3: familyName: can't be blank", "users.csv:3: email: is not an e-mail address",
				"users.csv:2: enabledUser: must be true or false",
				"users.csv:2: role: must be one of administrator, aide, guardian, parent, proctor, relative, " +
					"student, teacher",
				`users.csv:2: orgSourcedIds: no row of orgs.csv has the sourcedId "s9"`}},
		{"role", "1.2-bulk",
			map[string]string{"roles.csv": roleHead +
				"r1,u9,main,administrator,s9,2026-09-02,2026-09-01\nr2,u1,primary,,s1,,\n"},
			[]string{
				"roles.csv:2: role: must be one of aide, counselor, districtAdministrator, guardian, parent, " +
					"principal, proctor, relative, siteAdministrator, student, systemAdministrator, teacher",
				"roles.csv:2: roleType: must be one of primary, secondary", "roles.csv:2: endDate: is before beginDate",
				`roles.csv:2: userSourcedId: no row of users.csv has the sourcedId "u9"`,
				`roles.csv:2: orgSourcedId: no row of orgs.csv has the sourcedId "s9"`,
				"roles.csv:3: role: can't be blank"}},
		{"enrollment", "1.1-bulk",
			map[string]string{"enrollments.csv": enrollmentHead +
				"e1,c9,u9,pupil,2026-09-02,2026-09-01\ne2,,,student,1/9/2026,\n"},
			[]string{
				"enrollments.csv:2: role: must be one of administrator, aide, guardian, parent, proctor, relative, " +
					"student, teacher",
				`enrollments.csv:2: classSourcedId: no row of classes.csv has the sourcedId "c9"`,
				`enrollments.csv:2: userSourcedId: no row of users.csv has the sourcedId "u9"`,
				"enrollments.csv:2: endDate: is before beginDate", "enrollments.csv:3: classSourcedId: can't be blank",
				"enrollments.csv:3: userSourcedId: can't be blank",
				"enrollments.csv:3: beginDate: is not a date (YYYY-MM-DD)"}},
		{"references to a file with unreadable rows are not judged", "1.1-bulk",
			map[string]string{"users.csv": userHead + "u1,true\n"},
			[]string{"users.csv:2: row: 2 cells where the header has 7 columns"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := oneroster.Open(folder(t, c.of, c.files), timetest.London(t))
			if err == nil {
				t.Fatal("no fault")
			}
			if diff := cmp.Diff(c.want, faultsOf(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenTakesWhatExportersWrite(t *testing.T) {
	for name, c := range map[string]struct {
		of    string
		files map[string]string
	}{
		"quoted line break in what is free": {"1.1-bulk",
			map[string]string{"courses.csv": "sourcedId,title\nma7,\"Maths\nfor all\"\n"}},
		"active in bulk": {"1.1-bulk",
			map[string]string{"courses.csv": "sourcedId,status,dateLastModified,title\nma7,active,2026-11-20,Maths\n"}},
		"types of one's own in 1.2": {"1.2-bulk",
			map[string]string{"orgs.csv": "sourcedId,name,type\nd1,D,ext:trust\ns1,S,school\ns2,S,school\n"}},
		"nothing has changed": {"1.1-delta",
			map[string]string{"manifest.csv": manifest("1.1"), "users.csv": "", "enrollments.csv": ""}},
		"other files of OneRoster": {"1.1-bulk", map[string]string{"results.csv": "not read"}},
		"other files":              {"1.1-bulk", map[string]string{"README.txt": "not ours"}},
	} {
		if _, err := oneroster.Open(folder(t, c.of, c.files), timetest.London(t)); err != nil {
			t.Errorf("%s: %q", name, faultsOf(err))
		}
	}
}

func TestOpenSaysWhatCannotBeRead(t *testing.T) {
	for dir, want := range map[string]string{
		filepath.Join(t.TempDir(), "nowhere"): "nowhere",
		t.TempDir():                           "holds no manifest.csv (a zip file must be unpacked first)",
		folder(t, "1.1-delta", map[string]string{"users.csv": ""}) + "/users.csv": "not a directory",
	} {
		if strings.HasSuffix(dir, "users.csv") {
			if err := os.WriteFile(dir, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := oneroster.Open(dir, timetest.London(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	dir := folder(t, "1.1-delta", map[string]string{"users.csv": ""})
	if err := os.Mkdir(filepath.Join(dir, "users.csv"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := oneroster.Open(dir, timetest.London(t))
	if err == nil || !strings.Contains(err.Error(), "reading the roster: ") ||
		!strings.Contains(err.Error(), "users.csv") {
		t.Errorf("folder in place of a file: %v", err)
	}
}

// A delta may refer to records in Belfry; a reference to one that is in neither is a fault like any other.
func TestDeltaRefersToWhatIsInBelfry(t *testing.T) {
	const at = "status,dateLastModified,"
	dir := folder(t, "1.1-delta", map[string]string{
		"users.csv": at + userHead + "active,2026-11-20,u7,true,\"s1,s7\",student,New,Pupil,\n",
		"enrollments.csv": at + enrollmentHead +
			"active,2026-11-20,e1,c1,u5,student,,\nactive,2026-11-20,e2,c7,u5,student,,\n" +
			"active,2026-11-20,e3,c1,u8,student,,\nactive,2026-11-20,e4,c1,u4,parent,,\n" +
			"tobedeleted,2026-11-20,e5,c7,u8,student,,\n",
	})
	opened, err := oneroster.Open(dir, timetest.London(t))
	if err != nil {
		t.Fatal(faultsOf(err))
	}
	b := newBelfry()
	b.load(t, roster(t, filepath.Join("testdata", "1.1-bulk"), b, false))
	_, err = opened.Resolve(t.Context(), b, oneroster.Options{Today: today})
	if err == nil {
		t.Fatal("no fault")
	}
	want := []string{`users.csv:2: orgSourcedIds: the sourcedId "s7" is neither in orgs.csv nor in Belfry`,
		`enrollments.csv:3: classSourcedId: the sourcedId "c7" is neither in classes.csv nor in Belfry`,
		`enrollments.csv:4: userSourcedId: the sourcedId "u8" is neither in users.csv nor in Belfry`}
	if diff := cmp.Diff(want, faultsOf(err)); diff != "" {
		t.Error(diff)
	}
}

// FuzzRoster checks that every folder without faults can be resolved, and that the same files make the same records
// again after they were loaded.
func FuzzRoster(f *testing.F) {
	files := []string{"users.csv", "enrollments.csv", "orgs.csv", "classes.csv", "academicSessions.csv", "courses.csv",
		"manifest.csv"}
	dir, zone := folder(f, "1.1-bulk", nil), timetest.London(f) // once: tries are in turn, each in place of one file
	good := map[string][]byte{}
	for i, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		good[name] = text
		f.Add(uint8(i), text)
	}
	f.Add(uint8(3), []byte("\ufeffsourcedId,title,courseSourcedId\n\"c1\",\"a\n"))
	write := func(t *testing.T, name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, file uint8, text []byte) {
		name := files[int(file)%len(files)]
		write(t, name, text)
		defer write(t, name, good[name])
		opened, err := oneroster.Open(dir, zone)
		if err != nil {
			return
		}
		b := newBelfry()
		first, err := opened.Resolve(t.Context(), b, oneroster.Options{Today: today})
		if err != nil {
			if faults := (*csvfile.FaultsError)(nil); !errors.As(err, &faults) || faults.Total == 0 {
				t.Fatal(err)
			}
			return
		}
		b.load(t, first)
		second, err := opened.Resolve(t.Context(), b, oneroster.Options{Today: today, Prune: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines(t, first), lines(t, second)); diff != "" {
			t.Error(diff)
		}
	})
}
