package bundle

import (
	"cmp"
	_ "embed"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/workbook"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// kindSheet describes the file of a kind.
type kindSheet struct {
	csvfile.Sheet
	kind    Kind
	columns []Column
	read    func(*row) (key string, record any) // a part of a record has no record itself
}

// newSheet describes a file by its rows' type. Check, which may be nil, holds the rules of more than one cell.
func newSheet[T any](kind Kind, check func(*row, *T)) *kindSheet {
	s := &kindSheet{csvfile.Sheet{File: kind.File(), Quoted: true}, kind, columnsOf(reflect.TypeFor[T]()), nil}
	for _, c := range s.columns {
		s.Columns = append(s.Columns, c.Column)
	}
	s.read = func(r *row) (string, any) {
		record := new(T)
		fields := reflect.ValueOf(record).Elem()
		for i := range s.columns {
			s.columns[i].read(r, fields)
		}
		if check != nil {
			check(r, record)
		}
		key := fields.FieldByName("Key")
		if !key.IsValid() {
			return "", nil
		}
		return key.String(), *record
	}
	return s
}

// index holds the keys that later files refer to.
type index struct {
	files     map[Kind]string // the names of those that the bundle has
	keys      map[Kind]*csvfile.Lines
	resources map[string]bool // keys of the groups that are resource groups
	schools   map[string]bool // keys of the groups that are current schools
	decided   decided         // of commitments.csv
	timetable timetable       // of periods.csv and weeks.csv
	exported  bool            // an export wrote the files: their keys may be those of a OneRoster folder
	unsure    map[Kind]bool   // some rows of the file can't be read, so a missing key proves nothing
}

func newIndex() index {
	return index{files: map[Kind]string{}, keys: map[Kind]*csvfile.Lines{}, resources: map[string]bool{},
		schools: map[string]bool{}, decided: decided{}, timetable: newTimetable(), unsure: map[Kind]bool{}}
}

func (x *index) has(kind Kind, key string) bool {
	_, ok := x.keys[kind].Of(key)
	return ok
}

// file is the name of the kind's file in faults.
func (x *index) file(kind Kind) string { return cmp.Or(x.files[kind], kind.File()) }

func (x *index) add(p *pass) {
	x.keys[p.sheet.kind] = p.Unique["key"]
	x.unsure[p.sheet.kind] = p.Unsure
}

// pass is one reading of one file.
type pass struct {
	*csvfile.Pass
	sheet   *kindSheet
	file    string
	index   *index // of earlier files
	zone    wiretime.Zone
	pairs   *Pairs // of memberships.csv
	from    wiretime.Day
	lesson  *lesson // of the row of lessons.csv
	checked bool    // in an earlier pass
}

func (b *Bundle) newPass(s *kindSheet, faults *csvfile.FaultsError) *pass {
	sheet, x := s.Sheet, &b.index
	sheet.File, sheet.Dates = x.file(s.kind), b.options.Dates
	return &pass{Pass: csvfile.NewPass(&sheet, faults), sheet: s, file: sheet.File, index: x,
		zone: b.options.Zone, from: b.options.From, pairs: NewPairs()}
}

// Column is a column of a kind's file: a field of its record.
type Column struct {
	csvfile.Column
	Check string // the first words of the field's csv tag: "key of", "element"
	Of    string // the others: the kind to which the key belongs, the values that are allowed

	field []int // its place in the record
}

// Permission is the check of the columns of users that give a permission each.
const Permission = "permission"

// columnsOf returns the columns of a record, with one for each permission of users.
func columnsOf(record reflect.Type) (all []Column) {
	for _, f := range reflect.VisibleFields(record) {
		tag := f.Tag.Get("csv")
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		column := Column{Column: csvfile.Column{Name: name, Required: options == ""}, Check: tag, field: f.Index}
		if check, of, ok := strings.Cut(tag, " of "); ok {
			column.Check, column.Of = check+" of", of
		}
		switch {
		case tag == "-" || f.Anonymous:
		case tag == Permission:
			for _, name := range principal.PermissionNames() {
				all = append(all, Column{Column: csvfile.Column{Name: name}, Check: tag, field: f.Index})
			}
		default:
			all = append(all, column)
		}
	}
	return all
}

// read checks a cell by the column's description, and stores it in the record.
func (c *Column) read(r *row, record reflect.Value) {
	switch field := record.FieldByIndex(c.field).Addr().Interface().(type) {
	case *string:
		*field = c.text(r)
		if *field == "" && c.Required && c.Check != "contents" && c.Check != "time" && r.Has(c.Name) {
			r.Fault(c.Name, problem.Blank)
		}
	case **string:
		*field = r.Day(c.Name)
	case **bool:
		*field = r.Boolean(c.Name)
	case **int:
		*field = r.Integer(c.Name)
	case *[]string:
		*field = r.elements(c.Name)
	case **[]string:
		*field = r.keys(c.Name)
	case *map[string]bool:
		if given := r.Boolean(c.Name); given != nil {
			if *field == nil {
				*field = map[string]bool{}
			}
			(*field)[c.Name] = *given
		}
	default:
		panic(fmt.Sprintf("the column %s has the type %T", c.Name, field))
	}
}

// texts are the checks of cells that hold a text, by csv tag.
var texts = map[string]func(r *row, column string) string{
	"": (*row).Word, "email": (*row).Email, "uuid": (*row).password, "instant": (*row).instant,
	"key": (*row).key, "element": (*row).element, "status": (*row).status, "contents": (*row).contents,
	"clock": (*row).clock,
	"title": func(r *row, column string) string { return r.OneLine(column, r.Optional(column, csvfile.MaxText)) },
	"text":  func(r *row, column string) string { return r.Lines(column, r.Optional(column, csvfile.MaxText)) },
	"time":  (*row).DateTime, // see checkEvent
}

func (c *Column) text(r *row) string {
	switch c.Check {
	case "key of":
		return r.reference(c.Name, Kind(c.Of))
	case "one of":
		return r.OneOf(c.Name, strings.Fields(c.Of)...)
	}
	return texts[c.Check](r, c.Name)
}

// columnsTSV says what each column means, with a text on the file itself where column is empty.
//
//go:embed columns.tsv
var columnsTSV string

// explained is a row of columns.tsv.
type explained struct {
	kind                   Kind
	column, meaning, empty string
}

var explanations = explain(columnsTSV)

func explain(text string) []explained {
	var all []explained
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:] {
		r := strings.Split(line, "\t")
		all = append(all, explained{kind: Kind(r[0]), column: r[1], meaning: r[2], empty: r[3]})
	}
	return all
}

// ColumnsPage returns docs/columns.md, which says what each column means.
func ColumnsPage() string {
	var page strings.Builder
	page.WriteString(`# The columns of a bundle

What each column of [a bundle's files](bundle.md) means. Required columns are in bold. This page is generated
(` + "`make gen`" + `).
`)
	kind, table := Kind(""), false
	for _, d := range explanations {
		if d.kind != kind {
			kind, table = d.kind, false
			fmt.Fprintf(&page, "\n## `%s`\n\n", kind.File())
		}
		if d.column == "" {
			page.WriteString(d.meaning + "\n\n")
			continue
		}
		if !table {
			table = true
			page.WriteString("| column | meaning | when empty |\n|---|---|---|\n")
		}
		name := d.column
		required := func(c Column) bool { return c.Name == name && c.Required }
		if slices.ContainsFunc(kind.Described(), required) {
			name = "**" + name + "**"
		}
		fmt.Fprintf(&page, "| %s | %s | %s |\n", name, d.meaning, d.empty)
	}
	return page.String()
}

// table is where the rows of a kind are.
type table struct {
	file  string          // its name in faults
	files fs.FS           // where it is
	sheet *workbook.Sheet // nil for a file
}

// listSheets finds the tables of a workbook: its sheets, named as the files are, without .csv.
func listSheets(text []byte, unpacked int64, file string, faults *csvfile.FaultsError) (map[Kind]*table, error) {
	found, err := workbook.Read(text, unpacked)
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %s: %w", file, err)
	}
	tables := map[Kind]*table{}
	for _, s := range found {
		kind := Kind(strings.ToLower(strings.TrimSpace(s.Name)))
		fault := csvfile.Fault{File: file + "#" + csvfile.Brief(s.Name), Line: 1, Column: "file"}
		switch earlier := tables[kind]; {
		case !slices.Contains(Files(), kind):
			fault.Reason = "is not a sheet of the bundle" + csvfile.Meant(string(nearest(s.Name)))
			faults.Add(fault)
		case earlier != nil:
			fault.Reason = "exists besides " + earlier.file + "; keep only one of them"
			faults.Add(fault)
		default:
			tables[kind] = &table{file: fault.File, sheet: s}
		}
	}
	if len(tables) == 0 && faults.Total == 0 {
		return nil, fmt.Errorf("reading the bundle: %s has no sheet of a bundle, such as %s", file, Staff)
	}
	return tables, nil
}

// listFiles finds the tables of a folder. The case of a name doesn't matter. A CSV file that the bundle does not have
// is a fault: its name is most likely misspelt.
func listFiles(files fs.FS, dir string, faults *csvfile.FaultsError) (map[Kind]*table, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	tables, book := map[Kind]*table{}, ""
	for _, e := range entries {
		name := e.Name()
		stem, extension := strings.TrimSuffix(name, filepath.Ext(name)), strings.ToLower(filepath.Ext(name))
		kind := Kind(strings.ToLower(strings.TrimSpace(stem)))
		known := slices.Contains(Files(), kind)
		fault := csvfile.Fault{File: name, Line: 1, Column: "file"}
		switch earlier := tables[kind]; {
		case slices.Contains(otherTypes, extension) && known:
			fault.Reason = "is not read; save it as " + kind.File()
		case extension != ".csv":
			if workbook.IsWorkbook(name) {
				book = name
			}
			continue
		case !known:
			fault.Reason = "is not a file of the bundle"
			if meant := nearest(stem); meant != "" {
				fault.Reason += "; did you mean " + meant.File() + "?"
			}
		case earlier != nil:
			fault.Reason = "exists besides " + earlier.file + "; keep only one of them"
		default:
			tables[kind] = &table{file: name, files: files}
			continue
		}
		faults.Add(fault)
	}
	if len(tables) == 0 && faults.Total == 0 {
		err := fmt.Errorf("reading the bundle: %s has no file of a bundle, such as %s", dir, Staff.File())
		if book != "" {
			err = fmt.Errorf("%w; give the workbook itself: %s", err, filepath.Join(dir, book))
		}
		return nil, err
	}
	return tables, nil
}

// otherTypes are other formats of spreadsheets. Such a file with the name of one of the bundle's was probably meant to
// be it.
var otherTypes = []string{".tsv", ".xls", ".xlsx", ".ods", ".numbers"}

// nearest is the kind that a misspelt name most likely means: pupil, or a copy such as "staff (2)" or "staff.csv".
func nearest(name string) Kind {
	word, _, _ := strings.Cut(strings.TrimSpace(name), ".")
	word, _, _ = strings.Cut(word, " ")
	names := sequence.Map(Files(), func(k Kind) string { return string(k) })
	if meant := csvfile.Nearest(name, names); meant != "" {
		return Kind(meant)
	}
	return Kind(csvfile.Nearest(word, names))
}

// rows reads the table once. Faults are collected; an error comes from reading. Rows with a fault are there too, for
// their keys.
func (t *table) rows(p *pass) iter.Seq2[Row, error] {
	rows := p.FileRows(t.files, t.file)
	if t.sheet != nil {
		rows = p.TableRows(t.sheet.Records())
	}
	return func(yield func(Row, error) bool) {
		for cells, err := range rows {
			if err != nil {
				yield(Row{}, fmt.Errorf("reading the bundle: %w", err))
				return
			}
			key, record := p.sheet.read(&row{Row: cells, pass: p})
			if record != nil && !yield(Row{File: p.file, Line: cells.Line(), Key: key, Record: record}, nil) {
				return
			}
		}
		for row := range p.pairs.Rows() {
			if !yield(row, nil) {
				return
			}
		}
	}
}

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
