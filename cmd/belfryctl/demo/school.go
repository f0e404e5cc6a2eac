package demo

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

// school is the school while it is generated. Staff and rooms are added as the timetable needs them, and written at
// the end.
type school struct {
	options Options
	out     rows
	name    string // of its own group; empty: the only school needs none
	domain  string // of its addresses
	dice    dice   // of people

	staff     []*member
	pools     map[string][]int // department to staff
	pupils    []*pupil
	cohorts   map[int][]int // year of entry to pupils
	rooms     []*room
	suites    map[string][]int // suite to rooms
	initials  map[string]bool
	addresses map[string]bool

	leaders, office, transport, musicians, support []int // staff
	teachesNow                                     []int // those with lessons in the year written last

	summary Summary
}

type member struct {
	key, initials, forename, surname, title, email, department string
}

func (m *member) ref() string { return "Staff:" + m.key }

type pupil struct {
	key, forename, knownAs, surname, email string
	entry, house, tutor                    int // year of entry; places in houses and of the tutor group's letter
}

func (p *pupil) ref() string { return "Pupil:" + p.key }

type room struct {
	key, name, short string
}

func (r *room) ref() string { return "Location:" + r.key }

const (
	firstForm, lastForm = 7, 13
	forms               = lastForm - firstForm + 1
	tutorGroupSize      = 24
)

func newSchool(o Options, out rows) *school {
	return &school{options: o, out: out, domain: "school.example", dice: newDice(o.Seed, "people"),
		pools: map[string][]int{}, cohorts: map[int][]int{}, suites: map[string][]int{}, initials: map[string]bool{},
		addresses: map[string]bool{}}
}

// scale converts a number for 1,000 pupils to this school; at least 1.
func (s *school) scale(n int) int {
	return max(1, int(math.Round(float64(n)*float64(s.options.Pupils)/1000)))
}

func (s *school) firstYear() int { return s.options.LastYear - s.options.Years + 1 }

// build makes the school, year by year.
func (s *school) build() Summary {
	s.hireLeaders()
	s.enrol()
	s.places()
	s.standingGroups()
	for start := s.firstYear(); start <= s.options.LastYear; start++ {
		newYear(s, start).build()
	}
	s.complete()
	s.writePeople()
	s.writePlaces()
	s.departmentGroups()
	s.writeUsers()
	return s.summary
}

// count counts what is one row each.
func (sum *Summary) count(out *files) {
	sum.Staff, sum.Pupils = out.count(bundle.Staff), out.count(bundle.Pupils)
	sum.Locations, sum.Groups = out.count(bundle.Locations), out.count(bundle.Groups)
	sum.Memberships, sum.Users = out.count(bundle.Memberships), out.count(bundle.Users)
	sum.Events, sum.Notes = out.count(bundle.Events), out.count(bundle.Notes)
}

// hire adds a member of staff and returns their index.
func (s *school) hire(department string) int {
	forename, _, surname := name(s.dice)
	m := &member{key: strconv.Itoa(len(s.staff) + 1), initials: initials(forename, surname, s.initials),
		forename: forename, surname: surname, title: pick(s.dice, data.Titles),
		email: s.address(forename, surname), department: department}
	s.staff = append(s.staff, m)
	s.pools[department] = append(s.pools[department], len(s.staff)-1)
	return len(s.staff) - 1
}

func (s *school) hireMany(department string, n int) []int {
	hired := make([]int, n)
	for i := range hired {
		hired[i] = s.hire(department)
	}
	return hired
}

func (s *school) hireLeaders() {
	s.leaders = s.hireMany("Leadership", max(2, min(6, s.scale(5))))
	s.office = s.hireMany("Office", max(2, s.scale(8)))
	s.transport = s.hireMany("Transport", max(1, s.scale(3)))
	s.musicians = s.hireMany("Visiting Music", s.scale(9))
	s.support = s.hireMany("Support", max(4, s.scale(40)))
}

// complete hires the rest of the non-teaching staff: about three adults to ten pupils.
func (s *school) complete() {
	for len(s.staff) < s.scale(300) {
		s.hire("Support")
	}
	for n := 1; len(s.rooms) < s.scale(160); n++ {
		s.addRoom(fmt.Sprintf("Office %d", n), fmt.Sprintf("O%d", n))
	}
}

// enrol adds the pupils of every cohort that is in school in one of the years. Any seven consecutive cohorts add up
// to the number of pupils in the options.
func (s *school) enrol() {
	for entry := s.firstYear() - forms + 1; entry <= s.options.LastYear; entry++ {
		size := s.options.Pupils / forms
		if entry%forms < s.options.Pupils%forms {
			size++
		}
		tutors := (size + tutorGroupSize - 1) / tutorGroupSize
		for i := range size {
			p := &pupil{key: strconv.Itoa(len(s.pupils) + 1), entry: entry, house: s.dice.below(len(data.Houses)),
				tutor: i % tutors}
			p.forename, p.knownAs, p.surname = name(s.dice)
			p.email = s.address(p.forename, p.surname)
			s.cohorts[entry] = append(s.cohorts[entry], len(s.pupils))
			s.pupils = append(s.pupils, p)
		}
	}
}

// letter returns A to Z, and after them AA, AB and so on: a year of a large school has more tutor groups than letters.
func letter(n int) string {
	last := string(rune('A' + n%26))
	if n < 26 {
		return last
	}
	return letter(n/26-1) + last
}

// tutorGroup is what a tutor group is called in a form, such as 9A.
func tutorGroup(form, tutor int) string { return strconv.Itoa(form) + letter(tutor) }

func (s *school) writePeople() {
	for _, m := range s.staff {
		s.out.write(bundle.Staff, m.key, m.initials, m.forename, m.surname, m.title, m.email, "true")
	}
	for _, p := range s.pupils {
		form := min(lastForm, firstForm+s.options.LastYear-p.entry)
		current := strconv.FormatBool(s.options.LastYear-p.entry < forms)
		s.out.write(bundle.Pupils, p.key, p.forename, p.surname, p.knownAs, fmt.Sprintf("Year %d", form),
			data.Houses[p.house], tutorGroup(form, p.tutor), p.email, current)
	}
}

// addRoom adds a room and returns its index.
func (s *school) addRoom(name, short string) int {
	s.rooms = append(s.rooms, &room{key: strings.ReplaceAll(short, " ", ""), name: name, short: short})
	return len(s.rooms) - 1
}

// addTeachingRoom adds a room to a suite.
func (s *school) addTeachingRoom(suite string) int {
	n := len(s.suites[suite]) + 1
	name := data.Suites[suite]
	r := s.addRoom(fmt.Sprintf("%s %d", name[0], n), fmt.Sprintf("%s%d", name[1], n))
	s.suites[suite] = append(s.suites[suite], r)
	return r
}

// Places that are there from the start, by their place in rooms.
const (
	hall = iota
	theatre
	library
	chapel
	diningHall
	lectureTheatre
	staffRoom
	playground
	busStop
	reception
	sportsHall
	boardroom
)

func (s *school) places() {
	for _, p := range data.Places {
		s.addRoom(p[0], p[1])
	}
	for n := range s.scale(9) {
		s.suites["practice"] = append(s.suites["practice"],
			s.addRoom(fmt.Sprintf("Practice Room %d", n+1), fmt.Sprintf("P%d", n+1)))
	}
	for n := range s.scale(6) {
		s.suites["meeting"] = append(s.suites["meeting"],
			s.addRoom(fmt.Sprintf("Meeting Room %d", n+1), fmt.Sprintf("Mtg%d", n+1)))
	}
}

func (s *school) writePlaces() {
	for _, r := range s.rooms {
		s.out.write(bundle.Locations, r.key, r.name, r.short, "true")
		if s.name != "" {
			s.out.write(bundle.Memberships, roomsGroup, r.ref(), "", "")
		}
	}
}

// The key of the user who belongs to no school, and, among a school's keys, those of its own group and of that of its
// locations.
const (
	districtUser = "district"
	ownGroup     = "own"
	roomsGroup   = "rooms"
)

// prefix begins all keys of a school.
func prefix(number int) string { return fmt.Sprintf("s%d-", number) }

// adminOf is the column of the school that a user administers, which the only school does not have.
const adminOf = "admin_of"

// columns are those of a kind's file. The categories have none of schools: all have them together.
func (o Options) columns(kind bundle.Kind) []string {
	return slices.DeleteFunc(kind.Columns(), func(column string) bool {
		return column == "duplicate_email" || column == "stands_for" || column == "open_to" ||
			column == adminOf && o.Schools < 2 ||
			kind == bundle.EventCategories && column == "school" ||
			kind == bundle.Users && slices.Contains(unused, column)
	})
}

// writeDistrict writes the schools one after another, so no more than one is in memory, and a user who administers
// all of them.
func writeDistrict(o Options, out *files) Summary {
	admin := user{districtUser, "District Administrator", "administrator@district.example", "staff", "", adminMay, ""}
	out.write(bundle.Users, admin.cells(out.columns(bundle.Users), o.uuid(admin.key))...)
	sum := Summary{Logins: []Login{admin.login(o.uuid(admin.key))}}
	for n := range o.Schools {
		one := o.school(n, out).build()
		sum.Lessons += one.Lessons
		sum.Commitments += one.Commitments
		sum.Requests += one.Requests
		sum.Logins = append(sum.Logins, one.Logins...)
	}
	return sum
}

// school returns one of several schools, not yet built. Each has a seed of its own: the first has the people and the
// lessons of the only school with the same options.
func (o Options) school(n int, out *files) *school {
	if n > 0 {
		o.Seed = newDice(o.Seed, fmt.Sprintf("school %d", n+1)).source.Uint64()
	}
	s := newSchool(o, rows{out, prefix(n + 1)})
	s.name = numbered(data.Schools, n, " School")
	s.domain = fmt.Sprintf("school%d.example", n+1)
	s.out.write(bundle.Groups, ownGroup, s.name, "School", "false", "true", "true")
	s.out.write(bundle.Groups, roomsGroup, "All Rooms", "Locations", "false", "", "true")
	s.own("Group:"+roomsGroup, "", "")
	return s
}

// own makes something a member of the school's own group, where it has one, on those days; empty: always.
func (s *school) own(reference, first, last string) {
	if s.name != "" {
		s.out.write(bundle.Memberships, ownGroup, reference, first, last)
	}
}

// References to what is there every year.
const (
	wholeSchool    = "Group:school"
	allStaff       = "Group:staff"
	teachers       = "Group:teachers"
	minibuses      = "Group:minibuses"
	publicCalendar = "Property:calendar"
	staffCalendar  = "Property:staff-calendar"
)

// standingGroups writes the groups that are the same every year.
func (s *school) standingGroups() {
	s.out.write(bundle.Groups, "school", "Whole School", "All year groups", "false", "", "true")
	s.own(wholeSchool, "", "")
	for i, house := range data.Houses {
		s.out.write(bundle.Groups, houseKey(i), house+" House", "House", "false", "", "true")
		s.own("Group:"+houseKey(i), "", "")
	}
	s.out.write(bundle.Groups, "minibuses", "Minibuses", "Resource group", "true", "", "true")
	s.own(minibuses, "", "")
	for n := range 6 {
		key := fmt.Sprintf("minibus%d", n+1)
		s.out.write(bundle.Services, key, fmt.Sprintf("Minibus %d", n+1), "true")
		s.out.write(bundle.Memberships, "minibuses", "Service:"+key, "", "")
	}
	for _, service := range data.Services {
		key := strings.ToLower(strings.ReplaceAll(service, " ", "-"))
		s.out.write(bundle.Services, key, service, "true")
		s.own("Service:"+key, "", "")
	}
	s.out.write(bundle.Properties, "calendar", "Public Calendar", "true", "true")
	s.out.write(bundle.Properties, "staff-calendar", "Staff Calendar", "false", "true")
	s.own(publicCalendar, "", "")
	s.own(staffCalendar, "", "")
	for _, sub := range data.Subjects {
		s.out.write(bundle.Subjects, sub.Code, sub.Name, "true")
		s.own("Subject:"+sub.Code, "", "")
	}
}

func houseKey(house int) string { return "house-" + strings.ToLower(data.Houses[house]) }

// departmentGroups writes the groups of staff, once all are hired.
func (s *school) departmentGroups() {
	s.out.write(bundle.Groups, "staff", "All Staff", "Staff", "false", "", "true")
	s.own(allStaff, "", "")
	s.out.write(bundle.Groups, "teachers", "Teaching Staff", "Staff", "false", "", "true")
	for _, department := range s.departments() {
		key := departmentKey(department)
		s.out.write(bundle.Groups, key, department+" Staff", "Department", "false", "", "true")
		for _, m := range s.pools[department] {
			s.out.write(bundle.Memberships, key, s.staff[m].ref(), "", "")
		}
		parent := "staff"
		if s.teaching(department) {
			parent = "teachers"
		}
		s.out.write(bundle.Memberships, parent, "Group:"+key, "", "")
	}
	s.out.write(bundle.Memberships, "staff", teachers, "", "")
}

func departmentKey(department string) string {
	return "dept-" + strings.ToLower(strings.ReplaceAll(department, " ", "-"))
}

// departments lists those that have staff, in the order in which they were added.
func (s *school) departments() []string {
	var all []string
	for _, m := range s.staff {
		if !slices.Contains(all, m.department) {
			all = append(all, m.department)
		}
	}
	return all
}

func (s *school) teaching(department string) bool {
	return slices.ContainsFunc(data.Subjects, func(sub subject) bool { return sub.Department == department })
}

// writeCategories writes the categories, which all schools have together.
func writeCategories(out *files) {
	for _, c := range data.Categories {
		cells := []string{c.Key, c.Name, strconv.Itoa(c.Order)}
		for _, flag := range out.columns(bundle.EventCategories)[len(cells):] {
			cells = append(cells, strconv.FormatBool(slices.Contains(strings.Fields(c.Flags), flag)))
		}
		out.write(bundle.EventCategories, cells...)
	}
}
