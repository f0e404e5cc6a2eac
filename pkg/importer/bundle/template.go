package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/workbook"
)

// WriteTemplate writes a bundle of headings only: an .xlsx workbook at a path with that suffix, otherwise a folder of
// CSV files. It fails when the path exists, except as an empty folder.
func WriteTemplate(path string) error {
	if workbook.IsWorkbook(path) {
		var sheets []workbook.Headings
		for _, kind := range Files() {
			sheets = append(sheets, workbook.Headings{Sheet: string(kind), Columns: kind.Columns()})
		}
		return workbook.Write(path, sheets)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if there, err := os.ReadDir(path); err != nil || len(there) > 0 {
		if err == nil {
			err = fmt.Errorf("%s is not empty", path)
		}
		return err
	}
	for _, kind := range Files() {
		headings := strings.Join(kind.Columns(), ",") + "\n"
		if err := os.WriteFile(filepath.Join(path, kind.File()), []byte(headings), 0o644); err != nil {
			return err
		}
	}
	return nil
}
