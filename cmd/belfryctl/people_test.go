package main

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

type object = map[string]any

// unzip reads an archive.
func unzip(t *testing.T, file string) map[string]string {
	t.Helper()
	archive, err := zip.OpenReader(file)
	errortest.None(t, err)
	defer func() { _ = archive.Close() }()
	files := map[string]string{}
	for _, f := range archive.File {
		in, err := f.Open()
		errortest.None(t, err)
		text, err := io.ReadAll(in)
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
	element := func(fields object) int64 {
		return admin.Post(t, "/api/admin/elements", object{"element": fields}).Must(t, 201).Int(t, "element.id")
	}
	user := func(fields object) (int64, string) {
		made := admin.Post(t, "/api/admin/users", object{"user": fields}).Must(t, 201)
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
	category := admin.Post(t, "/api/admin/eventcategories", object{"eventcategory": object{"name": "Lesson"}}).
		Must(t, 201).Int(t, "eventcategory.id")
	event := func(title, day string, elements ...int64) object {
		return object{"elements": elements, "event": object{"body": title, "eventcategory_id": category,
			"starts_at": day + " 09:00", "ends_at": day + " 10:00"}}
	}
	admin.Post(t, "/api/events", event("In her days", "2026-09-07", class)).Must(t, 200)
	admin.Post(t, "/api/events", event("After her days", "2026-10-07", class)).Must(t, 200)
	trip := admin.Post(t, "/api/events", event("Trip, \"long\"", "2026-11-07", pupil)).Must(t, 200).
		Int(t, "event.id")
	admin.Post(t, "/api/events", event("Of others", "2026-09-07", other)).Must(t, 200)
	self := o.system.Login(t, uuid)
	admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", hall, keeper), nil).Must(t, 200)
	self.Post(t, "/api/events", event("Her own", "2026-09-08", hall)).Must(t, 200)
	admin.Post(t, "/api/events", event("Parents of zoë  QUILL", "2026-09-09", other)).Must(t, 200)
	for title, reason := range map[string]string{"Choir": "Promised to Quill, Zoë", "Chess": "Promised to Zoë"} {
		asked := admin.Post(t, "/api/events", event(title, "2026-09-10", other, hall)).Must(t, 200)
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
	wantOut(t, out, "events.csv         5\n")
	wantOut(t, out, "written to "+file+"\n")
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
	wantRows(t, rowsOf(t, files, "groups.csv", 1), "9 History|2026-09-01|2026-09-30")
	wantOut(t, files["README.txt"], "mails and messages to webhooks that wait")
	wantRows(t, rowsOf(t, files, "notes.csv", 2), "is named|First administrator|'=zoë quill brings\n'- the tent")
	events := strings.Join(rowsOf(t, files, "events.csv", 1), "\n")
	wanted := []string{"In her days|", "|9 History|uncontrolled", "Trip, \"long\"|", "Her own|",
		"|made it, asked for something in it|||", "Parents of zoë  QUILL|Lesson|", "|false|is named|||",
		"Choir|Lesson|", "|false|is named||rejected|Promised to Quill, Zoë|Head|"}
	for _, want := range wanted {
		if !strings.Contains(events, want) {
			t.Errorf("%q is not in\n%s", want, events)
		}
	}
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
			if strings.Contains(text, alien) {
				t.Errorf("%s has %q:\n%s", name, alien, text)
			}
		}
	}

	o.fails(t, exitFailure, "is there already", "people", "export", fmt.Sprint(pupil), "--out", file)
	o.fails(t, exitFailure, "is a Location and no person", "people", "export", fmt.Sprint(hall))
	o.fails(t, exitFailure, "404 Not found", "people", "export", "999999")
	full := filepath.Join(dir, "full.zip")
	errortest.None(t, os.Symlink("/dev/full", full+".part"))
	o.fails(t, exitFailure, "no space left", "people", "export", fmt.Sprint(pupil), "--out", full)
	theirs := office{o.system, map[string]string{"BELFRY_URL": o.system.URL, "BELFRY_UUID": head}}
	theirs.fails(t, exitFailure, "403", "people", "export", fmt.Sprint(pupil), "--out", filepath.Join(dir, "head.zip"))
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left there: %v, %v", left, err)
	}
}

// TestPeopleExport_IsPackedFromTheListsThatTheDecisionNames: the command sends GET alone, to what docs/api-decisions.md
// names, and to all of that.
func TestPeopleExport_IsPackedFromTheListsThatTheDecisionNames(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.does(t, "import", clienttest.Folder(t, bundleBefore))
	person := o.element(t, "Staff:17")
	asked := o.watched(t, "people", "export", fmt.Sprint(person), "--out", filepath.Join(t.TempDir(), "person.zip"))

	decisions, err := os.ReadFile("../../docs/api-decisions.md")
	errortest.None(t, err)
	_, decision, _ := strings.Cut(string(decisions), "\n- *A person's data*:")
	decision, _, _ = strings.Cut(decision, "\n\n")
	named := map[string]bool{}
	for _, path := range regexp.MustCompile("`/api/[^`]*`").FindAllString(decision, -1) {
		named["GET "+strings.Trim(path, "`")] = true
	}
	if diff := cmp.Diff(named, asked); diff != "" {
		t.Errorf("(-named +asked):\n%s", diff)
	}
}

// watched runs a command that must succeed, and returns what it asks for besides its session, without ids.
func (o office) watched(t *testing.T, args ...string) map[string]bool {
	t.Helper()
	target, err := url.Parse(o.system.URL)
	errortest.None(t, err)
	door, asked := httputil.NewSingleHostReverseProxy(target), map[string]bool{}
	var mu sync.Mutex
	services := regexp.MustCompile(`/audit/[a-z]+`)
	ids := regexp.MustCompile(`/\d+(/|$)`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := ids.ReplaceAllString(services.ReplaceAllString(r.URL.Path, "/audit/<service>"), "/<id>$1")
		if path != "/api/login" && path != "/api/logout" {
			mu.Lock()
			asked[r.Method+" "+path] = true
			mu.Unlock()
		}
		door.ServeHTTP(w, r)
	}))
	defer server.Close()
	o.with("BELFRY_URL", server.URL).does(t, args...)
	return asked
}

func wantRows(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
}
