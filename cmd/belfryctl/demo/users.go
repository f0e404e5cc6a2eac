package demo

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// Keys of the users with a role of their own.
const (
	adminUser     = "admin"
	officeUser    = "office"
	transportUser = "transport"
	scriptUser    = "script"
	guestUser     = "guest"
)

// user is a row of users.csv.
type user struct {
	key, name, email, kind, element string
	may                             string // the names of the permissions
	adminOf                         string // the key of the school that it administers; empty: none
}

// cells are those of its row. After the columns that are named, each but admin_of is a permission.
func (u user) cells(columns []string, uuid string) []string {
	cells := []string{u.key, u.name, u.email, u.kind, u.element, uuid, "true"}
	for _, column := range columns[len(cells):] {
		cell := u.adminOf
		if column != adminOf {
			cell = strconv.FormatBool(slices.Contains(strings.Fields(u.may), column))
		}
		cells = append(cells, cell)
	}
	return cells
}

// login is the user as the summary shows it.
func (u user) login(uuid string) Login {
	var may []string
	for _, permission := range principal.Table() {
		if slices.Contains(strings.Fields(u.may), permission.Name) {
			may = append(may, permission.May)
		}
	}
	return Login{Name: u.name, Email: u.email, Kind: u.kind, Element: u.element, UUID: uuid,
		May: strings.Join(may, ", ")}
}

// The permissions of the users.
const (
	adminMay   = "can_api admin"
	officeMay  = "can_api can_add_events can_add_notes edit_all_events privileged"
	teacherMay = "can_api can_add_events can_add_notes"
	scriptMay  = "can_api can_su"
	othersMay  = "can_api"
)

// unused are the permissions that none of the users has. The bundle leaves out their columns.
var unused = slices.DeleteFunc(principal.PermissionNames(), func(name string) bool {
	return slices.ContainsFunc([]string{adminMay, officeMay, teacherMay, scriptMay, othersMay}, func(may string) bool {
		return slices.Contains(strings.Fields(may), name)
	})
})

// chosenUsers are the users with a role of their own.
func (s *school) chosenUsers() []user {
	staff := func(key string, m int, may string) user { return s.staffUser(key, s.staff[m], may) }
	head := staff(adminUser, s.leaders[0], adminMay)
	if s.name != "" { // the only school's head administers Belfry, one of several its school
		head.may, head.adminOf = teacherMay, ownGroup
	}
	return []user{
		head,
		staff(officeUser, s.office[0], officeMay),
		staff(transportUser, s.transport[0], teacherMay),
		{scriptUser, "Timetable Script", "script@" + s.domain, "staff", "", scriptMay, ""},
		{guestUser, "Guest", "guest@" + s.domain, "guest", "", othersMay, ""},
	}
}

func (s *school) staffUser(key string, m *member, may string) user {
	return user{key, m.forename + " " + m.surname, m.email, "staff", m.ref(), may, ""}
}

// writeUsers adds a user for every teacher and for one pupil of each tutor group, and the administrators of elements.
func (s *school) writeUsers() {
	users := s.chosenUsers()
	for _, m := range s.staff {
		if s.teaching(m.department) {
			users = append(users, s.staffUser(teacherKey(m), m, teacherMay))
		}
	}
	seen := map[string]bool{}
	for _, p := range s.pupils {
		form := firstForm + s.options.LastYear - p.entry
		group := tutorGroup(form, p.tutor)
		if form > lastForm || seen[group] {
			continue
		}
		seen[group] = true
		users = append(users,
			user{"pupil-" + p.key, p.forename + " " + p.surname, p.email, "pupil", p.ref(), othersMay, ""})
	}
	for _, u := range users {
		s.out.write(bundle.Users, u.cells(s.out.columns(bundle.Users), s.options.uuid(u.key))...)
	}
	s.out.write(bundle.Administrators, publicCalendar, officeUser)
	s.out.write(bundle.Administrators, s.rooms[theatre].ref(), officeUser)
	s.out.write(bundle.Administrators, minibuses, transportUser)
	s.showLogins(users)
}

func teacherKey(m *member) string { return "teacher-" + m.key }

// uuid is the login of a user. It follows from the seed: right for a demonstration, and wrong for a real school.
func (o Options) uuid(user string) string {
	seed := fmt.Sprintf("belfry demo\x00%d\x00%s", o.Seed, user)
	return uuid.NewHash(sha256.New(), uuid.NameSpaceOID, []byte(seed), 8).String()
}

// showLogins picks one user of every kind for the summary.
func (s *school) showLogins(users []user) {
	pupil := slices.IndexFunc(users, func(u user) bool { return u.kind == "pupil" })
	show := []string{adminUser, officeUser, transportUser, teacherKey(s.staff[s.teachesNow[0]]), users[pupil].key,
		scriptUser, guestUser}
	administers := map[string]string{officeUser: ", decide on the public calendar and the theatre",
		transportUser: ", allocate minibuses"}
	for _, key := range show {
		u := users[slices.IndexFunc(users, func(u user) bool { return u.key == key })]
		login := u.login(s.options.uuid(key))
		if u.adminOf != "" {
			login.May += ", administer the school"
		}
		login.May += administers[key]
		login.Element = s.out.reference(login.Element)
		login.School = s.name
		s.summary.Logins = append(s.summary.Logins, login)
	}
}
