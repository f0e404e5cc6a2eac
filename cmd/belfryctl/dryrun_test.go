package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// firstUUID and otherUUID are passwords of one user, which nothing prints.
const (
	firstUUID = "6e0f5f44-5a53-4c8f-9d4e-2f6d2a1b7c01"
	otherUUID = "0b8c61aa-93f5-4d5b-a0c0-7f0f6a4f2d02"
)

// bundleBefore is a bundle with records of most kinds, and bundleAfter has the files of it in which something changes.
var (
	bundleBefore = map[string]string{
		"staff.csv":       "key,initials,forename,surname\n17,ABC,Ann,Cole\n18,DEF,Dan,Ford\n",
		"locations.csv":   "key,name,short_name\nG71,Great Hall,\n",
		"properties.csv":  "key,name\n1,Bus 1\n2,Bus 2\n",
		"groups.csv":      "key,name,resource,school\n9A,9A,,\nbuses,Buses,true,\nnorth,North,,true\n",
		"memberships.csv": "group,member,first_day,last_day\n9A,Staff:17,2026-09-01,2027-07-20\n9A,Staff:18,,\n",
		"users.csv": "key,name,email,element,uuid,can_add_events\n" +
			"1,Ann,a@b.example,Staff:17," + firstUUID + ",yes\n",
		"administrators.csv": "element,user\nLocation:G71,1\n",
		"eventcategories.csv": "key,name,pecking_order,busy,visible\nlesson,Lesson,10,true,true\n" +
			"club,Club,20,false,true\n",
		"events.csv": "key,body,category,starts_at,ends_at,all_day,organiser,owner,elements\n" +
			"1,Chess,club,2026-09-07 16:00,2026-09-07 17:00,,17,1,Staff:17;Location:G71;Group:buses\n" +
			"2,Trip,club,2026-09-08,2026-09-09,true,,,Group:9A\n3,Same,lesson,2026-09-07 09:00,2026-09-07 10:00,,,,\n",
		"commitments.csv": "event,element,status,reason,decided_by,decided_at\n" +
			"1,Location:G71,confirmed,,1,2026-09-01T09:00:00Z\n",
		"notes.csv": "key,event,contents,owner,visible_guest\n1,1,\"Bring\n\nboots\",1,\n2,2,Same,,\n",
	}
	bundleAfter = map[string]string{
		"locations.csv":   "key,name,short_name\nG71,Great Hall,GH\n",
		"memberships.csv": "group,member,first_day,last_day\n9A,Staff:17,2026-09-01,2026-12-18\n9A,Staff:18,,\n",
		"users.csv": "key,name,email,element,uuid,can_add_events,admin\n" +
			"1,Ann Cole,ann@b.example,Staff:18," + otherUUID + ",,yes\n",
		"eventcategories.csv": "key,name,pecking_order,busy,visible,school\nlesson,Lesson,10,true,,\n" +
			"club,Clubs,5,true,true,north\n",
		"events.csv": "key,body,category,starts_at,ends_at,all_day,organiser,owner,elements\n" +
			"1,Chess club,lesson,2026-09-07 16:30,2026-09-07T16:00:00Z,,18,," +
			"Staff:18;Location:G71;Group:buses;Group:buses\n" +
			"2,Trip,club,2026-09-08 09:00,2026-09-08 17:00,,,,Group:9A\n" +
			"3,Same,lesson,2026-09-07 09:00,2026-09-07 10:00,,,,\n4,New,lesson,2026-09-09,2026-09-10,true,,,\n",
		"commitments.csv": "event,element,status,reason,decided_by,decided_at,asked_by\n" +
			"1,Location:G71,rejected,Painted,,2026-09-02T09:00:00Z,1\n" +
			"1,Group:buses,requested,,,,1\n1,Staff:18,uncontrolled,,,,1\n",
		"notes.csv": "key,event,contents,owner,visible_guest\n1,2,\"Bring\n\nhats\",,yes\n2,2,Same,,\n",
	}
)

// A dry run names what would change of each kind of record, and nothing of it is a password.
func TestADryRunNamesTheFieldsOfEachKind(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.does(t, "import", clienttest.Folder(t, bundleBefore))
	later := maps.Clone(bundleBefore)
	maps.Copy(later, bundleAfter)
	dir := clienttest.Folder(t, later)
	code, out, errs := belfryctl(t, o.env, "import", dir, "--dry-run")
	list := listOf(out)
	want := `locations.csv:2: changed G71 Great Hall: short_name: (empty) → GH
memberships.csv:2: changed Group:9A/Staff:17: spans: 2026-09-01 to 2027-07-20 → 2026-09-01 to 2026-12-18
users.csv:2: changed 1 Ann Cole: name: Ann → Ann Cole; email: a@b.example → ann@b.example; ` +
		`element: Staff:17 → Staff:18; can_add_events: true → false; admin: false → true
eventcategories.csv:2: changed lesson Lesson: visible: true → false
eventcategories.csv:3: changed club Clubs: name: Club → Clubs; pecking_order: 20 → 5; busy: false → true; ` +
		`school: (empty) → north
events.csv:2: changed 1 Chess club: body: Chess → Chess club; category: club → lesson; ` +
		`starts_at: 2026-09-07T16:00:00+01:00 → 2026-09-07T16:30:00+01:00; organiser: 17 → 18; owner: 1 → (empty); ` +
		`elements: Staff:17 → Group:buses;Staff:18; asked_by of Location:G71: (empty) → 1; ` +
		`status of Location:G71: confirmed → rejected; reason of Location:G71: (empty) → Painted; ` +
		`decided_by of Location:G71: 1 → (empty); ` +
		`decided_at of Location:G71: 2026-09-01T10:00:00+01:00 → 2026-09-02T10:00:00+01:00; ` +
		`asked_by of Group:buses: (empty) → 1; asked_by of Staff:18: (empty) → 1
events.csv:3: changed 2 Trip: starts_at: 2026-09-08 → 2026-09-08T09:00:00+01:00; ` +
		`ends_at: 2026-09-09 → 2026-09-08T17:00:00+01:00; all_day: true → false
events.csv:5: created 4 New
notes.csv:2: changed 1: event: 1 → 2; contents: Bring boots → Bring hats; owner: 1 → (empty); ` +
		`visible_guest: false → true
`
	complaints := progressLine.ReplaceAllString(errs, "")
	if diff := cmp.Diff(want, list); diff != "" || code != exitOK || complaints != "" {
		t.Errorf("%d %q %s", code, complaints, diff)
	}
	want = "updated 8, created 1, unchanged 11"
	valuetest.Same(t, o.results(t, out, dir), want)
	o.does(t, "import", dir)
	valuetest.Same(t, o.results(t, "", dir), "updated 0, created 0, unchanged 20", "after the import")
}

// A dry run names whom a user would stand for, and which schools it would administer, by the keys of their groups,
// those that the same import makes schools among them. Without the column nothing of it changes.
func TestADryRunNamesTheSchoolsOfAnAdministrator(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	district := func(name, schools, east string) string {
		users := "key,name,email,admin_of\n1," + name + ",a@b.example," + schools + "\n"
		if schools == "no column" {
			users = "key,name,email\n1," + name + ",a@b.example\n"
		}
		return clienttest.Folder(t, map[string]string{"users.csv": users,
			"groups.csv": "key,name,school\nnorth,North,true\nsouth,South,true\neast,East," + east + "\n"})
	}
	names := func(dir, want string) {
		t.Helper()
		_, out, _ := belfryctl(t, o.env, "import", dir, "--dry-run")
		_, got, _ := strings.Cut(listOf(out), "users.csv:2: changed 1 ")
		valuetest.Same(t, got, want, out)
	}
	family := func(pupils string) string {
		return clienttest.Folder(t, map[string]string{"pupils.csv": "key,forename,surname\n2,Zoë,Bell\n3,Max,Bell\n",
			"users.csv": "key,name,email,kind,stands_for\n1,Ann,a@b.example,pupil," + pupils + "\n"})
	}
	o.does(t, "import", family("3"))
	names(family("3"), "")
	names(family("2;3"), "Ann: stands_for: 3 → 2;3\n")
	o.does(t, "import", district("Ann", "south;north", ""))
	names(district("Ann", "south;north", ""), "")
	names(district("Ann", "south", ""), "Ann: admin_of: north;south → south\n")
	names(district("Ann", "", ""), "Ann: admin_of: north;south → (empty)\n")
	names(district("Ann", "east", "true"), "Ann: admin_of: north;south → east\n")
	names(district("Ann Bell", "north;south", ""), "Ann Bell: name: Ann → Ann Bell\n")
	names(district("Ann Bell", "no column", ""), "Ann Bell: name: Ann → Ann Bell\n")

	// One that was given by hand, of a school made by hand, is what would go.
	admin := o.system.Admin(t)
	west := addsElement(t, admin, object{"entity_type": "Group", "name": "West", "school": true})
	ann := admin.Get(t, "/api/users?email=a@b.example").Int(t, "users.0.id")
	admin.Patch(t, fmt.Sprintf("/api/admin/users/%d", ann),
		object{"user": object{"admin_of": []int64{west}}}).Must(t, 200)
	names(district("Ann", "north", ""), fmt.Sprintf("Ann: admin_of: West (%d) → north\n", west))
	o.does(t, "import", district("Ann Bell", "no column", ""))
	names(district("Ann Bell", "north", ""), fmt.Sprintf("Ann Bell: admin_of: West (%d) → north\n", west))
	o.does(t, "import", district("Ann Bell", "", ""))
	names(district("Ann Bell", "north", ""), "Ann Bell: admin_of: (empty) → north\n")
}

// results counts the results of a dry run of all records. Those that would change say how, and no uuid is printed, here
// or in other output.
func (o office) results(t *testing.T, other, dir string) string {
	t.Helper()
	out := o.does(t, "import", dir, "--dry-run", "--all", "-o=json")
	for _, uuid := range []string{firstUUID, otherUUID} {
		valuetest.Lacks(t, other+out, uuid, "a uuid is printed: %s%s", other, out)
	}
	var all outcome
	errortest.None(t, json.Unmarshal([]byte(out), &all))
	counts := map[string]int{}
	for _, r := range all.Records {
		counts[r.Result]++
		valuetest.Same(t, r.Result == "updated", len(r.Changes) > 0, "%+v", r)
	}
	return fmt.Sprintf("updated %d, created %d, unchanged %d",
		counts["updated"], counts["created"], counts["unchanged"])
}

// listOf is what a dry run prints before its table.
func listOf(out string) string {
	return out[:1+strings.LastIndex(out[:strings.Index(out, "kind  ")], "\n")]
}

// What was changed by hand since the import is what a dry run names as old, and what was made by hand has its name.
func TestADryRunNamesWhatWasChangedByHand(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.does(t, "import", clienttest.Folder(t, bundleBefore))
	admin := o.system.Admin(t)
	room := addsElement(t, admin, object{"entity_type": "Location", "name": "Annex"})
	found := admin.Get(t, "/api/events?text=Chess&start_date=2026-09-07&end_date=2026-09-07").Must(t, 200)
	event := found.Int(t, "events.0.id")
	admin.Post(t, fmt.Sprintf("/api/events/%d/add", event), object{"elements": []int64{room}}).Must(t, 200)
	admin.Patch(t, fmt.Sprintf("/api/events/%d", event), object{"event": object{"body": "Draughts"}}).Must(t, 200)
	ann := admin.Get(t, "/api/users?email=a@b.example").Int(t, "users.0.id")
	admin.Patch(t, fmt.Sprintf("/api/admin/users/%d", ann), // what a row leaves out stays
		object{"user": object{"duplicate_email": true}}).Must(t, 200)
	later := maps.Clone(bundleBefore)
	later["users.csv"] = strings.Replace(bundleBefore["users.csv"], "1,Ann,", "1,Anne,", 1)
	later["events.csv"] = strings.Replace(bundleBefore["events.csv"], "1,Chess,", "1,Go,", 1)
	_, out, _ := belfryctl(t, o.env, "import", clienttest.Folder(t, later), "--dry-run")
	want := fmt.Sprintf("users.csv:2: changed 1 Anne: name: Ann → Anne\n"+
		"events.csv:2: changed 1 Go: body: Draughts → Go; elements: Location:Annex (%d) → (empty)\n", room)
	valuetest.Equal(t, want, listOf(out))
}
