package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

func openFeeds(t *testing.T) *Feeds {
	t.Helper()
	db := storetest.Mongo(t)
	if err := Prepare(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return New(Options{DB: db, IDs: mongostore.NewIDs(db)}).Feeds
}

func TestFeeds_OneOfAUserAndAnElement(t *testing.T) {
	s := openFeeds(t)
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

func TestFeeds_TheNamespaceIsMadeOnce(t *testing.T) {
	s := openFeeds(t)
	names := make([]string, 10)
	var wg sync.WaitGroup
	for i := range names {
		wg.Go(func() {
			var err error
			if names[i], err = s.Namespace(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, name := range names {
		if name != names[0] || len(name) != 36 {
			t.Errorf("%q", names)
		}
	}
}

func TestFeeds_AreFoundByAnIndex(t *testing.T) {
	s := openFeeds(t)
	documents := make([]any, 1000)
	for i := range documents {
		documents[i] = feedDocument{ID: fmt.Sprintf("1/%d", i), FeedID: int64(i), TokenHash: fmt.Sprint(i)}
	}
	if _, err := s.feeds.InsertMany(t.Context(), documents); err != nil {
		t.Fatal(err)
	}
	for _, filter := range []bson.D{byPair(1, 1), byToken("5")} {
		storetest.NoScan(t, s.feeds.Database(), bson.D{{Key: "find", Value: "feeds"}, {Key: "filter", Value: filter}})
	}
}
