package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// stored returns where a text is in the stores of a system, in any letter case.
func stored(t *testing.T, system *servicetest.System, text string) []string {
	t.Helper()
	text = strings.ToLower(text)
	return slices.DeleteFunc(system.Stored(t),
		func(place string) bool { return !strings.Contains(strings.ToLower(place), text) })
}

// wantErased fails the test where a text is still stored.
func (o office) wantErased(t *testing.T, text string) {
	t.Helper()
	for _, place := range stored(t, o.system, text) {
		t.Errorf("%s is still in %.300s", text, place)
	}
}

// leaver is a pupil with data in every store.
type leaver struct {
	element, user, event int64
	uuid                 string
	token                string // an administrator's, which was named after the pupil
}

// writesBy makes a group by a token, of which Redis then has no older state.
func (o office) writesBy(t *testing.T, token string) {
	t.Helper()
	o.system.Client(t).Do(t, "POST", "/api/admin/elements", object{"element": object{"entity_type": "Group",
		"name": "By a token"}}, "Authorization", "Bearer "+token).Must(t, 201)
}

// leaverOf makes the pupil Zoë O'Quill, and has others write of her wherever they can.
func (o office) leaverOf(t *testing.T) leaver {
	t.Helper()
	admin := o.system.Admin(t)
	o.does(t, "import", clienttest.Folder(t, map[string]string{
		"pupils.csv": "key,forename,surname,known_as,tutor_group,email\n" +
			"zoquill,Zoë,O'Quill,Zo,7B,zoquill@school.example\nmorr,Max,Orr,,7B,\n",
		"groups.csv": "key,name,description\n7b,Tutor group 7B,With Zo O'Quill\n" +
			"Piano Zoë O'Quill,Piano group,\nPiano Zo O'Quill,Another,\n",
		"eventcategories.csv": "key,name\nHelp for Zo O'Quill,Help\n",
		"administrators.csv":  "element,user\nGroup:7b,Carer of Zo O'Quill\n",
		"memberships.csv":     "group,member,first_day,last_day\n7b,Pupil:zoquill,2019-09-01,2020-07-20\n",
		"users.csv": "key,name,email,kind,element,stands_for,can_api,can_add_notes,can_add_events\n" +
			"zoquill,Zoë O'Quill,zoquill@school.example,pupil,Pupil:zoquill,,1,1,1\n" +
			"Carer of Zo O'Quill,A carer,carer@school.example,pupil,,zoquill;morr,0,0,0\n",
	}))
	var l leaver
	l.element = admin.Get(t, "/api/admin/elements?key=Pupil:zoquill").Must(t, 200).Int(t, "elements.0.id")
	l.user = admin.Get(t, "/api/users?email=zoquill@school.example").Must(t, 200).Int(t, "users.0.id")
	l.uuid = admin.Post(t, fmt.Sprintf("/api/admin/users/%d/uuid", l.user), nil).Must(t, 201).Text(t, "uuid")
	category := addsCategory(t, admin, "Support for Zoë O'Quill")
	addsCategory(t, admin, "Support for Zo O'Quill")
	hall := addsElement(t, admin, object{"entity_type": "Location", "name": "Zoë O'Quill Hall"})
	admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/1", hall), nil).Must(t, 200)
	hook := object{"webhook": object{"url": "http://127.0.0.1:9/", "kinds": []string{"commitment.requested"}}}
	admin.Post(t, "/api/admin/webhooks", hook)
	self := o.system.Login(t, l.uuid)
	l.event = addsEvent(t, self, category, "Piano: zoë  o'quill (7B)", "2026-09-07", l.element, hall).Int(t, "event.id")
	waiting := admin.Get(t, "/api/commitments?status=requested").Must(t, 200).Int(t, "commitments.0.id")
	admin.Patch(t, fmt.Sprintf("/api/commitments/%d", waiting),
		object{"commitment": object{"status": "rejected", "reason": "O'Quill, Zo is away"}}).Must(t, 200)
	admin.Post(t, "/api/events", object{"elements": []int64{l.element}, "event": object{
		"body": "Club of Zo O'Quill", "eventcategory_id": category,
		"starts_at": "2026-09-08 09:00", "ends_at": "2026-09-08 10:00"},
		"repeat": object{"rule": "FREQ=WEEKLY;COUNT=3"}}).Must(t, 200)
	note := func(c *servicetest.Client, text string) {
		c.Post(t, fmt.Sprintf("/api/events/%d/notes", l.event), object{"note": object{"contents": text,
			"visible_pupil": true}}).Must(t, 200)
	}
	note(admin, "ZO O'QUILL needs the **low** stool")
	note(admin, "Bring the scores")
	note(self, "I have my own stool")
	for name, c := range map[string]*servicetest.Client{"Zo O'Quill's week": admin, "Quill's phone": self} {
		c.Post(t, fmt.Sprintf("/api/elements/%d/feeds", l.element), object{"feed": object{"name": name}}).Must(t, 201)
	}
	l.token = admin.Post(t, "/api/me/tokens", object{"token": object{"name": "For Zo O'Quill", "scope": "administer"}}).
		Must(t, 201).Text(t, "token.token") // its name stayed with the user and in the audit
	o.writesBy(t, l.token)
	self.Get(t, fmt.Sprintf("/api/elements/%d", hall)).Must(t, 200)
	admin.Get(t, fmt.Sprintf("/api/elements/%d/commitments", l.element)).Must(t, 200)
	admin.Do(t, "POST", "/api/admin/elements", object{"element": object{
		"entity_type": "Group", "name": "Friends of Zoë O'Quill"}}, "Idempotency-Key", "kept").Must(t, 201)
	return l
}

// TestPeopleErase_NoStoreHasTheNameAnyMore is what a person may ask for.
func TestPeopleErase_NoStoreHasTheNameAnyMore(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	l := o.leaverOf(t)
	admin := o.system.Admin(t)
	if before := stored(t, o.system, "quill"); len(before) < 15 {
		t.Fatalf("too little is stored for this test: %d", len(before))
	}
	out := o.does(t, "people", "erase", "Pupil:zoquill")
	valuetest.Has(t, out, "names that would be replaced in all texts: Zo O'Quill\n")
	valuetest.Has(t, out, fmt.Sprintf("users that could no longer log in: %d\n", l.user))
	valuetest.Has(t, out, "nothing was changed")
	e := admin.Get(t, fmt.Sprintf("/api/admin/elements/%d", l.element)).Must(t, 200)
	valuetest.Same(t, e.Text(t, "element.name"), "Zo O'Quill (7B)", "a dry run changed %s", e.Body)

	name := fmt.Sprintf("Former pupil %d", l.element)
	valuetest.Has(t, o.does(t, "people", "erase", fmt.Sprint(l.element), "--really"), "it is now called "+name)
	feeds := admin.Get(t, fmt.Sprintf("/api/elements/%d/feeds", l.element)).Must(t, 200)
	if feeds.Len(t, "feeds") != 1 || feeds.Text(t, "feeds.0.name") != name+"'s week" {
		t.Errorf("feeds: %s", feeds.Body)
	}
	o.writesBy(t, l.token)
	o.wantErased(t, "quill")
	o.wantErased(t, "Zoë")

	// What others need stays.
	valuetest.Same(t, admin.Get(t, fmt.Sprintf("/api/events/%d", l.event)).Must(t, 200).Text(t, "event.body"),
		"Piano: "+name+" (7B)", "the event is called")
	notes := admin.Get(t, fmt.Sprintf("/api/events/%d/notes", l.event)).Must(t, 200).Body
	if !strings.Contains(notes, "Bring the scores") || strings.Contains(notes, "stool") {
		t.Errorf("notes: %s", notes)
	}
	valuetest.Has(t, admin.Get(t, "/api/events?text=former+pupil&start_date=2026-09-01&end_date=2026-09-30").
		Must(t, 200).Body, "Piano",
		"a search by the new name finds")
	looks := admin.Get(t, fmt.Sprintf("/api/admin/access/elements?element=%d", l.element)).Must(t, 200)
	valuetest.Same(t, looks.Len(t, "entries"), 0, "looks at the person: %s", looks.Body)
	for _, path := range []string{"audit/notes", "audit/events", "audit/identity"} {
		own := admin.Get(t, fmt.Sprintf("/api/admin/%s?user=%d", path, l.user)).Must(t, 200)
		if own.Len(t, "entries") == 0 || strings.Contains(own.Body, "127.0.0.1") {
			t.Errorf("%s of what the person did: %s", path, own.Body)
		}
	}
	carer := admin.Get(t, "/api/users?email=carer@school.example").Must(t, 200).Int(t, "users.0.id")
	if u := admin.Get(t, fmt.Sprintf("/api/admin/users/%d", carer)).Must(t, 200); u.Len(t, "user.stands_for") != 1 ||
		u.Int(t, "user.stands_for.0") == l.element {
		t.Errorf("the carer stands for her: %s", u.Body)
	}
	o.system.Client(t).Post(t, "/api/login", object{"uuid": l.uuid}).WantCode(t, 401, "the user logs in")
	entries := admin.Get(t, fmt.Sprintf("/api/admin/audit/elements?record=Element:%d", l.element)).Must(t, 200)
	valuetest.Has(t, entries.Body, `"action":"erase"`, "the audit")

	o.keysOfOthers(t, name)

	// It stays so.
	admin.Patch(t, fmt.Sprintf("/api/admin/elements/%d", l.element),
		object{"element": object{"surname": "Back"}}).WantCode(t, 409, "it is changed")
	o.refusesErased(t)
	o.refusesToNameErased(t)
	valuetest.Has(t, o.does(t, "people", "erase", fmt.Sprint(l.element), "--really"), "is erased")
	o.wantErased(t, "O'Quill") // the refused row's key is in the audit
}

// refusesErased imports the pupil of leaverOf again, with whatever may name her. Nothing of it is written, and each
// file that names her is told once.
func (o office) refusesErased(t *testing.T) {
	t.Helper()
	dir := clienttest.Folder(t, map[string]string{
		"pupils.csv":      "key,forename,surname\nfresh,Amy,New\nzoquill,Zoë,O'Quill\nmorr,Max,Orr\n",
		"groups.csv":      "key,name\n7b,Tutor group 7B\n7c,Tutor group 7C\n",
		"memberships.csv": "group,member\n7b,Pupil:morr\n7b,Pupil:zoquill\n7c,Pupil:zoquill\n",
		"users.csv": "key,name,email,kind,element,stands_for\nzoquill,Zoë,z@school.example,pupil,Pupil:zoquill,\n" +
			"morr,Max,m@school.example,pupil,Pupil:morr,\ncarer,A carer,c@school.example,pupil,,morr;zoquill\n",
		"administrators.csv":  "element,user\nPupil:zoquill,morr\nPupil:morr,zoquill\n",
		"eventcategories.csv": "key,name\nlesson,Lesson\n",
		"events.csv": "key,body,category,starts_at,ends_at,owner,elements\n" +
			"e1,Piano,lesson,2026-09-07 09:00,2026-09-07 10:00,,Pupil:morr;Pupil:zoquill\n" +
			"e2,Piano,lesson,2026-09-08 09:00,2026-09-08 10:00,zoquill,Pupil:morr\n" +
			"e3,Piano,lesson,2026-09-09 09:00,2026-09-09 10:00,morr,Pupil:morr\n",
		"notes.csv": "key,event,contents,owner\nn1,e3,Scores,zoquill\n",
	})
	const refused = `pupils.csv:3: key: has been erased; leave the row out
users.csv:2: key: has been erased; leave the row out
`
	const naming = `warning: memberships.csv:3: names people who have been erased (and 1 more like it)
warning: users.csv:4: names people who have been erased
warning: administrators.csv:2: names people who have been erased (and 1 more like it)
warning: events.csv:2: names people who have been erased (and 1 more like it)
warning: notes.csv:2: names people who have been erased
`
	code, out, errs := belfryctl(t, o.env, "import", dir)
	if !strings.HasPrefix(errs, refused+naming+"belfryctl: nothing was written") || code != exitFailure || out != "" {
		t.Errorf("an erased person is imported again: %d %s%s", code, out, errs)
	}
	admin := o.system.Admin(t)
	for _, key := range []string{"Pupil:fresh", "Group:7c"} {
		if a := admin.Get(t, "/api/admin/elements?key="+key).Must(t, 200); a.Len(t, "elements") > 0 {
			t.Errorf("%s was written: %s", key, a.Body)
		}
	}
	code, out, errs = belfryctl(t, o.env, "import", dir, "--dry-run")
	if code != exitFailure || !strings.Contains(errs, refused+naming) ||
		!strings.Contains(out, "created fresh Amy New") {
		t.Errorf("a dry run: %d %s%s", code, out, errs)
	}
}

// keysOfOthers tells that the records of others that had the person's name in their key have another one, each its own,
// and that two categories have not become one.
func (o office) keysOfOthers(t *testing.T, name string) {
	t.Helper()
	for key, want := range map[string]int{
		"Group:Piano " + name + "-": 2, "Help for " + name + "-": 1, "Carer of " + name + "-": 1,
	} {
		valuetest.Len(t, stored(t, o.system, key), want, "records have the key %s", key)
	}
	categories := o.system.Admin(t).Get(t, "/api/admin/eventcategories").Must(t, 200).Body
	if strings.Count(categories, `"Support for `+name+`"`) != 1 ||
		strings.Count(categories, `"Support for `+name+` (`) != 1 {
		t.Errorf("categories: %s", categories)
	}
}

// restore brings back a backup from before the erasure of a pupil called Orr: the element is as it was, and nothing
// knows of any erasure.
func (o office) restore(t *testing.T, id int64, forename string) {
	t.Helper()
	ctx := t.Context()
	var was bson.M
	elements := o.system.DB.Collection("elements")
	errortest.None(t, elements.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Decode(&was))
	version := was["version"].(int64)
	restored := bson.D{{Key: "name", Value: forename + " Orr"}, {Key: "details", Value: bson.D{
		{Key: "forename", Value: forename}, {Key: "surname", Value: "Orr"}}},
		{Key: "current", Value: true}, {Key: "version", Value: version + 1}}
	_, err := elements.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: restored},
		{Key: "$unset", Value: bson.D{{Key: "erased", Value: ""}}}})
	errortest.None(t, err)
	errortest.None(t, errortest.Of(o.system.DB.Collection("erasures").DeleteMany(ctx, bson.D{})))
}

// pupil adds a pupil called Orr.
func (o office) pupil(t *testing.T, forename string) int64 {
	t.Helper()
	return addsElement(t, o.system.Admin(t), object{"entity_type": "Pupil", "forename": forename, "surname": "Orr"})
}

// refusesToNameErased sends rows that name the pupil of leaverOf as other programs would, without her own.
func (o office) refusesToNameErased(t *testing.T) {
	t.Helper()
	c, err := client.New(o.system.URL, client.Options{})
	errortest.None(t, err)
	errortest.None(t, c.Login(t.Context(), o.env["BELFRY_UUID"]))
	const event = `{"key":"e1","body":"Piano","category":"lesson","starts_at":"2026-09-07","ends_at":"2026-09-07",`
	for _, row := range []struct{ kind, line, want string }{
		{"groups", `{"key":"buses","name":"Buses","resource":true}`, "map[]"},
		{"eventcategories", `{"key":"lesson","name":"Lesson"}`, "map[]"},
		{"memberships", `{"key":"Group:7b/Pupil:zoquill","group":"7b","member":"Pupil:zoquill",` +
			`"spans":[{"first_day":null,"last_day":null}]}`, "map[member:[has been erased]]"},
		{"memberships", `{"key":"Group:7b/Pupil:none","group":"7b","member":"Pupil:none",` +
			`"spans":[{"first_day":null,"last_day":null}]}`, "map[member:[must exist]]"},
		{"users", `{"key":"u","name":"Z","email":"z@b.example","element":"Pupil:zoquill"}`,
			"map[element:[has been erased]]"},
		{"users", `{"key":"u","name":"Z","email":"z@b.example"}`, "map[]"},
		{"administrators", `{"key":"Pupil:zoquill/u","element":"Pupil:zoquill","user":"u"}`,
			"map[element:[has been erased]]"},
		{"events", event + `"elements":["Pupil:morr","Pupil:zoquill"]}`,
			"map[elements:[Pupil:zoquill has been erased]]"},
		{"events", event + `"elements":["Group:buses"],"decisions":[{"element":"Pupil:zoquill","status":` +
			`"confirmed","request":"Group:buses"}]}`, "map[decisions:[Pupil:zoquill has been erased]]"},
		{"events", event + `"elements":["Pupil:morr","Pupil:none"]}`, "map[elements:[Pupil:none must exist]]"},
	} {
		answer, err := c.Import(t.Context(), row.kind, []byte(row.line+"\n"), client.ImportOptions{})
		valuetest.MustHold(t, err == nil && len(answer.Records) == 1, "%s: %v %+v", row.line, err, answer)
		valuetest.Same(t, fmt.Sprint(answer.Records[0].Errors), row.want, row.line)
	}
}

// TestPeopleErase_AgainAfterARestore: the list that is kept beside the backups erases the same persons, and no one who
// has got the id since.
func TestPeopleErase_AgainAfterARestore(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	max, ada := o.pupil(t, "Max"), o.pupil(t, "Ada")
	o.does(t, "people", "erase", fmt.Sprint(max), "--really")
	file := filepath.Join(t.TempDir(), "erased.json")
	list := o.does(t, "people", "erased", "-o=json")
	valuetest.Lacks(t, list, "Orr", "the list has names")
	var read struct{ Erasures []map[string]any }
	if err := json.Unmarshal([]byte(list), &read); err != nil || len(read.Erasures) != 1 {
		t.Fatal(err, list)
	}
	another := map[string]any{"element_id": ada, "fingerprint": read.Erasures[0]["fingerprint"]}
	gone := map[string]any{"element_id": 9999, "fingerprint": "x"}
	read.Erasures = append(read.Erasures, another, gone)
	text, err := json.Marshal(read)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	errortest.None(t, err)
	o.restore(t, max, "Max")
	code, out, errs := belfryctl(t, o.env, "people", "erase", "--again", file, "--really")
	if code != exitRefused || !strings.Contains(errs, "some people were not erased") {
		t.Errorf("%d %s", code, errs)
	}
	valuetest.Has(t, out, "erased\n")
	valuetest.Has(t, out, "is a different person\n")
	valuetest.Has(t, out, "does not exist\n")
	o.wantErased(t, "Max")
	valuetest.Holds(t, len(stored(t, o.system, "Ada")) > 0, "another person is erased")
}

// TestPeopleErase_TheListThatIsKeptIsNewerThanTheBackup: a person who was erased after the backup was made is gone
// again after the restore, while the front door is shut.
func TestPeopleErase_TheListThatIsKeptIsNewerThanTheBackup(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first, max, ada := o.pupil(t, "Eve"), o.pupil(t, "Max"), o.pupil(t, "Ada")
	o.does(t, "people", "erase", fmt.Sprint(first), "--really") // before there was a list
	file := filepath.Join(t.TempDir(), "erased.json")
	named := func() (ids []int64) {
		t.Helper()
		list, err := readErased(file)
		errortest.None(t, err)
		for _, e := range list {
			ids = append(ids, e.ID("element_id"))
			if e.Text("state") != "done" {
				t.Errorf("%s is %s", e.Text("element_id"), e.Text("state"))
			}
		}
		slices.Sort(ids)
		return ids
	}
	o.does(t, "people", "erase", fmt.Sprint(max), "--list", file)
	errortest.Some(t, errortest.Of(os.Stat(file)), "a dry run writes the list")
	o.does(t, "people", "erase", fmt.Sprint(max), "--really", "--list", file)
	valuetest.List(t, named(), []int64{first, max}, "the list names")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "Orr") {
		t.Errorf("%v %s", err, text)
	}

	o.restore(t, max, "Max")
	o.does(t, "people", "erase", fmt.Sprint(ada), "--really", "--list", file) // it keeps the others
	valuetest.List(t, named(), []int64{first, max, ada}, "the list names")
	inside := office{o.system, map[string]string{"BELFRY_UUID": o.system.AdminUUID}}
	out := inside.does(t, "people", "erase", "--again", file, "--really", "--list", file,
		"--route", "/api/login="+o.system.Replica("identity", 0),
		"--route", "/api/admin/erasures="+o.system.Replica("elements", 0))
	valuetest.Same(t, strings.Count(out, "erased\n"), 3, out)
	o.wantErased(t, "Max")
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}

	// Where the list can't be written, no one is erased.
	leo := o.pupil(t, "Leo")
	errortest.None(t, os.WriteFile(file, []byte("[]"), 0o600))
	o.fails(t, exitUsage, "was not written by belfryctl",
		"people", "erase", fmt.Sprint(leo), "--really", "--list", file)
	valuetest.Holds(t, len(stored(t, o.system, "Leo")) > 0, "a person is erased whom no list names")
}

// TestPeopleErase_AgainWithTheNamesakesOfBefore: the list says for whom the names of others were taken along.
func TestPeopleErase_AgainWithTheNamesakesOfBefore(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	first, second, zed := o.pupil(t, "Tom"), o.pupil(t, "Tom"), o.pupil(t, "Zed")
	o.pupil(t, "Zed")
	category := addsCategory(t, admin, "Lesson")
	titles := map[string]int64{}
	for _, title := range []string{"Piano of Tom Orr", "Piano of Zed Orr"} {
		titles[title] = addsEvent(t, admin, category, title, "2026-09-07").Int(t, "event.id")
	}
	called := func(title string) string {
		return admin.Get(t, fmt.Sprintf("/api/events/%d", titles[title])).Must(t, 200).Text(t, "event.body")
	}
	file := filepath.Join(t.TempDir(), "erased.json")
	o.does(t, "people", "erase", fmt.Sprint(first), "--really", "--namesakes", "--list", file)
	o.does(t, "people", "erase", fmt.Sprint(zed), "--really", "--list", file)
	want := fmt.Sprintf("Piano of Former pupil %d", first)
	valuetest.MustSame(t, called("Piano of Tom Orr"), want, "with namesakes it is called")

	admin.Patch(t, fmt.Sprintf("/api/events/%d", titles["Piano of Tom Orr"]),
		object{"event": object{"body": "Piano of Tom Orr"}}).Must(t, 200)
	o.restore(t, first, "Tom")
	o.restore(t, zed, "Zed")
	o.does(t, "people", "erase", "--again", file, "--really")
	valuetest.Same(t, called("Piano of Tom Orr"), want, "again it is called")
	valuetest.Same(t, called("Piano of Zed Orr"), "Piano of Zed Orr", "one who was erased without namesakes")
	e := admin.Get(t, fmt.Sprintf("/api/admin/elements/%d", second)).Must(t, 200)
	valuetest.Same(t, e.Text(t, "element.name"), "Tom Orr", "the other is %s", e.Body)
}

// TestPeopleErase_GoesOnAfterAKill: elements dies right after it has begun, and notes is away when it starts again.
func TestPeopleErase_GoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	l := o.leaverOf(t)
	admin := o.system.Admin(t)
	admin.Post(t, "/api/admin/erasures", object{"erasure": object{"element_id": l.element}}).Must(t, 201)
	o.system.Kill(t, "elements")
	o.system.Kill(t, "notes")
	o.system.Restart(t, "elements")
	path := fmt.Sprintf("/api/admin/erasures/%d", l.element)
	valuetest.Same(t, admin.Get(t, path).Must(t, 200).Text(t, "erasure.state"), "running", "without notes it")
	o.system.Restart(t, "notes")
	valuetest.Has(t, o.does(t, "people", "erase", fmt.Sprint(l.element), "--really"), "is erased")
	o.writesBy(t, l.token)
	o.wantErased(t, "quill")
	once := object{"erasure": object{"element_id": l.element}}
	admin.Post(t, "/api/admin/erasures", once).WantCode(t, 200, "once more")
}

// TestPeopleErase_WhoIsWrittenAgainAndAgainIsIncomplete: an erasure that is given up says so, has its names, and goes
// on.
func TestPeopleErase_WhoIsWrittenAgainAndAgainIsIncomplete(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	max := o.pupil(t, "Max")
	erasures := o.system.DB.Collection("erasures")
	var at struct {
		Service string
		Person  struct{ Names []string }
	}
	look := func() bool {
		return erasures.FindOne(t.Context(), bson.D{{Key: "_id", Value: max}}).Decode(&at) == nil
	}
	o.system.Kill(t, "notes") // so that it stands still
	file := filepath.Join(t.TempDir(), "erased.json")
	type end struct {
		code      int
		out, errs string
	}
	ended := make(chan end, 1)
	go func() {
		code, out, errs := belfryctl(t, o.env, "people", "erase", fmt.Sprint(max), "--really", "--list", file)
		ended <- end{code, out, errs}
	}()
	timetest.Eventually(t, "its beginning", time.Minute,
		func() bool { list, err := readErased(file); return err == nil && len(list) == 1 })
	timetest.Eventually(t, "its wait for notes", time.Minute, func() bool { return look() && at.Service == "notes" })
	last := bson.D{{Key: "$set", Value: bson.D{{Key: "round", Value: 99}}}} // and this round has found the element
	errortest.None(t, errortest.Of(erasures.UpdateByID(t.Context(), max, last)))
	o.system.Restart(t, "notes")
	if e := <-ended; e.code != exitRefused || !strings.Contains(e.out, "the erasure is incomplete") ||
		!strings.Contains(e.errs, "some people were not erased") {
		t.Errorf("%+v", e)
	}
	valuetest.Has(t, o.does(t, "people", "erased"), "  incomplete  ")
	if look(); len(at.Person.Names) == 0 {
		t.Error("an incomplete erasure has lost its names")
	}
	if list, err := readErased(file); err != nil || list[0].Text("state") != "incomplete" {
		t.Error(list, err)
	}
	valuetest.Has(t, o.does(t, "people", "erase", fmt.Sprint(max), "--really"), "is erased")
	valuetest.Has(t, o.does(t, "people", "erased"), "  done  ")
	if at.Person.Names = nil; !look() || len(at.Person.Names) > 0 {
		t.Errorf("%v", at.Person.Names)
	}
}

func TestPeopleErase_NamesOfOthersStay(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	add := func(group string) int64 {
		return addsElement(t, admin,
			object{"entity_type": "Pupil", "forename": "Tom", "surname": "Orr", "tutor_group": group})
	}
	first, second := add("7A"), add("8B")
	admin.Delete(t, fmt.Sprintf("/api/admin/elements/%d", second)).Must(t, 200)
	category := addsCategory(t, admin, "Lesson")
	ambiguous := addsEvent(t, admin, category, "Tom Orr", "2026-09-07").Int(t, "event.id")
	clear := addsEvent(t, admin, category, "Tom Orr (7A)", "2026-09-07").Int(t, "event.id")
	valuetest.Has(t, o.does(t, "people", "erase", fmt.Sprint(first)),
		fmt.Sprintf("elements with the same name: %d;", second))
	o.does(t, "people", "erase", fmt.Sprint(first), "--really")
	for id, want := range map[int64]string{ambiguous: "Tom Orr", clear: fmt.Sprintf("Former pupil %d", first)} {
		valuetest.Same(t, admin.Get(t, fmt.Sprintf("/api/events/%d", id)).Must(t, 200).Text(t, "event.body"), want)
	}
	e := admin.Get(t, fmt.Sprintf("/api/admin/elements/%d", second)).Must(t, 200)
	valuetest.Same(t, e.Text(t, "element.name"), "Tom Orr (8B)", "the other is %s", e.Body)
}

// TestPeopleErase_NamesakesWhoAreCalledOtherwiseStay: current persons were found by the name that is shown alone, and
// with their own kind of apostrophe. A user's name of one word was searched for in all texts.
func TestPeopleErase_NamesakesWhoAreCalledOtherwiseStay(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	add := func(forename, knownAs, surname, group string) int64 {
		return addsElement(t, admin, object{"entity_type": "Pupil", "forename": forename, "known_as": knownAs,
			"surname": surname, "tutor_group": group})
	}
	category := addsCategory(t, admin, "Lesson")
	for _, c := range []struct {
		gone, stays int64
		user, text  string
	}{
		{add("Zoe", "", "Abbott", "7A"), add("Zoe", "Zed", "Abbott", "8B"), "Zoe", "Zoe Abbott, Zoe"},
		{add("Sean", "", "O'Neill", "7A"), add("Sean", "", "O\u2019Neill", "8B"), "Sean O'Neill", "Sean O\u2019Neill"},
	} {
		adds(t, admin, "user", object{"name": c.user, "email": fmt.Sprintf("%d@school.example", c.gone),
			"element_id": c.gone, "permissions": object{"can_api": true}})
		event := addsEvent(t, admin, category, c.text, "2026-09-07").Int(t, "event.id")
		valuetest.Has(t, o.does(t, "people", "erase", fmt.Sprint(c.gone)),
			fmt.Sprintf("elements with the same name: %d;", c.stays))
		o.does(t, "people", "erase", fmt.Sprint(c.gone), "--really")
		valuetest.Same(t, admin.Get(t, fmt.Sprintf("/api/events/%d", event)).Must(t, 200).Text(t, "event.body"), c.text)
	}
}

func TestPeopleErase_WhatCantBeErased(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	hall := addsElement(t, admin, object{"entity_type": "Location", "name": "Hall"})
	head := addsElement(t, admin,
		object{"entity_type": "Staff", "initials": "HD", "forename": "Hal", "surname": "Dean"})
	adds(t, admin, "user", object{"name": "Hal Dean", "email": "hd@school.example", "element_id": head,
		"permissions": object{"admin": true}})
	o.fails(t, exitFailure, "must be a member of staff or a pupil", "people", "erase", fmt.Sprint(hall))
	o.fails(t, exitFailure, "is an administrator of all schools", "people", "erase", fmt.Sprint(head), "--really")
	o.fails(t, exitFailure, "no element has the key", "people", "erase", "Pupil:none")
	o.fails(t, exitUsage, "give either ELEMENT or --again FILE", "people", "erase")
	file := filepath.Join(t.TempDir(), "x.json")
	errortest.None(t, os.WriteFile(file, []byte("{}"), 0o600))
	o.fails(t, exitUsage, "was not written by belfryctl people erased -o json", "people", "erase", "--again",
		file)
	for body, code := range map[string]int{
		`{"erasure":{}}`: 422, `{"erasure":{"element_id":"x"}}`: 422, `{}`: 400, `{"erasure":{"element_id":9999}}`: 404,
	} {
		var fields any
		errortest.None(t, json.Unmarshal([]byte(body), &fields))
		admin.Post(t, "/api/admin/erasures", fields).WantCode(t, code, body)
	}
	admin.Get(t, fmt.Sprintf("/api/admin/erasures/%d", head)).WantCode(t, 404, "an erasure that is none")
}
