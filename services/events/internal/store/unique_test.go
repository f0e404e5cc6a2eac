package store

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

func TestHardToBreak_Row20_NoTwoCommitmentsOrRequestsGetOneID(t *testing.T) {
	_, s := open(t)
	insert(t, s, lesson(1), lesson(2))
	const ofOther, ofOtherRequest = 20, 2 // of the second event
	for name, take := range map[string]func(*event.Event){
		"another event's commitment": func(e *event.Event) { e.Commitments[0].ID = ofOther },
		"another event's request":    func(e *event.Event) { e.Requests[0].ID = ofOtherRequest },
		"its own commitment":         func(e *event.Event) { e.Commitments[0].ID = e.Commitments[1].ID },
		"its own request": func(e *event.Event) {
			e.Requests = append(e.Requests, event.Request{ID: e.Requests[0].ID, ElementID: 700, Quantity: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.Change(t.Context(), 1, func(e *event.Event) error { take(e); return nil }); err == nil {
				t.Error("an event was changed to have it")
			}
			fresh := lesson(3)
			take(&fresh)
			taken, err := s.Insert(t.Context(), []event.Event{fresh})
			if err == nil || errors.Is(err, event.ErrFenced) {
				t.Errorf("an event was stored with it: %v, %v", taken, err)
			}
		})
	}
	if found, err := s.Find(t.Context(), []int64{1, 2, 3}, nil); err != nil || len(found) != 2 {
		t.Errorf("%+v, %v", found, err)
	}
}

// Where a database has ids twice, from a time when the counters were set back, the start says so and gives the later
// events new ones.
func TestHardToBreak_Row20_DuplicatesOfBeforeAreToldAndMended(t *testing.T) {
	db, s := open(t)
	events := EventsCollection(db)
	for _, name := range []string{commitmentIndex, requestIndex} {
		if err := events.Indexes().DropOne(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Collection("migrations").DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	insert(t, s, lesson(1), lesson(2), lesson(3), lesson(4))
	allocated := lesson(5)
	allocated.Commitments[2].RequestID = allocated.Requests[0].ID
	insert(t, s, allocated)
	// Commitments 10 of event 1, and 40 of event 4 itself, are there twice, and request 3 of event 3.
	for id, set := range map[int64]bson.D{
		2: {{Key: "commitments.1.id", Value: int64(10)}},
		4: {{Key: "commitments.3.id", Value: int64(40)}},
		5: {{Key: "requests.0.id", Value: int64(3)}, {Key: "commitments.2.request_id", Value: int64(3)}},
	} {
		if _, err := events.UpdateByID(t.Context(), id, bson.D{{Key: "$set", Value: set}}); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	for range 2 {
		if err := Prepare(t.Context(), db, timetest.London(t)); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"event=2 of=commitments was=10", "event=4 of=commitments was=40",
		"event=5 of=requests was=3"} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("the log does not say once that %s:\n%s", line, log.String())
		}
	}
	var commitments, requests []int64
	for id := range int64(5) {
		e, err := s.Get(t.Context(), id+1)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range e.Commitments {
			commitments = append(commitments, c.ID)
		}
		requests = append(requests, e.Requests[0].ID)
		if e.ID == 5 && e.Commitments[2].RequestID != e.Requests[0].ID {
			t.Errorf("what was allocated is of request %d, not of %d", e.Commitments[2].RequestID, e.Requests[0].ID)
		}
	}
	if !slices.Contains(commitments[:4], 10) || commitments[12] != 40 || requests[2] != 3 {
		t.Errorf("the first ones did not keep their ids: %v, %v", commitments, requests)
	}
	for _, ids := range [][]int64{commitments, requests} {
		slices.Sort(ids)
		if n := len(ids); len(slices.Compact(ids)) != n {
			t.Errorf("still there twice: %v", ids)
		}
	}
	next, err := NewEvents(db, mongostore.NewIDs(db), timetest.London(t), nil).NewCommitmentIDs(t.Context(), 1)
	if err != nil || slices.Contains(commitments, next[0]) || next[0] <= slices.Max(commitments) {
		t.Errorf("the next commitment gets %v, %v", next, err)
	}
}
