package bundle

import (
	"cmp"
	"reflect"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
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
