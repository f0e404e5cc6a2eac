package suite

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func visibilityChecks() []Check {
	return []Check{
		prove("TestDecisionsPart6_WhoSeesWhichNotes", whoSeesWhichNotes, "decisions 6 visible", "decisions 6 invisible", "decisions 6 order", "decisions 8 kinds"),
		prove("TestDecisionsPart6_OwnersSeeTheirOwn", ownersSeeTheirOwn, "decisions 6 visible", "decisions 6 owner only"),
		prove("TestDecisionsPart6_VisibilityFollowsTheFlags", visibilityFollows, "decisions 6 visible", "4.3 rule 2"),
	}
}

// whoSeesWhichNotes is the table of every combination of flags against every kind of viewer, in the listing and by id on both paths, for notes of a user and of the
// system.
func whoSeesWhichNotes(t *T) {
	author := t.Booker()
	event, system := t.systemNote("lesson", map[string]any{"contents": "the system's", "visible_guest": true, "visible_staff": false, "visible_pupil": false})
	type seen struct{ guest, staff, pupil bool }
	notes, order := map[int64]seen{system: {guest: true}}, []int64{system}
	for i := range 8 {
		flags := seen{i&1 > 0, i&2 > 0, i&4 > 0}
		id := t.note(author, event, map[string]any{"contents": fmt.Sprint(i), "visible_guest": flags.guest, "visible_staff": flags.staff, "visible_pupil": flags.pupil})
		notes[id] = flags
		order = append(order, id)
	}
	slices.Sort(order) // replicas number from blocks of their own
	for viewer, row := range map[string]struct {
		client *Client
		sees   func(seen) bool
	}{
		"author":               {author, nil}, // all its own
		"admin":                {t.As("admin"), func(seen) bool { return true }},
		"admin who is a guest": {t.Login(t.UserWith(map[string]any{"kind": "guest"}, "admin")), func(seen) bool { return true }},
		"staff":                {t.As("can_add_notes", "can_add_events", "edit_all_events", "privileged", "can_su"), func(s seen) bool { return s.staff }},
		"pupil":                {t.Login(t.UserWith(map[string]any{"kind": "pupil"}, "can_api", "can_add_notes", "edit_all_events")), func(s seen) bool { return s.pupil }},
		"guest":                {t.Login(t.UserWith(map[string]any{"kind": "guest"}, "can_api", "privileged")), func(s seen) bool { return s.guest }},
	} {
		want := []int64{}
		for _, id := range order {
			sees := id != system // which is for guests
			if row.sees != nil {
				sees = row.sees(notes[id])
			}
			for _, path := range notePaths(id) {
				if a := row.client.Get(path); sees {
					t.Equal(fmt.Sprintf("%s reads %+v", viewer, notes[id]), a.Code, http.StatusOK)
				} else {
					t.Equal(fmt.Sprintf("%s reads %+v", viewer, notes[id]), fmt.Sprint(a.Code, " ", a.Body), "404 "+missing("Not found", "Note", id))
				}
			}
			if sees {
				want = append(want, id)
			}
		}
		t.Equal("listed to the "+viewer, noteIDs(row.client.Get(notesPath(event))), want)
	}
}

func ownersSeeTheirOwn(t *T) {
	event := t.Event(t.Booker(), nil).Int("event.id")
	for _, kind := range []string{"staff", "pupil", "guest"} {
		c := t.Login(t.UserWith(map[string]any{"kind": kind}, "can_api", "can_add_notes"))
		id := t.note(c, event, map[string]any{"contents": kind, "visible_guest": false, "visible_staff": false, "visible_pupil": false})
		t.Equal("what a "+kind+" is listed", noteIDs(c.Get(notesPath(event))), []int64{id})
		c.Put(notePaths(id)[0], map[string]any{"note": map[string]any{"contents": "changed"}}).WantCode(http.StatusOK)
		c.Delete(notePaths(id)[1]).Want(http.StatusOK, `{"status":"OK"}`)
	}
}

func visibilityFollows(t *T) {
	c, pupil := t.Booker(), t.Login(t.UserWith(map[string]any{"kind": "pupil"}, "can_api"))
	event := t.Event(c, nil).Int("event.id")
	id := t.note(c, event, map[string]any{"contents": "x"})
	codes := []string{}
	for _, visible := range []bool{false, true, false} {
		c.Put(notePaths(id)[0], map[string]any{"note": map[string]any{"visible_pupil": visible}}).Must(http.StatusOK)
		codes = append(codes, fmt.Sprint(pupil.Get(notePaths(id)[0]).Code, " ", len(noteIDs(pupil.Get(notesPath(event))))))
	}
	t.Equal("a pupil's answers", strings.Join(codes, ", "), "404 0, 200 1, 404 0")
}
