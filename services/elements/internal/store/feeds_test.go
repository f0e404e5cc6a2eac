package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

func TestFeeds_OneOfAUserAndAnElement(t *testing.T) {
	stores, _ := open(t)
	s := stores.Feeds
	created := time.Unix(1788768000, 0).UTC()
	first, err := s.Put(t.Context(), element.Feed{UserID: 1, ElementID: 2, TokenHash: "a", Created: created})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Put(t.Context(),
		element.Feed{UserID: 1, ElementID: 2, TokenHash: "b", Created: created.Add(time.Hour)})
	if err != nil || second.ID != first.ID || second.TokenHash != "b" {
		t.Errorf("%+v, %v", second, err)
	}
	if f, err := s.GetByToken(t.Context(), "a"); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("by the hash before: %+v, %v", f, err)
	}
	for name, find := range map[string]func() (element.Feed, error){
		"by its hash":             func() (element.Feed, error) { return s.GetByToken(t.Context(), "b") },
		"by its user and element": func() (element.Feed, error) { return s.Get(t.Context(), 1, 2) },
	} {
		if f, err := find(); err != nil || f != second {
			t.Errorf("%s: %+v, %v, want %+v", name, f, err, second)
		}
	}
	for _, c := range [][3]int64{{2, 2, first.ID}, {1, 3, first.ID}, {1, 2, first.ID + 1}} {
		if err := s.Delete(t.Context(), c[0], c[1], c[2]); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if err := s.Delete(t.Context(), 1, 2, first.ID); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Get(t.Context(), 1, 2); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("after it was dropped: %+v, %v", f, err)
	}
}

func TestFeeds_PutAtOnceAreOne(t *testing.T) {
	stores, _ := open(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			f := element.Feed{UserID: 1, ElementID: 2, TokenHash: fmt.Sprint(i)}
			if _, err := stores.Feeds.Put(t.Context(), f); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	works := 0
	for i := range 4 {
		if _, err := stores.Feeds.GetByToken(t.Context(), fmt.Sprint(i)); err == nil {
			works++
		}
	}
	if works != 1 {
		t.Errorf("%d tokens of one user and element work", works)
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
