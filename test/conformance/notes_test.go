package conformance_test

import (
	"fmt"
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
	proves(t, "2.5 fields", "2.5 formatted_contents", "2.5 owner", "2.5 parent", "4.3 POST note", "4.3 GET note",
		"4.3 PUT note", "4.3 GET notes of an event", "decisions 1 key order", "decisions 1 escapes")
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
	for name, value := range fields {
		row[name] = value
	}
	return event, s.Import(t, "notes", row)[key]
}

func TestPart2_5_NotesOfTheSystem(t *testing.T) {
	proves(t, "2.5 system notes", "2.5 owner", "decisions 6 system notes")
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
	c := school.Booker(t) // the owner sees their own notes as well
	own := addNote(t, c, event, object{"contents": "mine"})
	c.Delete(t, notePaths(own)[0]).Want(t, http.StatusOK, `{"status":"OK"}`)
	equal(t, "the notes left", noteIDs(t, c.Get(t, notesPath(event))), []int64{note})
}

func TestPart4_3_Defaults(t *testing.T) {
	proves(t, "4.3 defaults")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	for _, sent := range []object{{"contents": "x"}, {},
		{"contents": "x", "visible_guest": nil, "visible_staff": nil, "visible_pupil": nil}} {
		a := c.Get(t, notePaths(addNote(t, c, event, sent))[0])
		equal(t, "guest, staff, pupil", a.At(t, "note.visible_guest")+" "+a.At(t,
			"note.visible_staff")+" "+a.At(t, "note.visible_pupil"), "false true false")
	}
	for i := range 8 {
		guest, staff, pupil := i&1 > 0, i&2 > 0, i&4 > 0
		a := c.Get(t, notePaths(addNote(t, c, event,
			object{"visible_guest": guest, "visible_staff": staff, "visible_pupil": pupil}))[0])
		equal(t, "guest, staff, pupil", a.At(t, "note.visible_guest")+" "+a.At(t,
			"note.visible_staff")+" "+a.At(t, "note.visible_pupil"), fmt.Sprintf("%t %t %t", guest, staff, pupil))
	}
}

func TestPart4_3_Rule01_CreatingNeedsPermissionOnAnyEvent(t *testing.T) {
	proves(t, "4.3 rule 1", "decisions 6 can_add_notes", "4.3 POST note", "5 rule 11")
	owner := school.Booker(t)
	event := school.Event(t, owner, nil).Int(t, "event.id")
	body := object{"note": object{"contents": "x"}}
	for _, c := range []*servicetest.Client{school.As(t), school.As(t, allBut("can_add_notes", "admin")...)} {
		c.Post(t, notesPath(event), body).Want(t, http.StatusForbidden, forbidden)
	}
	mine := school.Event(t, school.As(t, "can_add_events"), nil) // nor to their own event
	school.As(t).Post(t, notesPath(mine.Int(t, "event.id")), body).Want(t, http.StatusForbidden, forbidden)
	owner.Get(t, notesPath(event)).Want(t, http.StatusOK, `{"status":"OK","notes":[]}`)
	for _, kind := range []string{"staff", "pupil", "guest"} { // on anybody's event
		u := school.UserWith(t, object{"kind": kind}, "can_api", "can_add_notes")
		equal(t, "the owner", school.Login(t, u).Post(t, notesPath(event), body).Must(t, http.StatusOK).At(t,
			"note.owner"), u.List())
	}
	addNote(t, school.As(t, "admin"), event, object{}) // it implies every other permission
}

func TestPart4_3_Rule02_FieldsNotGivenKeepTheirValues(t *testing.T) {
	proves(t, "4.3 rule 2", "4.3 PUT note", "decisions 1 unknown fields")
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
			equal(t, "after "+jsonText(step.change),
				fmt.Sprint(a.At(t, "note.contents"), " ", html, " ", a.At(t, "note.visible_guest"), " ",
					a.At(t, "note.visible_staff"), " ", a.At(t, "note.visible_pupil")), step.want)
			equal(t, "as get shows it", c.Get(t, path).Body, a.Body)
		}
	}
}

func TestPart4_3_Rule03_OnlyTheOwnerUpdatesAndDeletes(t *testing.T) {
	proves(t, "4.3 rule 3", "decisions 6 owner only", "decisions 8 not implied", "5 rule 11")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	id := addNote(t, c, event, object{"contents": "a"}) // which staff see
	others := map[string]struct {
		client *servicetest.Client
		code   int
	}{
		"staff": {school.Booker(t), http.StatusForbidden}, "admin": {school.As(t, "admin"), http.StatusForbidden},
		"editor": {school.As(t, "edit_all_events", "can_add_notes"), http.StatusForbidden},
		"pupil": {school.Login(t, school.UserWith(t, object{"kind": "pupil"}, "can_api", "can_add_notes",
			"edit_all_events")), http.StatusNotFound},
		"guest": {school.Login(t, school.UserWith(t, object{"kind": "guest"}, "can_api", "can_add_notes")),
			http.StatusNotFound},
	}
	for role, other := range others {
		body := forbidden
		if other.code == http.StatusNotFound {
			body = missing("Not found", "Note", id)
		}
		for _, path := range notePaths(id) {
			change := object{"note": object{"contents": "b"}}
			// permissions are checked before the contents
			unreadable := object{"note": object{"contents": 5}}
			for _, a := range []servicetest.Answer{other.client.Put(t, path, unreadable),
				other.client.Put(t, path, change), other.client.Patch(t, path, change), other.client.Delete(t, path)} {
				equal(t, a.Request+" by "+role, fmt.Sprint(a.Code, " ", a.Body), fmt.Sprint(other.code, " ", body))
			}
		}
	}
	equal(t, "the note", c.Get(t, notePaths(id)[0]).Text(t, "note.contents"), "a")
	foreign := school.Event(t, school.Booker(t), nil).Int(t, "event.id") // the event's owner is not the note's
	strangers := addNote(t, school.Booker(t), foreign, object{"contents": "a"})
	c.Delete(t, notePaths(strangers)[0]).Want(t, http.StatusForbidden, forbidden)
	c.Delete(t, notePaths(id)[0]).Want(t, http.StatusOK, `{"status":"OK"}`)
}

func TestPart4_3_Rule04_DeletingADeletedNoteIsNotFound(t *testing.T) {
	proves(t, "4.3 rule 4", "4.3 DELETE note", "7.2 note", "7.2 body", "7.1 Not found", "decisions 1 exception")
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

func TestDecisionsPart6_BothPathsServeEveryMethod(t *testing.T) {
	proves(t, "decisions 6 both paths", "4.3 DELETE note")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	for i := range 2 {
		id := addNote(t, c, event, object{"contents": "a"})
		path, other := notePaths(id)[i], notePaths(id)[1-i]
		equal(t, "GET", c.Get(t, path).Must(t, http.StatusOK).Body, c.Get(t, other).Body)
		equal(t, "PUT", c.Put(t, path, object{"note": object{"contents": "b"}}).Must(t,
			http.StatusOK).Body, c.Get(t, other).Body)
		equal(t, "PATCH", c.Patch(t, path, object{"note": object{"contents": "c"}}).Must(t,
			http.StatusOK).Body, c.Get(t, other).Body)
		equal(t, "the contents", c.Get(t, other).Text(t, "note.contents"), "c")
		c.Delete(t, path).Want(t, http.StatusOK, `{"status":"OK"}`)
		c.Get(t, other).WantCode(t, http.StatusNotFound)
	}
	for _, path := range []string{"/notes/0", "/api/notes/0", "/notes/01", "/notes/x", "/api/notes/-1",
		"/notes/9223372036854775808"} {
		c.Get(t, path).Want(t, http.StatusNotFound, `{"status":"Not found"}`)
		c.Delete(t, path).Want(t, http.StatusNotFound, `{"status":"Not found"}`)
	}
}

func TestDecisionsPart6_ContentsMayBeEmptyAndHave65536Characters(t *testing.T) {
	proves(t, "decisions 6 contents", "decisions 1 422")
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
	proves(t, "decisions 6 bounds", "decisions 1 422")
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
	for range 10 {
		for _, a := range atOnce(t, 50, func(int) (string, string, any) {
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

func TestDecisionsPart1_NotesWithoutAnObject(t *testing.T) {
	proves(t, "decisions 1 400 wrapper")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	id := addNote(t, c, event, object{"contents": "a"})
	for _, body := range []string{``, `{}`, `{"note":null}`, `{"note":[]}`, `{"note":"a"}`, `{"contents":"b"}`, `[]`,
		`{"note":{}} x`} {
		for _, path := range notePaths(id) {
			c.Do(t, http.MethodPut, path, body).WantCode(t, http.StatusBadRequest)
			c.Do(t, http.MethodPatch, path, body).WantCode(t, http.StatusBadRequest)
		}
		c.Do(t, http.MethodPost, notesPath(event), body).WantCode(t, http.StatusBadRequest)
	}
	equal(t, "notes of the event", noteIDs(t, c.Get(t, notesPath(event))), []int64{id})
}

// noteIDs returns the ids of a listing, in its order.
func noteIDs(t *testing.T, a servicetest.Answer) []int64 {
	t.Helper()
	ids := []int64{}
	for _, n := range decode[struct{ Notes []struct{ ID int64 } }](t, a).Notes {
		ids = append(ids, n.ID)
	}
	return ids
}
