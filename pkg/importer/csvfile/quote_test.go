package csvfile_test

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// quoted is people with its cells quoted.
var quoted = &csvfile.Sheet{File: "a.csv", Columns: csvfile.Columns("key note"), Quoted: true}

// through writes a note into a file and reads it.
func through(t testing.TB, note string) string {
	t.Helper()
	var file bytes.Buffer
	w := csvfile.NewWriter(&file)
	for _, cells := range [][]string{{"key", "note"}, {"1", note}} {
		errortest.None(t, w.Write(cells))
	}
	w.Flush()
	errortest.None(t, w.Error())
	found, got := &csvfile.FaultsError{}, ""
	for r, err := range csvfile.NewPass(quoted, found).Rows(bytes.NewReader(file.Bytes())) {
		errortest.None(t, err)
		got = r.Raw("note")
	}
	if found.Total > 0 {
		t.Fatalf("%q: %v", file.String(), found.First)
	}
	return got
}

// TestHardToBreak_Row16_FormulasAreQuotedInFilesForPeople: =HYPERLINK(…) went unchanged into the files that
// administrators hand out. The quotes are OWASP's, and what was written is read.
func TestHardToBreak_Row16_FormulasAreQuotedInFilesForPeople(t *testing.T) {
	for text, want := range map[string]string{
		`=HYPERLINK("http://x.example")`: `'=HYPERLINK("http://x.example")`,
		"+1":                             "'+1",
		"-5":                             "'-5", "@SUM(1)": "'@SUM(1)",
		"\t=1": "'\t'=1", "\r=1": "'\r'=1", "\n=1": "'\n'=1", "\x01": "'\x01", "＝1": "'＝1", "=": "'=",
		"'=1": "''=1", "''-": "'''-", `a;=1,-2`: `a;'=1,'-2`, `"=1`: `"'=1`,
		"a\n\n- b\n- c": "a\n\n'- b\n'- c", "\t\t": "'\t\t", "a;'=1": "a;''=1",
		"": "", "'": "'", "'a": "'a", "O'Brien": "O'Brien", "a=1": "a=1", "Staff:1;Group:-2": "Staff:1;Group:-2",
		"2026-11-25 09:00": "2026-11-25 09:00", "a '=1": "a '=1",
	} {
		valuetest.Same(t, csvfile.Quote(text), want, "%q is written as", text)
		valuetest.Same(t, csvfile.Unquote(want), text, "%q is read as", want)
		valuetest.Same(t, through(t, text), text, "%q in a file", text)
	}
	for text, want := range map[string]string{"=1": "=1", "-5": "-5", "a;-b": "a;-b", "\n=1": "\n=1"} {
		valuetest.Same(t, csvfile.Unquote(text), want, "%q, which a person wrote, is read as", text)
	}
	_, faults := read(t, []byte("key,forename\n'=1,'-\n"))
	if rows, _ := read(t, []byte("key,forename\n'=1,'-\n")); len(faults) > 0 || rows[0] != "2 '=1 '-" {
		t.Errorf("the files of other programs are read as they are not: %q %q", rows, faults)
	}
}

// Every table for people is written by csvfile. Those of oneroster/rest.go are read by the program itself.
func TestHardToBreak_Row16_NothingElseWritesTables(t *testing.T) {
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile("../" + path)
		if strings.Contains(string(text), `"encoding/csv"`) && !strings.HasPrefix(path, "csvfile/") &&
			path != "oneroster/rest.go" {
			t.Errorf("%s imports encoding/csv", path)
		}
		return err
	})
	errortest.None(t, err)
}

// A quoted cell is not a formula wherever a program splits it, and reads back unchanged.
func FuzzQuote(f *testing.F) {
	for _, text := range []string{"=1", "'=1", "''", "\t\t=", "a;'-b", "\r\n@", "\"'+", "＝'=", "\xff=", "'\n'\n'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written := csvfile.Quote(text)
		valuetest.Same(t, csvfile.Unquote(written), text, "%q is written as %q and read as", text, written)
		split := func(r rune) bool { return strings.ContainsRune(",;\t\r\n\"", r) }
		for _, cell := range strings.FieldsFunc(written, split) {
			if strings.IndexAny(cell, "=+-@") == 0 {
				t.Errorf("%q is written as %q, where %q is a formula", text, written, cell)
			}
		}
		if !strings.Contains(text, "\r") && !strings.Contains(text, "\x00") && strings.ToValidUTF8(text, "") == text {
			valuetest.Same(t, through(t, text), text, "%q in a file", text)
		}
	})
}
