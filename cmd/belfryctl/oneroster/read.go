package oneroster

import (
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/cmd/belfryctl/csvfile"
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
		f.orgs = append(f.orgs,
			org{head: h, name: r.Name("name"), parent: r.id("parentSourcedId"), school: school})
	case sessions:
		r.enum("type", sessionTypes)
		r.Name("title")
		f.sessions[h.id] = r.session()
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

// instant reads a time, of which the day in the folder's zone is kept.
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
			all = append(all, strings.Clone(part))
		}
	}
	return all
}

// refers checks that the row of that id exists, or may exist in Belfry. A spared one may be missing there.
func (r *row) refers(column string, target table, id string, spared bool) {
	switch f := r.folder; {
	case id == "" || f.holds(target, id) || r.Bad(column):
	case f.complete(target):
		r.Fault(column, "no row of %s has the sourcedId %s", target.file(), strconv.Quote(csvfile.Brief(id)))
	case target != sessions && target != courses &&
		(f.passes[target] == nil || f.modes[target] == delta): // Belfry keeps neither
		fault := csvfile.Fault{File: r.table.file(), Line: r.LineOf(column), Column: column, Reason: "the sourcedId " +
			strconv.Quote(csvfile.Brief(id)) + " is neither in " + target.file() + " nor in Belfry"}
		f.pending = append(f.pending, reference{fault: fault, target: target, id: id, spared: spared})
	}
}

// one reads a reference to a row that must exist.
func (r *row) one(column string, target table, spared bool) string {
	id := r.id(column)
	if id == "" && r.Has(column) {
		r.Fault(column, problem.Blank)
	}
	r.refers(column, target, id, spared)
	return strings.Clone(id)
}

// days reads a first day and the day after the last one, which is OneRoster's form, as first and last day. Either may
// be empty where its column may be.
func (r *row) days(begin, end string) (first, last string) {
	if day := r.Day(begin); day != nil {
		first = strings.Clone(*day)
	}
	if day := r.Day(end); day != nil {
		last = dayBefore(*day)
		if first != "" && *day < first {
			r.Fault(end, "is before %s", begin)
		}
	}
	return first, last
}

// dayBefore returns the day before a day that was read.
func dayBefore(text string) string {
	day, err := wiretime.ParseDay(text)
	if err != nil { // the first day that there is has none before
		return text
	}
	return day.AddDays(-1).String()
}

func (r *row) session() session {
	first, last := r.days("startDate", "endDate")
	for _, column := range []string{"startDate", "endDate"} {
		r.Required(column, csvfile.MaxName)
	}
	return session{first, last}
}

func (f *Folder) readClass(h head, r *row) {
	c := class{head: h, name: r.Name("title"), course: r.one("courseSourcedId", courses, true),
		school: strings.Clone(r.id("schoolSourcedId")), terms: r.ids("termSourcedIds")}
	r.refers("schoolSourcedId", orgs, c.school, h.removed)
	for _, term := range c.terms {
		r.refers("termSourcedIds", sessions, term, true)
	}
	// Titles alone often name the course: ten classes called "Mathematics 7".
	code := r.Word("classCode")
	if code != "" && !strings.Contains(c.name, code) && len(c.name)+len(code) < csvfile.MaxName-3 {
		c.name += " (" + code + ")"
	}
	c.name = strings.Clone(c.name)
	f.classes[h.id] = c
	f.classOrder = append(f.classOrder, h.id)
}

func (f *Folder) readUser(h head, r *row) {
	u := user{head: h, forename: strings.Clone(r.Name("givenName")), surname: strings.Clone(r.Name("familyName")),
		knownAs: strings.Clone(r.Word("preferredGivenName")), email: strings.Clone(r.Email("email")),
		yearGroup: r.yearGroup()}
	if preferred := r.Word("preferredFamilyName"); preferred != "" {
		u.surname = strings.Clone(preferred)
	}
	r.enabled()
	if f.version == version11 {
		u.role = r.enum("role", roles11)
		u.orgs = r.ids("orgSourcedIds")
		for _, org := range u.orgs {
			r.refers("orgSourcedIds", orgs, org, false)
		}
	}
	f.users[h.id] = u
	f.userOrder = append(f.userOrder, h.id)
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
	o.first, o.last = r.days("beginDate", "endDate")
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
	e.first, e.last = r.days("beginDate", "endDate")
	f.enrollments = append(f.enrollments, e)
}

// checkParents checks the orgs' references to each other, and that none is within itself.
func (f *Folder) checkParents() {
	parents := map[string]string{}
	for _, o := range f.orgs {
		parents[o.id] = o.parent
	}
	for _, o := range f.orgs {
		fault := csvfile.Fault{File: orgs.file(), Line: o.line, Column: "parentSourcedId"}
		if o.parent == "" || f.faults.Total > 0 {
			continue
		}
		if _, there := parents[o.parent]; !there {
			fault.Reason = "no row of orgs.csv has the sourcedId " + strconv.Quote(csvfile.Brief(o.parent))
			if f.complete(orgs) {
				f.faults.Add(fault)
			} else {
				fault.Reason = "the sourcedId " + strconv.Quote(csvfile.Brief(o.parent)) +
					" is neither in orgs.csv nor in Belfry"
				f.pending = append(f.pending, reference{fault: fault, target: orgs, id: o.parent, spared: o.removed})
			}
			continue
		}
		at := o.parent
		for range f.orgs {
			if at == o.id {
				fault.Reason = "the org is within itself"
				f.faults.Add(fault)
			}
			if at = parents[at]; at == "" || fault.Reason != "" {
				break
			}
		}
	}
}
