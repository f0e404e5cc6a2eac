package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

type exportedEvent struct {
	Key    string
	EndsAt string `json:"ends_at"`
}

// exported lists all events.
func exported(t *testing.T, admin *servicetest.Client) []exportedEvent {
	t.Helper()
	var page struct{ Events []exportedEvent }
	admin.Get(t, "/api/admin/export/events?limit=1000").Must(t, 200).Decode(t, &page)
	return page.Events
}

// TestImport_OfATimetable: an import writes what differs. A new bell time changes the events of that period; with
// --prune those of a day off, and of a lesson on another day, are deleted. Events before --lessons-from stay.
func TestImport_OfATimetable(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	files := map[string]string{
		"locations.csv":       "key,name\nG7,Room G7\n",
		"eventcategories.csv": "key,name,busy\nlesson,Lesson,true\n",
		"periods.csv":         "name,starts,ends\nP1,09:00,09:50\nP2,10:00,10:50\n",
		"weeks.csv":           "first_day,last_day,off\n2026-09-07,2026-11-29,\n",
		"lessons.csv": "key,body,category,weekday,period,elements\nm,Maths,lesson,Mon,P1,Location:G7\n" +
			"a,Art,lesson,Tue,P2,Location:G7\n",
	}
	imports := func(args ...string) string {
		t.Helper()
		args = append([]string{"import", clienttest.Folder(t, files), "--lessons-from", "2026-09-14"}, args...)
		out := o.does(t, args...)
		for line := range strings.Lines(out) {
			if cells := strings.Fields(line); cells[0] == "events" {
				return strings.Join(cells[1:], " ")
			}
		}
		t.Fatal(out)
		return ""
	}
	wants := func(got, want string) {
		t.Helper()
		valuetest.Same(t, got, want, "created, updated, unchanged and deleted")
	}
	wants(imports("--lessons-from", "2026-09-01"), "24 0 0")
	wants(imports(), "0 0 22")

	files["periods.csv"] = strings.Replace(files["periods.csv"], "09:50", "09:45", 1)
	wants(imports("--dry-run"), "0 11 11")
	wants(imports(), "0 11 11")
	ends := map[string]string{}
	for _, e := range exported(t, admin) {
		ends[e.Key] = e.EndsAt
	}
	if ends["timetable:m:2026-09-07"] != "2026-09-07T09:50:00.000+01:00" ||
		ends["timetable:m:2026-11-23"] != "2026-11-23T09:45:00.000+00:00" {
		t.Errorf("they end at %q", ends)
	}

	// Without --prune events stay, as removed rows do. Events that will be deleted do not clash.
	off := files["weeks.csv"] + "2026-10-26,2026-10-30,yes\n"
	files["weeks.csv"] = off
	wants(imports(), "0 0 20")
	files["lessons.csv"] = strings.Replace(files["lessons.csv"], "P2,Location:G7", "P1,Location:G7", 1)
	out := o.does(t, "import", clienttest.Folder(t, files), "--lessons-from", "2026-09-14", "--prune", "--dry-run")
	if !strings.Contains(out, "deleted timetable:a:2026-10-27 Art\n") || len(exported(t, admin)) != 24 {
		t.Error(out)
	}
	wants(imports("--prune"), "0 10 10 0 2")
	valuetest.Same(t, len(exported(t, admin)), 22, "events are left")
	files["weeks.csv"] = strings.Replace(off, "2026-10-30", "2026-10-26", 1)
	wants(imports("--prune"), "1 0 20 0")

	// A tenth of all stops the import.
	lessons := files["lessons.csv"]
	files["lessons.csv"] = strings.Split(lessons, "a,Art")[0]
	folder := clienttest.Folder(t, files)
	o.fails(t, exitFailure, "11 of 21 events of lessons would be deleted\nbelfryctl: nothing was written, as this "+
		"looks wrong; check it with --dry-run, and if it is right import with --really lessons\n", "import", folder,
		"--lessons-from", "2026-09-14", "--prune")
	valuetest.Same(t, len(exported(t, admin)), 23, "events are left")
	code, out, errs := belfryctl(t, o.env, "import", folder, "--lessons-from", "2026-09-14", "--prune", "--really",
		"lessons")
	if n := len(exported(t, admin)); code != exitOK || n != 12 {
		t.Errorf("%d events are left: %d %s %s", n, code, out, errs)
	}
	gone := func(e exportedEvent) bool { return e.Key == "timetable:a:2026-09-15" }
	if slices.ContainsFunc(exported(t, admin), gone) {
		t.Error("an event of a lesson that has gone is there")
	}
}

// TestImport_OfATimetableLeavesThePastAlone: without --lessons-from, lessons make events from today on. A day that
// can't be read, or a flag of the other format, is called wrongly.
func TestImport_OfATimetableLeavesThePastAlone(t *testing.T) {
	files := map[string]string{
		"eventcategories.csv": "key,name\nlesson,Lesson\n",
		"periods.csv":         "name,starts,ends\n1,09:00,09:50\n",
		"weeks.csv":           "first_day,last_day\n06/01/2020,24/01/2020\n",
		"lessons.csv":         "key,body,category,weekday,period\nm,Maths,lesson,Mon,1\n",
	}
	o := simulated(clienttest.NewSchool(t))
	folder := clienttest.Folder(t, files)
	for want, args := range map[string][]string{"0 0 0": nil, "3 0 0": {"--lessons-from", "2020-01-01"}} {
		out := o.does(t, append([]string{"import", folder, "--dates", "dd/mm/yyyy"}, args...)...)
		valuetest.Same(t, strings.Join(strings.Fields(strings.Split(out, "events")[1])[:3], " "), want,
			"%q: %s", args, out)
	}
	for want, args := range map[string][]string{
		"--lessons-from takes a day, YYYY-MM-DD":                       {"--lessons-from", "1/9/2026"},
		"--dates takes dd/mm/yyyy, mm/dd/yyyy, dd.mm.yyyy, dd-mm-yyyy": {"--dates", "dmy"},
		"--dates and --lessons-from are for a bundle": {
			"--format", "oneroster", "--dates", "dd/mm/yyyy",
		},
		"weeks.csv:2: first_day: is not a date as YYYY-MM-DD; --dates says ": nil,
	} {
		code := exitUsage
		if args == nil {
			code = exitFaults
		}
		o.fails(t, code, want, append([]string{"import", folder}, args...)...)
	}
}

// TestImport_OfATimetableFollowsTheCalendar: days off are the events of a category that were made by hand.
func TestImport_OfATimetableFollowsTheCalendar(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	folder := clienttest.Folder(t, map[string]string{
		"eventcategories.csv": "key,name\nlesson,Lesson\nholiday,Holiday\n",
		"periods.csv":         "name,starts,ends\n1,09:00,09:50\n",
		"weeks.csv":           "first_day,last_day,off,category\n2026-09-07,2026-09-27,,\n,,yes,holiday\n",
		"lessons.csv":         "key,body,category,weekday,period\nm,Maths,lesson,Mon,1\n",
	})
	imports := func(want string) {
		t.Helper()
		out := o.does(t, "import", folder, "--lessons-from", "2026-09-01", "--prune")
		valuetest.Same(t, strings.Join(strings.Fields(strings.Split(out, "events")[1])[:3], " "), want, out)
	}
	imports("3 0 0")
	holiday := admin.Get(t, "/api/admin/eventcategories").Int(t, `eventcategories.#(name="Holiday").id`)
	event := admin.Post(t, "/api/events", object{"event": object{"body": "Inset day", "eventcategory_id": holiday,
		"starts_at": "2026-09-14", "ends_at": "2026-09-15", "all_day": true}}).Must(t, 200).Int(t, "event.id")
	imports("0 0 2")
	valuetest.Same(t, len(exported(t, admin)), 3, "events are left")
	admin.Delete(t, fmt.Sprintf("/api/events/%d", event)).Must(t, 200)
	imports("1 0 2")
}
