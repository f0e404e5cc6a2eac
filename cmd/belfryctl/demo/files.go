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
