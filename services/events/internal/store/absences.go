package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/events/internal/absence"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// FindInCategories returns the events of the categories that start from one time on and before another. It reads as
// many documents as it returns, from one index.
func (s *Events) FindInCategories(ctx context.Context, categories []int64, from, to time.Time) ([]event.Event, error) {
	if len(categories) == 0 {
		return nil, nil
	}
	return s.find(ctx, inCategoriesFilter(categories, from, to))
}

func inCategoriesFilter(categories []int64, from, to time.Time) bson.D {
	return bson.D{
		{Key: "category_id", Value: bson.D{{Key: "$in", Value: categories}}},
		{Key: "starts", Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: to}}},
	}
}

// Nights remembers the nightly check of absences in the collection event_settings. It implements absence.Nights.
type Nights struct{ settings *mongo.Collection }

var _ absence.Nights = Nights{}

// NewNights returns the store.
func NewNights(db *mongo.Database) Nights { return Nights{db.Collection("event_settings")} }

// nightDocument records, under the id "absences", up to which time the nightly check is done.
type nightDocument struct {
	ID   string    `bson:"_id"`
	Done time.Time `bson:"done"`
}

const nightID = "absences"

// Done implements absence.Nights.
func (n Nights) Done(ctx context.Context) (time.Time, error) {
	var d nightDocument
	err := n.settings.FindOne(ctx, bson.D{{Key: "_id", Value: nightID}}).Decode(&d)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return time.Time{}, fmt.Errorf("read when absences were checked: %w", err)
	}
	return d.Done, nil
}

// SetDone implements absence.Nights.
func (n Nights) SetDone(ctx context.Context, at time.Time) error {
	_, err := n.settings.UpdateOne(
		ctx,
		bson.D{{Key: "_id", Value: nightID}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "done", Value: at}}}},
		options.UpdateOne().SetUpsert(true),
	)
	if err != nil {
		return fmt.Errorf("record when absences were checked: %w", err)
	}
	return nil
}

// Lead implements absence.Nights.
func (n Nights) Lead(ctx context.Context, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, n.settings, "absences-lease", work)
}
