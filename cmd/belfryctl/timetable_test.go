package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The timetables of a school, and what is free in it, with the real services.
func TestTimetable_DayWeekAndFree(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	lesson := admin.Import(t, "eventcategories", object{"key": "l", "name": "Lesson", "busy": true})["l"]
	staff := admin.Import(t, "staff", object{"key": "1", "initials": "AB", "forename": "Anna", "surname": "Bell"},
		object{"key": "2", "initials": "CB", "forename": "Cleo", "surname": "Bell"})
	hall := admin.Import(t, "locations", object{"key": "1", "name": "Great Hall", "short_name": "Hall"},
		object{"key": "2", "name": "Small Hall"})
	maths := admin.Import(t, "groups", object{"key": "m", "name": "Maths"})["m"]
	o.does(t, "members", "add", fmt.Sprint(maths), "Staff:1")
	book := func(body, starts, ends string, allDay bool, elements ...int64) int64 {
		return admin.Post(t, "/api/events", object{"elements": elements, "event": object{"body": body,
			"event_category_id": lesson, "starts_at": starts, "ends_at": ends, "all_day": allDay}}).
			Must(t, 200).Int(t, "event.id")
	}
	algebra := book("Algebra", "2026-11-24 09:00", "2026-11-24 10:00", false, staff["1"], hall["1"])
	book("Conference", "2026-11-24", "2026-11-26", true, maths)
	book("Night", "2026-11-29 20:00", "2026-11-30 06:00", false, staff["1"])

	const heads = "day             from     to                body        status        through  staff  locations\n"
	const conference = "Tue 2026-11-24  all day  2026-11-25        Conference  uncontrolled  Maths    -      -\n"
	const lessonLine = "Tue 2026-11-24  09:00    10:00             Algebra     uncontrolled  -        AB     Hall\n"
	const night = "Sun 2026-11-29  20:00    2026-11-30 06:00  Night       uncontrolled  -        AB     -\n"
	want := "AB - Anna Bell\n\n" + heads + conference + lessonLine + night
	for _, name := range []string{"anna", "AB - Anna Bell", "Staff:1", fmt.Sprint(staff["1"])} {
		valuetest.Same(t, o.does(t, "week", name, "2026-11-26"), want, name)
	}
	out := o.does(t, "day", "anna", "2026-11-25")
	valuetest.Holds(t, strings.Count(out, "\n") == 4 && strings.Contains(out, "Conference"), "a day:\n%s", out)
	o.does(t, "day", "anna")
	o.does(t, "week", "anna")
	var read struct {
		Element     struct{ ID int64 }
		Commitments []struct{ Event struct{ Body string } }
	}
	if o.reads(t, &read, "week", "anna", "2026-11-23"); read.Element.ID != staff["1"] || len(read.Commitments) != 3 {
		t.Errorf("%+v", read)
	}
	valuetest.Has(t, o.does(t, "day", "anna", "2026-01-01", "-o=json"), `"commitments": []`)
	o.fails(t, exitFailure, `several elements match "hall": give one of the ids`, "day", "hall")
	o.fails(t, exitFailure, `no element has "nowhere" in its name`, "day", "nowhere")
	o.fails(t, exitFailure, "Couldn't find Element", "day", "999999")
	o.fails(t, exitUsage, `"tomorrow" is not a day`, "day", "anna", "tomorrow")

	at := []string{"--from", "2026-11-24 09:30", "--to", "2026-11-24 09:40"}
	free := func(args ...string) string {
		out := o.does(t, append([]string{"free"}, args...)...)
		return strings.Join(strings.Fields(strings.ReplaceAll(out, "  ", " ")), " ")
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append([]string{"Location"}, at...), fmt.Sprintf("id name %d Small Hall", hall["2"])},
		{append([]string{"Staff"}, at...), fmt.Sprintf("id name %d CB - Cleo Bell", staff["2"])},
		{append([]string{"Staff", "--group", "Maths"}, at...), "id name"},
		{[]string{"Location", "--event", fmt.Sprint(algebra), "--near", "Small Hall"},
			fmt.Sprintf("id name %d Great Hall %d Small Hall", hall["1"], hall["2"])},
	} {
		valuetest.Same(t, free(c.args...), c.want, "free %q", c.args)
	}
	o.fails(t, exitFailure, "type is not Location, Staff or Property", append([]string{"free", "Pupil"}, at...)...)
	o.fails(t, exitFailure, "either event, or starts_at and ends_at, must be given", "free", "Staff")
	const slots = "day from to Thu 2026-11-26 08:00 11:00 Fri 2026-11-27 08:00 11:00"
	valuetest.Same(t,
		free("--of", "anna", "--of", "Great Hall", "--from", "2026-11-24", "--to", "2026-11-27", "--hours",
			"08:00-11:00", "--minutes", "60"), slots, "slots")
	o.fails(t, exitUsage, "give either TYPE or --of", append([]string{"free", "Staff", "--of", "anna"}, at...)...)

	teacher := o.newUser(t, "T", "t@school.example", "--grant", "can_api")
	valuetest.Same(t, teacher.does(t, "week", "anna", "2026-11-26"), want, "for a teacher")

	var listed struct{ Elements []struct{ ID int64 } }
	o.reads(t, &listed, append([]string{"free", "Location"}, at...)...)
	valuetest.Holds(t, len(listed.Elements) == 1 && listed.Elements[0].ID == hall["2"], "free, as JSON: %+v", listed)
	code, out, _ := belfryctl(t, o.env, "__complete", "day", "bell")
	if code != exitOK || !strings.HasPrefix(out, "AB - Anna Bell\nCB - Cleo Bell\n:") {
		t.Errorf("completion: %d %s", code, out)
	}
}

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
		strings.Contains(out, "club") || !strings.Contains(errs, "only the first 1 are listed;") {
		t.Errorf("one of two: %d\n%s\n%s", code, out, errs)
	}
	valuetest.Has(t, o.does(t, "find", "theatre", "-o", "csv"), ",2026-11-24 09:00,10:00,Théâtre,")
	o.fails(t, exitFailure, "text has fewer than 3 characters", "find", "ab")
	o.fails(t, exitFailure, "a filter or a text is needed", "find")
	o.fails(t, exitFailure, "is not a date", "find", "--from", "soon")
	o.fails(t, exitUsage, "--most is below 1", "find", "theatre", "--most", "0")
}
