package demo

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/belfry-schools/belfry/deploy/admin/bundle"
)

// files are the open files of the bundle. The first error stops the writing; close returns it.
type files struct {
	tables map[bundle.Kind]*table
}

type table struct {
	file   *os.File
	buffer *bufio.Writer
	rows   *csv.Writer
	width  int
	count  int
	err    error
}

func createFiles(dir string) (*files, error) {
	f := &files{tables: map[bundle.Kind]*table{}}
	for _, kind := range bundle.Kinds() {
		file, err := os.Create(filepath.Join(dir, kind.File()))
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		buffer := bufio.NewWriterSize(file, 1<<18)
		t := &table{file: file, buffer: buffer, rows: csv.NewWriter(buffer), width: len(kind.Columns())}
		t.rows.UseCRLF = true
		t.err = t.rows.Write(kind.Columns())
		f.tables[kind] = t
	}
	return f, nil
}

// write adds a row to the kind's file: the cells of all its columns, in their order.
func (f *files) write(kind bundle.Kind, cells ...string) {
	t := f.tables[kind]
	if t.err != nil {
		return
	}
	if len(cells) != t.width {
		t.err = fmt.Errorf("%s: a row of %d cells for %d columns", kind.File(), len(cells), t.width)
		return
	}
	t.err = t.rows.Write(cells)
	t.count++
}

func (f *files) count(kind bundle.Kind) int { return f.tables[kind].count }

// close writes out what is buffered and closes every file.
func (f *files) close() error {
	var all error
	for _, t := range f.tables {
		t.rows.Flush()
		all = errors.Join(all, t.err, t.rows.Error(), t.buffer.Flush(), t.file.Close())
	}
	return all
}
