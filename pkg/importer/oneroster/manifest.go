package oneroster

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
)

// mode says what a table contains.
type mode string

const (
	absent mode = "absent"
	bulk   mode = "bulk"  // all there is
	delta  mode = "delta" // what has changed
)

const manifest = "manifest.csv"

// readManifest reads the manifest, and checks that the files exist.
func (f *Folder) readManifest() error {
	there, err := f.list()
	if err != nil {
		return err
	}
	s := &csvfile.Sheet{File: manifest, Columns: csvfile.Columns("propertyName value")}
	pass := csvfile.NewPass(s, f.faults)
	lines := map[table]int{}
	for r, err := range pass.FileRows(f.files, manifest) {
		if err != nil {
			return fmt.Errorf("reading the roster: %w", err)
		}
		f.property(&row{Row: r, folder: f}, lines)
	}
	if f.faults.Total > 0 {
		return nil
	}
	for _, required := range []string{"manifest.version", "oneroster.version"} {
		if _, ok := pass.Unique["propertyName"].Of(required); !ok {
			f.fault(manifest, 1, required, "the property is missing")
		}
	}
	for _, t := range tables {
		switch {
		case f.has(t) && !there[t]:
			f.fault(manifest, lines[t], "file."+string(t), t.file()+" is not in the folder")
		case !f.has(t) && there[t]:
			f.fault(t.file(), 1, "file", "is absent by "+manifest)
		}
	}
	if f.faults.Total == 0 && f.version == version12 && f.modes[users] == bulk && f.modes[roles] != bulk {
		f.fault(manifest, lines[users], "file.users", "users in bulk need their roles in bulk")
	}
	return nil
}

// property reads a line of the manifest. Properties about other things are not checked.
func (f *Folder) property(r *row, lines map[table]int) {
	name := r.Key("propertyName", csvfile.MaxKey)
	value := strings.TrimSpace(r.Raw("value"))
	of, isFile := strings.CutPrefix(name, "file.")
	switch {
	case name == "manifest.version" && value != "1.0":
		r.Fault("value", "manifest.version must be 1.0")
	case name == "oneroster.version" && value != version11 && value != version12:
		r.Fault("value", "oneroster.version must be one of %s, %s", version11, version12)
	case name == "oneroster.version":
		f.version = value
	case isFile && slices.Contains(tables, table(of)):
		f.modes[table(of)], lines[table(of)] = mode(value), r.Line()
		if !slices.Contains([]mode{absent, bulk, delta}, mode(value)) {
			r.Fault("value", "must be one of %s, %s, %s", absent, bulk, delta)
		}
	}
}

// list finds the files. A CSV file that OneRoster does not have is a fault: its name is most likely misspelt.
func (f *Folder) list() (map[table]bool, error) {
	entries, err := fs.ReadDir(f.files, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the roster: %s: %w", f.name, err)
	}
	there := map[table]bool{}
	found := false
	for _, e := range entries {
		name, isCSV := strings.CutSuffix(e.Name(), ".csv")
		switch {
		case e.Name() == manifest:
			found = true
		case isCSV && slices.Contains(tables, table(name)):
			there[table(name)] = true
		case strings.EqualFold(filepath.Ext(e.Name()), ".csv") && !(isCSV && slices.Contains(others, name)):
			f.fault(e.Name(), 1, "file", "is not a file of OneRoster")
		}
	}
	if !found {
		return nil, fmt.Errorf("reading the roster: %s holds no %s", f.name, manifest)
	}
	return there, nil
}

// fault adds a fault.
func (f *Folder) fault(file string, line int, column, reason string) {
	f.faults.Add(csvfile.Fault{File: file, Line: line, Column: column, Reason: reason})
}
