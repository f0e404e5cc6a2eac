package oneroster_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/importer/oneroster"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

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
	if err == nil {
		t.Fatal("no fault")
	}
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
