package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// ofNorth is a bundle of the school North: all of it is the school's, or a category that there is.
var ofNorth = map[string]string{
	"staff.csv":       "key,initials,forename,surname\nn1,ABC,Ann,Cole\nn2,DEF,Dan,Ford\n",
	"pupils.csv":      "key,forename,surname\nn1,Kai,North\n",
	"locations.csv":   "key,name\nn1,North Hall\n",
	"properties.csv":  "key,name\nn1,North calendar\n",
	"groups.csv":      "key,name\nn9A,9A\n",
	"memberships.csv": "group,member,first_day,last_day\nn9A,Pupil:n1,,\nn9A,Staff:n1,2026-09-01,2027-07-20\n",
	"users.csv": "key,name,email,element,can_api\nn1,Ann,a@north.example,Staff:n1,yes\n" +
		"n2,Kai,k@north.example,Pupil:n1,yes\n",
	"administrators.csv":  "element,user\nLocation:n1,n1\n",
	"eventcategories.csv": "key,name,visible\nlesson,Lesson,true\n",
	"events.csv": "key,body,category,starts_at,ends_at,all_day,organiser,owner,elements\n" +
		"n1,Maths,lesson,2026-09-07 09:00,2026-09-07 10:00,,n1,n1,Staff:n1;Group:n9A;Location:n1\n",
	"commitments.csv": "event,element,status,reason,decided_by,decided_at\n" +
		"n1,Location:n1,confirmed,,n1,2026-09-01T09:00:00Z\n",
}

// with returns the files with another text in some.
func with(files map[string]string, changes ...string) map[string]string {
	files = maps.Clone(files)
	for i := 0; i < len(changes); i += 2 {
		files[changes[i]] = changes[i+1]
	}
	return files
}

// TestImport_OfASchool: an administrator of a school imports a bundle of what is the school's. One row of another's is
// refused before anything is written.
func TestImport_OfASchool(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	o.does(t, "import", clienttest.Folder(t, map[string]string{
		"groups.csv": "key,name,school\nnorth,North,true\nsouth,South,true\n",
		"staff.csv":  "key,initials,forename,surname\nnh,NH,Nora,North\nsh,SH,Sam,South\n",
		"pupils.csv": "key,forename,surname\ns1,Ida,South\n",
		"memberships.csv": "group,member,first_day,last_day\n" +
			"north,Staff:nh,,\nsouth,Staff:sh,,\nsouth,Pupil:s1,,\n",
		"users.csv":           "key,name,email,element,can_api\ns1,Ida,i@south.example,Pupil:s1,yes\n",
		"eventcategories.csv": "key,name,visible\nlesson,Lesson,true\n",
		"events.csv": "key,body,category,starts_at,ends_at,all_day,organiser,owner,elements\n" +
			"s1,Art,lesson,2026-09-07 09:00,2026-09-07 10:00,,,,Pupil:s1\n",
	}))
	north, south := o.element(t, "Group:north"), o.element(t, "Group:south")
	made := adds(t, admin, "user", object{
		"name": "Nora", "email": "nh@school.example", "element_id": o.element(t, "Staff:nh"),
		"admin_of": []int64{north}, "permissions": object{"can_api": true},
	})
	head := o.with("BELFRY_UUID", made.Text(t, "user.uuid"))
	counts := func() string { // of all that there is
		var all []string
		for path, part := range map[string]string{
			"elements": "elements", "users": "users", "export/memberships": "memberships", "export/events": "events",
		} {
			var reply map[string]any
			admin.Get(t, "/api/admin/"+path+"?limit=1000").Decode(t, &reply)
			all = append(all, fmt.Sprint(part, len(reply[part].([]any))))
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	before := counts()
	refused := func(want string, files map[string]string, more ...string) {
		t.Helper()
		args := append([]string{"import", clienttest.Folder(t, files)}, more...)
		code, out, errs := belfryctl(t, head.env, args...)
		if code != exitFailure || !strings.Contains(errs, want) || !strings.Contains(errs, "nothing was written") {
			t.Errorf("want %q: %d %s%s", want, code, out, errs)
		}
		valuetest.MustSame(t, counts(), before, "%q was refused, and something was written", want)
	}
	const not = "does not belong to a school that you administer"
	refused("pupils.csv:3: key: "+not, with(ofNorth, "pupils.csv",
		"key,forename,surname\nn1,Kai,North\ns1,Ida,Taken\n"))
	refused("memberships.csv:2: member: "+not, with(ofNorth,
		"pupils.csv", "key,forename,surname\nn1,Kai,North\ns1,Ida,South\n",
		"memberships.csv", "group,member,first_day,last_day\nn9A,Pupil:s1,,\n"))
	refused("groups.csv:3: school: needs the permission admin", with(ofNorth, "groups.csv",
		"key,name,school\nn9A,9A,\nn,Own school,true\n"))
	refused("groups.csv:3: school: needs the permission admin", with(ofNorth, "groups.csv",
		"key,name\nn9A,9A\nnorth,Renamed\n"))
	refused("users.csv:3: key: "+not, with(ofNorth, "users.csv",
		"key,name,email,element,can_api\nn1,Ann,a@north.example,Staff:n1,yes\ns1,Ann,s1@north.example,Staff:n1,yes\n"))
	refused("users.csv:2: element: can't be blank", with(ofNorth, "administrators.csv", "element,user\n", "events.csv",
		"key,body,category,starts_at,ends_at,all_day,organiser,owner,elements\n", "commitments.csv",
		"event,element,status\n", "users.csv", "key,name,email,element,can_api\nn1,Ann,a@north.example,,yes\n"))
	refused("users.csv:2: admin: is a right that you lack", with(ofNorth, "users.csv",
		"key,name,email,element,can_api,admin\nn1,Ann,a@north.example,Staff:n1,yes,yes\n"))
	refused("users.csv:2: edit_all_events: is a right that you lack", with(ofNorth, "users.csv",
		"key,name,email,element,can_api,edit_all_events\nn1,Ann,a@north.example,Staff:n1,yes,yes\n"))
	refused("eventcategories.csv:3: key: needs the permission admin", with(ofNorth, "eventcategories.csv",
		"key,name,visible\nlesson,Lesson,true\nnew,New,\n"))
	refused("eventcategories.csv:2: key: needs the permission admin", with(ofNorth, "eventcategories.csv",
		"key,name,visible\nlesson,Lesson,\n"))
	const groups = "key,name,school\nn9A,9A,\nnorth,North,true\nsouth,South,true\n"
	refused("eventcategories.csv:3: school: "+not, with(ofNorth, "groups.csv", groups, "eventcategories.csv",
		"key,name,visible,school\nlesson,Lesson,true,\nclub,Club,,south\n"))
	refused("events.csv:2: elements: Pupil:s1 "+not, with(ofNorth,
		"pupils.csv", "key,forename,surname\nn1,Kai,North\ns1,Ida,South\n",
		"events.csv", "key,body,category,starts_at,ends_at,elements\n"+
			"n1,Maths,lesson,2026-09-07 09:00,2026-09-07 10:00,Pupil:s1;Location:n1\n"))
	refused("events.csv:2: key: "+not, with(ofNorth, "commitments.csv", "event,element,status\n", "events.csv",
		"key,body,category,starts_at,ends_at,elements\n"+
			"s1,Maths,lesson,2026-09-07 09:00,2026-09-07 10:00,Pupil:n1\n"))
	refused("events.csv:2: elements: can't be blank", with(ofNorth, "commitments.csv", "event,element,status\n",
		"events.csv", "key,body,category,starts_at,ends_at,elements\n"+
			"n2,Maths,lesson,2026-09-07 09:00,2026-09-07 10:00,\n"))
	refused("events.csv:2: decisions: asked_by "+not, with(ofNorth,
		"users.csv", ofNorth["users.csv"]+"s1,Ida,i@south.example,,yes\n",
		"commitments.csv", "event,element,status,asked_by\nn1,Location:n1,confirmed,s1\n"))
	refused("notes", with(ofNorth, "notes.csv", "key,event,contents\n1,n1,Boots\n"))
	refused("403", ofNorth, "--school", fmt.Sprint(south))

	dir := clienttest.Folder(t, ofNorth)
	head.does(t, "import", dir, "--dry-run")
	valuetest.MustSame(t, counts(), before, "a dry run, before %s", before)
	head.does(t, "import", dir)
	valuetest.Same(t, head.results(t, "", dir), "updated 0, created 0, unchanged 13", "after the import")
	for _, key := range []string{"Staff:n1", "Staff:n2", "Pupil:n1", "Location:n1", "Property:n1", "Group:n9A"} {
		id := o.element(t, key)
		path := fmt.Sprintf("/api/admin/elements?school=%d&limit=1&from_id=%d", north, id)
		valuetest.Has(t, admin.Get(t, path).Body, fmt.Sprintf(`"id":%d,`, id), "%s is not of the school", key)
	}
	// Its own users are compared with those that it may list.
	code, _, errs := belfryctl(t, head.env, "import", "--dry-run", clienttest.Folder(t, with(ofNorth, "users.csv",
		strings.Replace(ofNorth["users.csv"], "n1,Ann,", "n1,Zed Other,", 1))))
	if code != exitFailure || !strings.HasPrefix(errs,
		"warning: users.csv:2: the key \"n1\" was Ann and is now Zed Other\n") {
		t.Errorf("another user's key: %d %s", code, errs)
	}
	// Changes come in as well, of its own alone.
	dir = clienttest.Folder(t, with(ofNorth, "staff.csv", "key,initials,forename,surname\nn1,ABC,Anna,Cole\n"+
		"n2,DEF,Dan,Ford\n", "events.csv", "key,body,category,starts_at,ends_at,all_day,organiser,owner,elements\n"+
		"n1,Maths,lesson,2026-09-08 09:00,2026-09-08 10:00,,n1,n1,Staff:n1;Group:n9A;Location:n1\n"))
	if out := head.does(t, "import", dir, "--dry-run"); !strings.Contains(out, "forename: Ann → Anna") ||
		!strings.Contains(out, "events.csv:2: changed n1 Maths\n") {
		t.Errorf("a dry run of changes:\n%s", out)
	}
	head.does(t, "import", dir)

	// Lessons are events like others, but an administrator of a school can't list those that have gone.
	code, listed, errs := belfryctl(t, head.env, "import", "--dry-run", "--prune", "--lessons-from", "2026-09-01",
		clienttest.Folder(t, with(ofNorth, "periods.csv", "name,starts,ends\n1,11:00,11:50\n",
			"weeks.csv", "first_day,last_day\n2026-09-07,2026-09-13\n",
			"lessons.csv", "key,body,category,weekday,period,elements\nm,Maths,lesson,Mon,1,Group:n9A\n")))
	if code != exitOK || !strings.Contains(listed, "lessons.csv:2: created timetable:m:2026-09-07 Maths\n") ||
		!strings.Contains(errs, "warning: events of removed lessons stay: only a user with the admin "+
			"permission may list them\n") {
		t.Errorf("lessons: %d %s%s", code, listed, errs)
	}

	// A category of its school's comes in too, with the name of another's.
	o.does(t, "categories", "add", "--name", "Club", "--school", "Group:south")
	own := clienttest.Folder(t, map[string]string{"groups.csv": "key,name,school\nnorth,North,true\n",
		"eventcategories.csv": "key,name,visible,school\nlesson,Lesson,true,\nclub,Club,,north\n"})
	valuetest.Has(t, head.does(t, "import", own, "--dry-run"), "eventcategories.csv:3: created club Club\n")
	head.does(t, "import", own)
	valuetest.Has(t, o.does(t, "categories", "list"), fmt.Sprint("  ", north, "\n"))

	// A person who has left belongs to the other school from then on; a retired one stays with its school.
	join := fmt.Sprintf("/api/admin/elements/%d/members", south)
	kai := o.element(t, "Pupil:n1")
	admin.Post(t, join, object{"members": []object{{"element_id": kai}}}).Must(t, 201)
	admin.Delete(t, fmt.Sprintf("/api/admin/elements/%d/members/%d", north, kai)).Must(t, 200)
	admin.Delete(t, fmt.Sprintf("/api/admin/elements/%d/members/%d", o.element(t, "Group:n9A"), kai)).Must(t, 200)
	before = counts()
	refused("pupils.csv:2: key: "+not, ofNorth)
	// A former administrator of the school imports nothing more.
	admin.Patch(t, fmt.Sprintf("/api/admin/users/%d", made.Int(t, "user.id")),
		object{"user": object{"admin_of": []int64{south}}}).Must(t, 200)
	refused("staff.csv:2: key: "+not, ofNorth)
	admin.Patch(t, fmt.Sprintf("/api/admin/users/%d", made.Int(t, "user.id")),
		object{"user": object{"admin_of": []int64{}}}).Must(t, 200)
	head.fails(t, exitFailure, "403", "import", dir)
}

// TestHardToBreak_Row20_WhatIsBookedInBelfryClashesWithABundle: rows are compared with the events that are not rows. An
// element of a row that was rejected there takes up nothing.
func TestHardToBreak_Row20_WhatIsBookedInBelfryClashesWithABundle(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	school := func(events string) string {
		return clienttest.Folder(t, map[string]string{
			"locations.csv":       "key,name\nG7,Room G7\nHall,Hall\n",
			"eventcategories.csv": "key,name,busy\nlesson,Lesson,true\n",
			"events.csv":          "key,body,category,starts_at,ends_at,elements\n" + events,
		})
	}
	const maths = "a,Maths,lesson,2026-09-07 09:00,2026-09-07 10:00,Location:G7;Location:Hall\n"
	o.does(t, "import", school(maths))
	room, hall := o.element(t, "Location:G7"), o.element(t, "Location:Hall")
	category := admin.Get(t, "/api/eventcategories").Int(t, "eventcategories.0.id")
	byHand := admin.Post(t, "/api/events", object{"elements": []int64{room}, "event": object{
		"body": "By hand", "eventcategory_id": category, "starts_at": "2026-09-07 11:00", "ends_at": "2026-09-07 12:00",
	}}).Must(t, 200).Int(t, "event.id")

	const art = "b,Art,lesson,2026-09-07 11:30,2026-09-07 12:30,Location:G7\n"
	want := fmt.Sprintf("warning: events.csv:3: Location:G7 is booked twice at 2026-09-07T11:30:00+01:00: event %d in "+
		"Belfry has it too\nbelfryctl: nothing was written because the events book elements twice\n", byHand)
	o.fails(t, exitFailure, want, "import", school(maths+art), "--clashes", "refuse")

	// The hall's administrator rejects the lesson, so the hall is free.
	keeper := adds(t, admin, "user",
		object{"name": "Keeper", "email": "k@school.example", "permissions": object{"can_api": true}})
	admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", hall, keeper.Int(t, "user.id")), nil).
		Must(t, 200)
	fair := "c,Fair,lesson,2026-09-07 14:00,2026-09-07 15:00,Location:Hall\n"
	o.does(t, "import", school(maths+fair))
	event := admin.Get(t, "/api/admin/export/events").At(t, `events.#(key="c").id`)
	commitment := admin.Get(t, "/api/events/"+event).Int(t, "event.commitments.0.id")
	o.system.Login(t, keeper.Text(t, "user.uuid")).Patch(t, fmt.Sprintf("/api/commitments/%d", commitment),
		object{"commitment": object{"status": "rejected"}}).Must(t, 200)
	play := "d,Play,lesson,2026-09-07 14:30,2026-09-07 15:30,Location:Hall\n"
	o.does(t, "import", school(maths+fair+play), "--clashes", "refuse", "--dry-run")
}

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

// By a user who administers several schools, --prune retired what another school had imported, and deleted its lessons,
// unless they were so many that it looked wrong.
func TestImport_PruneOfASchoolLeavesOtherSchoolsAlone(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.does(t, "import", clienttest.Folder(t, map[string]string{
		"groups.csv": "key,name,school\nnorth,North,true\nsouth,South,true\n"}))
	imports := func(school string, rooms []string, more ...string) {
		t.Helper()
		files := map[string]string{
			"locations.csv":       "key,name\n",
			"eventcategories.csv": "key,name\nlesson,Lesson\n",
			"periods.csv":         "name,starts,ends\n1,11:00,11:50\n",
			"weeks.csv":           "first_day,last_day\n2026-09-07,2026-09-13\n",
			"lessons.csv":         "key,body,category,weekday,period,elements\n",
		}
		for _, room := range rooms {
			files["locations.csv"] += room + ",Room " + room + "\n"
			files["lessons.csv"] += room + ",Maths,lesson,Mon,1,Location:" + room + "\n"
		}
		o.does(t, append([]string{"import", clienttest.Folder(t, files), "--school", "Group:" + school,
			"--lessons-from", "2026-09-01"}, more...)...)
	}
	imports("south", []string{"s1"})
	imports("north", []string{"n1", "n2"})
	imports("north", []string{"n1"}, "--prune")
	admin := o.system.Admin(t)
	for room, current := range map[string]string{"n1": "true", "n2": "false", "s1": "true"} {
		path := fmt.Sprintf("/api/admin/elements/%d", o.element(t, "Location:"+room))
		valuetest.Same(t, admin.Get(t, path).At(t, "element.current"), current, "that %s is current", room)
		event := exportedEvent{"timetable:" + room + ":2026-09-07", "2026-09-07T11:50:00.000+01:00"}
		valuetest.Same(t, fmt.Sprint(slices.Contains(exported(t, admin), event)), current, "the lesson in %s", room)
	}
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
	o.fails(t, exitFailure, "11 of 21 events of lessons would be deleted\nbelfryctl: nothing was written because this "+
		"looks wrong; check it with --dry-run, and if it is right import with --really lessons\n", "import", folder,
		"--lessons-from", "2026-09-14", "--prune")
	valuetest.Same(t, len(exported(t, admin)), 23, "events are left")
	code, out, errs := belfryctl(t, o.env, "import", folder, "--lessons-from", "2026-09-14", "--prune", "--really",
		"lessons")
	if n := len(exported(t, admin)); code != exitOK || n != 12 {
		t.Errorf("%d events are left: %d %s %s", n, code, out, errs)
	}
	gone := func(e exportedEvent) bool { return e.Key == "timetable:a:2026-09-15" }
	valuetest.Holds(t, !slices.ContainsFunc(exported(t, admin), gone), "an event of a lesson that has gone is there")
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
		"--dates and --lessons-from are only for bundles": {
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
