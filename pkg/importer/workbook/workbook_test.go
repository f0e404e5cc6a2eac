package workbook

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// written makes a workbook of one sheet, of which fill writes the cells.
func written(t testing.TB, fill func(f *excelize.File, set func(cell string, value any))) string {
	t.Helper()
	f := excelize.NewFile()
	fill(f, func(cell string, value any) {
		errortest.None(t, f.SetCellValue("Sheet1", cell, value))
	})
	path := filepath.Join(t.TempDir(), "a.xlsx")
	errortest.None(t, errors.Join(f.SaveAs(path), f.Close()))
	return path
}

// style gives a cell a format.
func style(t testing.TB, f *excelize.File, cell, code string, id int) {
	t.Helper()
	s := &excelize.Style{NumFmt: id}
	if code != "" {
		s.CustomNumFmt = &code
	}
	n, err := f.NewStyle(s)
	errortest.None(t, errors.Join(err, f.SetCellStyle("Sheet1", cell, cell, n)))
}

func TestCellsAreReadAsWhatTheyAre(t *testing.T) {
	day := time.Date(2026, 9, 7, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		value any
		code  string
		id    int
		want  string
		fault string
	}{
		"text":                {value: " Zoë ", want: " Zoë "},
		"text of digits":      {value: "007", want: "007"},
		"number":              {value: 17, want: "17"},
		"long number":         {value: 1234567890123, want: "1234567890123"},
		"fraction":            {value: 0.1, want: "0.1"},
		"thousands":           {value: 12000, id: 3, want: "12000"},
		"red when negative":   {value: -1, code: "0;[Red]-0", want: "-1"},
		"leading zeros":       {value: 7, code: "000", want: "007"},
		"boolean":             {value: true, want: "TRUE"},
		"no":                  {value: false, want: "FALSE"},
		"day":                 {value: day, id: 14, want: "2026-09-07"},
		"British day":         {value: day, code: "dd/mm/yyyy", want: "2026-09-07"},
		"day in words":        {value: day, code: `[$-809]dddd, d mmmm yyyy`, want: "2026-09-07"},
		"day and time":        {value: day.Add(9 * time.Hour), id: 22, want: "2026-09-07 09:00"},
		"day, time, seconds":  {value: day.Add(9*time.Hour + 59*time.Second), id: 22, want: "2026-09-07 09:00:59"},
		"time shown as a day": {value: day.Add(9 * time.Hour), id: 14, want: "2026-09-07 09:00"},
		"time alone": {value: 0.375, id: 20, want: "0.375",
			fault: "is the number 0.375, shown in the format h:mm; write it as a text"},
		"day before all days": {value: 0.375, id: 14, want: "0.375", fault: "is not a date"},
		"hours": {value: 1.5, code: "[h]:mm", want: "1.5",
			fault: "is the number 1.5, shown in the format [h]:mm; write it as a text"},
		"percent": {value: 0.5, id: 9, want: "0.5",
			fault: "is the number 0.5, shown in the format 0%; write it as a text"},
		"number with a text": {value: 7, code: `"P"000`, want: "7",
			fault: `is the number 7, shown in the format "P"000; write it as a text`},
	} {
		path := written(t, func(f *excelize.File, set func(string, any)) {
			set("A1", "key")
			set("A2", c.value)
			if c.code != "" || c.id != 0 {
				style(t, f, "A2", c.code, c.id)
			}
		})
		sheets, err := Read(content(t, path), MaxUnpacked)
		errortest.None(t, err, name)
		if r := sheets[0].rows[1]; r.Cells[0] != c.want || r.Bad[0] != c.fault {
			t.Errorf("%s: %q %q, want %q %q", name, r.Cells[0], r.Bad[0], c.want, c.fault)
		}
	}
}

func TestASheetIsATableByItsOwnRowNumbers(t *testing.T) {
	path := written(t, func(f *excelize.File, set func(string, any)) {
		set("A3", "key")
		set("B3", "name")
		set("A5", "Ma")
		set("C6", "beyond")
		_, err := f.NewSheet("empty")
		err = errors.Join(err, f.SetCellFormula("Sheet1", "B5", "A5&1"), f.SetCellFormula("Sheet1", "B9", "1"))
		errortest.None(t, err)
	})
	sheets, err := Read(content(t, path), MaxUnpacked)
	if err != nil || len(sheets) != 1 || sheets[0].Name != "Sheet1" {
		t.Fatalf("%+v %v", sheets, err)
	}
	for range 2 { // as often as asked for
		var lines []int
		var cells [][]string
		var bad []map[int]string
		for r, err := range sheets[0].Records() {
			errortest.None(t, err)
			lines, cells, bad = append(lines, r.Line(0)), append(cells, r.Cells), append(bad, r.Bad)
		}
		formula := map[int]string{1: "is a formula; paste its value in its place"}
		diff := cmp.Diff([]int{3, 5, 6, 9}, lines) + cmp.Diff([]map[int]string{nil, formula, nil, formula}, bad) +
			cmp.Diff([][]string{{"key", "name"}, {"Ma", ""}, {"", "", "beyond"}, {"", ""}}, cells)
		if diff != "" {
			t.Error(diff)
		}
	}
}

// parts makes a file of XML parts from a good workbook and other parts.
func parts(t testing.TB, with map[string]string) string {
	t.Helper()
	good, err := zip.OpenReader(written(t, func(_ *excelize.File, set func(string, any)) { set("A1", "key") }))
	errortest.None(t, err)
	defer good.Close() //nolint:errcheck // only read
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for _, part := range good.File {
		if _, replaced := with[part.Name]; !replaced {
			errortest.None(t, w.Copy(part))
		}
	}
	for name, text := range with {
		part, err := w.Create(name)
		errortest.None(t, err)
		errortest.None(t, errortest.Of(io.WriteString(part, text)))
	}
	path := filepath.Join(t.TempDir(), "b.xlsx")
	errortest.None(t, errors.Join(w.Close(), os.WriteFile(path, file.Bytes(), 0o600)))
	return path
}

func content(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	errortest.None(t, err)
	return text
}

func TestHostileWorkbooksAreRefusedBeforeTheyTakeMemory(t *testing.T) {
	const sheet = "xl/worksheets/sheet1.xml"
	rows := func(text string) string {
		return `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + text +
			"</sheetData></worksheet>"
	}
	merges := func(n int) string {
		return strings.Replace(rows(`<row r="1"><c r="A1"><v>1</v></c></row>`), "</worksheet>",
			"<mergeCells>"+strings.Repeat(`<mergeCell ref="A1:B1"/>`, n)+"</mergeCells></worksheet>", 1)
	}
	small := limits{unpacked: 1 << 20, elements: 2000, cells: 1000, slow: 10}
	for name, c := range map[string]struct {
		with map[string]string
		want string
	}{
		"a good one":   {nil, ""},
		"packed zeros": {map[string]string{"xl/media/a.png": strings.Repeat("\x00", 1<<20)}, "bytes unpacked"},
		"many parts": {map[string]string{"a": strings.Repeat(" ", 1<<19), "b": strings.Repeat(" ", 1<<19)},
			"bytes unpacked"},
		"many elements": {map[string]string{"xl/sharedStrings.xml": rows(strings.Repeat("<si/>", 2000))},
			"XML elements"},
		"a cell far below": {map[string]string{sheet: rows(`<row r="1048576"><c r="A1048576"><v>1</v></c></row>`)}, "cells"},
		"a cell far aside": {map[string]string{sheet: rows(`<row r="1"><c r="XFD1"><v>1</v></c></row>`)}, "cells"},
		"a row far below":  {map[string]string{sheet: rows(`<row r="1001"/>`)}, "cells"},
		"cells without end": {map[string]string{sheet: rows("<row>" + strings.Repeat("<c/>", 1001) + "</row>")},
			"cells"},
		"a sheet elsewhere": {map[string]string{"xl/a.bin": rows(`<row r="1"><c r="XFD1"/></row>`)}, "cells"},
		"cut":               {map[string]string{sheet: rows(`<row r="1"><c r="A1"><v>1</v></c></row>`)[:150]}, "can be read"},
		"another encoding":  {map[string]string{sheet: `<?xml version="1.0" encoding="utf-16"?>` + rows("")}, "can be read"},
		"broken":            {map[string]string{sheet: "<worksheet><sheetData><row <"}, "can be read"},
		"no workbook":       {map[string]string{"xl/workbook.xml": "<workbook><sheets><"}, "can be read"},
		"merged":            {map[string]string{sheet: merges(1)}, "has merged cells (A1:B1)"},
		// Each was compared with each: minutes for a workbook that the console takes.
		"merged everywhere": {map[string]string{sheet: merges(11)}, "more than 10 merged cells"},
		"shared formulas": {map[string]string{sheet: rows("<row>" + strings.Repeat(`<c><f t="shared" si="7"/></c>`, 11) +
			"</row>")}, "more than 10 merged cells and formulas"},
	} {
		_, err := open(content(t, parts(t, c.with)), small)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	text := filepath.Join(t.TempDir(), "c.xlsx")
	errortest.None(t, os.WriteFile(text, []byte("key,name\n"), 0o600))
	errortest.Is(t, errortest.Of(Read(content(t, text), MaxUnpacked)), ErrUnreadable, "a CSV file")
}
