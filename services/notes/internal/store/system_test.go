package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/markdown"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// keepNotes asks for notes on the topic of absences and returns the changes.
func keepNotes(t testing.TB, s *service, dryRun bool, notes ...fact.SystemNote) []fact.NoteChange {
	t.Helper()
	changes, err := s.KeepSystemNotes(t.Context(),
		fact.SystemNotesQuestion{Topic: fact.Absences, Notes: notes, DryRun: dryRun})
	errortest.None(t, err)
	return changes
}

func about(eventID int64, contents string) fact.SystemNote {
	return fact.SystemNote{EventID: eventID, Day: 20700, Contents: contents}
}

func onlyNote(t *testing.T, s *service, eventID int64) note.Note {
	t.Helper()
	notes, err := s.Store.List(t.Context(), eventID)
	valuetest.MustHold(t, err == nil && len(notes) == 1, "%+v, %v", notes, err)
	return notes[0]
}

func TestSystemNotes_ANoteIsCreatedLeftAloneUpdatedAndRemoved(t *testing.T) {
	s, _, _ := newService(t)
	byHand := create(t, s, 102, "by hand")
	want := note.Note{
		EventID: 101, Version: 1, Contents: "*a*", HTML: "<p><em>a</em></p>\n", Markup: markdown.Version,
		Visibility: note.Visibility{Staff: true},
		Topic:      fact.Absences, Day: 20700,
	}
	for i, step := range []struct {
		asked fact.SystemNote
		want  fact.NoteChange
		then  func()
	}{
		{about(101, "*a*"), fact.NoteCreated, func() {}},
		{about(101, "*a*"), fact.NoteUnchanged, func() {}},
		{about(101, "b"), fact.NoteUpdated, func() { want.Contents, want.HTML, want.Version = "b", "<p>b</p>\n", 2 }},
		{fact.SystemNote{EventID: 101, Day: 20701, Contents: "b"}, fact.NoteUpdated,
			func() { want.Day, want.Version = 20701, 3 }},
	} {
		for _, dryRun := range []bool{true, false} { // a dry run says the same, and leaves it to be done
			valuetest.List(t, keepNotes(t, s, dryRun, about(102, ""), step.asked),
				[]fact.NoteChange{fact.NoNote, step.want}, "step %d", i)
		}
		step.then()
		got := onlyNote(t, s, 101)
		want.ID = got.ID
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
	for _, want := range []fact.NoteChange{fact.NoteRemoved, fact.NoNote} {
		got := keepNotes(t, s, false, about(101, ""))
		valuetest.Same(t, got[0], want, "%q", got)
	}
	if notes, err := s.Store.List(t.Context(), 101); err != nil ||
		slices.ContainsFunc(notes, func(n note.Note) bool { return n.Topic != "" || n.Contents != "" }) {
		t.Errorf("%+v, %v", notes, err)
	}
	got := keepNotes(t, s, false, about(101, "c"))
	valuetest.Same(t, got[0], fact.NoteCreated, "after the removal: %q", got)
	keepNotes(t, s, false, about(104, "d"), about(103, "e"))
	got = keepNotes(t, s, false, about(105, "f"), about(103, "e"), about(106, ""), about(101, ""), about(104, "g"))
	valuetest.List(t, got, []fact.NoteChange{fact.NoteCreated, fact.NoteUnchanged, fact.NoNote, fact.NoteRemoved,
		fact.NoteUpdated}, "at once")
	valuetest.Same(t, onlyNote(t, s, 102).ID, byHand, "a note of a user's was touched")
}

func TestSystemNotes_NotesAreFoundByTheDayThatTheyWereWrittenFor(t *testing.T) {
	s, _, _ := newService(t)
	for event := range int64(6) {
		keepNotes(t, s, false, fact.SystemNote{EventID: 300 + event, Day: 20700 + wiretime.Day(event), Contents: "a"})
	}
	keepNotes(t, s, false, fact.SystemNote{EventID: 302, Day: 20800, Contents: "a"}, about(303, ""))
	for days, want := range map[wiretime.Days][]int64{
		{First: 20701, Last: 20704}:                        {301, 304},
		{First: 20705, Last: wiretime.LastDay}:             {302, 305},
		{First: wiretime.FirstDay, Last: 20699}:            nil,
		{First: wiretime.FirstDay, Last: wiretime.LastDay}: {300, 301, 302, 304, 305},
	} {
		got, err := s.Noted(t.Context(), fact.NotedQuestion{Topic: fact.Absences, Days: days})
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %v, %v, want %v", days, got, err, want)
		}
	}
	if got, err := s.Noted(t.Context(),
		fact.NotedQuestion{Topic: "another",
			Days: wiretime.Days{First: 0, Last: wiretime.LastDay}}); err != nil || len(got) > 0 {
		t.Errorf("on another topic: %v, %v", got, err)
	}
}

// However many keep the notes of an event at once, it has one, which says what one of them asked for.
func TestSystemNotes_ManyAtOnceMakeOneNote(t *testing.T) {
	s, _, _ := newService(t)
	const runs, events = 3, 5
	for _, round := range []string{"a", "b", ""} {
		var together sync.WaitGroup
		for run := range runs {
			together.Go(func() {
				var notes []fact.SystemNote
				for event := range int64(events) {
					contents := round
					if contents != "" {
						contents = fmt.Sprint(round, run%2)
					}
					notes = append(notes, about(200+event, contents))
				}
				errortest.Report(t,
					errortest.Of(s.KeepSystemNotes(t.Context(),
						fact.SystemNotesQuestion{Topic: fact.Absences, Notes: notes})))
			})
		}
		together.Wait()
		for event := range int64(events) {
			notes, err := s.Store.List(t.Context(), 200+event)
			live := slices.DeleteFunc(notes, func(n note.Note) bool { return n.Topic == "" }) // a tombstone has none
			switch {
			case err != nil:
				t.Fatal(err)
			case round == "" && len(live) != 0, round != "" && (len(live) != 1 || live[0].Contents[:1] != round):
				t.Errorf("event %d after %q: %+v", event, round, live)
			}
		}
	}
}

// A note of the system's has the titles of other events as they are when it is read, and
// none of them is stored.
func TestDecisionsPart9_ASystemNoteHasTheTitlesOfOtherEventsAsTheyAre(t *testing.T) {
	s, events, _ := newService(t)
	contents := "1 of 2 pupils is elsewhere:\n\n- 09\\:00, " + fact.TitleOf(102) + ": Ann\n"
	keepNotes(t, s, false, about(101, contents))
	for _, step := range []struct{ title, shown, html string }{
		{"e2", "e2", "e2"}, {"A *new* {101}", `A \*new\* \{101\}`, "A *new* {101}"}, {"Busy", "Busy", "Busy"},
		{"e2", "e2", "e2"}, {"", "a deleted event", "a deleted event"},
	} {
		events.records = map[string]int64{"e1": 101}
		if step.title != "" {
			events.records[step.title] = 102
		}
		list, err := s.List(t.Context(), fact.NotesOfEventQuestion{EventID: 101, Viewer: author})
		valuetest.MustHold(t, err == nil && len(list) == 1, "%v, %v", list, err)
		single, err := s.Get(t.Context(), author, list[0].ID)
		errortest.None(t, err)
		page, _, err := s.Page(t.Context(), 0, 9)
		valuetest.MustHold(t, err == nil && len(page) == 1, "%v, %v", page, err)
		want := strings.Replace(contents, fact.TitleOf(102), step.shown, 1)
		for how, n := range map[string]note.Note{"listed": list[0].Note, "read": single.Note, "exported": page[0]} {
			valuetest.Same(t, n.Contents, want, how)
			if how != "exported" && !strings.Contains(n.HTML, ", "+step.html+": Ann") {
				t.Errorf("%s as %q", how, n.HTML)
			}
		}
	}
	if n := onlyNote(t, s, 101); n.Contents != contents || n.Version != 1 {
		t.Errorf("stored is %+v", n)
	}
}

// For each reader, an admin too, the question about the other events is that of a user who takes part in none of them.
func TestDecisionsPart9_ASystemNoteTellsNoReaderWhatAConfidentialEventIs(t *testing.T) {
	s, events, _ := newService(t)
	keepNotes(t, s, false, about(101, "- "+fact.TitleOf(102)))
	id := onlyNote(t, s, 101).ID
	var mu sync.Mutex
	var sights []fact.Sight
	events.sight = func(q fact.SummariesQuestion) {
		mu.Lock()
		defer mu.Unlock()
		if slices.Contains(q.IDs, 102) && q.Sight != nil {
			sights = append(sights, *q.Sight)
		}
	}
	errortest.None(t, errortest.Of(s.Get(t.Context(), fact.Viewer{UserID: 9, ElementID: 8, Admin: true}, id)))
	valuetest.Equal(t, []fact.Sight{{Scope: principal.SeesAll}}, sights)
}
