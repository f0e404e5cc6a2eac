package store

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// The names of the id counters.
const (
	webhookIDs  = "webhooks"
	deliveryIDs = "webhook_deliveries"
)

// webhookDocument is a webhook as it is stored. The secret is needed for each signature, so it is stored in clear.
type webhookDocument struct {
	mongostore.Head `bson:",inline"`

	Webhook notice.Webhook   `bson:",inline"`
	Secret  string           `bson:"secret,omitempty"`
	Before  []secretDocument `bson:"before,omitempty"`

	journal.Tail `bson:",inline"`
}

// secretDocument is a notice.OldSecret as it is stored.
type secretDocument struct {
	Secret string    `bson:"secret"`
	Until  time.Time `bson:"until"`
}

func webhooksCollection(db *mongo.Database) *mongo.Collection { return db.Collection("webhooks") }

func (d *webhookDocument) webhook() notice.Webhook {
	w := d.Webhook
	w.ID, w.Secret = d.ID, settings.NewSecret(d.Secret)
	for _, old := range d.Before {
		w.Before = append(w.Before, notice.OldSecret{Secret: settings.NewSecret(old.Secret), Until: old.Until})
	}
	return w
}

func (d *webhookDocument) set(w notice.Webhook) {
	d.ID, d.Schema = w.ID, schema
	d.Webhook, d.Secret, d.Before = w, w.Secret.Reveal(), nil
	for _, old := range w.Before {
		d.Before = append(d.Before, secretDocument{old.Secret.Reveal(), old.Until})
	}
}

func stateWaiting() bson.E { return bson.E{Key: "state", Value: notice.Waiting} }

func isTest() bson.E { return bson.E{Key: "once", Value: true} }

// ListWebhooks implements notice.WebhookStore. There are few.
func (s *Notices) ListWebhooks(ctx context.Context) ([]notice.Webhook, error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: int64(0)}}}}
	return s.webhooks.Find(ctx, filter, options.Find().SetSort(mongostore.By("_id")))
}

// GetWebhook implements notice.WebhookStore.
func (s *Notices) GetWebhook(ctx context.Context, id int64) (notice.Webhook, error) {
	return s.webhooks.Get(ctx, id)
}

// AloneWithWebhooks implements notice.WebhookStore.
func (s *Notices) AloneWithWebhooks(ctx context.Context, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, s.leases, "webhooks", work)
}

// InsertWebhook implements notice.WebhookStore.
func (s *Notices) InsertWebhook(ctx context.Context, w notice.Webhook) (int64, error) {
	id, err := s.ids.Next(ctx, webhookIDs)
	if err != nil {
		return 0, err
	}
	w.ID = id
	_, err = s.webhooks.InsertOne(ctx, w)
	return id, err
}

// ChangeWebhook implements notice.WebhookStore.
func (s *Notices) ChangeWebhook(
	ctx context.Context, id int64, change func(*notice.Webhook) error,
) (notice.Webhook, error) {
	return s.webhooks.Change(ctx, id, change)
}

// DeleteWebhook implements notice.WebhookStore. It deletes the deliveries last: an interrupted removal leaves only
// these, which no call shows and Forget removes.
func (s *Notices) DeleteWebhook(ctx context.Context, id int64) error {
	err := s.webhooks.Delete(ctx, id, func(*notice.Webhook) error { return nil })
	if err != nil || record.IsDryRun(ctx) {
		return err
	}
	_, err = s.deliveries.DeleteMany(ctx, bson.D{{Key: "webhook_id", Value: id}})
	return failed(err, "remove the deliveries of a webhook")
}

// AddDeliveries implements notice.Store. Their ids rise from one addition to the next over all processes.
func (s *Notices) AddDeliveries(ctx context.Context, deliveries []notice.Delivery) ([]notice.Delivery, error) {
	if len(deliveries) == 0 {
		return nil, nil
	}
	first, err := s.ids.Take(ctx, deliveryIDs, len(deliveries))
	if err != nil {
		return nil, err
	}
	for i := range deliveries {
		deliveries[i].ID = first + int64(i)
		if err := addNew(ctx, s.deliveries, deliveries[i]); err != nil {
			return nil, err
		}
	}
	return deliveries, nil
}

func dueDeliveriesFilter(webhookID int64, now time.Time) bson.D {
	return bson.D{
		{Key: "webhook_id", Value: webhookID},
		stateWaiting(),
		{Key: "due_at", Value: bson.D{{Key: "$lte", Value: now}}},
	}
}

func dueTestsFilter(webhookID int64, now time.Time) bson.D {
	return append(dueDeliveriesFilter(webhookID, now), isTest())
}

func earlierFilter(d notice.Delivery) bson.D {
	return bson.D{{Key: "webhook_id", Value: d.WebhookID}, {Key: "event_id", Value: d.EventID}, stateWaiting(),
		{Key: "position", Value: bson.D{{Key: "$lt", Value: d.Position}}}}
}

// NextDelivery implements notice.Store. A delivery that has to wait for another is postponed until the other may be
// tried.
func (s *Notices) NextDelivery(
	ctx context.Context, webhookID int64, now time.Time, tests bool,
) (notice.Delivery, bool, error) {
	filter := dueDeliveriesFilter(webhookID, now)
	if tests {
		filter = dueTestsFilter(webhookID, now)
	}
	for {
		d, found, err := s.delivery(ctx, filter, "due_at")
		if err != nil || !found || d.EventID == 0 {
			return d, found, err
		}
		first, blocked, err := s.delivery(ctx, earlierFilter(d), "position")
		switch {
		case err != nil:
			return notice.Delivery{}, false, err
		case !blocked:
			return d, true, nil
		case !first.DueAt.After(now):
			return first, true, nil
		}
		if err := s.setDelivery(ctx, d.ID, bson.D{{Key: "due_at", Value: first.DueAt}}); err != nil {
			return notice.Delivery{}, false, err
		}
	}
}

// delivery returns the first delivery by a field.
func (s *Notices) delivery(ctx context.Context, filter bson.D, by string) (notice.Delivery, bool, error) {
	inOrder := options.FindOne().SetSort(mongostore.By(by))
	d, err := mongostore.First[notice.Delivery](ctx, s.deliveries, filter, inOrder)
	if errors.Is(err, record.ErrNotFound) {
		return notice.Delivery{}, false, nil
	}
	return d, err == nil, err
}

// KeepDelivery implements notice.Store.
func (s *Notices) KeepDelivery(ctx context.Context, d notice.Delivery) error {
	return s.setDelivery(
		ctx,
		d.ID,
		bson.D{{Key: "due_at", Value: d.DueAt}, {Key: "state", Value: d.State}, {Key: "attempts", Value: d.Attempts},
			{Key: "attempted_at", Value: d.AttemptedAt}, {Key: "code", Value: d.Code}, {Key: "error", Value: d.Error}},
	)
}

func (s *Notices) setDelivery(ctx context.Context, id int64, fields bson.D) error {
	_, err := s.deliveries.UpdateByID(ctx, id, bson.D{{Key: "$set", Value: fields}})
	return failed(err, "keep a delivery")
}

func deliveryLogFilter(webhookID, before int64) bson.D {
	filter := bson.D{{Key: "webhook_id", Value: webhookID}}
	if before != 0 {
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$lt", Value: before}}})
	}
	return filter
}

// ListDeliveries implements notice.WebhookStore: as many documents as it returns, without their bodies.
func (s *Notices) ListDeliveries(ctx context.Context, webhookID, before int64, limit int) ([]notice.Delivery, error) {
	return mongostore.Find[notice.Delivery](ctx, s.deliveries, deliveryLogFilter(webhookID, before),
		options.Find().
			SetSort(mongostore.By("-_id")).
			SetLimit(int64(limit)).
			SetProjection(bson.D{{Key: "body", Value: 0}}))
}
