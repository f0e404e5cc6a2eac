package oneroster

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// addUsers makes staff and pupils of the users. When staff became a pupil, or a pupil staff, the former element is no
// longer current.
func (r *resolver) addUsers() {
	for _, o := range r.Folder.roles {
		if !o.removed {
			r.said[o.user] = append(r.said[o.user], o)
		}
	}
	var people []user
	for _, u := range r.users {
		r.kinds[u.id] = r.kindOf(u)
		switch {
		case r.kinds[u.id] == neither && r.version == version12 && len(r.said[u.id]) == 0:
			r.skipped.add(users, noRole)
		case r.kinds[u.id] == neither:
			r.skipped.add(users, noPeople)
		case u.removed && r.known.kind(u.id) == neither:
			r.skipped.add(users, neverHere)
		default:
			people = append(people, u)
		}
	}
	initials := r.initials(people)
	for _, u := range people {
		for _, kind := range []string{staff, pupil} {
			stored, known := r.known.elements[kind+":"+userKeys+u.id]
			was := u
			was.removed = true
			switch {
			case kind == r.kinds[u.id] && (known || !u.removed):
				r.addPerson(kind, u, initials[u.id])
			case kind != r.kinds[u.id] && known && stored.current:
				r.addPerson(kind, was, initials[u.id])
			}
		}
	}
}

func (r *resolver) addPerson(kind string, u user, initials string) {
	key := userKeys + u.id
	if kind == pupil {
		r.roster.add(bundle.Pupils, users, u.line, key, bundle.PupilRecord{Key: key, Forename: u.forename,
			Surname: u.surname, KnownAs: u.knownAs, YearGroup: u.yearGroup, Email: u.email,
			Current: currentOf(u.head)})
		return
	}
	r.roster.add(bundle.Staff, users, u.line, key, bundle.StaffRecord{Key: key, Initials: initials,
		Forename: cmp.Or(u.knownAs, u.forename), Surname: u.surname, Email: u.email, Current: currentOf(u.head)})
}

// kindOf is the kind of a user of the folder. In version 1.2 it depends on the roles, and a delta has none of them or
// only those that changed. So a primary role decides, then what Belfry has, then any role.
func (r *resolver) kindOf(u user) string {
	if r.version == version11 {
		return roleTypes[u.role]
	}
	stored := r.known.kind(u.id)
	primary := slices.DeleteFunc(slices.Clone(r.said[u.id]), func(o role) bool { return !o.primary })
	kind := kindOfRoles(primary)
	switch {
	case kind != neither:
		return kind
	case r.modes[roles] != bulk && stored != neither:
		return stored
	case u.removed && len(r.said[u.id]) == 0:
		return stored
	}
	return kindOfRoles(r.said[u.id])
}

// kindOfRoles is staff for a user with any role of staff: a teacher in training may be a student as well.
func kindOfRoles(said []role) string {
	kind := neither
	for _, o := range said {
		if of := roleTypes[o.role]; of == staff || of == pupil && kind == neither {
			kind = of
		}
	}
	return kind
}

// member is the Type:key of a user who is in the folder or in Belfry; empty for one who is left out.
func (r *resolver) member(id string) string {
	kind, ok := r.kinds[id]
	if !ok {
		kind = r.known.kind(id)
	}
	reference := kind + ":" + userKeys + id
	if _, stored := r.known.elements[reference]; kind == neither || !stored && !r.roster.there[reference] {
		return ""
	}
	return reference
}

// initials gives each member of staff unique initials, which OneRoster does not have: those in Belfry, or else the
// first letter of the forename and two of the surname. When these are taken, the new member gets others, in the order
// of the sourcedIds.
func (r *resolver) initials(people []user) map[string]string {
	taken, given := r.known.initials, map[string]string{}
	var fresh []user
	for _, u := range people {
		if stored := r.known.elements[staff+":"+userKeys+u.id].initials; stored != "" {
			given[u.id] = stored
		} else if r.kinds[u.id] == staff {
			fresh = append(fresh, u)
		}
	}
	slices.SortFunc(fresh, func(a, b user) int { return strings.Compare(a.id, b.id) })
	for _, u := range fresh {
		given[u.id] = freeInitials(u.forename, u.surname, func(text string) bool { return taken[text] > 0 })
		taken[given[u.id]]++
	}
	return given
}

// freeInitials tries HGO for Hannah Gordon, then HGR, HGD, HGN, then HGO2, HGO3 and so on.
func freeInitials(forename, surname string, taken func(string) bool) string {
	first, last := letters(forename), letters(surname)
	if len(first)+len(last) == 0 {
		first = []rune("X")
	}
	begin := string(first[:min(len(first), 1)]) + string(last[:min(len(last), 1)])
	plain := begin
	for i, letter := range last[min(len(last), 1):] {
		tried := begin + string(letter)
		if i == 0 {
			plain = tried
		}
		if !taken(tried) {
			return tried
		}
	}
	for n := 1; ; n++ {
		tried := plain
		if n > 1 {
			tried += strconv.Itoa(n)
		}
		if !taken(tried) {
			return tried
		}
	}
}

// letters returns the letters of a name, as capitals.
func letters(name string) []rune {
	var all []rune
	for _, letter := range strings.ToUpper(name) {
		if unicode.IsLetter(letter) {
			all = append(all, letter)
		}
	}
	return all
}

// addMembers makes memberships of the parents of orgs, the schools of classes, the orgs of users (1.1) or roles (1.2),
// and the enrollments of classes.
func (r *resolver) addMembers() {
	for _, o := range r.orgs {
		if o.parent != "" {
			r.addMember(orgs, o.head, orgKeys+o.parent, r.group(orgKeys+o.id), bundle.Span{})
		}
	}
	for _, c := range r.classes {
		if c.school != "" {
			r.addMember(classes, c.head, orgKeys+c.school, r.group(classKeys+c.id), bundle.Span{})
		}
	}
	for _, u := range r.users {
		for _, of := range u.orgs {
			r.addMember(users, u.head, orgKeys+of, r.member(u.id), bundle.Span{})
		}
	}
	for _, o := range r.Folder.roles {
		r.addMember(roles, o.head, orgKeys+o.org, r.member(o.user), o.span)
	}
	for _, e := range r.enrollments {
		if roleTypes[e.role] == neither {
			r.skipped.add(enrollments, notEnrolled)
			continue
		}
		r.addMember(enrollments, e.head, classKeys+e.class, r.member(e.user), r.spanOf(e))
	}
}

// dayOne is before all other days.
const dayOne = "0001-01-01"

// addMember adds one row's days for a group and a member. The row is the source of the days, so that a delta changes
// these and no others.
func (r *resolver) addMember(t table, h head, group, member string, span bundle.Span) {
	switch {
	case r.group(group) == "" || member == "":
		if t != users { // a user who is left out with all rows is counted there
			r.skipped.add(t, leftOut)
		}
	case h.removed && r.modes[t] == delta:
		r.end(t, h.line, group, member, h.id, h.changed)
	case h.removed:
	case span.FirstDay != nil && span.LastDay != nil && *span.LastDay < *span.FirstDay:
		r.skipped.add(t, noDays)
		if r.modes[t] == delta { // it may have had days before
			r.end(t, h.line, group, member, h.id, dayOne)
		}
	default:
		span.Source = h.id
		if pair := r.pairs.Of(t.file(), h.line, group, member); r.modes[t] == bulk {
			pair.Spans = append(pair.Spans, span)
		} else {
			pair.Changes = append(pair.Changes, bundle.MembershipChange{Span: span})
		}
	}
}

// end ends a membership before a day: that of one source, or those of all sources if it is empty.
func (r *resolver) end(t table, line int, group, member, source, day string) {
	pair := r.pairs.Of(t.file(), line, group, member)
	pair.Changes = append(pair.Changes, bundle.MembershipChange{Span: bundle.Span{Source: source}, EndsBefore: day})
}

// group is the Type:key of a group that is in the folder or in Belfry, empty otherwise.
func (r *resolver) group(key string) string {
	reference := form.Group + ":" + key
	if _, stored := r.known.elements[reference]; !stored && !r.roster.there[reference] {
		return ""
	}
	return reference
}

// spanOf returns the days of an enrollment. Missing days are those of its class's terms: the first day of the first
// term, the last day of the last. Terms that are not in the folder leave them open.
func (r *resolver) spanOf(e enrollment) bundle.Span {
	var terms bundle.Span
	for _, id := range r.terms[e.class] {
		term, ok := r.sessions[id]
		if !ok {
			continue
		}
		if terms.FirstDay == nil || *term.FirstDay < *terms.FirstDay {
			terms.FirstDay = term.FirstDay
		}
		if terms.LastDay == nil || *term.LastDay > *terms.LastDay {
			terms.LastDay = term.LastDay
		}
	}
	return bundle.Span{FirstDay: cmp.Or(e.span.FirstDay, terms.FirstDay),
		LastDay: cmp.Or(e.span.LastDay, terms.LastDay)}
}

// endMembers ends memberships that are no longer in the files. With Prune it ends, as of today, those that a file in
// bulk no longer has. It always ends those of users, classes and orgs whose row in a delta has other orgs, because such
// a row lists all of them.
func (r *resolver) endMembers(ctx context.Context, d Directory, o Options) error {
	moved := r.moved()
	for _, reference := range slices.Sorted(maps.Keys(r.known.elements)) {
		group, isGroup := strings.CutPrefix(reference, form.Group+":")
		if !isGroup || !r.known.elements[reference].current || r.roster.Gone(reference) || !r.mayEnd(group, moved, o) {
			continue
		}
		members, err := r.known.members(ctx, d, group, o.Today)
		if err != nil {
			return err
		}
		for _, member := range members {
			from := r.sourceTable(group, member)
			change, ok := moved[member]
			if o.Prune && r.modes[from] == bulk {
				r.count(from, !r.pairs.Has(group, member))
			}
			switch {
			case r.pairs.Has(group, member):
			case ok && from != enrollments:
				r.end(change.from, change.line, group, member, "", change.day)
			case o.Prune && r.modes[from] == bulk:
				r.end(from, 1, group, member, "", o.Today)
			}
		}
	}
	return nil
}

// count counts an existing membership of a table in bulk, and whether the table no longer has it.
func (r *resolver) count(from table, gone bool) {
	file := from.file()
	i := slices.IndexFunc(r.roster.ended, func(e load.Ended) bool { return e.File == file })
	if i < 0 {
		i = len(r.roster.ended)
		r.roster.ended = append(r.roster.ended, load.Ended{File: file})
	}
	r.roster.ended[i].Of++
	if gone {
		r.roster.ended[i].Ended++
	}
}

// mayEnd reports whether memberships in the group may have ended.
func (r *resolver) mayEnd(group string, moved map[string]move, o Options) bool {
	people := r.sourceTable(group, "")
	if people == enrollments {
		return o.Prune && r.modes[enrollments] == bulk
	}
	return len(moved) > 0 ||
		o.Prune && (r.modes[people] == bulk || r.modes[orgs] == bulk || r.modes[classes] == bulk)
}

// sourceTable is the table that contains the member's membership in the group.
func (r *resolver) sourceTable(group, member string) table {
	switch {
	case strings.HasPrefix(group, classKeys):
		return enrollments
	case strings.HasPrefix(member, form.Group+":"+classKeys):
		return classes
	case strings.HasPrefix(member, form.Group+":"):
		return orgs
	case r.version == version12:
		return roles
	}
	return users
}

// move is a row of a delta that lists all orgs of a user, the school of a class, or the parent of an org.
type move struct {
	from table
	line int
	day  string
}

// moved lists such rows by the member's Type:key.
func (r *resolver) moved() map[string]move {
	all := map[string]move{}
	add := func(t table, h head, member string) {
		if r.modes[t] == delta && member != "" {
			all[member] = move{t, h.line, h.changed}
		}
	}
	for _, o := range r.orgs {
		add(orgs, o.head, r.group(orgKeys+o.id))
	}
	for _, c := range r.classes {
		add(classes, c.head, r.group(classKeys+c.id))
	}
	for _, u := range r.users {
		if r.version == version11 {
			add(users, u.head, r.member(u.id))
		}
	}
	return all
}
