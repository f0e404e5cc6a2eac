package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/notes/internal/markdown"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
	"github.com/belfry-schools/belfry/services/notes/internal/store"
)

const tooMuch = "map[contents:[is too much: an event has at most 500 notes and 1 MiB of contents]]"

// replicas are the use cases twice on one database, as two processes have them.
func replicas(t *testing.T) (two [2]*note.Service, stored *store.Notes, db *mongo.Database) {
	t.Helper()
	stored, db = open(t)
	school := &school{records: map[string]int64{"e1": 101, "e2": 102, "u1": 1}}
	for i := range two {
		replica := store.New(db, mongostore.NewIDs(db), 0)
		replica.ReleaseWithin(time.Minute)
		two[i] = note.New(note.Options{Store: replica, Events: school, Users: school, Markdown: markdown.NewRenderer()})
	}
	return two, stored, db
}

// tryCreate creates a note of event 101 and says whether there was room for it.
func tryCreate(t *testing.T, s *note.Service, contents string) bool {
	t.Helper()
	_, err := s.Create(t.Context(), fact.NewNote{EventID: 101, AuthorID: 1, Contents: &contents})
	if err != nil {
		invalid, ok := errors.AsType[*record.InvalidError[note.View]](err)
		if !ok || fmt.Sprint(invalid.Faults) != tooMuch || invalid.Record.ID != 0 ||
			invalid.Record.Contents != contents {
			t.Errorf("%v", err)
		}
		return false
	}
	return true
}

// fill creates notes, several at once.
func fill(t *testing.T, two [2]*note.Service, n int) {
	t.Helper()
	var wg sync.WaitGroup
	const writers = 6
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n; i += writers {
				valuetest.Holds(t, tryCreate(t, two[w%2], "a"), "there is no room")
			}
		})
	}
	wg.Wait()
}

// insertMany stores notes of event 101 as a release did that kept no totals.
func insertMany(t *testing.T, s *store.Notes, n int) {
	t.Helper()
	errortest.None(t, errortest.Of(s.InsertAll(t.Context(), slices.Repeat([]note.Note{{EventID: 101, OwnerID: 1}}, n))))
}

// notesOf are the notes of event 101 as they are stored, with what they take together.
func notesOf(t *testing.T, s *store.Notes) (notes []note.Note, total note.Size) {
	t.Helper()
	notes, err := s.List(t.Context(), 101)
	errortest.None(t, err)
	for _, n := range notes {
		total = total.Plus(n.Size())
	}
	return notes, total
}

func TestHardToBreak_Row02_ChangesInTwoReplicasStayWithinAMebibyte(t *testing.T) {
	two, s, _ := replicas(t)
	fill(t, two, 40)
	notes, _ := notesOf(t, s)
	long := strings.Repeat("b ", 25_000)
	var changed atomic.Int64
	var wg sync.WaitGroup
	for i, n := range notes {
		wg.Go(func() {
			if _, err := two[i%2].Change(t.Context(), author, n.ID, note.Edit{Contents: &long},
				record.Match{}); err == nil {
				changed.Add(1)
			} else if _, ok := errors.AsType[*record.InvalidError[note.View]](err); !ok {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, total := notesOf(t, s); changed.Load() != 20 || total.Contents > 1<<20 {
		t.Errorf("%d were changed: %+v", changed.Load(), total)
	}
}

func TestHardToBreak_Row02_AnImportFillsAnEventAndFailsTheRest(t *testing.T) {
	two, s, _ := replicas(t)
	insertMany(t, s, 498)
	row := func(key, event, contents string) note.Row {
		return note.Row{Row: record.Row{Key: key, Hash: contents}, Event: event, Edit: note.Edit{Contents: &contents}}
	}
	outcomes, err := two[0].Import(t.Context(),
		[]note.Row{row("1", "e1", "x"), row("2", "e2", "x"), row("3", "e1", "x"), row("4", "e1", "x")}, false)
	errortest.None(t, err)
	for i, want := range []record.Result{record.Created, record.Created, record.Created, record.Failed} {
		valuetest.Same(t, outcomes[i].Result, want, "row %d: %+v", i, outcomes[i])
	}
	valuetest.Same(t, fmt.Sprint(outcomes[3].Faults), tooMuch, "%+v", outcomes[3])
	outcomes, err = two[1].Import(t.Context(), []note.Row{row("2", "e1", "moved"), row("1", "e1", "y")}, false)
	if err != nil || outcomes[0].Result != record.Failed || outcomes[1].Result != record.Updated {
		t.Errorf("changes: %+v, %v", outcomes, err)
	}
	_, total := notesOf(t, s)
	valuetest.Same(t, total.Notes, 500, "stored: %+v", total)
}

func TestHardToBreak_Row02_NotesOfBeforeAndWritersThatDiedAreCounted(t *testing.T) {
	two, s, db := replicas(t)
	insertMany(t, s, 499) // without a total
	valuetest.Holds(t, tryCreate(t, two[0], "a") && !tryCreate(t, two[1], "b"), "the notes of before were not counted")
	totals := db.Collection("notes_totals")
	died := func(at time.Time) { // after it had reserved, before it wrote
		t.Helper()
		size := bson.D{{Key: "notes", Value: 1}, {Key: "contents", Value: 0}, {Key: "shown", Value: 0}}
		_, err := totals.UpdateByID(t.Context(), int64(101), bson.D{
			{Key: "$push", Value: bson.D{{Key: "reserved",
				Value: bson.D{{Key: "token", Value: "t"}, {Key: "at", Value: at}, {Key: "size", Value: size}}}}},
			{Key: "$inc", Value: bson.D{{Key: "total.notes", Value: 1}, {Key: "version", Value: 1}}},
		})
		errortest.None(t, err)
	}
	notes, _ := notesOf(t, s)
	remove := func(n note.Note) {
		t.Helper()
		errortest.None(t, two[0].Delete(t.Context(), author, n.ID, record.Match{}))
	}
	remove(notes[0])
	died(time.Now())
	valuetest.Holds(t, !tryCreate(t, two[0], "c"), "the write may still come")
	remove(notes[1])
	died(time.Now().Add(-time.Hour))
	if !tryCreate(t, two[0], "d") || tryCreate(t, two[0], "e") {
		t.Error("what will never come was not given back")
	}
	// The system's notes are not refused, and take no room.
	changes, err := two[0].KeepSystemNotes(t.Context(), fact.SystemNotesQuestion{
		Topic: fact.Absences, Notes: []fact.SystemNote{{EventID: 101, Contents: "f"}},
	})
	valuetest.Holds(t, err == nil && changes[0] == fact.NoteCreated, "the system's note: %v, %v", changes, err)
	errortest.None(t, s.DeleteOfEvents(t.Context(), []int64{101}))
	if left, err := totals.CountDocuments(t.Context(), bson.D{}); err != nil || left != 0 {
		t.Errorf("%d totals are left of a deleted event, %v", left, err)
	}
}
