// Package oneroster reads a folder or a zip file of OneRoster CSV files, version 1.1 or 1.2, bulk or delta, or what a
// service answers over OneRoster's REST interface, as records of a bundle.
// Users become staff and pupils, orgs and classes become groups, and enrollments become memberships.
// docs/oneroster.md describes the mapping for schools. OneRoster is a standard of 1EdTech.
package oneroster

import (
	"fmt"
	"io/fs"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Folder is a folder whose files have no faults of their own. Resolve looks up the other records that a delta refers
// to. All rows are in memory.
type Folder struct {
	name    string
	files   fs.FS
	zone    wiretime.Zone
	version string
	modes   map[table]mode
	faults  *csvfile.FaultsError
	passes  map[table]*csvfile.Pass
	pending []reference // to what may be in Belfry already

	orgs        []org
	sessions    map[string]bundle.Span
	courses     map[string]string // title by id
	classes     []class
	terms       map[string][]string // sessions by class
	users       []user
	roles       []role
	enrollments []enrollment
}

// head is the first columns of every row.
type head struct {
	line    int
	id      string
	removed bool   // tobedeleted
	changed string // the day of dateLastModified, of a delta
}

type (
	org struct {
		head
		name, parent string
		school       bool
	}
	class struct {
		head
		name, course string
		school       string // an org
	}
	user struct {
		head
		forename, knownAs, surname string
		email, yearGroup           string
		role                       string   // 1.1
		orgs                       []string // 1.1
	}
	role struct {
		head
		user, org, role string
		primary         bool
		span            bundle.Span
	}
	enrollment struct {
		head
		class, user, role string
		span              bundle.Span // of its own dates
	}
	// reference is a reference to a row that is not in the folder.
	reference struct {
		fault  csvfile.Fault // if it is not in Belfry either
		target table
		id     string
		spared bool // no fault when it is missing: it may be a person who is skipped
	}
)

// Open reads and checks every file that Belfry uses in a folder or a zip file. When one is invalid, the error is a
// *csvfile.FaultsError; any other error comes from reading. The changes of a delta are on days of zone.
func Open(path string, zone wiretime.Zone) (*Folder, error) {
	files, err := csvfile.Folder(path, manifest)
	if err != nil {
		return nil, fmt.Errorf("reading the roster: %w", err)
	}
	return OpenFiles(files, path, zone)
}

// OpenFetched is Open of what Fetch returned.
func OpenFetched(archive []byte, zone wiretime.Zone) (*Folder, error) {
	files, err := csvfile.Archive(archive, csvfile.MaxUnpacked, manifest)
	if err != nil {
		return nil, fmt.Errorf("reading the roster: %w", err)
	}
	return OpenFiles(files, "the service", zone)
}

// Is says whether files are those of a roster.
func Is(files fs.FS) bool {
	_, err := fs.Stat(files, manifest)
	return err == nil
}

// OpenFiles is Open of files that name stands for in errors.
func OpenFiles(files fs.FS, name string, zone wiretime.Zone) (*Folder, error) {
	f := &Folder{name: name, files: files, zone: zone, modes: map[table]mode{},
		faults: &csvfile.FaultsError{What: "roster"},
		passes: map[table]*csvfile.Pass{}, sessions: map[string]bundle.Span{}, courses: map[string]string{},
		terms: map[string][]string{}}
	if err := f.readManifest(); err != nil {
		return nil, err
	}
	if err := f.faults.OrNil(); err != nil {
		return nil, err
	}
	for _, t := range tables {
		if !f.has(t) {
			continue
		}
		pass := csvfile.NewPass(sheetOf(t, f.version), f.faults)
		for r, err := range pass.FileRows(files, t.file()) {
			if err != nil {
				return nil, fmt.Errorf("reading the roster: %w", err)
			}
			f.read(&row{Row: r, folder: f, table: t})
		}
		f.passes[t] = pass
		if t == orgs {
			f.checkParents()
		}
	}
	if err := f.faults.OrNil(); err != nil {
		return nil, err
	}
	return f, nil
}

// has reports whether the table is read.
func (f *Folder) has(t table) bool {
	return (f.modes[t] == bulk || f.modes[t] == delta) && (t != roles || f.version == version12)
}

// holds reports whether the table has a row with that id, removed or not.
func (f *Folder) holds(t table, id string) bool {
	pass, ok := f.passes[t]
	if !ok {
		return false
	}
	_, ok = pass.Unique["sourcedId"].Of(id)
	return ok
}

// complete reports whether an id that is missing in the table is a fault: the table is in bulk, and could be read.
func (f *Folder) complete(t table) bool {
	pass, ok := f.passes[t]
	return ok && f.modes[t] == bulk && !pass.Unsure
}
