package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

func claimOf(token, starts, ends string) event.Claim {
	s := span("2026-09-07T"+starts+":00Z", "2026-09-07T"+ends+":00Z")
	return event.Claim{Token: token, EventID: 1, Starts: s.Starts, Ends: s.Ends}
}

func TestClaimsStandUnlessTheyOverlap(t *testing.T) {
	db, _ := open(t)
	claims := NewClaims(db)
	for _, c := range []struct {
		claim event.Claim
		by    string // that stands in the way
	}{
		{claimOf("a", "09:00", "10:00"), ""},
		{claimOf("b", "10:00", "11:00"), ""},
		{claimOf("c", "09:59", "10:01"), "a"},
		{claimOf("d", "08:00", "12:00"), "a"},
	} {
		standing, err := claims.Claim(t.Context(), 5, c.claim)
		if err != nil || (standing == nil) != (c.by == "") || (standing != nil && standing.Token != c.by) {
			t.Errorf("claim %s: %v %v, want one of %q in the way", c.claim.Token, standing, err, c.by)
		}
	}
	for _, token := range []string{"a", "nobody"} {
		if err := claims.Drop(t.Context(), 5, token); err != nil {
			t.Fatal(err)
		}
	}
	if err := claims.Drop(t.Context(), 6, "a"); err != nil {
		t.Errorf("of an element without any: %v", err)
	}
	if standing, err := claims.Claim(t.Context(), 5, claimOf("e", "09:00", "10:00")); err != nil || standing != nil {
		t.Errorf("after it was dropped: %v %v", standing, err)
	}
}

func TestOfParallelClaimsOneStands(t *testing.T) {
	db, _ := open(t)
	claims := NewClaims(db)
	var wg sync.WaitGroup
	won := make([]bool, 30)
	for i := range won {
		wg.Go(func() {
			standing, err := claims.Claim(t.Context(), 5, claimOf(fmt.Sprint(i), "09:00", "10:00"))
			if err != nil {
				t.Error(err)
			}
			won[i] = err == nil && standing == nil
		})
	}
	wg.Wait()
	winners := 0
	for _, w := range won {
		if w {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%d claims stand, want 1", winners)
	}
}

func TestWhatIsShutOutIsNotStoredAnyMore(t *testing.T) {
	_, s := open(t)
	insert(t, s, lesson(1))
	before, err := s.Event(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{1, 2} {
		if err := s.ShutOut(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	after, err := s.Event(t.Context(), 1)
	if err != nil || after.ShutOuts != before.ShutOuts+1 || after.Body != before.Body || len(after.Commitments) != len(before.Commitments) {
		t.Errorf("%+v, %v; before %+v", after, err, before)
	}
	if _, err := s.Insert(t.Context(), []event.Event{lesson(2)}); !errors.Is(err, event.ErrShutOut) {
		t.Errorf("an event under an id that was shut out: %v", err)
	}
	if err := s.ShutOut(t.Context(), 2); err != nil { // once more
		t.Error(err)
	}
	if _, err := s.Change(t.Context(), 1, func(e *event.Event) (bool, error) { e.Body = "changed"; return true, nil }); err != nil {
		t.Fatal(err)
	}
	if e, err := s.Event(t.Context(), 1); err != nil || e.ShutOuts != 1 {
		t.Errorf("another change forgets it: %+v, %v", e, err)
	}
}

func TestClaimsAndCategoriesAreReadByTheirIDs(t *testing.T) {
	db, _ := open(t)
	for _, name := range []string{"claims", "event_categories"} {
		documents := make([]any, 1000)
		for i := range documents {
			documents[i] = bson.D{{Key: "_id", Value: int64(i + 1)}, {Key: "version", Value: int64(1)}, {Key: "name", Value: fmt.Sprint(i)}}
		}
		if _, err := db.Collection(name).InsertMany(t.Context(), documents); err != nil {
			t.Fatal(err)
		}
	}
	storetest.NoScan(t, db, bson.D{{Key: "find", Value: "claims"}, {Key: "filter", Value: bson.D{{Key: "_id", Value: int64(5)}}}})
	storetest.NoScan(t, db, bson.D{{Key: "find", Value: "event_categories"}, {Key: "filter", Value: idsFilter([]int64{5, 7})}})
}
