package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// TestDecisionsPart6_WhoSeesWhichNotes tries every combination of flags with every kind of viewer, in the listing
// and by id on both paths, for notes of a user and of the system.
func TestDecisionsPart6_WhoSeesWhichNotes(t *testing.T) {
	proves(t, "decisions 6 visible", "decisions 6 invisible: others: 404 and not listed",
		"decisions 6 order: as written: by time, then id", "decisions 8 kinds")
	author := school.Booker(t)
	event, system := school.systemNote(t, "lesson",
		object{"contents": "the system's", "visible_guest": true, "visible_staff": false, "visible_pupil": false})
	type seen struct{ guest, staff, pupil bool }
	notes, order := map[int64]seen{system: {guest: true}}, []int64{system}
	for i := range 8 {
		flags := seen{i&1 > 0, i&2 > 0, i&4 > 0}
		id := addNote(t, author, event, object{"contents": fmt.Sprint(i),
			"visible_guest": flags.guest, "visible_staff": flags.staff, "visible_pupil": flags.pupil})
		notes[id] = flags
		order = append(order, id)
	}
	for viewer, row := range map[string]struct {
		client *servicetest.Client
		sees   func(seen) bool
	}{
		"author": {author, nil}, // all its own
		"admin":  {school.As(t, "admin"), func(seen) bool { return true }},
		"admin who is a guest": {school.Login(t, school.UserWith(t, object{"kind": "guest"}, "admin")),
			func(seen) bool { return true }},
		"staff": {school.As(t, "can_add_notes", "can_add_events", "edit_all_events", "privileged",
			"can_su"), func(s seen) bool { return s.staff }},
		"pupil": {school.Login(t,
			school.UserWith(t, object{"kind": "pupil"}, "can_api", "can_add_notes",
				"edit_all_events")), func(s seen) bool { return s.pupil }},
		"guest": {school.Login(t,
			school.UserWith(t, object{"kind": "guest"}, "can_api",
				"privileged")), func(s seen) bool { return s.guest }},
	} {
		want := []int64{}
		for _, id := range order {
			sees := id != system // which is for guests
			if row.sees != nil {
				sees = row.sees(notes[id])
			}
			for _, path := range notePaths(id) {
				if a := row.client.Get(t, path); sees {
					equal(t, fmt.Sprintf("%s reads %+v", viewer, notes[id]), a.Code, http.StatusOK)
				} else {
					equal(t, fmt.Sprintf("%s reads %+v", viewer, notes[id]), fmt.Sprint(a.Code, " ", a.Body),
						"404 "+missing("Not found", "Note", id))
				}
			}
			if sees {
				want = append(want, id)
			}
		}
		equal(t, "listed to the "+viewer, row.client.Get(t, notesPath(event)).Ints(t, "notes.#.id"), want)
	}
}

func TestDecisionsPart6_OwnersSeeTheirOwn(t *testing.T) {
	proves(t, "decisions 6 visible: a viewer sees its own notes and those flagged for its kind; admins all",
		"decisions 6 owner only: update and delete by the owner only, not even admins: 403; 404 when not visible")
	event := school.Event(t, school.Booker(t), nil).Int(t, "event.id")
	for _, kind := range []string{"staff", "pupil", "guest"} {
		c := school.Login(t, school.UserWith(t, object{"kind": kind}, "can_api", "can_add_notes"))
		id := addNote(t, c, event, object{"contents": kind, "visible_guest": false, "visible_staff": false,
			"visible_pupil": false})
		equal(t, "what a "+kind+" is listed", c.Get(t, notesPath(event)).Ints(t, "notes.#.id"), []int64{id})
		c.Put(t, notePaths(id)[0], object{"note": object{"contents": "changed"}}).WantCode(t, http.StatusOK)
		c.Delete(t, notePaths(id)[1]).Want(t, http.StatusOK, `{"status":"OK"}`)
	}
}
