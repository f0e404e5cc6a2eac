package workbook

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
	"github.com/xuri/nfp"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
)

// cells reads the cells of a workbook as texts.
type cells struct {
	file      *excelize.File
	since1904 bool           // days are counted from 1904, as old Macs did
	formats   map[int]format // by style
}

// sheet reads a sheet. It refuses merged cells, whose text could belong to several rows or columns.
func (c *cells) sheet(name string) (*Sheet, error) {
	values, err := c.file.GetRows(name)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrUnreadable, err)
	}
	s := &Sheet{Name: name}
	if len(values) == 0 {
		return s, nil
	}
	merged, err := c.file.GetMergeCells(name, true)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrUnreadable, err)
	}
	if len(merged) > 0 {
		return nil, fmt.Errorf("has merged cells (%s); unmerge them", merged[0][0])
	}
	for i, texts := range values {
		r := csvfile.Record{Cells: texts, Line: func(int) int { return i + 1 }}
		for j, text := range texts {
			cell, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err != nil {
				return nil, err
			}
			shown, fault, err := c.text(name, cell, text)
			if err != nil {
				return nil, fmt.Errorf("%w (%w)", ErrUnreadable, err)
			}
			texts[j] = shown
			if fault != "" && r.Bad == nil {
				r.Bad = map[int]string{}
			}
			if fault != "" {
				r.Bad[j] = fault
			}
		}
		if strings.TrimSpace(strings.Join(texts, "")) == "" && r.Bad == nil {
			continue
		}
		if len(s.rows) > 0 { // a spreadsheet leaves out blank cells at the end of a row
			r.Cells = append(texts, make([]string, max(0, len(s.rows[0].Cells)-len(texts)))...)
		}
		s.rows = append(s.rows, r)
	}
	return s, nil
}

// text returns the text of a cell with a raw value, or a fault.
func (c *cells) text(sheet, cell, raw string) (text, fault string, err error) {
	formula, err := c.file.GetCellFormula(sheet, cell)
	if err != nil || formula != "" {
		return raw, "is a formula; paste its value in its place", err
	}
	if raw == "" {
		return "", "", nil
	}
	kind, err := c.file.GetCellType(sheet, cell)
	if err != nil {
		return "", "", err
	}
	switch kind {
	case excelize.CellTypeBool:
		if raw == "1" {
			return "TRUE", "", nil
		}
		return "FALSE", "", nil
	case excelize.CellTypeError:
		return raw, "is the error " + raw, nil
	case excelize.CellTypeDate:
		return strings.TrimSuffix(raw, "T00:00:00"), "", nil
	case excelize.CellTypeNumber, excelize.CellTypeUnset:
		number, err := strconv.ParseFloat(raw, 64)
		if err != nil {
			return raw, "", nil //nolint:nilerr // not a number: a text
		}
		style, err := c.file.GetCellStyle(sheet, cell)
		if err != nil {
			return "", "", err
		}
		f, err := c.format(style)
		if err != nil {
			return "", "", err
		}
		text, fault = f.text(number, c.since1904)
		return text, fault, nil
	}
	return raw, "", nil
}

// format is how a number is shown, as far as its text depends on it.
type format struct {
	kind  formatKind
	zeros int    // the least number of digits, of plain numbers
	code  string // for people
}

type formatKind int

const (
	plain formatKind = iota
	date             // of a day, or of a day and a time
	other            // it is not shown as a plain number
)

// format returns the format of a style.
func (c *cells) format(style int) (format, error) {
	if known, ok := c.formats[style]; ok {
		return known, nil
	}
	s, err := c.file.GetStyle(style)
	if err != nil {
		return format{}, err
	}
	f := builtIn(s.NumFmt)
	if s.CustomNumFmt != nil {
		f = custom(*s.CustomNumFmt)
	}
	c.formats[style] = f
	return f, nil
}

// builtIn returns a format of ECMA-376, part 1, 18.8.30. The East Asian ones are dates.
func builtIn(id int) format {
	switch {
	case id == 9 || id == 10:
		return format{kind: other, code: "0%"}
	case id == 12 || id == 13:
		return format{kind: other, code: "# ?/?"}
	case id >= 14 && id <= 17, id == 22, id >= 27 && id <= 36, id >= 50 && id <= 58:
		return format{kind: date}
	case id >= 18 && id <= 21, id >= 45 && id <= 47:
		return format{kind: other, code: "h:mm"}
	}
	return format{}
}

// custom reads a format's code: 000, dd/mm/yyyy, "P"0.
func custom(code string) format {
	f := format{code: code}
	if code != "" && strings.Trim(code, "0") == "" {
		f.zeros = len(code)
		return f
	}
	parser := nfp.NumberFormatParser()
	sections := parser.Parse(code)
	if len(sections) == 0 {
		return f
	}
	for _, token := range sections[0].Items {
		switch token.TType {
		case nfp.TokenTypeDateTimes:
			if strings.ContainsAny(strings.ToLower(token.TValue), "dy") {
				f.kind = date
				return f
			}
			f.kind = other
		case nfp.TokenTypeElapsedDateTimes, nfp.TokenTypeLiteral, nfp.TokenTypePercent, nfp.TokenTypeFraction,
			nfp.TokenTypeCurrencyLanguage, nfp.TokenTypeUnknown:
			f.kind = other
		}
	}
	return f
}

// text is the number as a text, without loss.
func (f format) text(number float64, since1904 bool) (text, fault string) {
	digits := strconv.FormatFloat(number, 'f', -1, 64)
	switch f.kind {
	case plain:
		if number >= 0 && !strings.Contains(digits, ".") && len(digits) < f.zeros {
			digits = strings.Repeat("0", f.zeros-len(digits)) + digits
		}
		return digits, ""
	case date:
		at, err := excelize.ExcelDateToTime(number, since1904)
		if err != nil || number < 1 || at.Year() > 9999 {
			return digits, "is not a date"
		}
		day := at.Format("2006-01-02")
		if clock := at.Format("15:04:05"); clock != "00:00:00" {
			return day + " " + strings.TrimSuffix(clock, ":00"), ""
		}
		return day, ""
	}
	return digits, fmt.Sprintf("is the number %s, shown in the format %s; write it as a text", digits, f.code)
}
