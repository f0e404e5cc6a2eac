package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
	"github.com/belfry-schools/belfry/services/notes/internal/store"
)

func open(t *testing.T) (*store.Notes, *mongo.Database) {
	t.Helper()
	db := storetest.Mongo(t)
	s := store.New(db, mongostore.NewIDs(db), 0)
	errortest.None(t, s.Prepare(t.Context()))
	return s, db
}

func insert(t *testing.T, s *store.Notes, n note.Note) note.Note {
	t.Helper()
	stored, err := s.Insert(t.Context(), n)
	errortest.None(t, err)
	return stored
}

func load(t *testing.T, s *store.Notes, id int64) note.Note {
	t.Helper()
	n, err := s.Get(t.Context(), id)
	errortest.None(t, err)
	return n
}

// TestDecisionsPart6_NotesAreListedAsWritten by two replicas in turn, each of which takes ids in blocks, after those of
// a release that did not store when.
func TestDecisionsPart6_NotesAreListedAsWritten(t *testing.T) {
	s, db := open(t)
	other := store.New(db, mongostore.NewIDs(db), 0)
	var want []int64
	for i := range 6 {
		replica := []*store.Notes{s, other}[i%2]
		want = append(want, insert(t, replica, note.Note{EventID: 3}).ID)
		insert(t, replica, note.Note{EventID: 4})
	}
	valuetest.MustHold(t, !slices.IsSorted(want), "the ids %v say nothing", want)
	listed := func() []int64 {
		notes, err := s.List(t.Context(), 3)
		errortest.None(t, err)
		return ids(notes)
	}
	valuetest.Equal(t, want, listed())
	errortest.None(t,
		errortest.Of(other.Change(t.Context(), want[1], func(n *note.Note) error { n.Contents = "x"; return nil })))
	if diff := cmp.Diff(want, listed()); diff != "" {
		t.Error("after a change:", diff)
	}
	if notes, err := s.List(t.Context(), 5); err != nil || len(notes) != 0 {
		t.Errorf("an event without notes has %v, %v", notes, err)
	}
}

func ids(notes []note.Note) []int64 {
	var ids []int64
	for _, n := range notes {
		ids = append(ids, n.ID)
	}
	return ids
}

// A batch of 1,000 rows or events took 320 MB when they had long notes.
func TestFind_AComparisonReadsOfANoteWhatItCompares(t *testing.T) {
	s, _ := open(t)
	long := note.Note{EventID: 3, OwnerID: 4, Key: "a", ImportHash: "h", Contents: "c", HTML: "<p>c</p>", Markup: 1}
	imported := insert(t, s, long)
	byKey, err := s.FindByKeys(t.Context(), []string{"a"})
	errortest.None(t, err)
	valuetest.Equal(t, []note.Note{{ID: imported.ID, Key: "a", ImportHash: "h"}}, byKey)
	long.Key, long.Topic, long.Day = "", fact.Absences, 20700
	system := insert(t, s, long)
	onTopic, err := s.FindOnTopic(t.Context(), fact.Absences, []int64{3})
	errortest.None(t, err)
	valuetest.Equal(t, []note.Note{{ID: system.ID, EventID: 3, Contents: "c", Topic: fact.Absences, Day: 20700}},
		onTopic)
}

func TestListEvents_GoesThroughAllEventsWithNotes(t *testing.T) {
	s, _ := open(t)
	const events, each = 1300, 2 // more notes than one page has
	notes := make([]note.Note, 0, events*each)
	for id := range int64(events) {
		for range each {
			notes = append(notes, note.Note{EventID: 3*id + 1})
		}
	}
	errortest.None(t, errortest.Of(s.InsertAll(t.Context(), notes)))
	got := map[int64]bool{}
	for after, pages := int64(0), 0; ; pages++ {
		ids, err := s.ListEvents(t.Context(), after)
		errortest.None(t, err)
		if len(ids) == 0 {
			valuetest.Holds(t, pages >= 2, "all came in %d pages: this shows little", pages)
			break
		}
		for _, id := range ids {
			valuetest.MustHold(t, id > after && !got[id], "event %d comes after %d", id, after)
			got[id], after = true, id
		}
	}
	valuetest.Same(t, len(got), events, "events")
}

// TestNoRequestScans explains the filters of the store as it sends them.
func TestNoRequestScans(t *testing.T) {
	s, db := open(t)
	const many = 2000
	notes := make([]note.Note, many)
	for i := range notes {
		notes[i] = note.Note{EventID: int64(i / 4), OwnerID: int64(i % 50), Contents: "a"}
		if i%2 == 0 {
			notes[i].Key = fmt.Sprint("n", i)
		}
		if i%4 == 1 {
			notes[i].Topic, notes[i].Day = fact.Absences, wiretime.Day(20000+i)
		}
	}
	errortest.None(t, errortest.Of(s.InsertAll(t.Context(), notes)))
	for name, command := range store.Queries() {
		t.Run(name, func(t *testing.T) { storetest.NoScan(t, db, command) })
	}
}
