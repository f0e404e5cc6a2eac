package store

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
	"github.com/belfry-schools/belfry/services/events/internal/series"
)

// Each collection gets documents with all that they may hold, and fields of a later release at every level. Then all
// that this release writes to them runs.
func TestHardToBreak_Row09_NoWriteLosesWhatItDoesNotKnow(t *testing.T) {
	db, s := open(t)
	ctx := audit.WithActor(t.Context(), audit.Actor{User: 7})
	notices := NewNotices(db, s.ids)
	errortest.None(t, notices.Prepare(ctx))
	e := fullEvent()
	webhook := fillOthers(t, ctx, db, s, notices, e)

	kept := storetest.AddUnknown(t, db, storetest.Unknown{
		Filled: []string{"events", "event_categories", "event_settings", "event_titles", "claims", "webhooks",
			"webhook_deliveries", "notices", "notice_mails", "notice_leases", "series"},
		// "$inc" alone, and written once
		Unchanged: []string{"counters", "events_audit", "events_changes"},
		Maps:      []string{"errors"},
	})

	for name, write := range writes(ctx, db, s, notices, e, webhook) {
		errortest.Report(t, write(), name)
	}
	kept()
}

// fullEvent has something in every field.
func fullEvent() event.Event {
	e := lesson(1)
	e.ImportHash, e.OwnerID, e.OrganiserID = "h", 3, 4
	e.SeriesID, e.Place, e.Own, e.Shared = 7, 1, []event.Own{event.OwnTimes}, 2
	e.Commitments[0].Status, e.Commitments[0].RequestID = event.Confirmed, e.Requests[0].ID
	e.Commitments[0].DecidedBy, e.Commitments[0].DecidedAt = 5, time.Unix(1788768000, 0).UTC()
	e.IdempotencyRecords = []event.IdempotencyRecord{{
		Key: "key", Body: "body", At: now(),
		Failures: []event.Failure{{Index: 0}, {Index: 1, Status: event.Requested,
			Errors: problem.Fields{"element_id": {"has already been taken"}}}},
	}}
	return e
}

// fillOthers stores documents in all collections, and returns the id of the webhook.
func fillOthers(t *testing.T, ctx context.Context, db *mongo.Database, s *Events, notices *Notices,
	e event.Event) int64 {
	t.Helper()
	_, err := s.Insert(ctx, []event.Event{e})
	errortest.None(t, err)
	errortest.None(t, s.titles.share(ctx, []event.Event{e, e}))
	// A change that others hear of, so that an entry and a message are pending.
	_, err = s.Change(ctx, e.ID, func(e *event.Event) error {
		e.Commitments[1].Status = event.Requested
		return nil
	})
	errortest.None(t, err)
	categories := NewCategories(CategoriesOptions{DB: db, IDs: s.ids})
	errortest.None(t, errortest.Of(categories.Insert(ctx, []category.Category{{Key: "k", Name: "Lesson", School: 7}})))
	reservation := clash.Reservation{Token: "a", EventID: 1, Starts: now(), Ends: now().Add(time.Hour)}
	errortest.None(t, errortest.Of(NewReservations(db).Insert(ctx, 5, reservation)))
	id, err := notices.InsertWebhook(ctx, notice.Webhook{URL: "https://a.example", Kinds: event.NoticeKinds(),
		Secret: settings.NewSecret("s"), Before: []notice.OldSecret{{Secret: settings.NewSecret("o"), Until: now()}}})
	errortest.None(t, err)
	_, err = notices.AddDeliveries(ctx, []notice.Delivery{
		{WebhookID: id, NoticeID: "n", EventID: 1, At: now(), DueAt: now(), State: notice.Waiting},
	})
	errortest.None(t, err)
	errortest.None(t, notices.AddNotice(ctx, notice.Notice{ID: "n", At: now()}))
	errortest.None(t, notices.AddItems(ctx, []notice.Item{
		{ID: "i", UserID: 3, EventID: 1, At: now(), DueAt: now(), Lines: []notice.Line{{Text: "a"}}},
	}))
	errortest.None(t, NewSeries(db, s.ids, s).Insert(ctx, fullSeries(1, "key of a series", now())))
	nothing := func(context.Context) error { return nil }
	errortest.None(t, notices.Lead(ctx, nothing))
	errortest.None(t, NewNights(db).Lead(ctx, nothing))
	errortest.None(t, NewNights(db).SetDone(ctx, now()))
	return id
}

// writes are all that this release writes to stored documents, but for what deletes them.
func writes(ctx context.Context, db *mongo.Database, s *Events, notices *Notices, e event.Event,
	webhook int64) map[string]func() error {
	nothing := func(context.Context) error { return nil }
	change := func(decide func(*event.Event)) func() error {
		return func() error {
			_, err := s.Change(ctx, e.ID, func(e *event.Event) error { decide(e); return nil })
			return err
		}
	}
	return map[string]func() error{
		"make a series": func() error {
			_, err := NewSeries(db, s.ids, s).Change(ctx, 1, func(x *series.Series) error {
				x.State = series.Made
				return nil
			})
			return err
		},
		"change a title": change(func(e *event.Event) { e.Body += "!" }),
		"decide":         change(func(e *event.Event) { e.Commitments[2].Status = event.Rejected }),
		"move":           change(func(e *event.Event) { e.Span.Ends = e.Span.Ends.AddDate(0, 0, 1) }),
		"add": change(func(e *event.Event) {
			e.Commitments = append(e.Commitments, event.Commitment{ID: 99, ElementID: 99, Status: event.Uncontrolled})
		}),
		"reorder": change(func(e *event.Event) { slices.Reverse(e.Commitments) }),
		"fence":   func() error { return s.Fence(ctx, e.ID) },
		"hold":    func() error { return s.Hold(ctx, e.ID, func(*event.Event) error { return nil }) },
		"import": func() error {
			_, err := s.Change(audit.WithBatch(ctx, batch{}), e.ID, func(e *event.Event) error {
				e.ImportHash, e.Requests[0].Quantity = e.ImportHash+"h", 9
				return nil
			})
			return err
		},
		"upgrade": func() error {
			return s.rekeyEvent(ctx, e.ID, s.zone)
		},
		"rekey": func() error { return s.rekey(ctx, "Europe/London") },
		"change a category": func() error {
			rename := func(c *category.Category) error { c.Name += "!"; return nil }
			_, err := NewCategories(CategoriesOptions{DB: db, IDs: s.ids}).Change(ctx, 1, rename)
			return err
		},
		"reserve": func() error {
			tomorrow := now().AddDate(0, 0, 1)
			later := clash.Reservation{Token: "b", EventID: 2, Starts: tomorrow, Ends: tomorrow.Add(time.Hour)}
			_, err := NewReservations(db).Insert(ctx, 5, later)
			return err
		},
		"release": func() error { return NewReservations(db).Delete(ctx, 5, "none") },
		"change a webhook": func() error {
			pause := func(w *notice.Webhook) error { w.Active = !w.Active; return nil }
			_, err := notices.ChangeWebhook(ctx, webhook, pause)
			return err
		},
		"keep a delivery": func() error { return notices.KeepDelivery(ctx, notice.Delivery{ID: 1, Attempts: 2}) },
		"spread":          func() error { return notices.Spread(ctx, "n") },
		"postpone":        func() error { return notices.Postpone(ctx, 3, now().Add(time.Hour)) },
		"lead":            func() error { return notices.Lead(ctx, nothing) },
		"a night": func() error {
			nights := NewNights(db)
			if err := nights.Lead(ctx, nothing); err != nil {
				return err
			}
			return nights.SetDone(ctx, now())
		},
		"another zone": func() error { return prepareZone(ctx, db, s.zone) },
	}
}

// batch is an import's that has begun.
type batch struct{}

func (batch) Begin(context.Context) error { return nil }

// The messages and entries of a deleted event wait in its tombstone, and what a later release wrote into them too.
func TestHardToBreak_Row09_ATombstoneKeepsWhatIsPendingAsItWas(t *testing.T) {
	db, s := open(t)
	ctx := audit.WithActor(t.Context(), audit.Actor{User: 7})
	insert(t, s, fullEvent())
	_, err := s.Change(ctx, 1, func(e *event.Event) error {
		e.Commitments[1].Status = event.Requested
		return nil
	})
	errortest.None(t, err)
	later := bson.D{{Key: "$set", Value: bson.D{
		{Key: "audit.0.later", Value: "x"}, {Key: "outbox.0.later", Value: "x"}, {Key: "later", Value: "x"},
	}}}
	errortest.None(t, errortest.Of(EventsCollection(db).UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, later)))
	var before, after struct {
		Audit, Outbox []bson.D
		Later         string
	}
	read := func(into any) {
		t.Helper()
		errortest.None(t, EventsCollection(db).FindOne(ctx, bson.D{{Key: "_id", Value: 1}}).Decode(into))
	}
	read(&before)
	errortest.None(t, s.Delete(ctx, 1, func(*event.Event) error { return nil }))
	read(&after)
	if len(before.Outbox) == 0 || len(before.Audit) == 0 || after.Later != "" ||
		fmt.Sprint(after.Audit[:len(before.Audit)]) != fmt.Sprint(before.Audit) ||
		fmt.Sprint(after.Outbox[:len(before.Outbox)]) != fmt.Sprint(before.Outbox) {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
}
