package untis_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/cmd/belfryctl/untis"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "GPU001.TXT")
	errortest.None(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestUntis_TheRowsOfALessonAreOne: of a number, a day and a period. Separators, quotes and the encoding are those that
// Untis lets a school choose.
func TestUntis_TheRowsOfALessonAreOne(t *testing.T) {
	want := []string{
		"1-1-1|D 1A|lesson|Mon|1|Group:1A;Staff:VOL;Location:102;Subject:D",
		"73-1-4|SportM/SportK 1A, 1B|lesson|Mon|4|" +
			"Group:1A;Group:1B;Staff:Arist;Staff:Rüb;Location:Th2;Location:Th1;Subject:SportM;Subject:SportK",
		"9-5-0|Chor|lesson|Fri|0|Subject:Chor",
		"762-1-8|Sport, T2|lesson|Mon|8|Staff:Sport;Location:T2",
	}
	const text = `1,"1A","VOL","D","102",1,1,,` + "\r\n" + `73,"1A","Arist","SportM","Th2",1,4,,` + "\r\n" +
		`73,"1B","Arist","SportM","Th2",1,4,,` + "\r\n" + `73,"1A","Rüb","SportK","Th1",1,4,,` + "\r\n" +
		`9,"","?","Chor","",5,0,,` + "\r\n" + `762,"","Sport","","T2",1,8,,` + "\r\n"
	for _, written := range []string{text, strings.ReplaceAll(text, ",", ";"), strings.ReplaceAll(text, `"`, ""),
		strings.ReplaceAll(text, "ü", "\xfc"), strings.ReplaceAll(text, ",,", ""), "\ufeff" + text} {
		lessons, err := untis.Read(file(t, written))
		if err != nil {
			t.Fatal(csvtest.Faults(err))
		}
		got := sequence.Map(lessons, func(l *untis.Lesson) string { return strings.Join(l.Cells("lesson"), "|") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", written, diff)
		}
	}
}

// TestUntis_FaultsNameFileAndLine: and the column by its name in the published list.
func TestUntis_FaultsNameFileAndLine(t *testing.T) {
	many := strings.Builder{}
	for i := range 1001 {
		fmt.Fprintf(&many, "1,K%d,,D,,1,1,\n", i)
	}
	for text, want := range map[string][]string{
		"1,1A,VOL,D,102\n": {"GPU001.TXT:1: row: 5 cells where a row has at least 7"},
		"1,1A,VOL,D,102,8,1,\nx,1A,VOL,D,102,1,,\n3,1A;1B,VOL,,102,1,1,\n4,,?,,,1,1,\n": {
			"GPU001.TXT:1: day: must be a number from 1 to 7",
			"GPU001.TXT:2: lesson: is not a whole number",
			"GPU001.TXT:2: period: must be a number from 0 to 99",
			"GPU001.TXT:3: class: has a semicolon",
			"GPU001.TXT:4: class: is empty, and so are teacher, subject and room",
		},
		strings.Repeat("1,1A,VOL,D,102,1,1,\n", 100_001): {
			"GPU001.TXT:100001: lesson: is beyond the 100000 rows that are allowed"},
		many.String(): {"GPU001.TXT:1000: lesson: has more than 1000 classes, teachers, rooms and subjects",
			"GPU001.TXT:1001: lesson: has more than 1000 classes, teachers, rooms and subjects"},
		"": {"GPU001.TXT:1: header: is missing"},
	} {
		_, err := untis.Read(file(t, text))
		if diff := cmp.Diff(want, csvtest.Faults(err)); diff != "" {
			t.Errorf("%.60q: %s", text, diff)
		}
	}
}
