package bundle

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"strings"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// sheet describes one file.
type sheet struct {
	kind    Kind
	columns []column
	read    func(*row) (key string, record any)
}

type column struct {
	name     string
	required bool // the header must have it
}

// columns makes a list of columns of "a b [c d]", the ones in brackets optional.
func columns(list string) []column {
	required, optional, _ := strings.Cut(strings.TrimSuffix(list, "]"), "[")
	var all []column
	for _, name := range strings.Fields(required) {
		all = append(all, column{name, true})
	}
	for _, name := range strings.Fields(optional) {
		all = append(all, column{name, false})
	}
	return all
}

// index is what later files refer to.
type index struct {
	keys      map[Kind]map[string]int // key to line
	resources map[string]bool         // keys of the groups that are resource groups
	unsure    map[Kind]bool           // some rows of the file can't be read, so a missing key proves nothing
}

func newIndex() index {
	return index{keys: map[Kind]map[string]int{}, resources: map[string]bool{}, unsure: map[Kind]bool{}}
}

func (x *index) has(kind Kind, key string) bool {
	_, ok := x.keys[kind][key]
	return ok
}

func (x *index) add(p *pass) {
	x.keys[p.sheet.kind] = p.unique["key"]
	x.unsure[p.sheet.kind] = p.unsure
	maps.Copy(x.resources, p.resources)
}

// pass is one reading of one file.
type pass struct {
	sheet     *sheet
	index     *index // of the files before
	zone      wiretime.Zone
	faults    *FaultsError
	position  map[string]int            // column to its place in a row
	unique    map[string]map[string]int // column to value to line
	resources map[string]bool
	pairs     *pairs // of memberships.csv
	unsure    bool
}

func newPass(s *sheet, x *index, zone wiretime.Zone, faults *FaultsError) *pass {
	return &pass{sheet: s, index: x, zone: zone, faults: faults, position: map[string]int{},
		unique: map[string]map[string]int{"key": {}}, resources: map[string]bool{}, pairs: newPairs()}
}

func (p *pass) fault(line int, column, reason string) {
	p.faults.add(Fault{File: p.sheet.kind.File(), Line: line, Column: column, Reason: reason})
}

// run reads the file and gives its records to each until that returns false. Faults are collected; the error is one of
// reading. Rows with a fault are given too: a key is a key.
func (p *pass) run(file io.Reader, each func(Row) bool) error {
	text, ok, err := p.text(file)
	if err != nil || !ok {
		return err
	}
	reader := csv.NewReader(text)
	reader.FieldsPerRecord = -1 // checked here, for a better reason
	header, err := p.next(reader)
	if errors.Is(err, io.EOF) {
		p.fault(1, "header", "is missing")
		p.unsure = true
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
			break
		}
		if err != nil {
			return err
		}
		if cells == nil || !p.wide(reader, cells, len(header)) {
			continue
		}
		r := &row{pass: p, cells: cells, line: func(i int) int { line, _ := reader.FieldPos(i); return line }}
		r.checkText()
		key, record := p.sheet.read(r)
		if record != nil && !each(Row{Line: r.line(0), Key: key, Record: record}) {
			return nil
		}
	}
	for _, row := range p.pairs.rows() {
		if !each(row) {
			return nil
		}
	}
	return nil
}

// text skips the byte order mark of UTF-8 and refuses that of UTF-16, which spreadsheets write when told "Unicode".
func (p *pass) text(file io.Reader) (io.Reader, bool, error) {
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
		p.fault(1, "file", "is UTF-16; it must be UTF-8")
		p.unsure = true
		return nil, false, nil
	}
	return text, true, nil
}

// next reads a row. One that breaks RFC 4180 is a fault and comes back as nil; reading goes on with the next line.
func (p *pass) next(reader *csv.Reader) ([]string, error) {
	cells, err := reader.Read()
	var broken *csv.ParseError
	switch {
	case err == nil:
		return cells, nil
	case !errors.As(err, &broken):
		return nil, err
	case errors.Is(broken.Err, csv.ErrBareQuote):
		p.fault(broken.StartLine, "row", `has a quote inside a cell that does not start with one (write the cell as "…", a quote in it as "")`)
	default:
		p.fault(broken.StartLine, "row", `has a cell whose closing quote is missing or followed by text (write a quote in it as "")`)
	}
	p.unsure = true
	return nil, nil
}

// header places the columns. A fault in it does not stop the reading: what the known columns hold is still checked.
func (p *pass) header(names []string) {
	known := map[string]bool{}
	for _, c := range p.sheet.columns {
		known[c.name] = true
	}
	for i, name := range names {
		name = strings.TrimSpace(name)
		_, twice := p.position[name]
		switch {
		case name == "":
			p.fault(1, "header", "has a column without a name")
		case !known[name]:
			p.fault(1, brief(name), "is not a column of this file")
		case twice:
			p.fault(1, name, "is there twice")
		default:
			p.position[name] = i
		}
	}
	for _, c := range p.sheet.columns {
		if _, ok := p.position[c.name]; c.required && !ok {
			p.fault(1, c.name, "the column is missing")
			p.unsure = p.unsure || c.name == "key"
		}
	}
}

// wide tells whether a row has as many cells as the header.
func (p *pass) wide(reader *csv.Reader, cells []string, want int) bool {
	if len(cells) == want {
		return true
	}
	line, _ := reader.FieldPos(0)
	p.fault(line, "row", plural(len(cells), "cell")+" where the header has "+plural(want, "column"))
	p.unsure = true
	return false
}
