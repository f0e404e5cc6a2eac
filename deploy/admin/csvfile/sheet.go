package csvfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// Sheet describes one file.
type Sheet struct {
	File    string
	Columns []Column
	Extras  string // columns whose names begin so may be there besides, unread; none when empty
}

// Column is one that a file may have.
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
	// Unique holds, for each column that was asked to be unique, the line of each of its values.
	Unique map[string]map[string]int
	// Unsure says that some rows could not be read. Then a value that is missing in the file proves nothing.
	Unsure bool

	sheet    *Sheet
	faults   *FaultsError
	position map[string]int // column to its place in a row
}

// NewPass makes a pass that adds what is wrong to faults.
func NewPass(s *Sheet, faults *FaultsError) *Pass {
	return &Pass{Unique: map[string]map[string]int{}, sheet: s, faults: faults, position: map[string]int{}}
}

// Fault adds a fault of this file.
func (p *Pass) Fault(line int, column, reason string) {
	p.faults.Add(Fault{File: p.sheet.File, Line: line, Column: column, Reason: reason})
}

// Run reads the file and passes its rows to each until that returns false. Faults are collected; the error is one of
// reading, after which rows are missing. It holds one row at a time.
func (p *Pass) Run(file io.Reader, each func(*Row) bool) error {
	text, ok, err := p.text(file)
	if err != nil || !ok {
		return err
	}
	reader := csv.NewReader(text)
	reader.FieldsPerRecord = -1 // checked here, for a better reason
	header, err := p.next(reader)
	if errors.Is(err, io.EOF) {
		p.Fault(1, "header", "is missing")
		p.Unsure = true
		return nil
	}
	if err != nil {
		return err
	}
	if header == nil {
		return nil
	}
	p.header(header)
	for {
		cells, err := p.next(reader)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if cells == nil || !p.wide(reader, cells, len(header)) {
			continue
		}
		r := &Row{pass: p, cells: cells, line: func(i int) int { line, _ := reader.FieldPos(i); return line }}
		r.checkText()
		if !each(r) {
			return nil
		}
	}
}

// text skips the byte order mark of UTF-8 and refuses that of UTF-16, which spreadsheets write as "Unicode".
func (p *Pass) text(file io.Reader) (io.Reader, bool, error) {
	text := bufio.NewReaderSize(file, 1<<16)
	start, err := text.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		_, err := text.Discard(3)
		return text, true, err
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		p.Fault(1, "file", "is UTF-16; it must be UTF-8")
		p.Unsure = true
		return nil, false, nil
	}
	return text, true, nil
}

// next reads a row. One that breaks RFC 4180 is a fault and comes back as nil; reading goes on with the next line.
func (p *Pass) next(reader *csv.Reader) ([]string, error) {
	cells, err := reader.Read()
	var broken *csv.ParseError
	switch {
	case err == nil:
		return cells, nil
	case !errors.As(err, &broken):
		return nil, err
	case errors.Is(broken.Err, csv.ErrBareQuote):
		p.Fault(broken.StartLine, "row",
			`has a quote inside a cell that does not start with one (write the cell as "…", a quote in it as "")`)
	default:
		p.Fault(broken.StartLine, "row",
			`has a cell whose closing quote is missing or followed by text (write a quote in it as "")`)
	}
	p.Unsure = true
	return nil, nil
}

// header places the columns. A fault in it does not stop the reading: what the known columns hold is still checked.
func (p *Pass) header(names []string) {
	known := map[string]bool{}
	for _, c := range p.sheet.Columns {
		known[c.Name] = true
	}
	for i, name := range names {
		name = strings.TrimSpace(name)
		_, twice := p.position[name]
		switch {
		case name == "":
			p.Fault(1, "header", "has a column without a name")
		case !known[name] && p.sheet.Extras != "" && strings.HasPrefix(name, p.sheet.Extras):
		case !known[name]:
			p.Fault(1, Brief(name), "is not a column of this file")
		case twice:
			p.Fault(1, name, "is there twice")
		default:
			p.position[name] = i
		}
	}
	for _, c := range p.sheet.Columns {
		if _, ok := p.position[c.Name]; c.Required && !ok {
			p.Fault(1, c.Name, "the column is missing")
			p.Unsure = p.Unsure || c.Name == p.sheet.Columns[0].Name
		}
	}
}

// wide says whether a row has as many cells as the header.
func (p *Pass) wide(reader *csv.Reader, cells []string, want int) bool {
	if len(cells) == want {
		return true
	}
	line, _ := reader.FieldPos(0)
	p.Fault(line, "row", Plural(len(cells), "cell")+" where the header has "+Plural(want, "column"))
	p.Unsure = true
	return false
}
