package oneroster

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// maxID bounds a sourcedId in characters, so that the key in Belfry has at most 255.
const maxID = csvfile.MaxKey - len("oneroster:class:")

// maxIDs bounds a list of ids: a user may be at every school of a district.
const maxIDs = 1 << 16

// row is a row of one of the tables.
type row struct {
	*csvfile.Row
	folder *Folder
	table  table
}

// read reads a row. A row with a fault is added all the same, for the references to it; the folder is then not
// imported.
func (f *Folder) read(r *row) {
	h := r.head()
	switch r.table {
	case orgs:
		school := r.enum("type", orgTypes) == "school"
		f.orgs = append(f.orgs, org{head: h, name: r.Name("name"), parent: r.id("parentSourcedId"), school: school})
	case sessions:
		r.enum("type", sessionTypes)
		r.Name("title")
		f.sessions[h.id] = r.days("startDate", "endDate")
		r.Required("startDate", csvfile.MaxName)
		r.Required("endDate", csvfile.MaxName)
	case courses:
		f.courses[h.id] = r.Required("title", csvfile.MaxText)
	case classes:
		f.readClass(h, r)
	case users:
		f.readUser(h, r)
	case roles:
		f.readRole(h, r)
	case enrollments:
		f.readEnrollment(h, r)
	}
}

// head reads the columns that every table begins with. In bulk a row need not say that it is active.
func (r *row) head() head {
	h := head{line: r.Line(), id: r.Key("sourcedId", maxID)}
	isDelta := r.folder.modes[r.table] == delta
	if isDelta || r.Optional("status", csvfile.MaxName) != "" {
		h.removed = r.required("status", func() string { return r.OneOf("status", statuses...) }) == "tobedeleted"
	}
	if isDelta {
		h.changed = r.required("dateLastModified", func() string { return r.instant("dateLastModified") })
	}
	return h
}

// required reads a cell that a delta must fill, also when its file lacks the column.
func (r *row) required(column string, read func() string) string {
	text := read()
	if text == "" && !r.Bad(column) {
		r.Fault(column, problem.Blank)
	}
	return text
}

// instant reads a time and keeps its day in the folder's zone.
func (r *row) instant(column string) string {
	text := r.Optional(column, csvfile.MaxName)
	if text == "" {
		return ""
	}
	if day, err := wiretime.ParseDay(text); err == nil {
		return day.String()
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		r.Fault(column, "is not a time (2026-09-01T08:00:00Z)")
		return ""
	}
	return r.folder.zone.DayOf(at).String()
}

// id reads a reference to a row without checking that the row exists.
func (r *row) id(column string) string { return r.OneLine(column, r.Optional(column, maxID)) }

// ids reads a list of references, separated by commas.
func (r *row) ids(column string) []string {
	var all []string
	for part := range strings.SplitSeq(r.Optional(column, maxIDs), ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// noRow is the fault of a reference to a missing row.
const noRow = "no row of %s has the sourcedId %q"

// refers checks that the row of that id exists, or may exist in Belfry. A spared one may be missing there.
func (r *row) refers(column string, target table, id string, spared bool) {
	switch f := r.folder; {
	case id == "" || f.holds(target, id) || r.Bad(column):
	case f.complete(target):
		r.Fault(column, noRow, target.file(), csvfile.Brief(id))
	case target != sessions && target != courses &&
		(f.passes[target] == nil || f.modes[target] == delta): // Belfry keeps neither
		f.expect(csvfile.Fault{File: r.table.file(), Line: r.LineOf(column), Column: column}, target, id, spared)
	}
}

// expect keeps a reference to a record that may be in Belfry. Resolve reports it if it is not.
func (f *Folder) expect(fault csvfile.Fault, target table, id string, spared bool) {
	fault.Reason = fmt.Sprintf("the sourcedId %q is neither in %s nor in Belfry", csvfile.Brief(id), target.file())
	f.pending = append(f.pending, reference{fault: fault, target: target, id: id, spared: spared})
}

// one reads a reference to a row that must exist.
func (r *row) one(column string, target table, spared bool) string {
	id := r.id(column)
	if id == "" && r.Has(column) {
		r.Fault(column, problem.Blank)
	}
	r.refers(column, target, id, spared)
	return id
}

// days reads a first day and the day after the last one, which is OneRoster's form, as first and last day. Either may
// be empty where its column may be.
func (r *row) days(begin, end string) bundle.Span {
	span := bundle.Span{FirstDay: r.Day(begin), LastDay: r.Day(end)}
	if span.FirstDay != nil && span.LastDay != nil && *span.LastDay < *span.FirstDay {
		r.Fault(end, "is before %s", begin)
	}
	if span.LastDay != nil {
		span.LastDay = new(dayBefore(*span.LastDay))
	}
	return span
}

// dayBefore returns the day before a day that was read.
func dayBefore(text string) string {
	day, err := wiretime.ParseDay(text)
	if err != nil { // the first day of all has none before
		return text
	}
	return day.AddDays(-1).String()
}

func (f *Folder) readClass(h head, r *row) {
	c := class{head: h, name: r.Name("title"), course: r.one("courseSourcedId", courses, true),
		school: r.id("schoolSourcedId")}
	f.terms[h.id] = r.ids("termSourcedIds")
	r.refers("schoolSourcedId", orgs, c.school, h.removed)
	for _, term := range f.terms[h.id] {
		r.refers("termSourcedIds", sessions, term, true)
	}
	// Titles alone often name the course: ten classes called "Mathematics 7".
	code := r.Word("classCode")
	if code != "" && !strings.Contains(c.name, code) && len(c.name)+len(code) < csvfile.MaxName-3 {
		c.name += " (" + code + ")"
	}
	f.classes = append(f.classes, c)
}

func (f *Folder) readUser(h head, r *row) {
	u := user{head: h, forename: r.Name("givenName"), surname: r.Name("familyName"),
		knownAs: r.Word("preferredGivenName"), email: r.Email("email"),
		yearGroup: r.yearGroup()}
	if preferred := r.Word("preferredFamilyName"); preferred != "" {
		u.surname = preferred
	}
	r.enabled()
	if f.version == version11 {
		u.role = r.enum("role", roles11)
		u.orgs = r.ids("orgSourcedIds")
		for _, org := range u.orgs {
			r.refers("orgSourcedIds", orgs, org, false)
		}
	}
	f.users = append(f.users, u)
}

// enabled checks enabledUser. It says who may log in to other systems, not who belongs to the school, so its value is
// not used.
func (r *row) enabled() {
	text := r.Required("enabledUser", csvfile.MaxName)
	if text != "" && !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false") {
		r.Fault("enabledUser", "must be true or false")
	}
}

// yearGroup is the grade as a school writes it: 7 for 07.
func (r *row) yearGroup() string {
	var all []string
	for grade := range strings.SplitSeq(r.Word("grades"), ",") {
		grade = strings.TrimSpace(grade)
		if n, err := strconv.Atoi(grade); err == nil && n > 0 {
			grade = strconv.Itoa(n)
		}
		if grade != "" {
			all = append(all, grade)
		}
	}
	return strings.Join(all, "/")
}

func (f *Folder) readRole(h head, r *row) {
	o := role{head: h, role: r.enum("role", roles12),
		primary: r.enum("roleType", []string{"primary", "secondary"}) == "primary"}
	o.span = r.days("beginDate", "endDate")
	o.user, o.org = r.one("userSourcedId", users, roleTypes[o.role] == neither || h.removed),
		r.one("orgSourcedId", orgs, h.removed)
	f.roles = append(f.roles, o)
}

func (f *Folder) readEnrollment(h head, r *row) {
	values := roles11
	if f.version == version12 {
		values = append(roles12[:len(roles12):len(roles12)], "administrator")
	}
	e := enrollment{head: h, role: r.enum("role", values)}
	e.class, e.user = r.one("classSourcedId", classes, h.removed),
		r.one("userSourcedId", users, roleTypes[e.role] == neither || h.removed)
	e.span = r.days("beginDate", "endDate")
	f.enrollments = append(f.enrollments, e)
}

// checkParents checks the orgs' references to each other, and that none is within itself.
func (f *Folder) checkParents() {
	parents := map[string]string{}
	for _, o := range f.orgs {
		parents[o.id] = o.parent
	}
	for _, o := range f.orgs {
		if o.parent == "" || f.faults.Total > 0 {
			continue
		}
		const column = "parentSourcedId"
		_, there := parents[o.parent]
		switch {
		case !there && f.complete(orgs):
			f.fault(orgs.file(), o.line, column, fmt.Sprintf(noRow, orgs.file(), csvfile.Brief(o.parent)))
		case !there:
			fault := csvfile.Fault{File: orgs.file(), Line: o.line, Column: column}
			f.expect(fault, orgs, o.parent, o.removed)
		case within(o.id, parents):
			f.fault(orgs.file(), o.line, column, "the org is within itself")
		}
	}
}

// within reports whether an org is within itself.
func within(org string, parents map[string]string) bool {
	at := org
	for range parents {
		if at = parents[at]; at == org || at == "" {
			break
		}
	}
	return at == org
}
