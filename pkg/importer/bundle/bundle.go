// Package bundle reads a bundle: the folder of CSV files, or the workbook, from which a school is imported. It checks
// all of it before anything is written. docs/bundle.md and docs/columns.md, which is generated from the records and
// columns.tsv, describe the files for their authors. The records have the form of POST /api/admin/import/KIND.
package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/workbook"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Kind names a file of the bundle, without its .csv. It is also the last segment of the path to which its records are
// sent.
type Kind string

// The kinds.
const (
	Staff           Kind = "staff"
	Pupils          Kind = "pupils"
	Locations       Kind = "locations"
	Groups          Kind = "groups"
	Properties      Kind = "properties"
	Services        Kind = "services"
	Subjects        Kind = "subjects"
	Memberships     Kind = "memberships"
	Users           Kind = "users"
	Administrators  Kind = "administrators"
	EventCategories Kind = "eventcategories"
	Events          Kind = "events"
	Notes           Kind = "notes"
)

// Kinds lists the kinds in the order of import: a record refers only to records of earlier kinds. The exception is a
// group that is a member of a group; both exist by the time of the memberships.
func Kinds() []Kind {
	files := Files()
	return files[:slices.Index(files, Commitments)]
}

// Files lists the kinds, and the files whose rows are sent with events: Commitments, and those of a timetable.
func Files() []Kind {
	return sequence.Map(sheets, func(s *kindSheet) Kind { return s.kind })
}

// File is the name of the kind's file.
func (k Kind) File() string { return string(k) + ".csv" }

// EntityType is the type of the kind's elements, "" for kinds that are not elements.
func (k Kind) EntityType() string { return entityTypes[k] }

// Columns returns the names of the kind's columns in the order of docs/columns.md.
func (k Kind) Columns() []string {
	return sequence.Map(k.Described(), func(c Column) string { return c.Name })
}

// Described returns the kind's columns in that order.
func (k Kind) Described() []Column { return sheetOf(k).columns }

// Texts lists the columns of the kind's file with free text.
func (k Kind) Texts() (names []string) {
	for _, c := range k.Described() {
		if c.Check == "title" || c.Check == "text" {
			names = append(names, c.Name)
		}
	}
	return names
}

// Row is one record of a bundle and where it came from.
type Row struct {
	File   string // the kind's file, or one of a OneRoster folder
	Line   int    // in the file; of a membership the first of the pair's lines
	Key    string // what the service matches the record by
	Record any    // one of the record types of this package; its JSON is sent
}

// Bundle is a bundle without faults. It keeps the keys in memory and reads the rows again when they are needed. It is
// safe for use by several goroutines.
type Bundle struct {
	options Options
	index   index
	tables  map[Kind]*table // those that the bundle has
	counts  map[Kind]int
	pending bool // lessons are not checked before Plan
}

// Options say how a bundle is read.
type Options struct {
	Zone  wiretime.Zone      // of local times of events
	Dates csvfile.DateFormat // of dates that are not YYYY-MM-DD; none when empty
	From  wiretime.Day       // lessons before it make no events
}

// Open reads and checks every table of the bundle at path: a folder or a zip file of CSV files, or an .xlsx workbook
// with a sheet for each. When the bundle is invalid, the error is a *csvfile.FaultsError; any other error comes from
// reading.
func Open(path string, options Options) (*Bundle, error) {
	if workbook.IsWorkbook(path) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading the bundle: %w", err)
		}
		return OpenWorkbook(text, workbook.MaxUnpacked, filepath.Base(path), options)
	}
	files, err := csvfile.Folder(path, "*.csv")
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	return OpenFiles(files, path, options)
}

// OpenFiles is Open of CSV files; name stands for them in errors.
func OpenFiles(files fs.FS, name string, options Options) (*Bundle, error) {
	exported, err := readManifest(files, name)
	if err != nil {
		return nil, err
	}
	faults := &csvfile.FaultsError{What: "bundle"}
	tables, err := listFiles(files, name, faults)
	if err != nil {
		return nil, err
	}
	return open(tables, exported, faults, options)
}

// OpenWorkbook is Open of a workbook that takes at most unpacked bytes; file is its name in errors.
func OpenWorkbook(text []byte, unpacked int64, file string, options Options) (*Bundle, error) {
	faults := &csvfile.FaultsError{What: "bundle"}
	tables, err := listSheets(text, unpacked, file, faults)
	if err != nil {
		return nil, err
	}
	return open(tables, false, faults, options)
}

func open(tables map[Kind]*table, exported bool, faults *csvfile.FaultsError, options Options) (*Bundle, error) {
	b := &Bundle{options: options, index: newIndex(), tables: tables, counts: map[Kind]int{}}
	b.index.exported = exported
	for kind, t := range b.tables {
		b.index.files[kind] = t.file
	}
	// Commitments are read before their events, and periods and weeks before lessons.
	order := slices.Insert(Kinds(), slices.Index(Kinds(), Events), Commitments, Periods, Weeks)
	for _, kind := range order {
		if err := b.check(sheetOf(kind), faults); err != nil {
			return nil, err
		}
	}
	if b.pending = len(b.Calendars()) > 0; !b.pending {
		if err := b.check(sheetOf(Lessons), faults); err != nil {
			return nil, err
		}
	}
	b.index.decided.checkUsed(&b.index, faults)
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	return b, nil
}

// Calendars are the keys of the categories whose events in Belfry say when there are lessons: those that weeks.csv
// names and no row of events.csv has. If there are any, call Plan before Rows.
func (b *Bundle) Calendars() []string {
	t := &b.index.timetable
	if b.tables[Lessons] == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.from)), func(category string) bool { return t.taken[category] })
}

// Plan checks the lessons, by the events of the categories that Calendars lists. Its errors are those of Open.
func (b *Bundle) Plan(events []CalendarEvent) error {
	faults := &csvfile.FaultsError{What: "bundle"}
	for _, e := range events {
		b.index.timetable.give(e, faults)
	}
	b.pending = false
	if err := b.check(sheetOf(Lessons), faults); err != nil {
		return err
	}
	return faults.OrNil()
}

// Exported reports whether belfryctl export wrote the bundle.
func (b *Bundle) Exported() bool { return b.index.exported }

// check reads a table for the first time, if the bundle has it.
func (b *Bundle) check(s *kindSheet, faults *csvfile.FaultsError) error {
	t, there := b.tables[s.kind]
	if !there {
		return nil
	}
	timetable, before := &b.index.timetable, faults.Total
	if s.kind == Lessons {
		b.planLessons(t, faults)
	}
	pass := b.newPass(s, faults)
	for row, err := range t.rows(pass) {
		if err != nil {
			return err
		}
		b.counts[s.kind]++
		if s.kind == Events {
			timetable.take(row, b.options.Zone, faults)
		}
	}
	b.index.add(pass)
	if (s.kind == Periods || s.kind == Weeks) && faults.Total > before {
		timetable.broken = true
	}
	return nil
}

// planLessons makes the calendars that lessons need.
func (b *Bundle) planLessons(t *table, faults *csvfile.FaultsError) {
	for _, kind := range []Kind{Periods, Weeks} {
		if b.tables[kind] == nil {
			b.index.timetable.broken = true
			faults.Add(csvfile.Fault{File: t.file, Line: 1, Column: "file", Reason: "needs " + kind.File()})
		}
	}
	b.index.timetable.plan(faults)
}

// Has reports whether the bundle has the kind's file, even an empty one. Lessons are events.
func (b *Bundle) Has(kind Kind) bool {
	return b.tables[kind] != nil || kind == Events && b.tables[Lessons] != nil
}

// Count is the number of the kind's records: the rows of its file, of memberships the pairs, and of events those of
// lessons too.
func (b *Bundle) Count(kind Kind) int {
	if kind == Events {
		return b.counts[kind] + b.index.timetable.events
	}
	return b.counts[kind]
}

// Gone reports whether an element, given as Type:key, may once have come from this bundle but is in none of its rows
// now. Call it only for types whose file the bundle has.
func (b *Bundle) Gone(reference string) bool {
	entity, key, _ := strings.Cut(reference, ":")
	return !b.index.has(kindOf(entity), key) && !strings.HasPrefix(key, Reserved)
}

// Rows reads the kind's records from its file, in its order. Open has checked the file. If it has become invalid or
// unreadable since, the last pair is an error.
func (b *Bundle) Rows(kind Kind) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if kind == Events && b.pending {
			yield(Row{}, errors.New("reading the bundle: lessons need the events of their calendars"))
			return
		}
		if b.read(kind, func(_ *pass, row Row, err error) bool { return yield(row, err) }) && kind == Events {
			b.read(Lessons, func(p *pass, row Row, err error) bool {
				if err != nil {
					return yield(row, err)
				}
				for day := range b.index.timetable.daysOf(p.lesson, b.options.From) {
					e := p.lesson.on(day)
					if !yield(Row{File: row.File, Line: row.Line, Key: e.Key, Record: e}, nil) {
						return false
					}
				}
				return true
			})
		}
	}
}

// read reads a table that was checked, and reports whether it came to its end.
func (b *Bundle) read(kind Kind, take func(p *pass, row Row, err error) bool) bool {
	t := b.tables[kind]
	if t == nil {
		return true
	}
	faults := &csvfile.FaultsError{}
	p := b.newPass(sheetOf(kind), faults)
	p.checked = true
	for row, err := range t.rows(p) {
		if faults.Total > 0 {
			break
		}
		if !take(p, row, err) || err != nil {
			return false
		}
	}
	if faults.Total > 0 {
		take(p, Row{}, fmt.Errorf("%s has changed since it was checked: %s", t.file, faults.First[0]))
	}
	return faults.Total == 0
}

// Manifest is the file in which an export records what the folder holds, and whether it is complete.
const Manifest = "export.json"

// readManifest reports whether an export wrote the files at path. It returns an error for an incomplete export.
func readManifest(files fs.FS, path string) (exported bool, err error) {
	text, err := fs.ReadFile(files, Manifest)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var manifest struct{ Whole bool }
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		return false, fmt.Errorf("reading the bundle: %s: %w", Manifest, err)
	}
	if !manifest.Whole {
		return false, fmt.Errorf("reading the bundle: %s is an interrupted export; run belfryctl export with the "+
			"same flags to continue it", path)
	}
	return true, nil
}
