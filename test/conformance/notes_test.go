package conformance_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// notePaths returns the two paths of a note.
func notePaths(id int64) []string {
	return []string{notePath(id), fmt.Sprintf("/notes/%d", id)}
}

// addNote adds a note to an event and returns its id.
func addNote(t *testing.T, c *servicetest.Client, event int64, fields object) int64 {
	t.Helper()
	return c.Post(t, notesPath(event), object{"note": fields}).Must(t, http.StatusOK).Int(t, "note.id")
}

func TestPart2_5_FormsOfANote(t *testing.T) {
	proves(t, "2.5 fields", "2.5 formatted_contents", "2.5 owner",
		"2.5 parent: parent (id, body, starts_at, ends_at, all_day, valid) only when a note is fetched or updated "+
			"by its id", "4.3 POST note: the new note without parent; the caller is its owner",
		"4.3 GET note: one note, with parent", "4.3 PUT note",
		"4.3 GET notes of an event: status OK and the notes, without parent", "decisions 1 key order",
		"decisions 1 escapes", "decisions 6 both paths: /api/notes/<id> and /notes/<id> serve GET, PUT, PATCH, DELETE")
	u := school.User(t, "can_add_events", "can_add_notes")
	c := school.Login(t, u)
	event := school.Event(t, c, nil)
	text := "Bring *boots*\nand <b>hats</b>.\n\nSee [map](/map)."
	contents := object{"note": object{"contents": text}}
	a := c.Post(t, notesPath(event.Int(t, "event.id")), contents)
	samples := []any{"80001", a.Int(t, "note.id"), "60001", u.ID, "Sample user", u.Name, "user@school.example", u.Email}
	school.Golden(t, a, http.StatusOK, "note_created.json", samples...)
	school.Golden(t, c.Get(t, notesPath(event.Int(t, "event.id"))), http.StatusOK, "notes.json", samples...)
	samples = append(samples, "40001", event.Int(t, "event.id"), "Sample trip", event.Text(t, "event.body"))
	for _, path := range notePaths(a.Int(t, "note.id")) {
		school.Golden(t, c.Get(t, path), http.StatusOK, "note.json", samples...)
		school.Golden(t, c.Put(t, path, object{"note": object{}}), http.StatusOK, "note.json", samples...)
		school.Golden(t, c.Put(t, path, contents), http.StatusOK, "note.json", samples...)
		school.Golden(t, c.Patch(t, path, contents), http.StatusOK, "note.json", samples...)
	}
	c.Get(t, notesPath(school.Event(t, c, nil).Int(t, "event.id"))).Want(t, http.StatusOK, `{"status":"OK","notes":[]}`)
}

// systemNote imports an event and a note of the system, and returns both ids.
func (s *School) systemNote(t *testing.T, title string, fields object) (event, note int64) {
	t.Helper()
	key := s.Unique("key")
	event = s.Import(t, "events", object{"key": key, "body": title, "category": s.Category.Name,
		"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00"})[key]
	row := object{"key": key, "event": key}
	maps.Copy(row, fields)
	return event, s.Import(t, "notes", row)[key]
}

func TestPart2_5_NotesOfTheSystem(t *testing.T) {
	proves(t, "2.5 system notes: some notes are the system's own, others are written by users",
		"2.5 owner: owner is a user, or null for a note of the system",
		"decisions 6 system notes: owner null; the system alone changes and removes them")
	title := school.Unique("Trip")
	event, note := school.systemNote(t, title,
		object{"contents": "Bring *boots*\nand <b>hats</b>.\n\nSee [map](/map)."})
	for _, c := range []*servicetest.Client{school.Booker(t), school.As(t, "admin")} {
		for _, path := range notePaths(note) {
			school.Golden(t, c.Get(t, path), http.StatusOK, "note_of_the_system.json", "80001", note, "40001", event,
				"Sample trip", title)
			c.Put(t, path, object{"note": object{"contents": "x"}}).Want(t, http.StatusForbidden, forbidden)
			c.Patch(t, path, object{"note": object{"contents": "x"}}).Want(t, http.StatusForbidden, forbidden)
			c.Delete(t, path).Want(t, http.StatusForbidden, forbidden)
		}
	}
	lesson, away := school.systemNote(t, "Lesson", object{"contents": "2 of 9A are away."})
	school.Golden(t, school.As(t).Get(t, notesPath(lesson)), http.StatusOK, "notes_of_the_system.json", 10301, away)
	c := school.Booker(t) // the owner sees their own notes as well
	own := addNote(t, c, event, object{"contents": "mine"})
	c.Delete(t, notePaths(own)[0]).Want(t, http.StatusOK, `{"status":"OK"}`)
	equal(t, "the notes left", c.Get(t, notesPath(event)).Ints(t, "notes.#.id"), []int64{note})
}

// shownTo returns to whom a note is visible: guests, staff, pupils.
func shownTo(t *testing.T, a servicetest.Answer) string {
	t.Helper()
	return strings.Join([]string{a.At(t, "note.visible_guest"), a.At(t, "note.visible_staff"),
		a.At(t, "note.visible_pupil")}, " ")
}

func TestPart4_3_Defaults(t *testing.T) {
	proves(t, "4.3 defaults: visible to staff, not to guests nor pupils")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	for _, sent := range []object{{"contents": "x"}, {},
		{"contents": "x", "visible_guest": nil, "visible_staff": nil, "visible_pupil": nil}} {
		a := c.Get(t, notePaths(addNote(t, c, event, sent))[0])
		equal(t, "guest, staff, pupil", shownTo(t, a), "false true false")
	}
	for i := range 8 {
		guest, staff, pupil := i&1 > 0, i&2 > 0, i&4 > 0
		a := c.Get(t, notePaths(addNote(t, c, event,
			object{"visible_guest": guest, "visible_staff": staff, "visible_pupil": pupil}))[0])
		equal(t, "guest, staff, pupil", shownTo(t, a), fmt.Sprintf("%t %t %t", guest, staff, pupil))
	}
}

func TestPart4_3_Rule02_FieldsNotGivenKeepTheirValues(t *testing.T) {
	proves(t, "4.3 rule 2", "4.3 PUT note: the changed note with parent",
		"decisions 1 unknown fields: unknown body fields are ignored")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	id := addNote(t, c, event, object{"contents": "a", "visible_guest": true, "visible_staff": false})
	for _, step := range []struct {
		change object
		want   string
	}{
		{object{}, `"a" <p>a</p> true false false`},
		{object{"visible_pupil": true}, `"a" <p>a</p> true false true`},
		{object{"contents": "*b*"}, `"*b*" <p><em>b</em></p> true false true`},
		{object{"contents": nil, "visible_guest": "false", "id": 1, "owner": nil, "owner_id": 1, "event_id": 1,
			"formatted_contents": "x", "parent": nil}, `"*b*" <p><em>b</em></p> false false true`},
		{object{"contents": "", "visible_staff": true}, `""  false true true`},
	} {
		for _, path := range notePaths(id) {
			a := c.Put(t, path, object{"note": step.change}).Must(t, http.StatusOK)
			html := strings.TrimSuffix(a.Text(t, "note.formatted_contents"), "\n")
			equal(t, "after "+jsonText(step.change), a.At(t, "note.contents")+" "+html+" "+shownTo(t, a), step.want)
			equal(t, "as get shows it", c.Get(t, path).Body, a.Body)
		}
	}
}

func TestPart4_3_Rule04_DeletingADeletedNoteIsNotFound(t *testing.T) {
	proves(t, "4.3 rule 4: deleting a deleted note: Not found with the exception body",
		"4.3 DELETE note: status OK, at /notes/<id> without /api", "7.2 note", "7.2 body", "7.1 Not found",
		"decisions 1 exception")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	id := addNote(t, c, event, object{"contents": "x"})
	c.Delete(t, notePaths(id)[1]).Want(t, http.StatusOK, `{"status":"OK"}`)
	for _, path := range notePaths(id) {
		for range 2 {
			c.Delete(t, path).Want(t, http.StatusNotFound, missing("Not found", "Note", id))
		}
		c.Get(t, path).Want(t, http.StatusNotFound, missing("Not found", "Note", id))
		c.Put(t, path, object{"note": object{}}).Want(t, http.StatusNotFound, missing("Not found", "Note", id))
	}
	c.Get(t, notesPath(event)).Want(t, http.StatusOK, `{"status":"OK","notes":[]}`)
	c.Delete(t, notePaths(noSuchID)[1]).Want(t, http.StatusNotFound, missing("Not found", "Note", noSuchID))
}

func TestDecisionsPart6_ContentsMayBeEmptyAndHave65536Characters(t *testing.T) {
	proves(t, "decisions 6 contents: may be empty; at most 65,536 characters", "decisions 1 422")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	for _, contents := range []string{"", "x", strings.Repeat("x", 65536), strings.Repeat("é", 65536),
		strings.Repeat("🚌", 65536)} {
		id := addNote(t, c, event, object{"contents": contents})
		equal(t, "contents come back as they were sent",
			c.Get(t, notePaths(id)[0]).Text(t, "note.contents") == contents, true)
	}
	id := addNote(t, c, event, object{"contents": "stays"})
	for _, contents := range []any{strings.Repeat("x", 65537), strings.Repeat("é", 65537), 7, true, []any{"x"}} {
		a := c.Post(t, notesPath(event), object{"note": object{"contents": contents}})
		equal(t, "on create", fmt.Sprint(a.Code, " ", a.At(t, "note.id"), " ", a.At(t, "note.valid"), " ",
			a.Keys(t, "note.errors")), "422 null false contents")
		a = c.Put(t, notePaths(id)[0], object{"note": object{"contents": contents}})
		equal(t, "on update", fmt.Sprint(a.Code, " ", a.At(t, "note.id"), " ", a.At(t, "note.valid"), " ",
			a.Keys(t, "note.errors")), fmt.Sprintf("422 %d false contents", id))
	}
	equal(t, "the note that was not changed", c.Get(t, notePaths(id)[0]).Text(t, "note.contents"), "stays")
	equal(t, "notes of the event", c.Get(t, notesPath(event)).Len(t, "notes"), 6)
}

func TestDecisionsPart6_AnEventHasAMebibyteOfNotesAnd500AtMost(t *testing.T) {
	proves(t, "decisions 6 bounds: an event has at most 500 notes and 1 MiB of contents in all; more is 422",
		"decisions 1 422")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	var id int64
	for range 16 {
		id = addNote(t, c, event, object{"contents": strings.Repeat("x", 65536)})
	}
	const faults = `{"contents":["is too much: an event has at most 500 notes and 1 MiB of contents"]}`
	refused := func(a servicetest.Answer, id string) {
		t.Helper()
		equal(t, "more than there is room for", fmt.Sprint(a.Code, a.At(t, "note.id"), a.At(t, "note.valid"),
			a.At(t, "note.errors")), "422"+id+"false"+faults)
	}
	one := object{"note": object{"contents": "x"}}
	refused(c.Post(t, notesPath(event), one), "null")
	empty := addNote(t, c, event, object{"contents": ""})
	refused(c.Put(t, notePaths(empty)[0], one), fmt.Sprint(empty))
	c.Put(t, notePaths(id)[0], one).Must(t, http.StatusOK) // what it gives back, others get
	c.Put(t, notePaths(empty)[0], one).Must(t, http.StatusOK)

	succeeded := 17
	for range 25 {
		for _, a := range atOnce(t, 20, func(int) (string, string, any) {
			return http.MethodPost, notesPath(event), object{"note": object{}}
		}, c, c) {
			if a.Code == http.StatusOK {
				succeeded++
			} else {
				refused(a, "null")
			}
		}
	}
	equal(t, "notes that there was room for", succeeded, 500)
	listed := c.Get(t, notesPath(event)).Must(t, http.StatusOK)
	equal(t, "notes listed", listed.Len(t, "notes"), 500)
	c.Delete(t, notePaths(id)[0]).Must(t, http.StatusOK)
	c.Post(t, notesPath(event), one).Must(t, http.StatusOK)
	refused(c.Post(t, notesPath(event), one), "null")
}
