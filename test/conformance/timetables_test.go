package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// timetables asks by a query, checks that each list is the one of the element itself, and returns the elements.
func (s *School) timetables(t *testing.T, c *servicetest.Client, query, days string) []int64 {
	t.Helper()
	ids := []int64{}
	for _, one := range decode[struct {
		Timetables []struct {
			Element     struct{ ID int64 }
			Commitments json.RawMessage
		}
	}](t, c.Get(t, "/api/timetables?"+query+"&"+days).Must(t, http.StatusOK)).Timetables {
		on(t, c, Element{ID: one.Element.ID}, days).Want(t, http.StatusOK,
			`{"status":"OK","commitments":`+string(one.Commitments)+`}`)
		ids = append(ids, one.Element.ID)
	}
	return ids
}

func TestClients_TimetablesAreTheListsOfTheElements(t *testing.T) {
	proves(t, "clients timetables: GET /api/timetables: each list, byte for byte, as of the element alone",
		"clients timetables order: elements in the order of their ids, each once; those of a group or a type by "+
			"name, then id",
		"clients timetables group: of a group: its current people and things that are in it on any of the days")
	c, staff, room, pupil, other := school.Booker(t), school.Staff(t), school.Location(t), school.Pupil(t),
		school.Pupil(t)
	set, form, year, late, gone := school.Group(t), school.Group(t), school.Group(t), school.Pupil(t), school.Pupil(t)
	school.Member(t, set, pupil, "2019-04-10", "2019-04-10")
	school.Member(t, set, other, "2019-04-11", "")
	school.Member(t, set, form, "2019-04-10", "2019-04-10")
	school.Member(t, form, late, "2019-04-11", "") // not on the day on which the form is in the set
	school.Member(t, set, gone, "", "")
	school.Member(t, year, set, "2019-04-10", "2019-04-10")
	school.Admin().Delete(t, elementAdmin(gone)).Must(t, http.StatusOK)
	school.book(t, c, "lesson", "2019-04-10 09:00", "2019-04-10 10:00", set, staff, room)
	school.book(t, c, "direct and through groups", "2019-04-10 11:00", "2019-04-10 12:00", pupil, set, year)
	school.book(t, c, "a point", "2019-04-10 00:00", "2019-04-10 00:00", year)
	school.book(t, c, "night", "2019-04-09 20:00", "2019-04-10 00:00", year)
	school.book(t, c, "trip", "2019-04-09 09:00", "2019-04-12 10:00", set)
	for _, days := range []string{"start_date=2019-04-10", "start_date=2019-04-09&end_date=2019-04-11",
		"start_date=2019-04-10&include=staff,locations", "start_date=2019-04-10&include=decisions,%20category,x",
		"start_date=2019-05-01"} {
		elements := fmt.Sprintf("elements=%d,%d,%d,%d,%d,%d", room.ID, staff.ID, set.ID, room.ID, pupil.ID, year.ID)
		equal(t, "of "+elements+" "+days, school.timetables(t, c, elements, days),
			[]int64{room.ID, staff.ID, set.ID, pupil.ID, year.ID})
	}
	group := fmt.Sprintf("group=%d", set.ID)
	equal(t, "before the first membership", school.timetables(t, c, group, "start_date=2019-04-09"), []int64{})
	equal(t, "on one day", school.timetables(t, c, group, "start_date=2019-04-10"), []int64{pupil.ID})
	both := []Element{pupil, other}
	slices.SortFunc(both, func(a, b Element) int { return strings.Compare(a.Name, b.Name) })
	equal(t, "on two", school.timetables(t, c, group, "start_date=2019-04-10&end_date=2019-04-11"),
		[]int64{both[0].ID, both[1].ID})
}

func TestClients_TimetablesThatAreRefused(t *testing.T) {
	proves(t,
		"clients timetables refused: none or two of elements, group and type, more than 200 ids, 93 days: 400; "+
			"unknown ids: 404")
	c, staff, set := school.Booker(t), school.Staff(t), school.Group(t)
	many := strings.TrimSuffix(strings.Repeat("9,", 200), ",")
	for i := range 200 {
		many += fmt.Sprint(",", 10+i)
	}
	for _, query := range []string{
		"", "elements=", "elements=x", "elements=" + many, "type=Room", "group=x", fmt.Sprintf("group=%d", staff.ID),
		fmt.Sprintf("elements=%d&group=%d", staff.ID, set.ID), fmt.Sprintf("group=%d&type=Staff", set.ID),
		fmt.Sprintf("elements=%d&start_date=2019-01-01&end_date=2019-04-03", staff.ID),
		fmt.Sprintf("elements=%d&start_date=2019-04-10&end_date=2019-04-09", staff.ID),
	} {
		c.Get(t, "/api/timetables?"+query).WantCode(t, http.StatusBadRequest)
	}
	for _, query := range []string{fmt.Sprintf("elements=%d,999999999999", staff.ID), "group=999999999999"} {
		c.Get(t, "/api/timetables?"+query).Want(t, http.StatusNotFound, `{"status":"Not found",`+
			`"exception":"RecordNotFound","message":"Couldn't find Element with 'id'=999999999999"}`)
	}
}
