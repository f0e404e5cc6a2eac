package store

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Categories is the collection of event categories. It implements event.CategoryStore.
type Categories struct {
	categories *journal.Collection[categoryDocument, event.Category]
	ids        *mongostore.IDs
}

func categoriesCollection(db *mongo.Database) *mongo.Collection {
	return db.Collection("event_categories")
}

// NewCategories returns the store.
func NewCategories(db *mongo.Database, ids *mongostore.IDs) *Categories {
	return &Categories{journal.New(journal.Options[categoryDocument, event.Category]{
		Collection: categoriesCollection(db), Record: (*categoryDocument).category, Set: (*categoryDocument).set, Entry: categoryEntry,
	}), ids}
}

// Category returns the category of that id. One document by its id.
func (s *Categories) Category(ctx context.Context, id int64) (event.Category, error) {
	c, err := s.categories.Get(ctx, id)
	return c, record.Missing(err, "EventCategory", id)
}

// ByID returns those of the categories that exist. One read by their ids.
func (s *Categories) ByID(ctx context.Context, ids []int64) ([]event.Category, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return s.find(ctx, idsFilter(ids), options.Find())
}

// Page returns categories by id. As many documents as it returns.
func (s *Categories) Page(ctx context.Context, after int64, limit int) ([]event.Category, error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}}}
	return s.find(ctx, filter, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(limit)))
}

// Find returns the categories that have one of the import keys or one of the names. Up to two reads, by an index each.
func (s *Categories) Find(ctx context.Context, keys, names []string) ([]event.Category, error) {
	var found []event.Category
	seen := map[int64]bool{}
	for field, values := range map[string][]string{"key": keys, "name": names} {
		if len(values) == 0 {
			continue
		}
		some, err := s.find(ctx, bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: values}}}}, options.Find())
		if err != nil {
			return nil, err
		}
		for _, c := range some {
			if !seen[c.ID] {
				seen[c.ID] = true
				found = append(found, c)
			}
		}
	}
	return found, nil
}

func (s *Categories) find(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) ([]event.Category, error) {
	return s.categories.Find(ctx, filter, o)
}

// Insert stores a new category under a new id.
func (s *Categories) Insert(ctx context.Context, c event.Category) (int64, error) {
	id, err := s.ids.Next(ctx, categoryIDs)
	if err != nil {
		return 0, err
	}
	c.ID = id
	_, err = s.categories.InsertOne(ctx, c)
	return id, takenBy(err)
}

// Change is event.CategoryStore's: two round trips when no other writer comes between.
func (s *Categories) Change(ctx context.Context, id int64, change func(*event.Category) error) (event.Category, error) {
	c, err := s.categories.Change(ctx, id, func(c *event.Category) error {
		before := *c
		if err := change(c); err != nil {
			return err
		}
		if *c == before {
			return record.ErrUnchanged
		}
		return nil
	})
	if err != nil {
		return event.Category{}, takenBy(record.Missing(err, "EventCategory", id))
	}
	return c, nil
}

// takenBy names the unique index that kept a category out.
func takenBy(err error) error {
	switch {
	case err == nil || !mongostore.IsDuplicateKey(err):
		return err
	case strings.Contains(err.Error(), importKey):
		return fmt.Errorf("%w: %w", event.ErrKeyTaken, err)
	default:
		return fmt.Errorf("%w: %w", event.ErrNameTaken, err)
	}
}
