package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/cmd/belfryctl/bundle"
)

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
	for i, house := range houses {
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
	for _, service := range []string{"Catering", "First Aid", "IT Support", "Sound and Lighting"} {
		key := strings.ToLower(strings.ReplaceAll(service, " ", "-"))
		s.out.write(bundle.Services, key, service, "true")
		s.own("Service:"+key, "", "")
	}
	s.out.write(bundle.Properties, "calendar", "Public Calendar", "true", "true")
	s.out.write(bundle.Properties, "staff-calendar", "Staff Calendar", "false", "true")
	s.own(publicCalendar, "", "")
	s.own(staffCalendar, "", "")
	for _, sub := range subjects {
		s.out.write(bundle.Subjects, sub.code, sub.name, "true")
		s.own("Subject:"+sub.code, "", "")
	}
}

func houseKey(house int) string { return "house-" + strings.ToLower(houses[house]) }

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
	return slices.ContainsFunc(subjects, func(sub subject) bool { return sub.department == department })
}

// category is a row of eventcategories.csv.
type category struct {
	key, name string
	order     int
	flags     string // the names of those that are true
}

var categories = []category{
	{"lesson", "Lesson", 10, "visible can_borrow clash_check busy timetable"},
	{"assembly", "Assembly", 20, "visible can_merge busy"},
	{"exam", "Examination", 30, "visible busy privileged"},
	{"fixture", "Fixture", 40, "publish visible busy"},
	{"trip", "Trip", 50, "publish visible busy"},
	{"practice", "Practice", 60, "visible busy"},
	{"rehearsal", "Rehearsal", 65, "visible busy"},
	{"club", "Club", 70, "visible busy"},
	{"music", "Music Lesson", 75, "visible busy"},
	{"interview", "Careers Interview", 80, "visible busy confidential"},
	{"meeting", "Meeting", 90, "visible busy"},
	{"duty", "Duty", 100, "visible compactable unimportant busy"},
	{"evening", "Evening Event", 110, "publish visible busy"},
	{"deadline", "Deadline", 120, "publish visible unimportant can_merge"},
	{"calendar", "Calendar Entry", 130, "schoolwide publish visible can_merge"},
	{"holiday", "School Holiday", 140, "schoolwide publish visible privileged"},
	{"inset", "Training Day", 150, "schoolwide visible privileged"},
	{"works", "Building Works", 160, "busy privileged"},
	{"run", "Minibus Run", 170, "busy"},
}

// writeCategories writes the categories, which all schools have together.
func writeCategories(out *files) {
	for _, c := range categories {
		cells := []string{c.key, c.name, strconv.Itoa(c.order)}
		for _, flag := range out.columns(bundle.EventCategories)[len(cells):] {
			cells = append(cells, strconv.FormatBool(slices.Contains(strings.Fields(c.flags), flag)))
		}
		out.write(bundle.EventCategories, cells...)
	}
}
