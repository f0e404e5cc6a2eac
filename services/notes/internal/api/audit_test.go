package api_test

import (
	"fmt"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestAdministration_AuditOfANoteTellsNothingOfWhatItSays(t *testing.T) {
	s := newSchool(t)
	author, head := s.clients["author"], s.clients["head"]
	id := s.newNote(t, map[string]any{"contents": "classified"})
	note := paths(id)[0]
	author.Put(t, note, map[string]any{"note": map[string]any{"contents": "declassified", "visible_pupil": true}})
	author.Put(t, note, map[string]any{"note": map[string]any{"visible_pupil": true}}) // changes nothing
	author.Delete(t, note)
	record := fmt.Sprintf("Note:%d", id)
	want := []string{
		fmt.Sprintf("delete %s: event_id %d →, owner_id %d →, contents →, visible_guest false →, visible_staff true "+
			"→, visible_pupil true →", record, s.event, s.ids["author"]),
		"update " + record + ": contents →, visible_pupil false → true",
		fmt.Sprintf("create %s: event_id → %d, owner_id → %d, contents →, visible_guest → false, visible_staff → "+
			"true, visible_pupil → false", record, s.event, s.ids["author"]),
	}
	valuetest.Equal(t, want, head.AuditTexts(t, "notes", fmt.Sprintf("record=Event:%d", s.event)))
	for _, l := range head.Audit(t, "notes", "record="+record) {
		// the creation came through events
		if l.UserID == nil || *l.UserID != s.ids["author"] || l.From == "" || l.Request == "" {
			t.Errorf("%s by %+v", l, l)
		}
	}
	valuetest.Lacks(t, head.Get(t, "/api/admin/audit/notes?limit=1000").Body, "classified",
		"the audit holds what a note says")
}

func TestAdministration_AuditOfNotesOutlivesTheirEvent(t *testing.T) {
	s := newSchool(t)
	author, head := s.clients["author"], s.clients["head"]
	for range 3 {
		s.newNote(t, map[string]any{})
	}
	author.Delete(t, fmt.Sprintf("/api/events/%d", s.event)).Want(t, 200, `{"status":"OK"}`)
	waitForNoNotes(t, s.event)
	valuetest.Len(t, head.Audit(t, "notes", fmt.Sprintf("record=Event:%d", s.event)), 3, "creations of 3")
}
