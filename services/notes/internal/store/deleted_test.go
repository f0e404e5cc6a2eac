package store_test

import (
	"context"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/notes/internal/markdown"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
	"github.com/belfry-schools/belfry/services/notes/internal/store"
)

// whileReserving returns use cases on a database, of which the first write of a total waits until other has run.
func whileReserving(t *testing.T, db *mongo.Database, other func(context.Context, *school)) *note.Service {
	t.Helper()
	uri, _, err := storetest.URIs()
	errortest.None(t, err)
	school := &school{records: map[string]int64{"e1": 101, "u1": 1}}
	var once sync.Once
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetMonitor(&event.CommandMonitor{
		Started: func(ctx context.Context, e *event.CommandStartedEvent) {
			if e.CommandName == "update" && e.Command.Lookup("update").StringValue() == "notes_totals" {
				once.Do(func() { other(ctx, school) })
			}
		},
	}))
	errortest.None(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	there := client.Database(db.Name())
	return note.New(note.Options{
		Store: store.New(there, mongostore.NewIDs(there), 0), Events: school, Users: school,
		Markdown: markdown.NewRenderer(),
	})
}

// The event was there when the request came; it and its notes go while room for the new note is reserved.
func TestDecisionsPart4_ANoteThatIsAddedWhileItsEventIsDeletedIsNotFound(t *testing.T) {
	for how, add := range map[string]func(*note.Service) error{
		"created": func(s *note.Service) error {
			_, err := s.Create(t.Context(), fact.NewNote{EventID: 101, AuthorID: 1})
			return err
		},
		"imported": func(s *note.Service) error {
			rows := []note.Row{{Row: record.Row{Key: "k", Hash: "h"}, Event: "e1"}}
			outcomes, err := s.Import(t.Context(), rows, false)
			if err == nil && outcomes[0].Result == record.Failed {
				return problem.InvalidFields(outcomes[0].Faults)
			}
			return err
		},
	} {
		t.Run(how, func(t *testing.T) {
			stored, db := open(t)
			first := whileReserving(t, db, func(context.Context, *school) {})
			errortest.None(t, errortest.Of(first.Create(t.Context(), fact.NewNote{EventID: 101, AuthorID: 1})))
			s := whileReserving(t, db, func(ctx context.Context, school *school) {
				delete(school.records, "e1")
				errortest.Report(t, stored.DeleteOfEvents(ctx, []int64{101}))
			})
			err, want := add(s), problem.NotFound
			if how == "imported" { // its row fails
				want = problem.Invalid
			}
			if !problem.Is(err, want) {
				t.Errorf("the answer is %v", err)
			}
			if notes, _ := notesOf(t, stored); len(notes) > 0 {
				t.Errorf("stored: %+v", notes)
			}
		})
	}
}

// A change is of a note that went with its event.
func TestDecisionsPart4_ANoteThatIsChangedWhileItsEventIsDeletedIsNotFound(t *testing.T) {
	stored, db := open(t)
	s := whileReserving(t, db, func(ctx context.Context, _ *school) {
		errortest.Report(t, stored.DeleteOfEvents(ctx, []int64{101}))
	})
	n := insert(t, stored, note.Note{EventID: 101, OwnerID: 1, Contents: "a"})
	errortest.None(t,
		stored.Within(t.Context(), 101, n.Size(), note.Size{Notes: 9, Contents: 99, Shown: 99},
			func() error { return nil }))
	contents := "longer"
	_, err := s.Change(t.Context(), author, n.ID, note.Edit{Contents: &contents}, record.Match{})
	if !problem.Is(err, problem.NotFound) {
		t.Errorf("the answer is %v", err)
	}
}
