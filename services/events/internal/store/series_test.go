package store

import (
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/series"
)

// fullSeries has something in every field.
func fullSeries(id int64, key string, begun time.Time) series.Series {
	number := int64(3)
	return series.Series{
		ID: id, Version: 1, State: series.Planned, Begun: begun, Actor: audit.Actor{User: 7},
		Key: idempotency.Key{ID: key, Body: "body"},
		Repeat: series.Repeat{
			Rule: "FREQ=DAILY;COUNT=2", Except: []wiretime.Day{20000},
			During:    &series.Calendar{CategoryID: 1, Body: "A"},
			NotDuring: []series.Calendar{{CategoryID: 2}, {CategoryID: 2, Body: "B"}}, Clashes: event.SkipClashes,
		},
		Pattern: event.Event{
			Texts: event.Texts{Body: "Maths"}, CategoryID: 1, OwnerID: 2, OrganiserID: 3,
			Commitments: []event.Commitment{{ElementID: 4, Status: event.Requested, AddedBy: 2}},
			Requests:    []event.Request{{ElementID: 5, Quantity: 2, AddedBy: 2}},
		},
		Plan: []series.Occurrence{{
			Place: 1, EventID: id*100 + 1, Span: span("2026-09-07T08:00:00Z", "2026-09-07T09:00:00Z"),
			Clock:       series.Clock{Start: time.Date(2026, 9, 7, 9, 0, 0, 0, time.UTC), Lasts: 3600},
			Commitments: []int64{id * 10}, Requests: []int64{id * 20},
		}},
		LeftOut: []series.LeftOut{{
			Starts: time.Unix(1788768000, 0).UTC(), Reason: series.Clashes, EventID: 9, ElementID: 4,
		}},
		Ending: &series.Ending{
			Since: time.Unix(1788768000, 0).UTC(), Actor: audit.Actor{User: 8, Request: "r"},
			EventID: 101, Version: 2, Events: []int64{101},
		},
		Changes: 3,
		Changing: &series.Change{
			Number: 3, Since: time.Unix(1788768000, 0).UTC(), Actor: audit.Actor{User: 8, Request: "r"},
			Key: idempotency.Key{ID: "k", Body: "b"}, EventID: 101, Committed: true, Dropped: true, Overwrite: true,
			Common: event.Common{
				Texts: []string{"body", "Physics"}, CategoryID: &number, OrganiserID: &number, Times: true,
			},
			Staying: []int64{4}, Events: []series.Altered{{
				Kept:    series.Kept{Place: 1, EventID: 101, Reason: series.Clashes, OtherID: 9, ElementID: 4},
				Version: 2, Held: true, Span: span("2026-09-07T08:00:00Z", "2026-09-07T09:00:00Z"),
				Clock: series.Clock{Start: time.Date(2026, 9, 7, 9, 0, 0, 0, time.UTC), Lasts: 3600},
			}},
		},
		Changed: []series.Outcome{{
			Number: 2, At: time.Unix(1788768000, 0).UTC(), Key: idempotency.Key{ID: "k", Body: "b"}, EventID: 101,
			Changed: []int64{101}, Kept: []series.Kept{{Place: 2, EventID: 102, Reason: series.Changed}},
		}},
		Failures: []event.Failure{{
			Index: 1, Status: event.Requested,
			Errors: problem.Fields{"element_id": {"has already been taken"}},
		}},
	}
}

func TestClients_SeriesAreKeptWholeAndFoundWithoutAScan(t *testing.T) {
	db, events := open(t)
	s := NewSeries(db, events.ids, events)
	old, fresh := now().Add(-25*time.Hour), now()
	first, second := fullSeries(1, "old", old), fullSeries(2, "new", fresh)
	for _, one := range []series.Series{first, second} {
		errortest.None(t, s.Insert(t.Context(), one))
	}
	errortest.Is(t, s.Insert(t.Context(), fullSeries(3, "new", fresh)), series.ErrTaken, "another with the same key")
	if got, err := s.GetByKey(t.Context(), "old"); err != nil || !reflect.DeepEqual(got, first) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, first)
	}
	made, err := s.Change(t.Context(), 2, func(x *series.Series) error {
		x.State, x.Ending, x.Changing = series.Made, nil, nil
		return nil
	})
	second.State, second.Ending, second.Changing, second.Version = series.Made, nil, nil, 2
	if err != nil || !reflect.DeepEqual(made, second) {
		t.Errorf("%v\n got %+v\nwant %+v", err, made, second)
	}
	unmade := func(want int) {
		t.Helper()
		if found, err := s.ListUnmade(t.Context(), now().Add(time.Hour), 5); err != nil || len(found) != want ||
			found[0].ID != 1 {
			t.Errorf("unmade: %+v, %v", found, err)
		}
	}
	unmade(1)
	_, err = s.Change(t.Context(), 2, func(x *series.Series) error {
		x.Changing = &series.Change{Number: 4, Since: fresh}
		return nil
	})
	errortest.None(t, err)
	unmade(2)
	errortest.None(t, s.ForgetKeys(t.Context(), now().Add(-24*time.Hour)))
	errortest.Is(t, errortest.Of(s.GetByKey(t.Context(), "old")), record.ErrNotFound, "a forgotten key")
	for name, filter := range map[string]bson.D{
		"a key": seriesKeyFilter("new"), "unmade": unmadeFilter(fresh), "old keys": seriesKeysFilter(fresh),
	} {
		t.Run(name, func(t *testing.T) {
			storetest.NoScan(t, db, bson.D{{Key: "find", Value: "series"}, {Key: "filter", Value: filter}})
		})
	}
	for range 2 {
		errortest.Report(t, s.Delete(t.Context(), 1))
	}
	errortest.Is(t, errortest.Of(s.Get(t.Context(), 1)), record.ErrNotFound, "deleted")
}

func TestClients_SeriesTheirEventsAreStoredOnceAndFoundInOrder(t *testing.T) {
	db, events := open(t)
	s := NewSeries(db, events.ids, events)
	var all []event.Event
	for id := int64(1); id <= 3; id++ {
		e := lesson(id)
		e.Key, e.SeriesID, e.Place = "", 7, int(4-id)
		all = append(all, e)
	}
	if taken, err := s.InsertEvents(t.Context(), all[:2]); err != nil || len(taken) != 0 {
		t.Fatal(taken, err)
	}
	if taken, err := s.InsertEvents(t.Context(), all); err != nil || !reflect.DeepEqual(taken, []int{0, 1}) {
		t.Errorf("taken: %v, %v", taken, err)
	}
	other := lesson(4)
	insert(t, events, other)
	found, err := s.FindEvents(t.Context(), 7)
	if err != nil || len(found) != 3 || found[0].ID != 3 || found[2].ID != 1 || found[0].Place != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	storetest.NoScan(t, db, bson.D{{Key: "find", Value: "events"}, {Key: "filter", Value: inSeriesFilter(7)},
		{Key: "sort", Value: bson.D{{Key: "series_id", Value: 1}, {Key: "series_place", Value: 1}}}})
}
