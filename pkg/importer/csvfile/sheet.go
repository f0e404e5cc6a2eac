package csvfile

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"golang.org/x/text/encoding"
)

// Sheet describes one file, or one table of a workbook.
type Sheet struct {
	File    string
	Columns []Column
	Quoted  bool   // Quote made the cells, or may have; false for files of other programs
	Extras  string // lower-case prefix of columns that are allowed, and not read; none when empty
	Dates   DateFormat
	// Headless is a file whose first row names no columns: they are Columns, in their order. Cells may follow them.
	Headless bool
}

// Column is a column that a file may have.
type Column struct {
	Name     string
	Required bool // the header must have it
}

// Columns makes a list of columns of "a b [c d]"; those in brackets are optional.
func Columns(list string) []Column {
	required, optional, _ := strings.Cut(strings.TrimSuffix(list, "]"), "[")
	var all []Column
	for _, name := range strings.Fields(required) {
		all = append(all, Column{name, true})
	}
	for _, name := range strings.Fields(optional) {
		all = append(all, Column{name, false})
	}
	return all
}

// Pass is one reading of one file. It is used once.
type Pass struct {
	// Unique holds the lines of the values of each column that must be unique.
	Unique map[string]*Lines
	// Unsure says that some rows could not be read. Then a missing value proves nothing.
	Unsure bool

	sheet    *Sheet
	faults   *FaultsError
	columns  map[string]string // folded heading to column
	position map[string]int    // column to its place in a row
	unnamed  []int             // places of columns without a name
	charset  encoding.Encoding // of a file that is not UTF-8
	stopped  bool              // the file can't be read, and a fault says why
}

// NewPass makes a pass that adds to faults.
func NewPass(s *Sheet, faults *FaultsError) *Pass {
	p := &Pass{Unique: map[string]*Lines{}, sheet: s, faults: faults, columns: map[string]string{},
		position: map[string]int{}}
	for _, c := range s.Columns {
		p.columns[fold(c.Name)] = c.Name
	}
	return p
}

// Fault adds a fault of this file.
func (p *Pass) Fault(line int, column, reason string) {
	p.faults.Add(Fault{File: p.sheet.File, Line: line, Column: column, Reason: reason})
}

// faultLike adds a fault that is counted with others of its kind in this file, whatever they quote.
func (p *Pass) faultLike(kind string, line int, column, reason string) {
	p.faults.addLike(cause{file: p.sheet.File, reason: kind},
		Fault{File: p.sheet.File, Line: line, Column: column, Reason: reason})
}

// stop adds the only fault of a file that can't be read.
func (p *Pass) stop(line int, column, reason string) {
	p.Fault(line, column, reason)
	p.Unsure, p.stopped = true, true
}

// Record is a row. One that can't be read has a Fault and no cells.
type Record struct {
	Cells []string
	Line  func(cell int) int
	Bad   map[int]string // what is wrong with cells that can't be read
	Fault string
}

// Rows reads a CSV file, a row at a time. Faults are collected; an error comes from reading, and ends the rows.
func (p *Pass) Rows(file io.ReadSeeker) iter.Seq2[*Row, error] {
	return p.TableRows(func(yield func(Record, error) bool) {
		text, err := p.text(file)
		separator := ','
		if err == nil && !p.stopped {
			separator, err = p.separator(text)
		}
		if err != nil {
			yield(Record{}, err)
		}
		if err != nil || p.stopped {
			return
		}
		reader := csv.NewReader(text)
		reader.Comma = separator
		reader.FieldsPerRecord = -1 // checked here, for a clearer fault
		for {
			cells, err := reader.Read()
			r := Record{Cells: cells, Line: func(i int) int { line, _ := reader.FieldPos(i); return line }}
			// After a row that breaks RFC 4180, reading goes on with the next line.
			if broken, ok := errors.AsType[*csv.ParseError](err); ok {
				r, err = unparsed(broken), nil
			}
			if errors.Is(err, io.EOF) || !yield(r, err) {
				return
			}
		}
	})
}

// FileRows is Rows of a file of a folder or an archive. An error names the file. A file of an archive is read into
// memory.
func (p *Pass) FileRows(files fs.FS, name string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		file, err := files.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close() //nolint:errcheck // only read
		seeker, ok := file.(io.ReadSeeker)
		if !ok {
			text, err := io.ReadAll(file)
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", name, err))
				return
			}
			seeker = bytes.NewReader(text)
		}
		for row, err := range p.Rows(seeker) {
			if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// TableRows is Rows of a table from elsewhere. The first of its records names the columns.
func (p *Pass) TableRows(records iter.Seq2[Record, error]) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) { p.rows(records, yield) }
}

func (p *Pass) rows(records iter.Seq2[Record, error], yield func(*Row, error) bool) {
	columns := 0
	for record, err := range records {
		switch {
		case err != nil:
			yield(nil, err)
			return
		case record.Fault != "":
			p.Fault(record.Line(0), "row", record.Fault)
			if p.Unsure = true; columns == 0 {
				return
			}
			continue
		case blank(record.Cells) && record.Bad == nil:
			continue
		case columns == 0 && p.sheet.Headless && !p.place(&record):
			return
		case columns == 0 && !p.sheet.Headless:
			if columns = len(record.Cells); !p.header(record.Cells, record.Line(0)) {
				return
			}
			for i, reason := range record.Bad {
				p.Fault(record.Line(i), "header", reason)
			}
			continue
		case columns > 0 && !p.fits(&record, columns):
			continue
		}
		columns = cmp.Or(columns, len(record.Cells))
		if p.sheet.Quoted {
			for i, cell := range record.Cells {
				record.Cells[i] = Unquote(cell)
			}
		}
		r := &Row{pass: p, cells: record.Cells, line: record.Line}
		for i, reason := range record.Bad {
			r.unreadable(i, reason)
		}
		r.checkText()
		r.checkUnnamed()
		if !yield(r, nil) {
			return
		}
	}
	if columns == 0 && !p.Unsure {
		p.stop(1, "header", "is missing")
	}
}

// place gives the columns of a file without a header their places. It returns false for a first row that lacks some,
// which ends the reading.
func (p *Pass) place(record *Record) bool {
	least := 0
	for i, c := range p.sheet.Columns {
		if i < len(record.Cells) {
			p.position[c.Name] = i
		}
		if c.Required {
			least++
		}
	}
	if len(record.Cells) < least {
		p.stop(record.Line(0), "row", fmt.Sprintf("%s where a row has at least %d",
			Plural(len(record.Cells), "cell"), least))
		return false
	}
	return true
}

// blank reports whether cells hold nothing but spaces and separators.
func blank(cells []string) bool {
	for _, cell := range cells {
		if strings.Trim(strings.TrimSpace(cell), ",;\t ") != "" {
			return false
		}
	}
	return true
}

// fits reports whether a row has as many cells as the header, blank ones at its end left out.
func (p *Pass) fits(record *Record, columns int) bool {
	if n := len(record.Cells); n > columns && blank(record.Cells[columns:]) {
		record.Cells = record.Cells[:columns]
	}
	if len(record.Cells) == columns {
		return true
	}
	p.faultLike("cells", record.Line(0), "row",
		Plural(len(record.Cells), "cell")+" where the header has "+Plural(columns, "column"))
	p.Unsure = true
	return false
}

func unparsed(broken *csv.ParseError) Record {
	r := Record{Line: func(int) int { return broken.StartLine },
		Fault: `has a cell whose closing quote is missing or followed by text (write a quote in it as "")`}
	if errors.Is(broken.Err, csv.ErrBareQuote) {
		r.Fault = `has a quote inside a cell that does not start with one (write the cell as "…", a quote in it as "")`
	}
	return r
}
