// Package bundle reads a bundle, the folder of CSV files by which a school is imported. It checks all of it before
// anything is written. docs/bundle.md describes the files for their authors. The records are those of POST
// /api/admin/import/KIND.
package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/deploy/admin/csvfile"
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
	kinds := make([]Kind, len(sheets))
	for i, s := range sheets {
		kinds[i] = s.kind
	}
	return kinds
}

// File is the name of the kind's file.
func (k Kind) File() string { return string(k) + ".csv" }

// EntityType is the type of the kind's elements, "" for the kinds that are no elements.
func (k Kind) EntityType() string {
	for _, e := range elementKinds {
		if e.kind == k {
			return e.entity
		}
	}
	return ""
}

// Columns returns the names of the kind's columns in the order of docs/bundle.md.
func (k Kind) Columns() []string {
	columns := sheetOf(k).Columns
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// Row is one record of a bundle and where it came from.
type Row struct {
	File   string // the kind's file, or one of a OneRoster folder
	Line   int    // in the file; of a membership the first of the pair's lines
	Key    string // what the service matches the record by
	Record any    // one of the record types of this package, as JSON the line to be sent
}

// Bundle is a bundle without faults. It keeps the keys in memory and reads the rows again when they are needed. It is
// safe for use by several goroutines.
type Bundle struct {
	dir     string
	zone    wiretime.Zone
	index   index
	present map[Kind]bool
	counts  map[Kind]int
}

// Open reads and checks every file of the bundle in dir. When the bundle is invalid, the error is a
// *csvfile.FaultsError; any other error is one of reading. Local times of events are those of zone.
func Open(dir string, zone wiretime.Zone) (*Bundle, error) {
	b := &Bundle{dir: dir, zone: zone, index: newIndex(), present: map[Kind]bool{}, counts: map[Kind]int{}}
	faults := &csvfile.FaultsError{What: "bundle"}
	if err := b.list(faults); err != nil {
		return nil, err
	}
	for _, s := range sheets {
		if !b.present[s.kind] {
			continue
		}
		pass := newPass(s, &b.index, zone, faults)
		err := b.read(s, pass, func(Row) bool { b.counts[s.kind]++; return true })
		if err != nil {
			return nil, err
		}
		b.index.add(pass)
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	return b, nil
}

// list finds the files. A CSV file that the bundle does not have is a fault: its name is most likely misspelt.
func (b *Bundle) list(faults *csvfile.FaultsError) error {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return fmt.Errorf("reading the bundle: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.EqualFold(filepath.Ext(name), ".csv") {
			continue
		}
		kind := Kind(strings.TrimSuffix(name, ".csv"))
		if !slices.Contains(Kinds(), kind) {
			faults.Add(csvfile.Fault{File: name, Line: 1, Column: "file", Reason: "is not a file of the bundle"})
			continue
		}
		b.present[kind] = true
	}
	if len(b.present) == 0 && faults.Total == 0 {
		return fmt.Errorf("reading the bundle: %s holds no file of a bundle, such as %s", b.dir, Staff.File())
	}
	return nil
}

// Has says whether the bundle has the kind's file, even an empty one.
func (b *Bundle) Has(kind Kind) bool { return b.present[kind] }

// Count is the number of the kind's records: the rows of its file, or of memberships the pairs.
func (b *Bundle) Count(kind Kind) int { return b.counts[kind] }

// Gone says whether an element, given as Type:key, may have come from this bundle once and is in none of its rows
// now. Call it only for types whose file the bundle has.
func (b *Bundle) Gone(reference string) bool {
	entity, key, _ := strings.Cut(reference, ":")
	return !b.index.has(kindOf(entity), key) && !strings.HasPrefix(key, Reserved)
}

// Rows reads the kind's records from its file, in its order. Open has checked the file. When it has become invalid
// since, or cannot be read any more, the last pair is an error.
func (b *Bundle) Rows(kind Kind) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if !b.present[kind] {
			return
		}
		s := sheetOf(kind)
		faults := &csvfile.FaultsError{}
		stopped := false
		err := b.read(s, newPass(s, &b.index, b.zone, faults), func(row Row) bool {
			if faults.Total == 0 {
				stopped = !yield(row, nil)
			}
			return !stopped && faults.Total == 0
		})
		if stopped {
			return
		}
		if err == nil && faults.Total > 0 {
			err = fmt.Errorf("%s has changed since it was checked: %s", kind.File(), faults.First[0])
		}
		if err != nil {
			yield(Row{}, err)
		}
	}
}

// read reads the kind's file once.
func (b *Bundle) read(s *kindSheet, p *pass, each func(Row) bool) (err error) {
	file, err := os.Open(filepath.Join(b.dir, s.kind.File()))
	if err != nil {
		return readingError(s, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := p.run(file, each); err != nil {
		return readingError(s, err)
	}
	return nil
}

// readingError adds the file's name, unless err is a path error, which has it already.
func readingError(s *kindSheet, err error) error {
	if pathError := (*fs.PathError)(nil); errors.As(err, &pathError) {
		return fmt.Errorf("reading the bundle: %w", err)
	}
	return fmt.Errorf("reading the bundle: %s: %w", s.kind.File(), err)
}
