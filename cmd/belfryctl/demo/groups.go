package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
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
