// Package demo writes the bundle of a plausible school, or of several: people, rooms, groups, a timetable without
// double-bookings, and events outside lessons. The same options result in the same bytes, on every machine and with
// every Go release.
package demo

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Options describe the school.
type Options struct {
	Pupils   int    // at a time, 10 to 20,000
	Years    int    // school years, 1 to 20
	Schools  int    // of so many pupils each, 1 to 100 with at most 20,000 pupils together; 0 is 1
	Seed     uint64 // another seed is another school, with other logins
	LastYear int    // the last school year: 2026 is 2026/27. Years before it come with their own groups and leavers
}

// DefaultLastYear is the last school year by default. It is fixed, so that the bytes do not change with the date.
const DefaultLastYear = 2026

// mostPupils is how many pupils all schools have together at most, and MostSchools how many schools there are.
const (
	mostPupils  = 20_000
	MostSchools = 100
)

// Check returns an error when no school of the options can be made.
func (o Options) Check() error {
	switch {
	case o.Pupils < 10 || o.Pupils > mostPupils:
		return errors.New("a school of 10 to 20,000 pupils can be made")
	case o.Years < 1 || o.Years > 20:
		return errors.New("1 to 20 school years can be made")
	case o.Schools < 0 || o.Schools > MostSchools:
		return errors.New("1 to 100 schools can be made")
	case o.Schools*o.Pupils > mostPupils:
		return errors.New("schools of at most 20,000 pupils together can be made")
	case o.LastYear-o.Years+1 < 1990 || o.LastYear > 2090:
		return errors.New("school years from 1990/91 to 2090/91 can be made")
	}
	return nil
}

// Summary counts the contents of a bundle.
type Summary struct {
	Staff       int     `json:"staff"`
	Pupils      int     `json:"pupils"` // leavers of former years included
	Locations   int     `json:"locations"`
	Groups      int     `json:"groups"`
	Memberships int     `json:"memberships"`
	Users       int     `json:"users"`
	Events      int     `json:"events"`
	Lessons     int     `json:"lessons"` // of the events
	Commitments int     `json:"commitments"`
	Requests    int     `json:"requests"`
	Notes       int     `json:"notes"`
	Logins      []Login `json:"logins"`
}

// Login is a user to try the school with.
type Login struct {
	Name    string `json:"name"`
	Email   string `json:"email,omitempty"`
	Kind    string `json:"kind"`
	May     string `json:"may"` // what the user is allowed to do, in words
	Element string `json:"element,omitempty"`
	UUID    string `json:"uuid"`
	School  string `json:"school,omitempty"` // of several schools, the user's
}

// Generate writes the bundle into the folder dir. It creates dir when it does not exist; otherwise dir must be empty.
// The files appear in it only when all of them are complete.
func Generate(dir string, o Options) (Summary, error) {
	if err := o.Check(); err != nil {
		return Summary{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Summary{}, err
	}
	if entries, err := os.ReadDir(dir); err != nil {
		return Summary{}, err
	} else if len(entries) > 0 {
		return Summary{}, fmt.Errorf("the folder %s is not empty", dir)
	}
	unfinished, err := os.MkdirTemp(dir, ".unfinished-*")
	if err != nil {
		return Summary{}, err
	}
	summary, err := write(unfinished, o)
	if err == nil {
		err = moveAll(unfinished, dir)
	}
	return summary, errors.Join(err, os.RemoveAll(unfinished))
}

func write(dir string, o Options) (Summary, error) {
	out, err := createFiles(dir, o.columns)
	if err != nil {
		return Summary{}, err
	}
	writeCategories(out)
	var summary Summary
	if o.Schools > 1 {
		summary = writeDistrict(o, out)
	} else {
		summary = newSchool(o, rows{files: out}).build()
	}
	summary.count(out)
	return summary, out.close()
}

func moveAll(from, to string) error {
	for _, kind := range bundle.Kinds() {
		if err := os.Rename(filepath.Join(from, kind.File()), filepath.Join(to, kind.File())); err != nil {
			return err
		}
	}
	return nil
}

// files are the open files of the bundle. The first error stops the writing; close returns it.
type files struct {
	tables map[bundle.Kind]*table
}

type table struct {
	file    *os.File
	rows    *csvfile.Writer
	columns []string
	count   int
	err     error
}

// createFiles begins each kind's file with its columns.
func createFiles(dir string, columns func(bundle.Kind) []string) (*files, error) {
	f := &files{tables: map[bundle.Kind]*table{}}
	for _, kind := range bundle.Kinds() {
		file, err := os.Create(filepath.Join(dir, kind.File()))
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		rows := csvfile.NewWriter(bufio.NewWriterSize(file, 1<<18))
		t := &table{file: file, rows: rows, columns: columns(kind)}
		t.rows.UseCRLF = true
		t.err = t.rows.Write(t.columns)
		f.tables[kind] = t
	}
	return f, nil
}

// write adds a row to the kind's file: the cells of its columns, in their order; those left out at the end are empty.
func (f *files) write(kind bundle.Kind, cells ...string) {
	t := f.tables[kind]
	if t.err != nil {
		return
	}
	if len(cells) > len(t.columns) {
		t.err = fmt.Errorf("%s: a row of %d cells for %d columns", kind.File(), len(cells), len(t.columns))
		return
	}
	t.err = t.rows.Write(append(cells, make([]string, len(t.columns)-len(cells))...))
	t.count++
}

// rows are the files as one school writes them. In a bundle of several schools all its keys begin with its prefix, so
// none is another school's.
type rows struct {
	*files
	prefix string
}

// write adds a row of the school.
func (r rows) write(kind bundle.Kind, cells ...string) {
	if r.prefix != "" {
		for i, column := range r.columns(kind)[:len(cells)] {
			switch column {
			case "key", "group", "user", "event", "organiser", "owner", adminOf:
				cells[i] = r.key(cells[i])
			case "element", "member":
				cells[i] = r.reference(cells[i])
			case "elements":
				cells[i] = strings.Join(sequence.Map(strings.Split(cells[i], ";"), r.reference), ";")
			}
		}
	}
	r.files.write(kind, cells...)
}

// key returns a key as it is in the bundle; an empty key means none.
func (r rows) key(key string) string {
	if key == "" {
		return ""
	}
	return r.prefix + key
}

// reference returns a Type:key as it is in the bundle.
func (r rows) reference(reference string) string {
	kind, key, found := strings.Cut(reference, ":")
	if !found {
		return reference
	}
	return kind + ":" + r.key(key)
}

func (f *files) columns(kind bundle.Kind) []string { return f.tables[kind].columns }

func (f *files) count(kind bundle.Kind) int { return f.tables[kind].count }

// close writes out what is buffered and closes every file.
func (f *files) close() error {
	var all error
	for _, t := range f.tables {
		t.rows.Flush()
		all = errors.Join(all, t.err, t.rows.Error(), t.file.Close())
	}
	return all
}
