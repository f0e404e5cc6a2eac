package api_test

import (
	"fmt"
	"testing"
)

func TestDecisionsPart4_DeletingAnEventWhileNotesIsAway(t *testing.T) {
	s := newSchool(t)
	s.newNote(t, map[string]any{"contents": "a"})
	system(t).Kill(t, "notes")
	deleted := s.clients["author"].Delete(t, fmt.Sprint("/api/events/", s.event))
	system(t).Restart(t, "notes")
	deleted.Want(t, 200, `{"status":"OK"}`)
	waitForNoNotes(t, s.event)
}
