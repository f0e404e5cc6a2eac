package api_test

import (
	"fmt"
	"testing"
)

func TestDecisionsPart4_DeletingAnEventDeletesItsNotes(t *testing.T) {
	s := newSchool(t)
	event, gone := s.event, s.newNote(t, map[string]any{"contents": "a"})
	s.event = s.newEvent(t)
	stays := s.newNote(t, map[string]any{"contents": "b"})

	s.clients["author"].Delete(t, fmt.Sprint("/api/events/", event)).Want(t, 200, `{"status":"OK"}`)
	// At once, whether the message has arrived or not.
	for _, path := range paths(gone) {
		s.clients["author"].Get(t, path).Want(t, 404, missing(gone))
		s.clients["head"].Put(t, path, `{"note":{}}`).Want(t, 404, missing(gone))
		s.clients["author"].Delete(t, path).Want(t, 404, missing(gone))
	}
	waitForNoNotes(t, event)
	s.clients["author"].Get(t, paths(stays)[0]).WantCode(t, 200, "the note of another event")
}

func TestDecisionsPart4_DeletingAnEventWhileNotesIsAway(t *testing.T) {
	s := newSchool(t)
	s.newNote(t, map[string]any{"contents": "a"})
	system(t).Kill(t, "notes")
	deleted := s.clients["author"].Delete(t, fmt.Sprint("/api/events/", s.event))
	system(t).Restart(t, "notes")
	deleted.Want(t, 200, `{"status":"OK"}`)
	waitForNoNotes(t, s.event)
}

func TestDecisionsPart1_WithoutItsNeighboursANoteIsUnavailable(t *testing.T) {
	s := newSchool(t)
	id := s.newNote(t, map[string]any{"contents": "a"})
	for _, neighbour := range []string{"events", "identity"} {
		system(t).Stop(t, neighbour)
		system(t).Forget(t) // otherwise identity is not needed
		a := s.clients["author"].Get(t, paths(id)[0])
		system(t).Restart(t, neighbour)
		a.Want(t, 503, fmt.Sprintf(`{"status":"Service unavailable","message":"%s is away"}`, neighbour))
	}
	s.clients["author"].Get(t, paths(id)[0]).WantCode(t, 200, "back again")
}
