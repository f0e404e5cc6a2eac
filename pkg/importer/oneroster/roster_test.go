package oneroster_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/importer/oneroster"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// staffOf lists "initials forename surname" of a roster's staff.
func staffOf(t *testing.T, dir string, b *belfry) []string {
	t.Helper()
	r := roster(t, dir, b, false)
	var all []string
	for _, row := range rows(t, r, bundle.Staff) {
		s := row.Record.(bundle.StaffRecord)
		all = append(all, fmt.Sprintf("%s %s %s", s.Initials, s.Forename, s.Surname))
	}
	b.load(t, r)
	return all
}

func TestInitialsAreUniqueAndStay(t *testing.T) {
	users := userHead
	add := func(id, forename, surname string) {
		users += id + ",true,s1,teacher," + forename + "," + surname + ",\n"
	}
	dir := func() string {
		return folder(t, "1.1-bulk", map[string]string{"users.csv": users, "enrollments.csv": enrollmentHead})
	}
	add("u5", "Hannah", "Gordon")
	add("u4", "Hugh", "Go")
	add("u3", "harriet", "o'neill")
	add("u2", "Hu", "O")
	add("u1", "-", ".")
	add("u0", "Ömer", "Ağ")
	b := newBelfry()
	want := []string{"HGR Hannah Gordon", "HGO Hugh Go", "HON harriet o'neill", "HO Hu O", "X - .", "ÖAĞ Ömer Ağ"}
	valuetest.Equal(t, want, staffOf(t, dir(), b))
	// New members get others, wherever their lines are.
	b.elements["Staff:17"] = map[string]any{"id": "900", "key": "Staff:17", "initials": "HOP"}
	users = userHead + "a1,true,s1,teacher,Hal,Go,\na2,true,s1,teacher,Hal,Go,\na3,true,s1,aide,Hope,Op,\n" +
		strings.TrimPrefix(users, userHead)
	want = append([]string{"HGO2 Hal Go", "HGO3 Hal Go", "HOP2 Hope Op"}, want...)
	valuetest.Equal(t, want, staffOf(t, dir(), b))
}

// people lists the users of a roster by kind: "Staff u1".
func people(t *testing.T, r *oneroster.Roster) string {
	t.Helper()
	var all []string
	for _, kind := range []bundle.Kind{bundle.Staff, bundle.Pupils} {
		for _, row := range rows(t, r, kind) {
			one := kind.EntityType() + " " + strings.TrimPrefix(row.Key, "oneroster:user:")
			if strings.Contains(string(text(t, row.Record)), `"current":false`) {
				one += " no longer"
			}
			all = append(all, one)
		}
	}
	return strings.Join(all, ", ")
}

func TestWhoIsStaffAndWhoIsAPupil(t *testing.T) {
	for role, want := range map[string]string{
		"administrator": "Staff u1", "aide": "Staff u1", "proctor": "Staff u1", "teacher": "Staff u1",
		"student": "Pupil u1", "guardian": "", "parent": "", "relative": "",
	} {
		files := map[string]string{"users.csv": userHead + "u1,true,s1," + role + ",A,B,\n",
			"enrollments.csv": enrollmentHead}
		valuetest.Same(t, people(t, roster(t, folder(t, "1.1-bulk", files), newBelfry(), false)), want, "1.1 %s", role)
	}
	const usersOf12 = "sourcedId,enabledUser,givenName,familyName\n"
	for roles, want := range map[string]string{
		"primary,principal": "Staff u1", "primary,counselor": "Staff u1", "primary,siteAdministrator": "Staff u1",
		"primary,systemAdministrator":   "Staff u1",
		"primary,districtAdministrator": "Staff u1", "primary,student": "Pupil u1", "secondary,student": "Pupil u1",
		"primary,parent": "", "primary,ext:governor": "",
		"primary,student secondary,teacher": "Pupil u1", "primary,parent secondary,teacher": "Staff u1",
		"primary,student primary,teacher":    "Staff u1",
		"secondary,student secondary,parent": "Pupil u1", "": "",
	} {
		lines := roleHead
		for i, role := range strings.Fields(roles) {
			lines += fmt.Sprintf("r%d,u1,%s,s1,,\n", i, role)
		}
		files := map[string]string{"users.csv": usersOf12 + "u1,true,A,B\n", "roles.csv": lines,
			"enrollments.csv": enrollmentHead}
		valuetest.Same(t, people(t, roster(t, folder(t, "1.2-bulk", files), newBelfry(), false)), want, "1.2 %q", roles)
	}
	// In a delta of 1.2 only a primary role changes the kind that Belfry has.
	const at = "status,dateLastModified,"
	b := newBelfry()
	b.load(t, roster(t, filepath.Join("testdata", "1.2-bulk"), b, false))
	for roles, want := range map[string]string{
		"": "Pupil u5", "active,2026-11-20,r9,u5,secondary,teacher,s1,,\n": "Pupil u5",
		"active,2026-11-20,r9,u5,primary,teacher,s1,,\n":      "Staff u5, Pupil u5 no longer",
		"tobedeleted,2026-11-20,r6,u5,primary,student,s1,,\n": "Pupil u5",
	} {
		files := map[string]string{"users.csv": at + usersOf12 + "active,2026-11-20,u5,true,Z,Z\n",
			"roles.csv": at + roleHead + roles, "enrollments.csv": at + enrollmentHead}
		valuetest.Same(t, people(t, roster(t, folder(t, "1.2-delta", files), b, false)), want, "delta of %q", roles)
	}
}

// The day of endDate is not part of an enrollment. Missing days are those of its class's terms, where these are in
// the folder.
func TestDaysOfAnEnrollment(t *testing.T) {
	for dates, want := range map[string]string{
		",": "2026-09-01..2027-03-26", "2026-10-01,": "2026-10-01..2027-03-26",
		",2026-10-01": "2026-09-01..2026-09-30", "2026-10-01,2026-10-02": "2026-10-01..2026-10-01",
		"2026-10-01,2026-10-01": "", ",2026-09-01": "", "2027-04-01,": "",
		"2025-01-01,2028-01-01": "2025-01-01..2027-12-31",
	} {
		r := roster(t, folder(t, "1.1-bulk",
			map[string]string{"enrollments.csv": enrollmentHead + "e1,c1,u5,student," + dates + "\n"}), newBelfry(),
			false)
		got := ""
		for _, row := range rows(t, r, bundle.Memberships) {
			if m := row.Record.(bundle.MembershipRecord); row.File == "enrollments.csv" {
				got = *m.Spans[0].FirstDay + ".." + *m.Spans[0].LastDay
			}
		}
		valuetest.Same(t, got, want, dates)
	}
	// In a delta, an enrollment of no days removes the days that it had before.
	b := newBelfry()
	b.load(t, roster(t, filepath.Join("testdata", "1.1-bulk"), b, false))
	r := roster(t, folder(t, "1.1-delta", map[string]string{
		"users.csv": "status,dateLastModified," + userHead,
		"enrollments.csv": "status,dateLastModified," + enrollmentHead +
			"active,2026-11-20,e2,c1,u5,student,2026-09-01,2026-09-01\n",
	}), b, false)
	made := rows(t, r, bundle.Memberships)
	if len(made) != 1 ||
		!strings.Contains(string(text(t, made[0].Record)), `"source":"e2","ends_before":"0001-01-01"`) {
		t.Errorf("%+v", made)
	}
}

// With --prune, records that are no longer in the files in bulk end: elements by the load, which calls Gone,
// memberships from today on.
func TestPruneIsOfFilesInBulkAlone(t *testing.T) {
	b := newBelfry()
	b.load(t, roster(t, filepath.Join("testdata", "1.1-bulk"), b, false))
	fewer := map[string]string{
		"users.csv":       userHead + "u1,true,s2,teacher,Hannah,Gordon,\nu5,true,s1,student,Z,Z,\n",
		"enrollments.csv": enrollmentHead + "e2,c1,u5,student,,\n",
		"orgs.csv":        "sourcedId,name,type\nd1,D,district\ns1,S,school\ns2,S,school\n",
	}
	ends := func(prune bool) []string {
		t.Helper()
		r := roster(t, folder(t, "1.1-bulk", fewer), b, prune)
		for reference, gone := range map[string]bool{
			"Staff:oneroster:user:u1": false, "Staff:oneroster:user:u2": true, "Pupil:oneroster:user:u1": true,
			"Group:oneroster:org:s2":   false,
			"Group:oneroster:class:c9": true, "Group:oneroster:org:c1": true, "Staff:17": false, "Location:G7": false,
		} {
			valuetest.Same(t, r.Gone(reference), gone, "Gone(%s)", reference)
		}
		var all []string
		for _, row := range rows(t, r, bundle.Memberships) {
			if m, ok := row.Record.(bundle.MembershipChanges); ok {
				all = append(all, m.Key+" "+m.Changes[0].EndsBefore)
			}
		}
		return all
	}
	if got := ends(false); got != nil {
		t.Errorf("without --prune: %q", got)
	}
	want := []string{
		"Group:oneroster:class:c1/Staff:oneroster:user:u1 2026-11-21",
		"Group:oneroster:class:c1/Pupil:oneroster:user:u6 2026-11-21",
		"Group:oneroster:class:s1/Pupil:oneroster:user:u6 2026-11-21",
		"Group:oneroster:org:d1/Group:oneroster:org:s1 2026-11-21",
		"Group:oneroster:org:d1/Group:oneroster:org:s2 2026-11-21",
		"Group:oneroster:org:d1/Staff:oneroster:user:u1 2026-11-21",
		"Group:oneroster:org:s1/Staff:oneroster:user:u1 2026-11-21",
		"Group:oneroster:org:s1/Staff:oneroster:user:u2 2026-11-21",
		"Group:oneroster:org:s1/Staff:oneroster:user:u3 2026-11-21",
		"Group:oneroster:org:s1/Pupil:oneroster:user:u6 2026-11-21",
	}
	valuetest.Equal(t, want, ends(true))
	counts := []load.Ended{{File: "enrollments.csv", Ended: 3, Of: 4}, {File: "orgs.csv", Ended: 2, Of: 2},
		{File: "users.csv", Ended: 5, Of: 6}, {File: "classes.csv", Of: 2}}
	for prune, want := range map[bool][]load.Ended{true: counts, false: nil} {
		if diff := cmp.Diff(want, roster(t, folder(t, "1.1-bulk", fewer), b, prune).Ended()); diff != "" {
			t.Errorf("with --prune=%v: %s", prune, diff)
		}
	}
	delta := roster(t, filepath.Join("testdata", "1.1-delta"), b, true)
	for _, reference := range []string{"Staff:oneroster:user:u1", "Group:oneroster:class:c9"} {
		valuetest.Holds(t, !delta.Gone(reference), "%s is gone by a delta", reference)
	}
}

// TestAClassBelongsToItsSchool: a class is a member of its school's group. A delta that says another school, or none,
// ends that; so does a file in bulk that no longer has the class, with --prune.
func TestAClassBelongsToItsSchool(t *testing.T) {
	b := newBelfry()
	b.load(t, roster(t, filepath.Join("testdata", "1.1-bulk"), b, false))
	const head = "sourcedId,title,courseSourcedId,schoolSourcedId\n"
	const changed = "status,dateLastModified," + head + "active,2026-11-20,"
	const s1 = "Group:oneroster:org:s1/Group:oneroster:class:"
	for name, c := range map[string]struct {
		from, classes string
		want          []string
	}{
		"another school": {"1.1-delta", changed + "c1,Mathematics,ma7,s2\n", []string{
			`Group:oneroster:org:s2/Group:oneroster:class:c1 [{"first_day":null,"last_day":null,"source":"c1"}]`,
			s1 + `c1 [{"first_day":null,"last_day":null,"ends_before":"2026-11-20"}]`}},
		"none": {"1.1-delta", changed + "c1,Mathematics,ma7,\n", []string{
			s1 + `c1 [{"first_day":null,"last_day":null,"ends_before":"2026-11-20"}]`}},
		"deleted": {"1.1-delta", strings.Replace(changed, "active", "tobedeleted", 1) + "c1,Mathematics,ma7,s1\n",
			[]string{s1 + `c1 [{"first_day":null,"last_day":null,"source":"c1","ends_before":"2026-11-20"}]`}},
		"gone": {"1.1-bulk", head + "c1,Mathematics,ma7,s1\n", []string{
			s1 + `s1 [{"first_day":null,"last_day":null,"ends_before":"2026-11-21"}]`}},
	} {
		files := map[string]string{"classes.csv": c.classes}
		if c.from == "1.1-delta" {
			files["users.csv"] = "status,dateLastModified," + userHead
			files["manifest.csv"] = "propertyName,value\nmanifest.version,1.0\noneroster.version,1.1\n" +
				"file.classes,delta\nfile.users,delta\nfile.enrollments,delta\n"
			files["enrollments.csv"] = "status,dateLastModified," + enrollmentHead
		} else {
			files["enrollments.csv"] = enrollmentHead
		}
		var got []string
		r := roster(t, folder(t, c.from, files), b, c.from == "1.1-bulk")
		for _, row := range rows(t, r, bundle.Memberships) {
			m, changes := row.Record.(bundle.MembershipChanges)
			if changes && strings.HasPrefix(m.Member, "Group:oneroster:class:") {
				got = append(got, m.Key+" "+string(text(t, m.Changes)))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The order of the lines does not matter: a record that stays the same keeps its hash.
func TestOrderOfLinesChangesNoRecord(t *testing.T) {
	const e3, e7 = "e3,c1,u6,student,2026-09-14,2026-11-10\n", "e7,c1,u6,student,2027-01-05,\n"
	record := func(enrollments string) string {
		r := roster(t, folder(t, "1.1-bulk", map[string]string{"enrollments.csv": enrollmentHead + enrollments}),
			newBelfry(), false)
		for _, row := range rows(t, r, bundle.Memberships) {
			if strings.Contains(row.Key, "class:c1") {
				return string(text(t, row.Record))
			}
		}
		return ""
	}
	if a, b := record(e3+e7), record(e7+e3); a != b || a == "" {
		t.Errorf("%s\n%s", a, b)
	}
}

// folder is a folder of the testdata with some files replaced, or removed where the text is empty.
func folder(t testing.TB, of string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	errortest.None(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", of))))
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.WriteFile(path, []byte(text), 0o600)
		if text == "" {
			err = os.Remove(path)
		}
		errortest.None(t, err)
	}
	return dir
}

const (
	userHead       = "sourcedId,enabledUser,orgSourcedIds,role,givenName,familyName,email\n"
	enrollmentHead = "sourcedId,classSourcedId,userSourcedId,role,beginDate,endDate\n"
	roleHead       = "sourcedId,userSourcedId,roleType,role,orgSourcedId,beginDate,endDate\n"
)

// Every fault is reported by file, line and column; what exporters write is not a fault.
func TestEveryFaultIsReportedByFileLineAndColumn(t *testing.T) {
	cases := append(csvtest.Read(t, "testdata/faults.txt"), csvtest.Case{Name: "long sourcedId (1.1-bulk)",
		Files:  map[string]string{"courses.csv": "sourcedId,title\nma7,Maths\n" + strings.Repeat("é", 240) + ",x\n"},
		Faults: []string{"courses.csv:3: sourcedId: has 240 characters, at most 239 are allowed"}})
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			_, of, _ := strings.Cut(strings.TrimSuffix(c.Name, ")"), " (")
			_, err := oneroster.Open(folder(t, of, c.Files), timetest.London(t))
			valuetest.Equal(t, c.Faults, csvtest.Faults(err))
		})
	}
}

func TestOpenSaysWhatCannotBeRead(t *testing.T) {
	for dir, want := range map[string]string{
		filepath.Join(t.TempDir(), "nowhere"): "nowhere",
		t.TempDir():                           "holds no manifest.csv",
		folder(t, "1.1-delta", map[string]string{"users.csv": ""}) + "/users.csv": "not a directory",
	} {
		if strings.HasSuffix(dir, "users.csv") {
			errortest.None(t, os.WriteFile(dir, []byte("x"), 0o600))
		}
		errortest.Says(t, errortest.Of(oneroster.Open(dir, timetest.London(t))), want)
	}
	dir := folder(t, "1.1-delta", map[string]string{"users.csv": ""})
	errortest.None(t, os.Mkdir(filepath.Join(dir, "users.csv"), 0o700))
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
		t.Fatal(csvtest.Faults(err))
	}
	b := newBelfry()
	b.load(t, roster(t, filepath.Join("testdata", "1.1-bulk"), b, false))
	_, err = opened.Resolve(t.Context(), b, oneroster.Options{Today: today})
	valuetest.MustHold(t, err != nil, "no fault")
	want := []string{`users.csv:2: orgSourcedIds: the sourcedId "s7" is neither in orgs.csv nor in Belfry`,
		`enrollments.csv:3: classSourcedId: the sourcedId "c7" is neither in classes.csv nor in Belfry`,
		`enrollments.csv:4: userSourcedId: the sourcedId "u8" is neither in users.csv nor in Belfry`}
	valuetest.Equal(t, want, csvtest.Faults(err))
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
		errortest.None(f, err)
		good[name] = text
		f.Add(uint8(i), text)
	}
	f.Add(uint8(3), []byte("\ufeffsourcedId,title,courseSourcedId\n\"c1\",\"a\n"))
	write := func(t *testing.T, name string, text []byte) {
		t.Helper()
		errortest.None(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
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
		errortest.None(t, err)
		valuetest.Equal(t, lines(t, first), lines(t, second))
	})
}
