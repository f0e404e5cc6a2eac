package bundle

import (
	"cmp"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
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
