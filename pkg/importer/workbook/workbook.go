// Package workbook reads the sheets of an .xlsx file as rows of texts: what a spreadsheet would save as CSV, except for
// dates, which become YYYY-MM-DD, and for what has no clear text, which is a fault of its cell.
package workbook

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
)

// Sheet is a sheet that is not empty. All its texts are in memory.
type Sheet struct {
	Name string
	rows []csvfile.Record // those with a text, at least as wide as the first
}

// ErrUnreadable means that a file is not a workbook, or is damaged.
var ErrUnreadable = errors.New("is not an .xlsx workbook that can be read; save it again, without a password, as .xlsx")

// Read returns the sheets, in their order, of a workbook that takes at most unpacked bytes, and XML elements and cells
// in proportion. It refuses one that would take too much memory, whatever its size.
func Read(text []byte, unpacked int64) ([]*Sheet, error) { return open(text, limitsOf(unpacked)) }

func open(text []byte, l limits) (sheets []*Sheet, err error) {
	packed, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, ErrUnreadable
	}
	if err := l.check(packed.File); err != nil {
		return nil, err
	}
	// The library panics on some files that no spreadsheet writes.
	defer func() {
		if recover() != nil {
			sheets, err = nil, ErrUnreadable
		}
	}()
	file, err := excelize.OpenReader(bytes.NewReader(text), excelize.Options{RawCellValue: true,
		UnzipSizeLimit: l.unpacked, UnzipXMLSizeLimit: l.unpacked})
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrUnreadable, err)
	}
	sheets, err = read(file)
	return sheets, errors.Join(err, file.Close())
}

func read(file *excelize.File) (sheets []*Sheet, err error) {
	properties, err := file.GetWorkbookProps()
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrUnreadable, err)
	}
	cells := cells{file: file, since1904: properties.Date1904 != nil && *properties.Date1904, formats: map[int]format{}}
	for _, name := range file.GetSheetList() {
		s, err := cells.sheet(name)
		if err != nil {
			return nil, fmt.Errorf("sheet %q: %w", csvfile.Brief(name), err)
		}
		if len(s.rows) > 0 {
			sheets = append(sheets, s)
		}
	}
	return sheets, nil
}

// Records returns the rows of the sheet. Their lines are the spreadsheet's.
func (s *Sheet) Records() iter.Seq2[csvfile.Record, error] {
	return func(yield func(csvfile.Record, error) bool) {
		for _, r := range s.rows {
			r.Cells = slices.Clone(r.Cells) // the reader changes them
			if !yield(r, nil) {
				return
			}
		}
	}
}

// IsWorkbook reports whether a file has the name of a workbook.
func IsWorkbook(path string) bool { return strings.EqualFold(filepath.Ext(path), ".xlsx") }

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
