package oneroster

import (
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
)

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
