package store

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

func openNotices(t *testing.T) (*mongo.Database, *Notices) {
	t.Helper()
	db := storetest.Mongo(t)
	s := NewNotices(db, mongostore.NewIDs(db))
	errortest.None(t, s.Prepare(t.Context()))
	return db, s
}

func TestEvents_EachChangeLeavesItsNoticesInTheSameWrite(t *testing.T) {
	db, _ := open(t)
	told := 0
	s := NewEvents(db, mongostore.NewIDs(db), timetest.London(t), func() { told++ })
	as := func(user int64) context.Context { return audit.WithActor(t.Context(), audit.Actor{User: user}) }
	e := lesson(5)
	e.Commitments[0].Status = event.Requested
	insert(t, s, e)
	id := e.Commitments[0].ID
	change := func(user int64, do func(*event.Event)) {
		t.Helper()
		errortest.None(t, errortest.Of(s.Change(as(user), 5, func(e *event.Event) error { do(e); return nil })))
	}
	change(7, func(e *event.Event) { c := e.Commitment(id); c.Status, c.DecidedBy = event.Confirmed, 7 })
	change(7, func(e *event.Event) { e.Body = "Another title" })
	errortest.None(t, s.Delete(as(8), 5, func(*event.Event) error { return nil }))
	var stored struct{ Outbox []outbox.Message }
	errortest.None(t, EventsCollection(db).FindOne(t.Context(), bson.D{{Key: "_id", Value: 5}}).Decode(&stored))
	var notices []event.Notice
	var kinds []string
	for _, m := range stored.Outbox {
		n, err := decodeNotice(m.Detail)
		errortest.None(t, err)
		notices, kinds = append(notices, n), append(kinds, m.Kind)
	}
	if want := "[commitment.requested commitment.decided event.deleted]"; fmt.Sprint(kinds) != want {
		t.Fatalf("the outbox has %v, want %s", kinds, want)
	}
	valuetest.Same(t, told, 3, "the relay was told %d times", told)
	last := int64(0)
	for i, n := range notices {
		if n.Position <= last || len(n.Entries) != 1 || n.Entries[0].CommitmentID != id || n.Event.ID != 5 ||
			n.Actor != []int64{0, 7, 8}[i] {
			t.Errorf("%+v after position %d", n, last)
		}
		last = n.Position
	}
	if notices[2].Event.Body != "Another title" || notices[1].Event.Body == "Another title" {
		t.Error("a notice does not tell of the event as it was")
	}
}

func TestNotices_NoScanOnAnyPath(t *testing.T) {
	db, s := openNotices(t)
	_, err := s.AddDeliveries(t.Context(),
		[]notice.Delivery{{WebhookID: 1, NoticeID: "a", EventID: 1, State: notice.Waiting,
			At: time.Now()}})
	errortest.None(t, err)
	now := time.Now()
	due := bson.D{{Key: "due_at", Value: 1}}
	position := bson.D{{Key: "position", Value: 1}}
	oldest := bson.D{{Key: "at", Value: 1}, {Key: "_id", Value: 1}}
	earlier := earlierFilter(notice.Delivery{WebhookID: 1, EventID: 1, Position: 5})
	for _, c := range []struct {
		collection   string
		filter, sort bson.D
	}{
		{"notices", toSpreadFilter(), nil},
		{"notices", ofEventFilter(1), position},
		{"notices", beforeFilter(now), nil},
		{"notice_mails", dueItemsFilter(now), due},
		{"notice_mails", begun(itemsFilter(1)), oldest},
		{"notice_mails", fresh(itemsFilter(1)), oldest},
		{"notice_mails", beforeFilter(now), nil},
		{"webhook_deliveries", dueDeliveriesFilter(1, now), due},
		{"webhook_deliveries", dueTestsFilter(1, now), due},
		{"webhook_deliveries", earlier, position},
		{"webhook_deliveries", deliveryLogFilter(1, 100), bson.D{{Key: "_id", Value: -1}}},
		{"webhook_deliveries", beforeFilter(now), nil},
	} {
		find := bson.D{{Key: "find", Value: c.collection}, {Key: "filter", Value: c.filter}}
		if c.sort != nil {
			find = append(find, bson.E{Key: "sort", Value: c.sort})
		}
		storetest.NoScan(t, db, find)
	}
}

// All that waits for an inactive webhook was read twice a second, to find whether a test is among it.
func TestNotices_TestsAreFoundWithoutWhatWaitsForAnInactiveWebhook(t *testing.T) {
	db, s := openNotices(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	waiting := make([]notice.Delivery, 1000)
	for i := range waiting {
		waiting[i] = notice.Delivery{WebhookID: 1, NoticeID: fmt.Sprint(i), EventID: 1, Position: int64(i),
			State: notice.Waiting, At: now, DueAt: now.Add(-time.Hour)}
	}
	errortest.None(t, errortest.Of(s.AddDeliveries(t.Context(), waiting)))
	find := bson.D{{Key: "find", Value: "webhook_deliveries"}, {Key: "filter", Value: dueTestsFilter(1, now)},
		{Key: "sort", Value: bson.D{{Key: "due_at", Value: 1}}}, {Key: "limit", Value: 1}}
	var plan struct {
		QueryPlanner bson.M `bson:"queryPlanner"`
	}
	errortest.None(t, db.RunCommand(t.Context(), bson.D{{Key: "explain", Value: find}}).Decode(&plan))
	delete(plan.QueryPlanner, "rejectedPlans")
	text, err := bson.MarshalExtJSON(plan.QueryPlanner, false, false)
	errortest.None(t, err)
	valuetest.Has(t, string(text), `"tests"`, "another index")
	if d, found, err := s.NextDelivery(t.Context(), 1, now, true); err != nil || found {
		t.Errorf("while it is inactive: %+v, %v", d, err)
	}
	test := notice.Delivery{WebhookID: 1, NoticeID: "t", State: notice.Waiting, At: now, DueAt: now, Once: true}
	errortest.None(t, errortest.Of(s.AddDeliveries(t.Context(), []notice.Delivery{test})))
	for tests, want := range map[bool]string{true: "t", false: "0"} {
		d, _, err := s.NextDelivery(t.Context(), 1, now, tests)
		errortest.None(t, err)
		valuetest.Same(t, d.NoticeID, want, "next, a test %v", tests)
	}
}

func TestNotices_WhatIsAddedAgainIsLeftAsItIs(t *testing.T) {
	_, s := openNotices(t)
	n := notice.Notice{ID: "n", At: time.Now().UTC().Truncate(time.Millisecond),
		Notice: event.Notice{Kind: event.CommitmentDecided, Position: 3, Event: event.NoticeEvent{ID: 9}}}
	item := notice.Item{ID: "n.1", UserID: 1, At: n.At, DueAt: n.At}
	delivery := notice.Delivery{WebhookID: 1, NoticeID: "n", EventID: 9, At: n.At, DueAt: n.At, State: notice.Waiting}
	for range 2 {
		errortest.None(t, s.AddNotice(t.Context(), n))
		errortest.None(t, s.AddItems(t.Context(), []notice.Item{item}))
		errortest.None(t, errortest.Of(s.AddDeliveries(t.Context(), []notice.Delivery{delivery})))
		errortest.None(t, s.Spread(t.Context(), "n"))
		if mail, err := s.NextMail(t.Context(), 1, 10); err != nil || len(mail) > 0 {
			errortest.None(t, s.EndMail(t.Context(), 1, mail[0].Mail, ""))
		}
	}
	events, err := s.EventsToSpread(t.Context())
	valuetest.Holds(t, err == nil && len(events) == 0, "to spread again: %v %v", events, err)
	if readers, err := s.Readers(t.Context(), time.Now().Add(time.Hour), 10); err != nil || len(readers) > 0 {
		t.Errorf("to mail again: %v %v", readers, err)
	}
	if log, err := s.ListDeliveries(t.Context(), 1, 0, 10); err != nil || len(log) != 1 {
		t.Errorf("deliveries %+v %v", log, err)
	}
}

func TestNotices_AMailThatWasBegunGoesOnWithTheSameItemsAndBeforeNewOnes(t *testing.T) {
	_, s := openNotices(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	add := func(id string, at time.Time) {
		t.Helper()
		errortest.None(t, s.AddItems(t.Context(),
			[]notice.Item{{ID: id, UserID: 1, At: at, DueAt: at, Lines: []notice.Line{{Text: "x"}}}}))
	}
	mail := func() (ids []string) {
		t.Helper()
		items, err := s.NextMail(t.Context(), 1, 10)
		errortest.None(t, err)
		for _, i := range items {
			ids = append(ids, i.ID+" in "+i.Mail)
		}
		return ids
	}
	add("b", now)
	add("a", now.Add(-time.Second))
	want := "[a in a b in a]"
	valuetest.Same(t, fmt.Sprint(mail()), want)
	add("c", now.Add(-time.Hour))
	valuetest.Same(t, fmt.Sprint(mail()), want, "again")
	until := now.Add(time.Hour)
	errortest.None(t, s.Postpone(t.Context(), 1, until))
	if readers, err := s.Readers(t.Context(), until.Add(-time.Second), 10); err != nil || len(readers) > 0 {
		t.Errorf("postponed, but due: %v %v", readers, err)
	}
	errortest.None(t, s.EndMail(t.Context(), 1, "a", ""))
	valuetest.Same(t, fmt.Sprint(mail()), "[c in c]", "then")
}

// The text is stored, and read by the pods of other releases.
func TestNoticeText_IsTheStoredOneAndIsReadBack(t *testing.T) {
	starts := time.Date(2026, 9, 7, 8, 30, 0, 0, time.UTC)
	n := event.Notice{
		Kind:  event.RequestAllocated,
		Actor: 9,
		Event: event.NoticeEvent{
			ID: 5, Body: "Concert", Starts: starts, Ends: starts.Add(time.Hour), AllDay: true, OwnerID: 4,
			CategoryID: 6,
		},
		Entries: []event.Entry{
			{CommitmentID: 1, ElementID: 10, Status: event.Confirmed, Reason: "free", DecidedBy: 2, AddedBy: 3,
				RequestID: 6, GroupID: 7, Quantity: 8, Allocated: 1},
			{CommitmentID: 2, ElementID: 11, Status: event.Requested},
		},
	}
	const want = `{"kind":"request.allocated","position":25,"event":{"id":5,"body":"Concert",` +
		`"starts":"2026-09-07T08:30:00Z","ends":"2026-09-07T09:30:00Z","all_day":true,"owner_id":4,"category_id":6},` +
		`"actor":9,` +
		`"entries":[{"commitment_id":1,"element_id":10,"status":"confirmed","reason":"free","decided_by":2,` +
		`"added_by":3,"request_id":6,"group_id":7,"quantity":8,"allocated":1},` +
		`{"commitment_id":2,"element_id":11,"status":"requested"}]}`
	got := noticeText(3, 1, n)
	valuetest.Same(t, got, want, "the text")
	n.Position = 25
	if back, err := decodeNotice(got); err != nil || !reflect.DeepEqual(back, n) {
		t.Errorf("read back: %+v, %v; want %+v", back, err, n)
	}
}

func TestNoticesOf_LeavesOutWhatIsNoNoticeAndWhatIsNotReadable(t *testing.T) {
	var log output.Buffer
	at := time.Date(2026, 9, 7, 8, 30, 0, 0, time.UTC)
	got := NoticesOf(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), []outbox.Message{
		{ID: "a deletion", Kind: "event.deleted", Subject: 5},
		{ID: "torn", Kind: "commitment.requested", Subject: 5, At: at, Detail: `{"kind":`},
		{ID: "whole", Kind: "commitment.requested", Subject: 5, At: at,
			Detail: noticeText(1, 0, event.Notice{Kind: event.CommitmentRequested})},
	})
	if len(got) != 1 || got[0].ID != "whole" || !got[0].At.Equal(at) || got[0].Kind != event.CommitmentRequested {
		t.Errorf("the notices are %+v", got)
	}
	valuetest.Has(t, log.String(), "notice=torn", "the log does not name the notice that was skipped")
}
