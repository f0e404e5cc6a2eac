package csvfile_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestRunGivesRowsAndFaultsByLineOfTheCell(t *testing.T) {
	s := &csvfile.Sheet{File: "a.csv", Columns: csvfile.Columns("key name [note]"), Extras: "x."}
	faults := &csvfile.FaultsError{What: "folder"}
	pass := csvfile.NewPass(s, faults)
	var names []string
	text := "x.free,key,note,name\n,1,\"two\nlines\",\n,1,,b\n,2\n"
	for r, err := range pass.Rows(strings.NewReader(text)) {
		errortest.None(t, err)
		names = append(names, r.Key("key", csvfile.MaxKey)+"/"+r.Name("name")+"/"+r.Word("note")+"/"+r.Raw("absent"))
	}
	want := []string{"a.csv:3: name: can't be blank", "a.csv:2: note: has a line break or another control character",
		`a.csv:4: key: "1" is already in line 2`, "a.csv:5: row: 2 cells where the header has 4 columns"}
	valuetest.Equal(t, want, csvtest.Faults(faults))
	line, _ := pass.Unique["key"].Of("1")
	if diff := cmp.Diff([]string{"1///", "1/b//"}, names); diff != "" || !pass.Unsure || line != 2 {
		t.Errorf("%s, unsure: %v, line %d", diff, pass.Unsure, line)
	}
	for _, column := range []string{"key", "name"} {
		if line, ok := pass.Unique[column].Of("2"); ok {
			t.Errorf("%s 2 is in line %d", column, line)
		}
	}
	if err := faults.OrNil(); err == nil || err.Error() != "the folder has 4 faults" {
		t.Errorf("%v", err)
	}
}

func TestRunStopsWhenToldAndWhenReadingFails(t *testing.T) {
	s := &csvfile.Sheet{File: "a.csv", Columns: csvfile.Columns("key")}
	rows := 0
	for _, err := range csvfile.NewPass(s, &csvfile.FaultsError{}).Rows(strings.NewReader("key\n1\n2\n3\n")) {
		errortest.None(t, err)
		if rows++; rows == 2 {
			break
		}
	}
	broken, got := errors.New("the disk is gone"), error(nil)
	for _, err := range csvfile.NewPass(s, &csvfile.FaultsError{}).Rows(unreadable{broken}) {
		got = err
	}
	errortest.Is(t, got, broken)
}

// unreadable is a file that can't be read.
type unreadable struct{ err error }

func (u unreadable) Read([]byte) (int, error)       { return 0, u.err }
func (u unreadable) Seek(int64, int) (int64, error) { return 0, nil }

var _ io.ReadSeeker = unreadable{}
