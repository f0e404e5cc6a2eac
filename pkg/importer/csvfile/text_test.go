package csvfile_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

var people = &csvfile.Sheet{File: "a.csv", Columns: csvfile.Columns("key forename [year_group current note]")}

// read reads a file and returns what its rows hold, with their lines, and its faults.
func read(t testing.TB, text []byte) (rows, faults []string) {
	t.Helper()
	found := &csvfile.FaultsError{}
	for r, err := range csvfile.NewPass(people, found).Rows(bytes.NewReader(text)) {
		errortest.None(t, err)
		line := fmt.Sprintf("%d %s %s", r.Line(), r.Key("key", csvfile.MaxKey), r.Name("forename"))
		if year := r.Word("year_group"); year != "" {
			line += " in " + year
		}
		if current := r.Boolean("current"); current != nil {
			line += fmt.Sprintf(" %t", *current)
		}
		rows = append(rows, line)
	}
	return rows, csvtest.Faults(found.OrNil())
}

// encoded writes a text as other programs do.
func encoded(t testing.TB, e encoding.Encoding, text string) []byte {
	t.Helper()
	bytes, err := e.NewEncoder().Bytes([]byte(text))
	errortest.None(t, err)
	return bytes
}

func TestFilesAreReadAsSpreadsheetsWriteThem(t *testing.T) {
	const text = "key,forename,current\n1,Zoë,true\n2,O’Brien – “Bob”,false\n"
	little := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	big := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	want := []string{"2 1 Zoë true", "3 2 O’Brien – “Bob” false"}
	for name, file := range map[string][]byte{
		"UTF-8":                      []byte(text),
		"UTF-8 with a mark":          []byte("\ufeff" + text),
		"UTF-16 with a mark":         encoded(t, little, "\ufeff"+text),
		"UTF-16 from a Mac":          encoded(t, big, "\ufeff"+text),
		"UTF-16 without a mark":      encoded(t, little, text),
		"UTF-16, the other way":      encoded(t, big, text),
		"Windows-1252":               encoded(t, charmap.Windows1252, text),
		"CRLF":                       []byte(strings.ReplaceAll(text, "\n", "\r\n")),
		"semicolons":                 []byte(strings.ReplaceAll(text, ",", ";")),
		"tabs":                       []byte(strings.ReplaceAll(text, ",", "\t")),
		"Unicode text":               encoded(t, little, "\ufeff"+strings.ReplaceAll(text, ",", "\t")),
		"booleans in capitals":       []byte(strings.NewReplacer("true", "TRUE", "false", "False").Replace(text)),
		"yes and no":                 []byte(strings.NewReplacer("true", "Yes", "false", "no").Replace(text)),
		"1 and 0":                    []byte(strings.NewReplacer("true", "1", "false", "0").Replace(text)),
		"headings in other case":     []byte(strings.Replace(text, "key,forename,cur", " KEY , Forename,CUR", 1)),
		"a blank column":             []byte(strings.NewReplacer("y,", "y,,", "1,", "1, ,", "2,", "2,,").Replace(text)),
		"blank columns at the end":   []byte(strings.ReplaceAll(text, "\n", ",,\n")),
		"blank cells beyond the end": []byte(strings.Replace(text, "true", "true,,", 1)),
	} {
		rows, faults := read(t, file)
		if diff := cmp.Diff(want, rows); diff != "" || faults != nil {
			t.Errorf("%s: %q %s", name, faults, diff)
		}
	}
	rows, faults := read(t, []byte("\n;;\nKey;Year group;Forename\n;;\n1;9;Ann\n \n;;\n2;;Bob\n"))
	if diff := cmp.Diff([]string{"5 1 Ann in 9", "8 2 Bob"}, rows); diff != "" || faults != nil {
		t.Errorf("blank rows: %q %s", faults, diff)
	}
}

func TestWhatIsWrongWithAFileIsOneFault(t *testing.T) {
	const unclear = `: file: is not UTF-8, and with a byte %s in this line it may be in one of several encodings; ` +
		`save the file as "CSV UTF-8"`
	const notNames = "a.csv:1: header: the first row must name the columns, in a line that ends with CRLF or LF"
	many := func(line string) string { return strings.Repeat(line, 500) }
	mac := encoded(t, charmap.Macintosh, "key,forename\n"+many("1,Ann\n")+"2,André\n")
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"Mac OS Roman": {mac, "a.csv:502" + fmt.Sprintf(unclear, "0x8e")},
		"DOS": {encoded(t, charmap.CodePage850, "key,forename\n2,André\n"),
			"a.csv:2" + fmt.Sprintf(unclear, "0x82")},
		"Central European": {encoded(t, charmap.Windows1250, "key,forename\n2,Michał\n"),
			"a.csv:2" + fmt.Sprintf(unclear, "0xb3")},
		"Central European, at the start": {encoded(t, charmap.Windows1250, "key,forename\n2,Łukasz\n"),
			"a.csv:2" + fmt.Sprintf(unclear, "0xa3")},
		"Cyrillic": {encoded(t, charmap.Windows1251, "key,forename\n2,Иван\n"),
			"a.csv:2" + fmt.Sprintf(unclear, "0xe2")},
		"half in UTF-8": {[]byte("key,forename\n1,Zoë\n" + many("2,Zo\xeb\n")),
			"a.csv:3: forename: is not UTF-8, unlike the rest of the file"},
		"bars": {[]byte("key|forename\n" + many("1|Ann\n")),
			`a.csv:1: header: the columns look separated by "|"; save the file as CSV, separated by commas`},
		"commas and semicolons": {[]byte("key;forename,current\n" + many("1;Ann,true\n")),
			"a.csv:1: header: the columns are separated partly by semicolons; save the file as CSV, " +
				"separated by commas"},
		"no heading": {[]byte(many("1,Ann\n")), "a.csv:1: header: names no column of this file; the first row must " +
			"name them: key,forename,year_group,current,note"},
		"a title above": {[]byte("Our pupils,,\nkey,forename,current\n" + many("1,Ann,true\n")),
			"a.csv:1: header: names no column of this file; the first row must name them: " +
				"key,forename,year_group,current,note"},
		"a password after CR alone": {[]byte("key,forename,Jahr\r46AA63b5-c84f-873b-ba39-cd786e8b7f3f,Ann,9\r"),
			notNames},
		"a password in the first row": {[]byte("Forename,1,46aa63b5-c84f-873b-ba39-cd786e8b7f3f\n" +
			many("1,2,46aa63b5-c84f-873b-ba39-cd786e8b7f3f\n")), notNames},
		"a misspelt column": {[]byte("key,forename,year_grop\n1,Ann,9\n"),
			"a.csv:1: year_grop: is not a column of this file; did you mean year_group?"},
		"text without a heading": {[]byte("key,forename,\n1,Ann,\n2,Bob,9\n"),
			"a.csv:3: row: has a text in column 3, which has no heading"},
		"half a character": {append(encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
			"key,forename\n1,Ann"), 0), "a.csv:2: forename: has a character that can't be read"},
		"nothing": {[]byte(" ,,\n;;\n"), "a.csv:1: header: is missing"},
	} {
		_, faults := read(t, c.file)
		if len(faults) == 0 || !strings.HasPrefix(faults[0], c.want) || len(faults) > 1 && name != "half in UTF-8" {
			t.Errorf("%s: %q, want %q alone", name, faults, c.want)
		}
	}
	_, faults := read(t, []byte("key,forename\n"+many("1,\n")+"2,Ann,9\n"+many("2,Ann,9,9\n")))
	want := []string{"a.csv:2: forename: can't be blank", `a.csv:3: key: "1" is already in line 2`,
		"a.csv:3: forename: can't be blank", `a.csv:4: key: "1" is already in line 2`,
		"a.csv:4: forename: can't be blank (and 497 more like it, the last in line 501)",
		`a.csv:5: key: "1" is already in line 2 (and 496 more like it, the last in line 501)`,
		"a.csv:502: row: 3 cells where the header has 2 columns",
		"a.csv:503: row: 4 cells where the header has 2 columns",
		"a.csv:504: row: 4 cells where the header has 2 columns (and 498 more like it, the last in line 1002)"}
	valuetest.Equal(t, want, faults)
}

// Whatever a spreadsheet could have written of a table reads as the table.
func FuzzRun(f *testing.F) {
	f.Add("1", "Zoë", "note; of, all\n\"kinds\"", uint8(0))
	f.Add("’", "–9", "\ufeff", uint8(14))
	f.Add("\xff", "sep=;", "key,forename", uint8(5))
	encodings := []encoding.Encoding{unicode.UTF8, unicode.UTF8BOM,
		unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
		charmap.Windows1252}
	f.Fuzz(func(t *testing.T, key, forename, note string, how uint8) {
		read(t, []byte(key+forename+note)) // whatever it is, it ends
		charset := encodings[int(how)%len(encodings)]
		cells := []string{key, forename, note}
		for _, cell := range cells {
			if !utf8.ValidString(cell) || strings.ContainsAny(cell, "\x00\r\ufffd") {
				return
			}
		}
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		w.Comma = []rune{',', ';', '\t'}[int(how)/len(encodings)%3]
		errortest.None(t, w.WriteAll([][]string{{"key", "forename", "note"}, cells}))
		file, err := charset.NewEncoder().Bytes(text.Bytes())
		if err != nil {
			return // not a text of that encoding
		}
		found := &csvfile.FaultsError{}
		var got []string
		for r, err := range csvfile.NewPass(people, found).Rows(bytes.NewReader(file)) {
			errortest.None(t, err)
			got = []string{r.Raw("key"), r.Raw("forename"), r.Raw("note")}
		}
		if found.Total > 0 && charset == charmap.Windows1252 {
			return // it was open what the file is
		}
		if strings.Trim(strings.Join(strings.Fields(key+forename+note), ""), ",;") == "" {
			cells = nil // a blank row
		}
		if diff := cmp.Diff(cells, got); diff != "" || found.Total > 0 {
			t.Errorf("%q %v: %s", file, found.First, diff)
		}
	})
}

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
