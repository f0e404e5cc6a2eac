package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// A workbook with a formula is refused cell by cell before anything is sent, though it has the value that was computed.
func TestAWorkbookWithAFormulaIsRefusedBeforeAnythingIsSent(t *testing.T) {
	school := clienttest.NewSchool(t)
	path := filepath.Join(t.TempDir(), "school.xlsx")
	office{}.does(t, "template", path)
	book, err := excelize.OpenFile(path)
	errortest.None(t, err)
	cells := map[string]string{"A2": "Ma", "B2": "Mathematics", "A3": "En", "B3": "English"}
	for cell, text := range cells {
		err = errors.Join(err, book.SetCellStr("subjects", cell, text))
	}
	err = errors.Join(err, book.SetCellFormula("subjects", "B3", `CONCAT("Eng","lish")`), book.Save(), book.Close())
	errortest.None(t, err)
	code, out, errs := belfryctl(t, simulated(school).env, "import", path)
	want := "school.xlsx#subjects:3: name: is a formula; paste its value in its place\n"
	if code != exitFaults || !strings.HasPrefix(errs, want) || out != "" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if len(school.Batches()) != 0 || school.Logins() != 0 {
		t.Errorf("%d batches and %d logins came to the school", len(school.Batches()), school.Logins())
	}
}
