package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// retires makes pupils no longer current, and returns their ids.
func (o office) retires(t *testing.T, keys ...string) (ids []int64) {
	t.Helper()
	admin := o.system.Admin(t)
	for _, key := range keys {
		id := admin.Get(t, "/api/admin/elements?key=Pupil:"+key).Must(t, 200).Int(t, "elements.0.id")
		admin.Delete(t, fmt.Sprintf("/api/admin/elements/%d", id)).Must(t, 200)
		ids = append(ids, id)
	}
	return ids
}

// leavers lists who left before September 2020.
func (o office) leavers(t *testing.T, args ...string) string {
	t.Helper()
	return o.does(t, append([]string{"people", "leavers", "--before", "2020-09-01"}, args...)...)
}

func TestPeopleLeavers_ByTheDayTheyLeft(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.does(t, "import", clienttest.Folder(t, map[string]string{
		"pupils.csv": "key,forename,surname\n1,Ann,Old\n2,Ben,New\n3,Cat,Here\n4,Dan,Nowhere\n",
		"groups.csv": "key,name\n7b,Tutor group 7B\n",
		"memberships.csv": "group,member,first_day,last_day\n7b,Pupil:1,2015-09-01,2016-07-20\n" +
			"7b,Pupil:1,2017-09-01,2018-07-20\n7b,Pupil:2,2017-09-01,2024-07-20\n7b,Pupil:3,2017-09-01,2018-07-20\n",
	}))
	o.retires(t, "1", "2", "4")
	list := func(args ...string) [][]string {
		out, _, _ := strings.Cut(o.leavers(t, args...), "1 former person has no last day: ") // Dan
		return cells(out)
	}
	if got := list(); len(got) != 2 || got[1][3] != "Old" || got[1][4] != "2018-07-20" {
		t.Errorf("%q", got)
	}
	valuetest.Len(t, list("--type", "staff"), 1, "staff")
	if got := list("--really"); len(got) != 2 || got[1][len(got[1])-1] != "erased" {
		t.Errorf("%q", got)
	}
	valuetest.Len(t, list(), 1, "once more")
	o.wantErased(t, "Ann Old")
	o.fails(t, exitUsage, "is not a day", "people", "leavers", "--before", "soon")
	o.fails(t, exitUsage, "neither staff nor pupil", "people", "leavers", "--before", "2020-09-01", "--type", "room")
}

// TestPeopleLeavers_OfOneSchool: two schools may keep their people's data for different times; the school that a person
// left last counts.
func TestPeopleLeavers_OfOneSchool(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.does(t, "import", clienttest.Folder(t, map[string]string{
		"pupils.csv": "key,forename,surname\n1,Ann,North\n2,Ben,South\n3,Cat,Moved\n4,Dan,Nowhere\n5,Eve,Open\n" +
			"6,Fay,None\n",
		"groups.csv": "key,name,school\nnorth,North,1\nsouth,South,1\nn7,Seven,\ns7,Sieben,\nn8,Eight,\n",
		"memberships.csv": "group,member,first_day,last_day\nnorth,Group:n7,,\nsouth,Group:s7,2010-09-01,\n" +
			"north,Group:n8,2010-09-01,2017-07-20\n" +
			"n7,Pupil:1,2015-09-01,2018-07-20\ns7,Pupil:2,2015-09-01,2018-07-20\nn7,Pupil:3,2012-09-01,2016-07-20\n" +
			"s7,Pupil:3,2016-09-01,2018-07-20\nn8,Pupil:4,2015-09-01,2018-07-20\nn7,Pupil:5,2015-09-01,\n",
	}))
	ids := o.retires(t, "1", "2", "3", "4", "5", "6")
	for school, want := range map[string][]int64{
		"Group:north": {ids[0]}, "Group:south": {ids[1], ids[2]}, "": {ids[0], ids[1], ids[2], ids[3]},
	} {
		var read struct {
			Leavers []struct{ ID int64 }
			Unknown []int64 `json:"no_last_day"`
		}
		o.reads(t, &read, "people", "leavers", "--before", "2020-09-01", "--school", school)
		var got []int64
		for _, l := range read.Leavers {
			got = append(got, l.ID)
		}
		valuetest.List(t, got, want, "%q", school)
		unknown := map[string][]int64{"Group:north": {ids[4]}, "Group:south": {}, "": {ids[4], ids[5]}}[school]
		valuetest.List(t, read.Unknown, unknown, "%q: without a last day", school)
	}
	valuetest.Has(t, o.leavers(t), fmt.Sprintf("2 former people have no last day: %d, %d\n", ids[4], ids[5]))
	valuetest.Has(t, o.leavers(t, "--school", "Group:north", "--really"),
		fmt.Sprintf("1 former person has no last day: %d\n", ids[4]))
	o.wantErased(t, "Ann North")
	valuetest.Holds(t, len(stored(t, o.system, "South")) > 0, "a pupil of another school is erased")
	o.fails(t, exitFailure, "Group:n7 is not a school", "people", "leavers", "--before", "2020-09-01", "--school",
		"Group:n7")
	o.does(t, "people", "erase", fmt.Sprint(ids[4]), "--really") // she is in the group still
	valuetest.Lacks(t, o.leavers(t, "--school", "Group:north"), "no last day", "an erased person is listed")
}

// TestPeopleLeavers_ManyWithoutALastDay: the list below the table is bounded.
func TestPeopleLeavers_ManyWithoutALastDay(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	j := job{as: asTable, s: surroundings{out: &out, env: func(string) string { return "" }}}
	ids := make([]int64, 1025)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	errortest.None(t, j.printLeavers(nil, ids))
	valuetest.Has(t, out.String(), "1,025 former people have no last day: 1, 2, 3,")
	valuetest.Has(t, out.String(), ", 20 and 1,005 more; -o json has all\n")
}
