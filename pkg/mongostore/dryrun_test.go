package mongostore_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

func TestDryRun_AnswersAsTheWriteWouldAndStoresNothing(t *testing.T) {
	collection := stored(t) // 7, with the count 0
	index := mongostore.Index{
		Name: "count", Keys: mongostore.By("count"), Unique: true,
		Where: bson.D{{Key: "count", Value: bson.D{{Key: "$gt", Value: 1}}}},
	}
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), collection, []mongostore.Index{index}))
	two := &tally{Head: mongostore.Head{ID: 8}, Count: 2}
	errortest.None(t, mongostore.Insert(t.Context(), collection, two))
	dry := record.DryRun(t.Context())
	for count, refusedBy := range map[int]string{0: "", 1: "", 2: "count", 3: ""} {
		err := mongostore.Insert(dry, collection, &tally{Count: count})
		if mongostore.DuplicateIndex(err) != refusedBy || err != nil && refusedBy == "" {
			t.Errorf("insert %d: %v", count, err)
		}
		d, err := mongostore.Update(dry, collection, 7, func(d *tally) error { d.Count = count; return nil })
		if mongostore.DuplicateIndex(err) != refusedBy || err != nil && refusedBy == "" || d.Count != count ||
			d.Version != 1 {
			t.Errorf("change to %d: %+v, %v", count, d, err)
		}
	}
	kept := func(d *tally) error { d.Seen = []int64{1}; return nil }
	errortest.Report(t, errortest.Of(mongostore.Update(dry, collection, 8, kept)), "a change that keeps its own")
	errortest.Is(t, errortest.Of(mongostore.Update(dry, collection, 9, kept)), record.ErrNotFound, "a change of none")
	found, err := mongostore.Find[tally](t.Context(), collection, bson.D{})
	if err != nil || len(found) != 2 || found[0].Count+found[1].Count != 2 || found[0].Version+found[1].Version != 2 ||
		len(found[0].Seen)+len(found[1].Seen) != 0 {
		t.Errorf("stored: %+v, %v", found, err)
	}
}

func TestDryRun_TakesNoIDs(t *testing.T) {
	db := stored(t).Database()
	ids, dry := mongostore.NewIDs(db), record.DryRun(t.Context())
	one, err := ids.Next(dry, "tallies")
	first, several := ids.Take(dry, "tallies", 3)
	if one != 0 || first != 0 || err != nil || several != nil {
		t.Errorf("%d, %v, %d, %v", one, err, first, several)
	}
	if n, err := db.Collection("counters").CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
		t.Errorf("%d counters, %v", n, err)
	}
}
