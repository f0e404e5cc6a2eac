package mongostore_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

type tally struct {
	mongostore.Head `bson:",inline"`
	Count           int     `bson:"count"`
	Seen            []int64 `bson:"seen"`
}

func stored(t *testing.T) *mongo.Collection {
	t.Helper()
	collection := storetest.Mongo(t).Collection("tallies")
	errortest.None(t, mongostore.Insert(t.Context(), collection, &tally{Head: mongostore.Head{ID: 7, Schema: 3}}))
	return collection
}

func TestInsert_StoresVersionOneAndRefusesAnIDTwice(t *testing.T) {
	collection := stored(t)
	doc, err := mongostore.Load[tally](t.Context(), collection, 7)
	if err != nil || doc.Head != (mongostore.Head{ID: 7, Version: 1, Schema: 3}) {
		t.Errorf("loaded %+v, %v", doc, err)
	}
	err = mongostore.Insert(t.Context(), collection, &tally{Head: mongostore.Head{ID: 7}})
	if !mongostore.IsDuplicateKey(err) || mongostore.Unavailable(err) {
		t.Errorf("second insert: %v", err)
	}
}

func TestUpdate_ReturnsWhatIsStored(t *testing.T) {
	collection := stored(t)
	doc, err := mongostore.Update(t.Context(), collection, 7, func(d *tally) error {
		d.Count = 5
		d.Schema = 4
		d.ID, d.Version = 99, 99 // not the function's to change
		return nil
	})
	if err != nil || doc.Head != (mongostore.Head{ID: 7, Version: 2, Schema: 4}) || doc.Count != 5 {
		t.Errorf("returned %+v, %v", doc, err)
	}
	again, err := mongostore.Load[tally](t.Context(), collection, 7)
	if err != nil || again.Head != doc.Head || again.Count != 5 {
		t.Errorf("stored %+v, %v", again, err)
	}
}

func TestUpdate_WithoutADecisionNothingIsWritten(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		id     int64
		decide func() error
		want   error
	}{
		"nothing to change": {7, func() error { return record.ErrUnchanged }, nil},
		"refused":           {7, func() error { return refused }, refused},
		"no document": {8, func() error {
			t.Error("the function ran")
			return nil
		}, record.ErrNotFound},
	} {
		collection := stored(t)
		doc, err := mongostore.Update(t.Context(), collection, c.id, func(d *tally) error {
			d.Count = 1
			return c.decide()
		})
		if !errors.Is(err, c.want) || c.want == nil && (doc.ID != 7 || doc.Version != 1) {
			t.Errorf("%s: returned %+v, %v", name, doc, err)
		}
		if doc, err = mongostore.Load[tally](t.Context(), collection, 7); err != nil || doc.Count != 0 ||
			doc.Version != 1 {
			t.Errorf("%s: stored %+v, %v", name, doc, err)
		}
	}
}

func TestUpdate_ADocumentDeletedMeanwhileIsNotFound(t *testing.T) {
	collection := stored(t)
	_, err := mongostore.Update(t.Context(), collection, 7, func(*tally) error {
		_, err := collection.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: 7}})
		return err
	})
	errortest.Is(t, err, record.ErrNotFound)
}

// Concurrent writers lose no change.
func TestUpdate_ConcurrentWritersLoseNoChange(t *testing.T) {
	collection := stored(t)
	const writers, rounds = 12, 10
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for r := range rounds {
				_, err := mongostore.Update(t.Context(), collection, 7, func(d *tally) error {
					d.Count++
					d.Seen = append(d.Seen, int64(w*rounds+r))
					return nil
				})
				errortest.Report(t, err)
			}
		})
	}
	all.Wait()
	doc, err := mongostore.Load[tally](t.Context(), collection, 7)
	errortest.None(t, err)
	distinct := map[int64]bool{}
	for _, n := range doc.Seen {
		distinct[n] = true
	}
	if doc.Count != writers*rounds || len(doc.Seen) != writers*rounds || len(distinct) != writers*rounds ||
		doc.Version != writers*rounds+1 {
		t.Errorf("count %d, %d entries, %d distinct, version %d; want %d of each", doc.Count, len(doc.Seen),
			len(distinct), doc.Version, writers*rounds)
	}
}

func TestUpdate_GivesUpWithAConflictWhenOthersKeepWinning(t *testing.T) {
	collection := stored(t)
	runs := 0
	started := time.Now()
	_, err := mongostore.Update(t.Context(), collection, 7, func(*tally) error {
		runs++
		_, err := collection.UpdateByID(t.Context(), 7,
			bson.D{{Key: "$inc", Value: bson.D{{Key: "version", Value: int64(1)}}}})
		return err
	})
	if !errors.Is(err, mongostore.ErrConflict) || runs < 10 {
		t.Errorf("error %v after %d runs", err, runs)
	}
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestUpdate_StopsWithItsContext(t *testing.T) {
	collection := stored(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := mongostore.Update(ctx, collection, 7, func(*tally) error {
		cancel()
		return nil
	})
	errortest.Is(t, err, context.Canceled)
}
