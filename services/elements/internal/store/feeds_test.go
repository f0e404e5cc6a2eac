package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

func TestFeeds_AUserHasNoMoreThanItMayOfAnElementHoweverManyAreMadeAtOnce(t *testing.T) {
	const most = 3
	stores, _ := open(t)
	var wg sync.WaitGroup
	var made, full atomic.Int32
	for i := range 8 {
		wg.Go(func() {
			f := element.Feed{UserID: 1, ElementID: 2, TokenHash: fmt.Sprint(i)}
			switch _, err := stores.Feeds.Insert(t.Context(), f, most); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, element.ErrFeedsFull):
				full.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	found, err := stores.Feeds.List(t.Context(), 1, 2)
	if err != nil || len(found) != most || made.Load() != most || full.Load() != 8-most {
		t.Errorf("%d made, %d refused, %+v, %v", made.Load(), full.Load(), found, err)
	}
}

func TestFeeds_AreFoundByAnIndex(t *testing.T) {
	stores, db := open(t)
	s := stores.Feeds
	feeds := make([]element.Feed, 1000)
	for i := range feeds {
		feeds[i] = element.Feed{ID: int64(i) + 1, UserID: 1, ElementID: int64(i) + 1, TokenHash: fmt.Sprint(i)}
	}
	if refused, err := s.feeds.Insert(t.Context(), feeds); err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	for _, filter := range []bson.D{byPair(1, 1), byToken("5")} {
		storetest.NoScan(t, db, bson.D{{Key: "find", Value: "feeds"}, {Key: "filter", Value: filter}})
	}
}
