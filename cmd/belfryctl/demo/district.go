package demo

import (
	"fmt"
	"slices"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

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
