package store_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// Each collection gets documents with all that they may hold, and fields of a later release at every level. Then all
// that this release writes to them runs.
func TestHardToBreak_Row09_NoWriteLosesWhatItDoesNotKnow(t *testing.T) {
	s, db := open(t)
	ctx := audit.WithActor(t.Context(), audit.Actor{User: 7})
	written, err := s.Insert(ctx, note.Note{EventID: 3, OwnerID: 4, Contents: "a", Key: "n1", ImportHash: "h",
		IdempotencyKey: idempotency.Key{ID: "key", Body: "body"}})
	errortest.None(t, err)
	system, err := s.Insert(ctx, note.Note{EventID: 3, Contents: "b", Topic: fact.Absences, Day: 100})
	errortest.None(t, err)
	reserve := func() {
		t.Helper()
		size, limit := note.Size{Notes: 1}, note.Size{Notes: 100, Contents: 100, Shown: 100}
		errortest.Report(t, s.Within(ctx, 3, size, limit, func() error { return nil }))
	}
	reserve()
	// A reservation whose process died.
	dead := bson.D{{Key: "$push", Value: bson.D{{Key: "reserved", Value: bson.D{
		{Key: "token", Value: "dead"}, {Key: "at", Value: time.Now()},
		{Key: "size", Value: bson.D{{Key: "notes", Value: 1}}},
	}}}}}
	errortest.None(t, errortest.Of(db.Collection("notes_totals").UpdateByID(ctx, int64(3), dead)))
	kept := storetest.AddUnknown(t, db, storetest.Unknown{
		Filled:    []string{"notes", "notes_totals"},
		Unchanged: []string{"counters", "notes_audit", "notes_changes"},
	})
	for _, id := range []int64{written.ID, system.ID} {
		change := func(n *note.Note) error { n.Contents, n.ImportHash = n.Contents+"!", ""; return nil }
		errortest.Report(t, errortest.Of(s.Change(ctx, id, change)))
	}
	reserve()
	kept()
}
