package main

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestExport_AfterAMoveKeysAreNotGivenTwice exports a Belfry into which another's export was imported, of the same
// address: both have a first administrator, of the id 1 and made by hand.
func TestExport_AfterAMoveKeysAreNotGivenTwice(t *testing.T) {
	t.Parallel()
	old, moved := newOffice(t), newOffice(t)
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	old.does(t, "export", first, "--origin", "school.example")
	moved.does(t, "import", first)
	moved.does(t, "export", second, "--origin", "school.example")
	out := old.does(t, "import", second, "--dry-run")
	for _, want := range []string{"created school.example:1 First", "created school.example-2:1 First"} {
		valuetest.Same(t, strings.Count(out, want), 1, "%q in %s", want, out)
	}
}

// TestExport_OneThatIsRefusedLeavesTheEarlierOne: an expired token, or the administrator of a school, cost the export
// that was in the folder.
func TestExport_OneThatIsRefusedLeavesTheEarlierOne(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	dir := filepath.Join(t.TempDir(), "school")
	o.does(t, "export", dir)
	var made struct{ Element struct{ ID int64 } }
	o.reads(t, &made, "elements", "add", "Group", "--name", "North", "--school")
	head := o.newUser(t, "Ann", "ann@school.example", "--grant", "can_api", "--admin-of", fmt.Sprint(made.Element.ID))
	o.fails(t, exitFailure, "belfryctl: GET /api/changes: 400 Bad request", "export", dir, "--since", "none")
	o.does(t, "import", dir, "--dry-run")
	head.fails(t, exitFailure, "belfryctl: GET /api/admin/export/events: 403 Forbidden: needs admin", "export", dir)
	o.does(t, "import", dir, "--dry-run")
}

type object = map[string]any

// unzip reads an archive.
func unzip(t *testing.T, file string) map[string]string {
	t.Helper()
	archive, err := zip.OpenReader(file)
	errortest.None(t, err)
	defer func() { _ = archive.Close() }()
	files := map[string]string{}
	for _, f := range archive.File {
		text, err := fs.ReadFile(archive, f.Name)
		errortest.None(t, err)
		files[f.Name] = string(text)
	}
	return files
}

// rowsOf are the rows of a CSV file of an archive, without the first cells of each.
func rowsOf(t *testing.T, files map[string]string, name string, without int) []string {
	t.Helper()
	read, err := csv.NewReader(strings.NewReader(files[name])).ReadAll()
	if err != nil || len(read) == 0 {
		t.Fatalf("%s: %v: %q", name, err, files[name])
	}
	return sequence.Map(read[1:], func(row []string) string { return strings.Join(row[without:], "|") })
}

func TestPeopleExport_WhatIsKeptAboutOnePersonIsOneArchive(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	element := func(fields object) int64 { return addsElement(t, admin, fields) }
	user := func(fields object) (int64, string) {
		made := adds(t, admin, "user", fields)
		return made.Int(t, "user.id"), made.Text(t, "user.uuid")
	}
	pupil := element(object{"entity_type": "Pupil", "forename": "Zoë", "surname": "Quill", "year_group": "Year 9",
		"email": "zoe@school.example"})
	other := element(object{"entity_type": "Pupil", "forename": "Max", "surname": "Orr"})
	class := element(object{"entity_type": "Group", "name": "9 History"})
	hall := element(object{"entity_type": "Location", "name": "Hall"})
	school := element(object{"entity_type": "Group", "name": "North", "school": true})
	admin.Post(t, fmt.Sprintf("/api/admin/elements/%d/members", class), object{"members": []object{
		{"element_id": pupil, "first_day": "2026-09-01", "last_day": "2026-09-30"}}}).Must(t, 201)
	zoe, uuid := user(object{"name": "Zoë Quill", "email": "zoe@school.example", "kind": "pupil", "element_id": pupil,
		"permissions": object{"can_api": true, "can_add_events": true, "can_add_notes": true}})
	keeper, head := user(object{"name": "Head", "email": "head@school.example", "admin_of": []int64{school},
		"permissions": object{"can_api": true}})
	category := addsCategory(t, admin, "Lesson")
	addsEvent(t, admin, category, "In her days", "2026-09-07", class)
	addsEvent(t, admin, category, "After her days", "2026-10-07", class)
	trip := addsEvent(t, admin, category, "Trip, \"long\"", "2026-11-07", pupil).Int(t, "event.id")
	addsEvent(t, admin, category, "Of others", "2026-09-07", other)
	self := o.system.Login(t, uuid)
	admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", hall, keeper), nil).Must(t, 200)
	addsEvent(t, self, category, "Her own", "2026-09-08", hall)
	for _, text := range bundle.Events.Texts() {
		id := addsEvent(t, admin, category, "Visit for "+text, "2026-09-09", other).Int(t, "event.id")
		admin.Patch(t, fmt.Sprintf("/api/events/%d", id),
			object{"event": object{text: "Parents of zoë  QUILL"}}).Must(t, 200)
	}
	for title, reason := range map[string]string{"Choir": "Promised to Quill, Zoë", "Chess": "Promised to Zoë"} {
		asked := addsEvent(t, admin, category, title, "2026-09-10", other, hall)
		o.system.Login(t, head).Patch(t, fmt.Sprintf("/api/commitments/%d", asked.Int(t, "event.commitments.1.id")),
			object{"commitment": object{"status": "rejected", "reason": reason}}).Must(t, 200)
	}
	note := func(text string) {
		admin.Post(t, fmt.Sprintf("/api/events/%d/notes", trip), object{"note": object{"contents": text}}).Must(t, 200)
	}
	note("=zoë quill brings\n- the tent")
	note("Max Orr stays")

	dir := t.TempDir()
	file := filepath.Join(dir, "zoe.zip")
	out := o.does(t, "people", "export", fmt.Sprint(pupil), "--out", file)
	valuetest.Has(t, out, fmt.Sprintf("events.csv         %d\n", 4+len(bundle.Events.Texts())))
	valuetest.Has(t, out, "written to "+file+"\n")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	files := unzip(t, file)
	var person struct {
		Element struct{ Surname, Email string }
		Users   []struct {
			ID   int64
			UUID string
		}
	}
	if err := json.Unmarshal([]byte(files["person.json"]), &person); err != nil || person.Element.Surname != "Quill" ||
		person.Element.Email != "zoe@school.example" || len(person.Users) != 1 || person.Users[0].ID != zoe {
		t.Errorf("%v: %s", err, files["person.json"])
	}
	valuetest.List(t, rowsOf(t, files, "groups.csv", 1), []string{"9 History|2026-09-01|2026-09-30"})
	valuetest.Has(t, files["README.txt"], "mails and messages to webhooks that wait")
	valuetest.List(t, rowsOf(t, files, "notes.csv", 2),
		[]string{"is named|First administrator|'=zoë quill brings\n'- the tent"})
	events := strings.Join(rowsOf(t, files, "events.csv", 1), "\n")
	wanted := []string{"In her days|", "|9 History|uncontrolled", "Trip, \"long\"|", "Her own|",
		"|made it, made a request in it|||", "Parents of zoë  QUILL|Lesson|", "|false|is named|||",
		"Choir|Lesson|", "|false|is named||rejected|Promised to Quill, Zoë|Head|"}
	for _, want := range wanted {
		valuetest.Has(t, events, want)
	}
	valuetest.Same(t, strings.Count(events, "Parents of zoë  QUILL"), len(bundle.Events.Texts()),
		"texts that name her")
	var audit, actions []struct {
		Record, From string
		UserID       int64 `json:"user_id"`
	}
	if err := json.Unmarshal([]byte(files["audit.json"]), &audit); err != nil || len(audit) < 2 {
		t.Errorf("%v: %s", err, files["audit.json"])
	}
	if err := json.Unmarshal([]byte(files["actions.json"]), &actions); err != nil || len(actions) == 0 {
		t.Errorf("%v: %s", err, files["actions.json"])
	}
	for _, entry := range audit {
		if entry.From != "" && entry.UserID != zoe {
			t.Errorf("another's address: %+v", entry)
		}
	}
	if rows := rowsOf(t, files, "access.csv", 1); len(rows) == 0 {
		t.Errorf("the export itself has looked at the person: %q", rows)
	}
	for name, text := range files {
		for _, alien := range []string{uuid, "Max Orr", "After her days", "Of others", "Chess"} {
			valuetest.Lacks(t, text, alien, "%s has %q", name, alien)
		}
	}

	o.fails(t, exitFailure, "already exists", "people", "export", fmt.Sprint(pupil), "--out", file)
	o.fails(t, exitFailure, "is a Location; give a member", "people", "export", fmt.Sprint(hall))
	o.fails(t, exitFailure, "404 Not found", "people", "export", "999999")
	full := filepath.Join(dir, "full.zip")
	errortest.None(t, os.Symlink("/dev/full", full+".part"))
	o.fails(t, exitFailure, "no space left", "people", "export", fmt.Sprint(pupil), "--out", full)
	o.with("BELFRY_UUID", head).fails(t, exitFailure, "403", "people", "export", fmt.Sprint(pupil), "--out",
		filepath.Join(dir, "head.zip"))
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left there: %v, %v", left, err)
	}
}

// TestPeopleExport_IsPackedFromLists: the command sends GET alone, to these and no others.
func TestPeopleExport_IsPackedFromLists(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.does(t, "import", clienttest.Folder(t, bundleBefore))
	person := o.element(t, "Staff:17")
	asked := o.watched(t, "people", "export", fmt.Sprint(person), "--out", filepath.Join(t.TempDir(), "person.zip"))
	want := []string{"GET /api/admin/access/elements", "GET /api/admin/audit/<service>", "GET /api/admin/elements/<id>",
		"GET /api/admin/eventcategories", "GET /api/admin/export/events", "GET /api/admin/export/memberships",
		"GET /api/admin/export/notes", "GET /api/admin/users", "GET /api/admin/users/<id>",
		"GET /api/elements/<id>/commitments"}
	valuetest.List(t, slices.Sorted(maps.Keys(asked)), want, "asked for")
}

// watched runs a command that must succeed, and returns what it asks for besides its session, without ids.
func (o office) watched(t *testing.T, args ...string) map[string]bool {
	t.Helper()
	asked := map[string]bool{}
	var mu sync.Mutex
	services := regexp.MustCompile(`/audit/[a-z]+`)
	ids := regexp.MustCompile(`/\d+(/|$)`)
	o.env = o.behind(t, func(w http.ResponseWriter, r *http.Request, system http.Handler) {
		path := ids.ReplaceAllString(services.ReplaceAllString(r.URL.Path, "/audit/<service>"), "/<id>$1")
		if path != "/api/login" && path != "/api/logout" {
			mu.Lock()
			asked[r.Method+" "+path] = true
			mu.Unlock()
		}
		system.ServeHTTP(w, r)
	})
	o.does(t, args...)
	return asked
}
