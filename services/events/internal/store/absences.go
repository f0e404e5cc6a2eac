package store

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/absence"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// FindInCategories returns the events of the categories that start from one time on and before another. It reads as
// many documents as it returns, from one index.
func (s *Events) FindInCategories(ctx context.Context, categories []int64, from, to time.Time) ([]event.Event, error) {
	if len(categories) == 0 {
		return nil, nil
	}
	return s.find(ctx, inCategoriesFilter(s.zone, categories, from, to))
}

func inCategoriesFilter(zone wiretime.Zone, categories []int64, from, to time.Time) bson.D {
	var facets wantedFacet
	for _, id := range categories {
		facets = append(facets, facetOf("category", id))
	}
	return append(facetsFilter(zone, []clauser{facets}, from, to),
		bson.E{Key: "category_id", Value: bson.D{{Key: "$in", Value: categories}}})
}

// Nights remembers the nightly check of absences in the collection event_settings. It implements absence.Nights.
type Nights struct{ settings *mongo.Collection }

var _ absence.Nights = Nights{}

// NewNights returns the store.
func NewNights(db *mongo.Database) Nights { return Nights{settingsCollection(db)} }

const nightID, nightField = "absences", "done"

// Done implements absence.Nights.
func (n Nights) Done(ctx context.Context) (time.Time, error) {
	return setting[time.Time](ctx, n.settings, nightID, nightField)
}

// SetDone implements absence.Nights.
func (n Nights) SetDone(ctx context.Context, at time.Time) error {
	return set(ctx, n.settings, nightID, nightField, at)
}

// Lead implements absence.Nights.
func (n Nights) Lead(ctx context.Context, work func(context.Context) error) error {
	return mongostore.WithLease(ctx, n.settings, "absences-lease", work)
}
