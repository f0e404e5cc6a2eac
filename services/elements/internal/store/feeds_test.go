package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

func TestFeeds_AreOfAUserAndAnElement(t *testing.T) {
	stores, _ := open(t)
	s := stores.Feeds
	created := time.Unix(1788768000, 0).UTC()
	add := func(f element.Feed) element.Feed {
		t.Helper()
		f.Created = created
		f, err := s.Insert(t.Context(), f, 2)
		errortest.None(t, err)
		return f
	}
	first := add(element.Feed{UserID: 1, ElementID: 2, Name: "Phone", TokenHash: "a"})
	second := add(element.Feed{UserID: 1, ElementID: 2, Name: "Phone", TokenHash: "b"})
	add(element.Feed{UserID: 1, ElementID: 3, TokenHash: "c"})
	add(element.Feed{UserID: 2, ElementID: 2, TokenHash: "d"})
	list := func(want ...element.Feed) {
		t.Helper()
		if found, err := s.List(t.Context(), 1, 2); err != nil || !slices.Equal(found, want) {
			t.Errorf("%+v, %v, want %+v", found, err, want)
		}
	}
	list(first, second)
	second, err := s.Change(t.Context(), second.ID, func(f *element.Feed) error { f.TokenHash = "e"; return nil })
	errortest.None(t, err)
	if f, err := s.GetByToken(t.Context(), "b"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("by the hash before: %+v, %v", f, err)
	}
	if f, err := s.GetByToken(t.Context(), "e"); err != nil || f != second {
		t.Errorf("by its hash: %+v, %v, want %+v", f, err, second)
	}
	refused := errors.New("no")
	errortest.Is(t, s.Delete(t.Context(), first.ID, func(element.Feed) error { return refused }), refused)
	list(first, second)
	errortest.None(t, s.Delete(t.Context(), first.ID, func(element.Feed) error { return nil }))
	list(second)
	third := add(element.Feed{UserID: 1, ElementID: 2, TokenHash: "f"})
	valuetest.Same(t, third.Place, first.Place, "%+v is not at the place that is free", third)
}

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
