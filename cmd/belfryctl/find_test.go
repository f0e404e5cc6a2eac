package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// What is found by title, days, element and category, with the real services.
func TestFind_ListsWhatMeetsAllThatIsGiven(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	admin.Import(t, "eventcategories", object{"key": "t", "name": "Trip"}, object{"key": "l", "name": "Lesson"})
	admin.Import(t, "locations", object{"key": "1", "name": "Great Hall"})
	var ids []string
	for _, e := range [][]string{
		{"Théâtre", "Trip", "2026-11-24 09:00", "2026-11-24 10:00", "Great Hall"},
		{"Theatre club", "Lesson", "2026-11-25 15:00", "2026-11-25 16:00"},
		{"Chess", "Lesson", "2026-11-26 15:00", "2026-11-26 16:00", "Great Hall"},
	} {
		booking := append([]string{"book", e[0], "--category", e[1], "--from", e[2], "--to", e[3]}, e[4:]...)
		ids = append(ids, o.ids(t, booking...)...)
	}
	for _, c := range []struct {
		args []string
		want []int
	}{
		{[]string{"THEATRE"}, []int{0, 1}},
		{[]string{"theatre", "--category", "lesson"}, []int{1}},
		{[]string{"theatre", "--element", "great hall"}, []int{0}},
		{[]string{"--element", "great hall"}, []int{0, 2}},
		{[]string{"--from", "2026-11-25"}, []int{1, 2}},
		{[]string{"--from", "2026-11-25", "--to", "2026-11-25"}, []int{1}},
		{[]string{"theatre", "--status", "requested"}, nil},
		{[]string{"theatre", "--owner", "1"}, []int{0, 1}},
		{[]string{"--owner", "1"}, []int{0, 1, 2}},
	} {
		var found struct{ Events []struct{ ID int64 } }
		o.reads(t, &found, append([]string{"find"}, c.args...)...)
		var got, want []string
		for _, e := range found.Events {
			got = append(got, fmt.Sprint(e.ID))
		}
		for _, i := range c.want {
			want = append(want, ids[i])
		}
		valuetest.Same(t, fmt.Sprint(got), fmt.Sprint(want), "%q", c.args)
	}
	code, out, errs := belfryctl(t, o.env, "find", "theatre", "--most", "1")
	if code != exitOK || !strings.Contains(out, "Tue 2026-11-24 09:00  10:00  Théâtre\n") ||
		strings.Contains(out, "club") || !strings.Contains(errs, "there are more than 1;") {
		t.Errorf("one of two: %d\n%s\n%s", code, out, errs)
	}
	wantOut(t, o.does(t, "find", "theatre", "-o", "csv"), ",2026-11-24 09:00,10:00,Théâtre,")
	o.fails(t, exitFailure, "text has fewer than 3 characters", "find", "ab")
	o.fails(t, exitFailure, "a filter or a text is needed", "find")
	o.fails(t, exitFailure, "is not a date", "find", "--from", "soon")
	o.fails(t, exitUsage, "--most is below 1", "find", "theatre", "--most", "0")
}
