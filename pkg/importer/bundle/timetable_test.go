package bundle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// timetable is the school with lessons in two weeks, which begin on 7 September 2026, a Monday.
var timetable = map[string]string{
	"periods.csv": "name,weekdays,starts,ends\nP1,Mon-Thu,9:00,09:50\nP1,Fri,8:45,09:30\nP2,,10:00,10:50\n",
	"weeks.csv":   "first_day,last_day,week,off\n2026-09-07,2026-09-20,A;B,\n2026-09-16,2026-09-16,,yes\n",
	"lessons.csv": "key,body,category,week,weekday,period,elements,organiser\n" +
		"m,Maths,lesson,,Mon,P1,Group:9A;Staff:17,17\na,Art,lesson,week b,tuesday,p1;P2,,\n" +
		"r,Reg,lesson,,Wed-Fri,P1,,\n",
	"events.csv": "key,body,category,starts_at,ends_at\n",
	"notes.csv":  "key,event,contents\n",
}

// starts lists the keys and times of a kind's events.
func starts(t *testing.T, b *bundle.Bundle) (all []string) {
	t.Helper()
	for row, err := range b.Rows(bundle.Events) {
		errortest.None(t, err)
		e, _ := row.Record.(bundle.EventRecord)
		all = append(all, fmt.Sprintf("%s:%d %s %s-%s", row.File, row.Line, e.Key, e.StartsAt,
			e.EndsAt[len(e.EndsAt)-5:]))
	}
	valuetest.Same(t, len(all), b.Count(bundle.Events), "events, and those that are counted")
	return all
}

// TestTimetable_ALessonIsAnEventOnEachOfItsDays: in its week, on its weekdays, at the times of its periods on that day,
// and on no day off. A lesson that ends with a later period ends with that one.
func TestTimetable_ALessonIsAnEventOnEachOfItsDays(t *testing.T) {
	files := with(timetable)
	for _, path := range []string{clienttest.Folder(t, files), book(t, files)} {
		b := open(t, path)
		var got []string
		for _, line := range starts(t, b) {
			_, event, _ := strings.Cut(line, " ")
			got = append(got, event)
		}
		want := []string{
			"timetable:m:2026-09-07 2026-09-07 09:00-09:50", "timetable:m:2026-09-14 2026-09-14 09:00-09:50",
			"timetable:a:2026-09-15 2026-09-15 09:00-10:50",
			"timetable:r:2026-09-09 2026-09-09 09:00-09:50", "timetable:r:2026-09-10 2026-09-10 09:00-09:50",
			"timetable:r:2026-09-11 2026-09-11 08:45-09:30", "timetable:r:2026-09-17 2026-09-17 09:00-09:50",
			"timetable:r:2026-09-18 2026-09-18 08:45-09:30",
		}
		valuetest.Equal(t, want, got)
	}
	b := open(t, clienttest.Folder(t, files))
	want := `2 timetable:m:2026-09-07 {"key":"timetable:m:2026-09-07","body":"Maths","category":"lesson",` +
		`"starts_at":"2026-09-07 09:00","ends_at":"2026-09-07 09:50","organiser":"17",` +
		`"elements":["Group:9A","Staff:17"]}`
	got, _, _ := strings.Cut(sent(t, b, bundle.Events), "\n")
	valuetest.Same(t, got, want, "sent as")
}

// TestTimetable_LessonsThatHaveBeenMakeNoEvents: what is before the given day is not sent again.
func TestTimetable_LessonsThatHaveBeenMakeNoEvents(t *testing.T) {
	b, err := bundle.Open(clienttest.Folder(t, with(timetable)),
		bundle.Options{Zone: timetest.London(t), From: timetest.Day(t, "2026-09-15")})
	errortest.None(t, err)
	want := []string{"lessons.csv:3 timetable:a:2026-09-15 2026-09-15 09:00-10:50",
		"lessons.csv:4 timetable:r:2026-09-17 2026-09-17 09:00-09:50",
		"lessons.csv:4 timetable:r:2026-09-18 2026-09-18 08:45-09:30"}
	valuetest.Equal(t, want, starts(t, b))
}

// TestTimetable_WeeksAndDaysOffMayBeEvents: the title of an event of a category names its week, and the days of those
// of another one are off. Where there are terms, their days alone have lessons.
func TestTimetable_WeeksAndDaysOffMayBeEvents(t *testing.T) {
	b := open(t, clienttest.Folder(t, with(map[string]string{
		"periods.csv":         timetable["periods.csv"],
		"notes.csv":           timetable["notes.csv"],
		"eventcategories.csv": "key,name\nlesson,Lesson\nweek,Weeks\nholiday,Holidays\n",
		"events.csv": "key,body,category,starts_at,ends_at,all_day\nw1,WEEK A,week,2026-09-07,2026-09-14,yes\n" +
			"w2,Week B,week,2026-09-14,2026-09-21,yes\nh,Inset,holiday,2026-09-15,2026-09-16,yes\n",
		"weeks.csv": "first_day,last_day,off,category\n,,,week\n2026-09-01,,yes,holiday\n2026-09-01,2026-09-17,,\n",
		"lessons.csv": "key,body,category,week,weekday,period,last_day\na,Art,lesson,A,Mon-Fri,P2,2026-09-09\n" +
			"b,Bio,lesson,B,Mon-Fri,P2,\n",
	})))
	want := []string{"a:2026-09-07", "a:2026-09-08", "a:2026-09-09", "b:2026-09-14", "b:2026-09-16", "b:2026-09-17"}
	var got []string
	for _, line := range starts(t, b)[3:] {
		got = append(got, strings.Fields(strings.SplitN(line, bundle.LessonKeys, 2)[1])[0])
	}
	valuetest.Equal(t, want, got)
}

// TestTimetable_ACalendarOfBelfryIsGivenBeforeItsLessonsAreRead: of a category that events.csv has no row of.
func TestTimetable_ACalendarOfBelfryIsGivenBeforeItsLessonsAreRead(t *testing.T) {
	files := with(timetable)
	files["eventcategories.csv"] = "key,name\nlesson,Lesson\nweek,Weeks\nholiday,Holidays\n"
	files["weeks.csv"] = "first_day,last_day,off,category\n2026-09-07,2026-09-18,,\n,,,week\n,,yes,holiday\n"
	files["events.csv"] = "key,body,category,starts_at,ends_at,all_day\nh,Inset,holiday,2026-09-10,2026-09-11,yes\n"
	b := open(t, clienttest.Folder(t, files))
	valuetest.Equal(t, []string{"week"}, b.Calendars())
	for _, err := range b.Rows(bundle.Events) {
		if err == nil || err.Error() != "reading the bundle: lessons need the events of their calendars" {
			t.Errorf("without the calendar: %v", err)
		}
	}
	week := bundle.CalendarEvent{Category: "week", Title: "Week B", Days: timetest.Days(t, "2026-09-07", "2026-09-13")}
	if err := b.Plan([]bundle.CalendarEvent{week}); err != nil {
		t.Fatal(csvtest.Faults(err))
	}
	want := []string{"events.csv:2 h 2026-09-10-09-11",
		"lessons.csv:2 timetable:m:2026-09-07 2026-09-07 09:00-09:50",
		"lessons.csv:2 timetable:m:2026-09-14 2026-09-14 09:00-09:50",
		"lessons.csv:3 timetable:a:2026-09-08 2026-09-08 09:00-10:50",
		"lessons.csv:4 timetable:r:2026-09-09 2026-09-09 09:00-09:50",
		"lessons.csv:4 timetable:r:2026-09-11 2026-09-11 08:45-09:30",
		"lessons.csv:4 timetable:r:2026-09-16 2026-09-16 09:00-09:50",
		"lessons.csv:4 timetable:r:2026-09-17 2026-09-17 09:00-09:50",
		"lessons.csv:4 timetable:r:2026-09-18 2026-09-18 08:45-09:30"}
	valuetest.Equal(t, want, starts(t, b))
	err := open(t, clienttest.Folder(t, files)).Plan(nil)
	valuetest.Equal(t, []string{`lessons.csv:3: week: no row of weeks.csv has the week "week b"`},
		csvtest.Faults(err))
}

// TestTimetable_ASchoolHasItsOwnPeriodsAndDays: beside those of no school.
func TestTimetable_ASchoolHasItsOwnPeriodsAndDays(t *testing.T) {
	b := open(t, clienttest.Folder(t, with(map[string]string{
		"groups.csv": "key,name,school,resource\nnorth,North,yes,\nsouth,South,yes,\n" +
			"9A,9A,,\nschool,School,,\nbuses,Buses,,yes\n",
		"periods.csv": "name,starts,ends,school\n1,09:00,10:00,\n1,08:00,09:00,north\n2,11:00,12:00,\n",
		"weeks.csv":   "first_day,last_day,off,school\n2026-09-07,2026-09-08,,\n2026-09-08,2026-09-08,yes,north\n",
		"lessons.csv": "key,body,category,weekday,period,school\n" +
			"n,N,lesson,Mon-Tue,1;2,north\ns,S,lesson,Mon-Tue,1,south\n",
		"events.csv": timetable["events.csv"],
		"notes.csv":  timetable["notes.csv"],
	})))
	want := []string{"lessons.csv:2 timetable:n:2026-09-07 2026-09-07 08:00-12:00",
		"lessons.csv:3 timetable:s:2026-09-07 2026-09-07 09:00-10:00",
		"lessons.csv:3 timetable:s:2026-09-08 2026-09-08 09:00-10:00"}
	valuetest.Equal(t, want, starts(t, b))
}

// TestTimetable_IsBounded: too many periods, days or events are a fault.
func TestTimetable_IsBounded(t *testing.T) {
	rows := func(head string, n int, row string) string {
		var text strings.Builder
		text.WriteString(head + "\n")
		for i := range n {
			fmt.Fprintf(&text, row+"\n", i)
		}
		return text.String()
	}
	for _, c := range []struct{ file, text, fault string }{
		{"periods.csv", rows("name,weekdays,starts,ends", 1429, "%d,Mon-Sun,09:00,10:00"),
			"1430: name: is beyond the maximum of 10000 periods and weekdays"},
		{"weeks.csv", "first_day,last_day\n1970-01-01,2099-12-31\n2000-01-01,2040-12-31\n",
			"3: last_day: the rows have more than 50000 days"},
		{"lessons.csv", rows("key,body,category,weekday,period", 15, "%d,x,lesson,Mon-Sun,1"),
			"15: key: the lessons have more than 500000 events"},
		{"lessons.csv", "key,body,category,weekday,period\na,x,lesson,Mon," + strings.Repeat("1;", 20) + "1\n",
			"2: period: has 21 periods, at most 20 are allowed"},
		{"lessons.csv", "key,body,category,weekday,period\n" + strings.Repeat("k", 235) + ",x,lesson,Mon,1\n",
			"2: key: has 235 characters, at most 234 are allowed"},
	} {
		files := with(map[string]string{"periods.csv": "name,weekdays,starts,ends\n1,Mon-Sun,09:00,10:00\n",
			"weeks.csv": "first_day,last_day\n1990-01-01,2089-12-31\n"})
		files[c.file] = c.text
		valuetest.Equal(t, []string{c.file + ":" + c.fault}, faultsOf(t, files))
	}
}

// TestDates_AreReadAsTheFileWritesThem: a date that is not written so is a fault, which names the format.
func TestDates_AreReadAsTheFileWritesThem(t *testing.T) {
	const heads = "key,body,category,starts_at,ends_at,all_day\n"
	files := with(map[string]string{
		"events.csv": heads + "e1,x,lesson,7/9/2026 09:00,07/09/2026 10:00,\n" +
			"e2,x,lesson,2026-09-07,08/09/2026,yes\n",
		"memberships.csv": "group,member,first_day,last_day\n9A,Staff:17,01/09/2026,2027-07-20\n",
	})
	delete(files, "notes.csv")
	o := bundle.Options{Zone: timetest.London(t), Dates: "dd/mm/yyyy"}
	b, err := bundle.Open(clienttest.Folder(t, files), o)
	if err != nil {
		t.Fatal(csvtest.Faults(err))
	}
	for kind, want := range map[bundle.Kind]string{
		bundle.Events:      `"starts_at":"2026-09-07","ends_at":"2026-09-08"`,
		bundle.Memberships: `"first_day":"2026-09-01","last_day":"2027-07-20"`,
	} {
		valuetest.Has(t, sent(t, b, kind), want, "%s are sent as", kind)
	}
	valuetest.Has(t, sent(t, b, bundle.Events), `"2026-09-07 09:00","ends_at":"2026-09-07 10:00"`, "sent as")
	files["events.csv"] = heads + "e1,x,lesson,9/13/2026 09:00,2026-09-13 10:00,\n" +
		"e2,x,lesson,07.09.2026,07/09/26,yes\ne3,x,lesson,31/06/2026,2026-07-02,yes\n"
	const as = "is not a date as dd/mm/yyyy, which --dates says, or YYYY-MM-DD"
	want := []string{"events.csv:2: starts_at: " + as, "events.csv:3: starts_at: " + as, "events.csv:3: ends_at: " + as,
		"events.csv:4: starts_at: " + as}
	_, err = bundle.Open(clienttest.Folder(t, files), o)
	valuetest.Equal(t, want, csvtest.Faults(err))
	files["events.csv"] = heads + "e1,x,lesson,7/9/2026 09:00,2026-09-07 10:00,\n"
	const hint = "is not a date as YYYY-MM-DD; --dates says how others are written, such as dd/mm/yyyy"
	want = []string{"memberships.csv:2: first_day: " + hint, "events.csv:2: starts_at: " + hint}
	valuetest.Equal(t, want, faultsOf(t, files))
	for format, text := range map[csvfile.DateFormat]string{"mm/dd/yyyy": "9/7/2026", "dd.mm.yyyy": "7.9.2026",
		"dd-mm-yyyy": "07-09-2026"} {
		files["memberships.csv"] = "group,member,first_day\n9A,Staff:17," + text + "\n"
		delete(files, "events.csv")
		b, err := bundle.Open(clienttest.Folder(t, files), bundle.Options{Zone: o.Zone, Dates: format})
		if err != nil {
			t.Fatal(csvtest.Faults(err))
		}
		valuetest.Has(t, sent(t, b, bundle.Memberships), `"first_day":"2026-09-07"`, "%s", format)
	}
}
