package workbook

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/xuri/excelize/v2"
)

// limits bound the memory of a workbook. A small file can need any amount: packed zeros, a cell in the last row and
// column, a million empty tags.
type limits struct {
	unpacked int64 // bytes of all parts
	elements int   // of XML in all parts
	cells    int   // rows times columns, of all sheets together
	slow     int   // merged cells and shared formulas: for each, all others or a whole sheet are looked through
}

// MaxUnpacked bounds the bytes of a workbook's parts, which have 6 million XML elements and 2 million cells at most.
const MaxUnpacked = 256 << 20

const maxSlow = 10_000

// limitsOf are the limits of a workbook that takes at most that many bytes unpacked.
func limitsOf(unpacked int64) limits {
	share := func(most int64) int { return int(most * unpacked / MaxUnpacked) }
	return limits{unpacked: unpacked, elements: share(6_000_000), cells: share(2_000_000), slow: maxSlow}
}

// check reads all parts once, without keeping them. Any part may be a sheet: the workbook decides which.
func (l limits) check(parts []*zip.File) error {
	var unpacked uint64
	for _, part := range parts {
		unpacked += part.UncompressedSize64
		if part.UncompressedSize64 > uint64(l.unpacked) || unpacked > uint64(l.unpacked) {
			return fmt.Errorf("takes more than %d bytes unpacked; save its sheets as CSV files", l.unpacked)
		}
	}
	left := l
	for _, part := range parts {
		if err := left.take(part); err != nil {
			return err
		}
		if left.elements < 0 {
			return fmt.Errorf("has more than %d XML elements; save its sheets as CSV files", l.elements)
		}
		if left.cells < 0 {
			return fmt.Errorf("has more than %d cells; delete the empty rows below and the empty columns beside the "+
				"tables, or save its sheets as CSV files", l.cells)
		}
		if left.slow < 0 {
			return fmt.Errorf("has more than %d merged cells and formulas; save its sheets as CSV files", l.slow)
		}
	}
	return nil
}

// take subtracts what a part needs, and stops when that is too much.
func (l *limits) take(part *zip.File) (err error) {
	text, err := part.Open()
	if err != nil {
		return ErrUnreadable
	}
	defer func() { err = errors.Join(err, text.Close()) }()
	decoder := xml.NewDecoder(text)
	// Spreadsheets write UTF-8. The elements of a part in another encoding could not be counted.
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, ErrUnreadable }
	var size extent
	open := 0
	for before := l.elements; l.elements >= 0 && size.cells() <= l.cells; {
		token, err := decoder.RawToken()
		switch {
		case errors.Is(err, ErrUnreadable), err != nil && l.elements < before && (open != 0 || !errors.Is(err, io.EOF)):
			return ErrUnreadable
		case err != nil: // the end, or not XML: a picture
			l.cells -= size.cells()
			return nil
		}
		switch tag := token.(type) {
		case xml.StartElement:
			l.elements--
			open++
			if name := tag.Name.Local; name == "mergeCell" || name == "f" && attribute(tag, "t") == "shared" {
				l.slow--
			}
			size.add(tag)
		case xml.EndElement:
			open--
		}
	}
	l.cells -= size.cells()
	return nil
}

// extent is the smallest rectangle from the first cell that holds all cells of a sheet.
type extent struct{ row, column, rows, columns int }

func (e *extent) cells() int { return e.rows * max(e.columns, 1) }

func (e *extent) add(start xml.StartElement) {
	switch start.Name.Local {
	case "row":
		e.row, e.column = e.row+1, 0
		if n, err := strconv.Atoi(attribute(start, "r")); err == nil {
			e.row = n
		}
	case "c":
		e.column++
		if column, row, err := excelize.CellNameToCoordinates(attribute(start, "r")); err == nil {
			e.column = column
			e.rows = max(e.rows, row)
		}
	default:
		return
	}
	e.rows, e.columns = max(e.rows, e.row), max(e.columns, e.column)
}

func attribute(start xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
