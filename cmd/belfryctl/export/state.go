package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
)

// state is the file bundle.Manifest: the options of the export, and its progress.
type state struct {
	begun bool // the folder is of this export: it has its state
	Whole bool `json:"whole"` // else an import refuses the folder
	Options
	Next  string               `json:"next,omitempty"` // for the next Since
	Files map[string]*progress `json:"files"`
}

// progress is that of a file.
type progress struct {
	Rows  int    `json:"rows"`
	Bytes int64  `json:"bytes,omitempty"` // of an incomplete file: what follows is written again
	After string `json:"after,omitempty"` // where the next page begins
	Whole bool   `json:"whole"`
	// LeftOut lists what the rows so far can't hold. An interrupted page is read again, and adds to it then.
	LeftOut []string `json:"left_out,omitempty"`
}

// leaveOut keeps for the report what the file can't hold.
func (p *progress) leaveOut(format string, args ...any) {
	p.LeftOut = append(p.LeftOut, fmt.Sprintf(format, args...))
}

// leftOut is what all files leave out, in all runs.
func (s *state) leftOut() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		all = append(all, s.Files[name].LeftOut...)
	}
	return all
}

// openState continues the export in the folder, or is to begin one in a folder that is new, empty, or has an earlier
// export, which stays until clear.
func openState(o Options) (*state, error) {
	if err := makeDir(o.Dir); err != nil {
		return nil, err
	}
	fresh := &state{Options: o, Files: map[string]*progress{}}
	text, err := os.ReadFile(filepath.Join(o.Dir, bundle.Manifest))
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(o.Dir)
		if err == nil && len(entries) > 0 {
			err = fmt.Errorf("%s is neither empty nor an export; give another folder", o.Dir)
		}
		return fresh, err
	}
	if err != nil {
		return nil, err
	}
	found := &state{Options: Options{Dir: o.Dir}, begun: true}
	if err := json.Unmarshal(text, found); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(o.Dir, bundle.Manifest), err)
	}
	same := found.Origin == o.Origin && found.Since == o.Since && found.Element == o.Element &&
		found.Calendars == o.Calendars
	switch {
	case !found.Whole && !same:
		return nil, fmt.Errorf("%s has another incomplete export; give the same flags again, or another "+
			"folder", o.Dir)
	case found.Whole, o.Element != 0: // which records one of an element exports is in memory only
		return fresh, nil
	}
	return found, nil
}

// clear removes the files of an earlier export, after recording that the folder is incomplete.
func (s *state) clear() error {
	if err := s.save(); err != nil {
		return err
	}
	s.begun = true
	for _, kind := range bundle.Files() {
		for _, name := range []string{kind.File(), partOf(kind.File())} {
			if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return errors.Join(os.RemoveAll(s.path(calendarsDir)), os.RemoveAll(s.path("deleted.json")))
}

func (s *state) path(name string) string { return filepath.Join(s.Dir, name) }

// partOf is the name of an incomplete file.
func partOf(name string) string { return name + wholefile.Part }

func (s *state) save() error { return wholefile.WriteJSON(s.path(bundle.Manifest), s) }

// file is a file of rows that is being written.
type file struct {
	*progress
	name    string
	columns []bundle.Column
	file    *os.File
	rows    *csvfile.Writer
}

// open opens files that are written together, where they ended at the last page. It returns nil if they are complete.
func (s *state) open(kinds ...bundle.Kind) (files []*file, err error) {
	whole, gone := true, false
	for _, kind := range kinds {
		at := cmp.Or(s.Files[kind.File()], &progress{})
		info, err := os.Stat(s.path(partOf(kind.File())))
		whole, gone = whole && at.Whole, gone || err != nil || info.Size() < at.Bytes
		s.Files[kind.File()] = at
	}
	if whole {
		return nil, nil
	}
	for _, kind := range kinds {
		if gone {
			s.Files[kind.File()] = &progress{}
		}
		f, err := s.openOne(kind)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// openOne opens a file, and cuts off what was written after the last page.
func (s *state) openOne(kind bundle.Kind) (*file, error) {
	at := s.Files[kind.File()]
	flags := os.O_WRONLY | os.O_CREATE
	if at.Bytes == 0 {
		flags |= os.O_TRUNC
	}
	opened, err := os.OpenFile(s.path(partOf(kind.File())), flags, 0o600)
	if err != nil {
		return nil, err
	}
	f := &file{progress: at, name: kind.File(), file: opened, rows: csvfile.NewWriter(opened)}
	var headings []string
	for _, c := range kind.Described() {
		if c.Check != "uuid" { // Belfry does not know those of users
			f.columns, headings = append(f.columns, c), append(headings, c.Name)
		}
	}
	if at.Bytes == 0 {
		return f, f.rows.Write(headings)
	}
	if err := opened.Truncate(at.Bytes); err != nil {
		return nil, err
	}
	_, err = opened.Seek(at.Bytes, io.SeekStart)
	return f, err
}

// isWhole reports whether a file is complete.
func (s *state) isWhole(name string) bool { return s.Files[name] != nil && s.Files[name].Whole }

// keep saves the progress of files.
func (s *state) keep(files []*file, after string) error {
	for _, f := range files {
		if err := f.sync(); err != nil {
			return err
		}
		bytes, err := f.file.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		f.Bytes, f.After = bytes, after
	}
	return s.save()
}

func (f *file) sync() error {
	f.rows.Flush()
	if err := f.rows.Error(); err != nil {
		return err
	}
	return f.file.Sync()
}

// finish gives complete files their names.
func (s *state) finish(files []*file) error {
	for _, f := range files {
		if err := f.sync(); err != nil {
			return err
		}
		f.progress.Whole, f.Bytes, f.After = true, 0, ""
		if err := os.Rename(s.path(partOf(f.name)), s.path(f.name)); err != nil {
			return err
		}
	}
	return s.save()
}
