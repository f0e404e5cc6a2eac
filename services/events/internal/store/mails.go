package store

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// AddItems implements notice.Store.
func (s *Notices) AddItems(ctx context.Context, items []notice.Item) error {
	for _, i := range items {
		if err := addNew(ctx, s.mails, itemDocument{Item: i, Waiting: true}); err != nil {
			return err
		}
	}
	return nil
}

func dueItemsFilter(now time.Time) bson.D {
	return bson.D{waiting(), {Key: "due_at", Value: bson.D{{Key: "$lte", Value: now}}}}
}

// Readers implements notice.Store, by an index of waiting items only.
func (s *Notices) Readers(ctx context.Context, now time.Time, limit int) ([]int64, error) {
	due, err := mongostore.Find[notice.Item](
		ctx,
		s.mails,
		dueItemsFilter(now),
		options.Find().
			SetSort(mongostore.By("due_at")).
			SetLimit(int64(limit)).
			SetProjection(bson.D{{Key: "user_id", Value: 1}}),
	)
	if err != nil {
		return nil, err
	}
	return distinct(due, func(i notice.Item) int64 { return i.UserID }), nil
}

func itemsFilter(userID int64) bson.D {
	return bson.D{waiting(), {Key: "user_id", Value: userID}}
}

// begun narrows a filter to items that are in a mail, fresh to those that are in none.
func begun(filter bson.D) bson.D {
	return append(filter, mongostore.Exists("mail")...)
}

func fresh(filter bson.D) bson.D {
	return append(filter, bson.E{Key: "mail", Value: bson.D{{Key: "$exists", Value: false}}})
}

// NextMail implements notice.Store. A mail that was begun comes first; the id of a new one is that of its first item.
func (s *Notices) NextMail(ctx context.Context, userID int64, limit int) ([]notice.Item, error) {
	items, err := s.items(ctx, begun(itemsFilter(userID)), limit)
	if err != nil || len(items) > 0 {
		return items, err
	}
	if items, err = s.items(ctx, fresh(itemsFilter(userID)), limit); err != nil || len(items) == 0 {
		return nil, err
	}
	ids := make([]string, len(items))
	for i := range items {
		ids[i], items[i].Mail = items[i].ID, items[0].ID
	}
	_, err = s.mails.UpdateMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "mail", Value: items[0].ID}}}})
	return items, failed(err, "begin a mail")
}

func (s *Notices) items(ctx context.Context, filter bson.D, limit int) ([]notice.Item, error) {
	return mongostore.Find[notice.Item](ctx, s.mails, filter,
		options.Find().SetSort(mongostore.By("at", "_id")).SetLimit(int64(limit)))
}

// Postpone implements notice.Store. It postpones everything that waits for the user, since later mails follow earlier
// ones.
func (s *Notices) Postpone(ctx context.Context, userID int64, until time.Time) error {
	filter := append(itemsFilter(userID), bson.E{Key: "due_at", Value: bson.D{{Key: "$lt", Value: until}}})
	_, err := s.mails.UpdateMany(ctx, filter, bson.D{{Key: "$set", Value: bson.D{{Key: "due_at", Value: until}}}})
	return failed(err, "postpone a mail")
}

// EndMail implements notice.Store.
func (s *Notices) EndMail(ctx context.Context, userID int64, mail, fault string) error {
	change := bson.D{{Key: "$unset", Value: bson.D{{Key: "waiting", Value: ""}}}}
	if fault != "" {
		change = append(change, bson.E{Key: "$set", Value: bson.D{{Key: "fault", Value: fault}}})
	}
	_, err := s.mails.UpdateMany(ctx, append(itemsFilter(userID), bson.E{Key: "mail", Value: mail}), change)
	return failed(err, "end a mail")
}
