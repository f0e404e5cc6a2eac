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
			f.fault(t.file(), 1, "file", "is declared absent by "+manifest)
		}
	}
	if f.faults.Total == 0 && f.version == version12 && f.modes[users] == bulk && f.modes[roles] != bulk {
		f.fault(manifest, lines[users], "file.users", "bulk users need bulk roles")
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

// table is one of the files that are read, without its .csv.
type table string

// The tables, in the order of reading: a row refers only to rows of earlier tables, except an org to its parent.
const (
	orgs        table = "orgs"
	sessions    table = "academicSessions"
	courses     table = "courses"
	classes     table = "classes"
	users       table = "users"
	roles       table = "roles" // 1.2
	enrollments table = "enrollments"
)

var tables = []table{orgs, sessions, courses, classes, users, roles, enrollments}

// file is the name of the table's file.
func (t table) file() string { return string(t) + ".csv" }

// others are the files of both versions that are not read.
var others = []string{"categories", "classResources", "courseResources", "demographics", "lineItemLearningObjectiveIds",
	"lineItems", "lineItemScoreScales", "resources", "resultLearningObjectiveIds", "results", "resultScoreScales",
	"scoreScales", "userProfiles", "userResources"}

// Versions of OneRoster.
const (
	version11 = "1.1"
	version12 = "1.2"
)

// columns are those of the tables, optional ones in brackets, besides those of every row. The header must have those
// that a version requires; others may be missing, because exporters leave out what they never fill.
var columns = map[table]string{
	orgs:     "name type [identifier parentSourcedId]",
	sessions: "title type startDate endDate [parentSourcedId schoolYear]",
	courses:  "title [schoolYearSourcedId courseCode grades orgSourcedId subjects subjectCodes resourceSourcedIds]",
	classes: "title courseSourcedId [grades classCode classType location schoolSourcedId termSourcedIds subjects " +
		"subjectCodes periods resourceSourcedIds]",
	users: "enabledUser givenName familyName [username userIds middleName identifier email sms phone " +
		"agentSourcedIds grades password]",
	roles:       "userSourcedId roleType role orgSourcedId [beginDate endDate userProfileSourcedId]",
	enrollments: "classSourcedId userSourcedId role [schoolSourcedId primary beginDate endDate]",
}

// userColumns are those of users in one version alone.
var userColumns = map[string]string{
	version11: "orgSourcedIds role",
	version12: "[userMasterIdentifier resourceSourcedIds preferredGivenName preferredMiddleName preferredFamilyName " +
		"primaryOrgSourcedId pronouns]",
}

// sheetOf describes a table's file.
func sheetOf(t table, version string) *csvfile.Sheet {
	all := slices.Concat(csvfile.Columns("sourcedId [status dateLastModified]"), csvfile.Columns(columns[t]))
	if t == users {
		all = append(all, csvfile.Columns(userColumns[version])...)
	}
	return &csvfile.Sheet{File: t.file(), Columns: all, Extras: "metadata."}
}

// The kinds that a user becomes by a role.
const (
	neither = ""
	staff   = "Staff"
	pupil   = "Pupil"
)

// roleTypes are the roles of both versions, of users and of enrollments, with their kinds.
var roleTypes = map[string]string{
	"administrator": staff, "aide": staff, "counselor": staff, "districtAdministrator": staff,
	"principal": staff, "proctor": staff, "siteAdministrator": staff, "systemAdministrator": staff,
	"teacher": staff, "student": pupil, "guardian": neither, "parent": neither, "relative": neither,
}

// Values of enumerations. Version 1.2 allows others of most, which begin with "ext:".
var (
	statuses     = []string{"active", "tobedeleted"}
	orgTypes     = []string{"department", "school", "district", "local", "state", "national"}
	sessionTypes = []string{"gradingPeriod", "semester", "schoolYear", "term"}
	roles11      = []string{"administrator", "aide", "guardian", "parent", "proctor", "relative", "student", "teacher"}
	roles12      = []string{"aide", "counselor", "districtAdministrator", "guardian", "parent", "principal", "proctor",
		"relative", "siteAdministrator", "student", "systemAdministrator", "teacher"}
)

// enum reads a cell that must hold one of the values, in whatever case.
func (r *row) enum(column string, values []string) string {
	text := r.Required(column, csvfile.MaxName)
	if r.folder.version == version12 && strings.HasPrefix(text, "ext:") {
		return text
	}
	return r.OneOf(column, values...)
}
