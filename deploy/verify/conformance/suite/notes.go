package suite

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// noteChecks are those of parts 2.5 and 4.3 and of decisions, part 6.
func noteChecks() []Check {
	return slices.Concat([]Check{
		prove("TestPart2_5_FormsOfANote", formsOfANote, "2.5 fields", "2.5 formatted_contents", "2.5 owner", "2.5 parent", "4.3 POST note", "4.3 GET note", "4.3 PUT note",
			"4.3 GET notes of an event", "decisions 1 key order", "decisions 1 escapes"),
		prove("TestPart2_5_NotesOfTheSystem", notesOfTheSystem, "2.5 system notes", "2.5 owner", "decisions 6 system notes"),
		prove("TestPart4_3_Defaults", noteDefaults, "4.3 defaults"),
		prove("TestPart4_3_Rule01_CreatingNeedsPermissionOnAnyEvent", creatingNotes, "4.3 rule 1", "decisions 6 can_add_notes", "4.3 POST note", "5 rule 11"),
		prove("TestPart4_3_Rule02_FieldsNotGivenKeepTheirValues", noteFieldsKeep, "4.3 rule 2", "4.3 PUT note", "decisions 1 unknown fields"),
		prove("TestPart4_3_Rule03_OnlyTheOwnerUpdatesAndDeletes", onlyTheOwner, "4.3 rule 3", "decisions 6 owner only", "decisions 8 not implied", "5 rule 11"),
		prove("TestPart4_3_Rule04_DeletingADeletedNoteIsNotFound", deletingADeletedNote, "4.3 rule 4", "4.3 DELETE note", "7.2 note", "7.2 body", "7.1 Not found", "decisions 1 exception"),
		prove("TestDecisionsPart6_BothPathsServeEveryMethod", bothPaths, "decisions 6 both paths", "4.3 DELETE note"),
		prove("TestDecisionsPart6_ContentsMayBeEmptyAndHave65536Characters", noteLength, "decisions 6 contents", "decisions 1 422"),
		prove("TestDecisionsPart1_NotesWithoutAnObject", notesWithoutAnObject, "decisions 1 400 wrapper"),
	}, visibilityChecks(), markdownChecks())
}

// notePaths are the two paths of a note.
func notePaths(id int64) []string {
	return []string{fmt.Sprintf("/api/notes/%d", id), fmt.Sprintf("/notes/%d", id)}
}

func notesPath(event int64) string { return eventPath(event) + "/notes" }

// note adds a note to an event and returns its id.
func (t *T) note(c *Client, event int64, fields map[string]any) int64 {
	return c.Post(notesPath(event), map[string]any{"note": fields}).Must(http.StatusOK).Int("note.id")
}

func formsOfANote(t *T) {
	u := t.User("can_add_events", "can_add_notes")
	c := t.Login(u)
	event := t.Event(c, nil)
	contents := map[string]any{"note": map[string]any{"contents": "Bring *boots*\nand <b>hats</b>.\n\nSee [map](/map)."}}
	a := c.Post(notesPath(event.Int("event.id")), contents)
	samples := []any{"80001", a.Int("note.id"), "60001", u.ID, "Sample user", u.Name, "user@school.example", u.Email}
	t.Golden(a, http.StatusOK, "note_created.json", samples...)
	t.Golden(c.Get(notesPath(event.Int("event.id"))), http.StatusOK, "notes.json", samples...)
	samples = append(samples, "40001", event.Int("event.id"), "Sample trip", event.String("event.body"))
	for _, path := range notePaths(a.Int("note.id")) {
		t.Golden(c.Get(path), http.StatusOK, "note.json", samples...)
		t.Golden(c.Put(path, map[string]any{"note": map[string]any{}}), http.StatusOK, "note.json", samples...)
		t.Golden(c.Put(path, contents), http.StatusOK, "note.json", samples...)
		t.Golden(c.Patch(path, contents), http.StatusOK, "note.json", samples...)
	}
	c.Get(notesPath(t.Event(c, nil).Int("event.id"))).Want(http.StatusOK, `{"status":"OK","notes":[]}`)
}

// systemNote imports an event and a note of the system's, and returns the ids of both.
func (t *T) systemNote(title string, fields map[string]any) (event, note int64) {
	key := t.Unique("key")
	event = t.Import("events", map[string]any{"key": key, "body": title, "category": t.School.Category.Name, "starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00"})[key]
	row := map[string]any{"key": key, "event": key}
	for name, value := range fields {
		row[name] = value
	}
	return event, t.Import("notes", row)[key]
}

func notesOfTheSystem(t *T) {
	title := t.Unique("Trip")
	event, note := t.systemNote(title, map[string]any{"contents": "Bring *boots*\nand <b>hats</b>.\n\nSee [map](/map)."})
	for _, c := range []*Client{t.Booker(), t.As("admin")} {
		for _, path := range notePaths(note) {
			t.Golden(c.Get(path), http.StatusOK, "note_of_the_system.json", "80001", note, "40001", event, "Sample trip", title)
			c.Put(path, map[string]any{"note": map[string]any{"contents": "x"}}).Want(http.StatusForbidden, forbidden)
			c.Patch(path, map[string]any{"note": map[string]any{"contents": "x"}}).Want(http.StatusForbidden, forbidden)
			c.Delete(path).Want(http.StatusForbidden, forbidden)
		}
	}
	c := t.Booker() // one's own is one's own beside it
	own := t.note(c, event, map[string]any{"contents": "mine"})
	c.Delete(notePaths(own)[0]).Want(http.StatusOK, `{"status":"OK"}`)
	t.Equal("the notes left", noteIDs(c.Get(notesPath(event))), []int64{note})
}

func noteDefaults(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	for _, sent := range []map[string]any{{"contents": "x"}, {}, {"contents": "x", "visible_guest": nil, "visible_staff": nil, "visible_pupil": nil}} {
		a := c.Get(notePaths(t.note(c, event, sent))[0])
		t.Equal("guest, staff, pupil", a.At("note.visible_guest")+" "+a.At("note.visible_staff")+" "+a.At("note.visible_pupil"), "false true false")
	}
	for i := range 8 {
		guest, staff, pupil := i&1 > 0, i&2 > 0, i&4 > 0
		a := c.Get(notePaths(t.note(c, event, map[string]any{"visible_guest": guest, "visible_staff": staff, "visible_pupil": pupil}))[0])
		t.Equal("guest, staff, pupil", a.At("note.visible_guest")+" "+a.At("note.visible_staff")+" "+a.At("note.visible_pupil"), fmt.Sprintf("%t %t %t", guest, staff, pupil))
	}
}

func creatingNotes(t *T) {
	owner := t.Booker()
	event := t.Event(owner, nil).Int("event.id")
	body := map[string]any{"note": map[string]any{"contents": "x"}}
	for _, c := range []*Client{t.As(), t.As("can_add_events", "edit_all_events", "privileged", "can_su")} {
		c.Post(notesPath(event), body).Want(http.StatusForbidden, forbidden)
	}
	mine := t.Event(t.As("can_add_events"), nil) // nor to one's own event
	t.As().Post(notesPath(mine.Int("event.id")), body).Want(http.StatusForbidden, forbidden)
	owner.Get(notesPath(event)).Want(http.StatusOK, `{"status":"OK","notes":[]}`)
	for _, kind := range []string{"staff", "pupil", "guest"} { // on anybody's event
		u := t.UserWith(map[string]any{"kind": kind}, "can_api", "can_add_notes")
		t.Equal("the owner", t.Login(u).Post(notesPath(event), body).Must(http.StatusOK).At("note.owner"), u.List())
	}
	t.note(t.As("admin"), event, map[string]any{}) // it implies every other permission
}

func noteFieldsKeep(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	id := t.note(c, event, map[string]any{"contents": "a", "visible_guest": true, "visible_staff": false})
	for _, step := range []struct {
		change map[string]any
		want   string
	}{
		{map[string]any{}, `"a" <p>a</p> true false false`},
		{map[string]any{"visible_pupil": true}, `"a" <p>a</p> true false true`},
		{map[string]any{"contents": "*b*"}, `"*b*" <p><em>b</em></p> true false true`},
		{map[string]any{"contents": nil, "visible_guest": false, "id": 1, "owner": nil, "owner_id": 1, "event_id": 1, "formatted_contents": "x", "parent": nil}, `"*b*" <p><em>b</em></p> false false true`},
		{map[string]any{"contents": "", "visible_staff": true}, `""  false true true`},
	} {
		for _, path := range notePaths(id) {
			a := c.Put(path, map[string]any{"note": step.change}).Must(http.StatusOK)
			html := strings.TrimSuffix(a.String("note.formatted_contents"), "\n")
			t.Equal("after "+jsonText(step.change), fmt.Sprint(a.At("note.contents"), " ", html, " ", a.At("note.visible_guest"), " ", a.At("note.visible_staff"), " ", a.At("note.visible_pupil")), step.want)
			t.Equal("as get shows it", c.Get(path).Body, a.Body)
		}
	}
}

func onlyTheOwner(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	id := t.note(c, event, map[string]any{"contents": "a"}) // which staff see
	others := map[string]struct {
		client *Client
		code   int
	}{
		"staff": {t.Booker(), http.StatusForbidden}, "admin": {t.As("admin"), http.StatusForbidden}, "editor": {t.As("edit_all_events", "can_add_notes"), http.StatusForbidden},
		"pupil": {t.Login(t.UserWith(map[string]any{"kind": "pupil"}, "can_api", "can_add_notes", "edit_all_events")), http.StatusNotFound},
		"guest": {t.Login(t.UserWith(map[string]any{"kind": "guest"}, "can_api", "can_add_notes")), http.StatusNotFound},
	}
	for role, other := range others {
		body := forbidden
		if other.code == http.StatusNotFound {
			body = missing("Not found", "Note", id)
		}
		for _, path := range notePaths(id) {
			change := map[string]any{"note": map[string]any{"contents": "b"}}
			for _, a := range []Answer{other.client.Put(path, change), other.client.Patch(path, change), other.client.Delete(path)} {
				t.Equal(a.request+" by "+role, fmt.Sprint(a.Code, " ", a.Body), fmt.Sprint(other.code, " ", body))
			}
		}
	}
	t.Equal("the note", c.Get(notePaths(id)[0]).String("note.contents"), "a")
	foreign := t.Event(t.Booker(), nil).Int("event.id") // the event's owner is not the note's
	strangers := t.note(t.Booker(), foreign, map[string]any{"contents": "a"})
	c.Delete(notePaths(strangers)[0]).Want(http.StatusForbidden, forbidden)
	c.Delete(notePaths(id)[0]).Want(http.StatusOK, `{"status":"OK"}`)
}

func deletingADeletedNote(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	id := t.note(c, event, map[string]any{"contents": "x"})
	c.Delete(notePaths(id)[1]).Want(http.StatusOK, `{"status":"OK"}`)
	for _, path := range notePaths(id) {
		for range 2 {
			c.Delete(path).Want(http.StatusNotFound, missing("Not found", "Note", id))
		}
		c.Get(path).Want(http.StatusNotFound, missing("Not found", "Note", id))
		c.Put(path, map[string]any{"note": map[string]any{}}).Want(http.StatusNotFound, missing("Not found", "Note", id))
	}
	c.Get(notesPath(event)).Want(http.StatusOK, `{"status":"OK","notes":[]}`)
	c.Delete(notePaths(noSuchID)[1]).Want(http.StatusNotFound, missing("Not found", "Note", noSuchID))
}

func bothPaths(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	for i := range 2 {
		id := t.note(c, event, map[string]any{"contents": "a"})
		path, other := notePaths(id)[i], notePaths(id)[1-i]
		t.Equal("GET", c.Get(path).Must(http.StatusOK).Body, c.Get(other).Body)
		t.Equal("PUT", c.Put(path, map[string]any{"note": map[string]any{"contents": "b"}}).Must(http.StatusOK).Body, c.Get(other).Body)
		t.Equal("PATCH", c.Patch(path, map[string]any{"note": map[string]any{"contents": "c"}}).Must(http.StatusOK).Body, c.Get(other).Body)
		t.Equal("the contents", c.Get(other).String("note.contents"), "c")
		c.Delete(path).Want(http.StatusOK, `{"status":"OK"}`)
		c.Get(other).WantCode(http.StatusNotFound)
	}
	for _, path := range []string{"/notes/0", "/api/notes/0", "/notes/01", "/notes/x", "/api/notes/-1", "/notes/9223372036854775808"} {
		c.Get(path).Want(http.StatusNotFound, `{"status":"Not found"}`)
		c.Delete(path).Want(http.StatusNotFound, `{"status":"Not found"}`)
	}
}

func noteLength(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	for _, contents := range []string{"", "x", strings.Repeat("x", 65536), strings.Repeat("é", 65536), strings.Repeat("🚌", 65536)} {
		id := t.note(c, event, map[string]any{"contents": contents})
		t.Equal("contents come back as they were sent", c.Get(notePaths(id)[0]).String("note.contents") == contents, true)
	}
	id := t.note(c, event, map[string]any{"contents": "stays"})
	for _, contents := range []any{strings.Repeat("x", 65537), strings.Repeat("é", 65537), 7, true, []any{"x"}} {
		a := c.Post(notesPath(event), map[string]any{"note": map[string]any{"contents": contents}})
		t.Equal("on create", fmt.Sprint(a.Code, " ", a.At("note.id"), " ", a.At("note.valid"), " ", a.Keys("note.errors")), "422 null false contents")
		a = c.Put(notePaths(id)[0], map[string]any{"note": map[string]any{"contents": contents}})
		t.Equal("on update", fmt.Sprint(a.Code, " ", a.At("note.id"), " ", a.At("note.valid"), " ", a.Keys("note.errors")), fmt.Sprintf("422 %d false contents", id))
	}
	t.Equal("the note that was not changed", c.Get(notePaths(id)[0]).String("note.contents"), "stays")
	t.Equal("notes of the event", c.Get(notesPath(event)).Len("notes"), 6)
}

func notesWithoutAnObject(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	id := t.note(c, event, map[string]any{"contents": "a"})
	for _, body := range []string{``, `{}`, `{"note":null}`, `{"note":[]}`, `{"note":"a"}`, `{"contents":"b"}`, `[]`, `{"note":{}} x`} {
		for _, path := range notePaths(id) {
			c.Do(http.MethodPut, path, body).WantCode(http.StatusBadRequest)
			c.Do(http.MethodPatch, path, body).WantCode(http.StatusBadRequest)
		}
		c.Do(http.MethodPost, notesPath(event), body).WantCode(http.StatusBadRequest)
	}
	t.Equal("notes of the event", noteIDs(c.Get(notesPath(event))), []int64{id})
}

// noteIDs are those of a listing, in its order.
func noteIDs(a Answer) []int64 {
	ids := []int64{}
	for _, n := range decode[struct{ Notes []struct{ ID int64 } }](a).Notes {
		ids = append(ids, n.ID)
	}
	return ids
}
