package mongostore_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

type pair struct {
	ID    int64  `bson:"_id"`
	Group int64  `bson:"group"`
	Told  string `bson:"told"`
}

func TestInsertAll_TellsWhichAUniqueIndexKeptOut(t *testing.T) {
	pairs := storetest.Mongo(t).Collection("pairs")
	unique := []mongostore.Index{{Name: "group", Keys: mongostore.By("group"), Unique: true}}
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), pairs, unique))
	refused, err := mongostore.InsertAll(t.Context(), pairs,
		[]pair{{ID: 1, Group: 5}, {ID: 2, Group: 5}, {ID: 3, Group: 6}, {ID: 1, Group: 7}, {ID: 4, Group: 8}})
	if err != nil || len(refused) != 2 || refused[0].Index != 1 || refused[1].Index != 3 {
		t.Errorf("%+v %v", refused, err)
	}
	if n, err := pairs.CountDocuments(t.Context(), bson.D{}); err != nil || n != 3 {
		t.Errorf("%d stored, %v", n, err)
	}
	if refused, err := mongostore.InsertAll(t.Context(), pairs, []pair(nil)); err != nil || refused != nil {
		t.Errorf("nothing: %+v %v", refused, err)
	}
}

// Some servers end one of two writers that wait for each other's unique key. The write must not fail.
func TestInsertAll_TheSameAtOnceIsStoredOnce(t *testing.T) {
	pairs := storetest.Mongo(t).Collection("pairs")
	unique := []mongostore.Index{
		{Name: "group", Keys: mongostore.By("group"), Unique: true},
		{Name: "told", Keys: mongostore.By("told"),
			Where: bson.D{{Key: "told", Value: bson.D{{Key: "$gt", Value: ""}}}}},
	}
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), pairs, unique))
	const writers, each = 8, 50
	var wg sync.WaitGroup
	stored := make(chan int, writers)
	for w := range int64(writers) {
		wg.Go(func() {
			var documents []pair
			for i := range int64(each) {
				group := i
				if w%2 == 1 { // half of them in the other order
					group = each - 1 - i
				}
				documents = append(documents, pair{ID: 1000*w + i + 1, Group: group, Told: "x"})
			}
			refused, err := mongostore.InsertAll(t.Context(), pairs, documents)
			errortest.Report(t, err)
			stored <- each - len(refused)
		})
	}
	wg.Wait()
	close(stored)
	total := 0
	for n := range stored {
		total += n
	}
	valuetest.Same(t, total, each, "%d are said to be stored, not %d", total, each)
}

// Writers of one key who come at the same moment, and wait for each other on servers that end such waits after a
// while, don't meet again and again: one is stored, and all others find that it exists.
func TestInsertAll_OneKeyAtTheSameMomentIsStoredOnce(t *testing.T) {
	pairs := storetest.Mongo(t).Collection("pairs")
	indexes := []mongostore.Index{{Name: "group", Keys: mongostore.By("group"), Unique: true}}
	for _, field := range []string{"told", "a", "b", "c"} {
		indexes = append(indexes, mongostore.Index{Name: field, Keys: mongostore.By(field)})
	}
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), pairs, indexes))
	const writers = 16
	for round := range int64(3) {
		var wg sync.WaitGroup
		var stored, refused atomic.Int64
		begin := make(chan struct{})
		for w := range int64(writers) {
			wg.Go(func() {
				<-begin
				kept, err := mongostore.InsertAll(t.Context(), pairs,
					[]pair{{ID: 100*round + w + 1, Group: round, Told: "x"}})
				errortest.Report(t, err)
				refused.Add(int64(len(kept)))
				stored.Add(int64(1 - len(kept)))
			})
		}
		close(begin)
		wg.Wait()
		if stored.Load() != 1 || refused.Load() != writers-1 {
			t.Errorf("round %d: %d stored, %d refused", round, stored.Load(), refused.Load())
		}
	}
}
