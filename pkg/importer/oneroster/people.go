package oneroster

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
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
