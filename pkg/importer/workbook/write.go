package workbook

import (
	"errors"
	"fmt"
	"os"

	"github.com/xuri/excelize/v2"
)

// Headings are the first row of a sheet.
type Headings struct {
	Sheet   string
	Columns []string
}

// Write writes a new workbook of sheets with headings only. Their cells are formatted as text, so that a spreadsheet
// keeps 007 as it is typed. It fails when the file exists.
func Write(path string, sheets []Headings) (err error) {
	book := excelize.NewFile()
	defer func() { err = errors.Join(err, book.Close()) }()
	const asText = 49 // the number of the format "@"
	style, err := book.NewStyle(&excelize.Style{NumFmt: asText})
	if err != nil {
		return fmt.Errorf("make the style of text: %w", err)
	}
	for _, s := range sheets {
		if err := writeHeadings(book, s, style); err != nil {
			return fmt.Errorf("write the sheet %s: %w", s.Sheet, err)
		}
	}
	if err := book.DeleteSheet("Sheet1"); err != nil { // every new workbook has it
		return fmt.Errorf("remove the first sheet: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(book.Write(file), file.Close())
}

func writeHeadings(book *excelize.File, s Headings, style int) error {
	if _, err := book.NewSheet(s.Sheet); err != nil {
		return err
	}
	last, err := excelize.ColumnNumberToName(len(s.Columns))
	if err != nil {
		return err
	}
	return errors.Join(book.SetColStyle(s.Sheet, "A:"+last, style), book.SetSheetRow(s.Sheet, "A1", &s.Columns))
}
