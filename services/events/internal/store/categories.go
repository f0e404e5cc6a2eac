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
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Categories is the collection of event categories. It implements category.Store.
type Categories struct {
	categories *journal.Collection[categoryDocument, category.Category]
	ids        *mongostore.IDs
}

func categoriesCollection(db *mongo.Database) *mongo.Collection {
	return db.Collection("event_categories")
}

// NewCategories returns the store.
func NewCategories(db *mongo.Database, ids *mongostore.IDs) *Categories {
	return &Categories{journal.New(journal.Options[categoryDocument, category.Category]{
		Collection: categoriesCollection(db),
		Record:     (*categoryDocument).category,
		Set:        (*categoryDocument).set,
		Entry:      categoryEntry,
	}), ids}
}

// Get implements category.Store.
func (s *Categories) Get(ctx context.Context, id int64) (category.Category, error) {
	return s.categories.Get(ctx, id)
}

// Find implements category.Store, by the index of ids and by that of keys.
func (s *Categories) Find(ctx context.Context, ids []int64, keys []string) ([]category.Category, error) {
	var found []category.Category
	if len(ids) > 0 {
		byID, err := s.categories.Find(ctx, idsFilter(ids))
		if err != nil {
			return nil, err
		}
		found = byID
	}
	if len(keys) > 0 {
		byKey, err := s.categories.Find(ctx, keysFilter(keys))
		if err != nil {
			return nil, err
		}
		found = append(found, byKey...)
	}
	return found, nil
}

// FindNamed implements category.Store, by the index of names.
func (s *Categories) FindNamed(ctx context.Context, names []string) ([]category.Category, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return s.categories.Find(ctx, bson.D{{Key: "name", Value: bson.D{{Key: "$in", Value: names}}}})
}

// List implements category.Store. As many documents as it returns.
func (s *Categories) List(ctx context.Context, after int64, limit int) ([]category.Category, error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}}}
	return s.categories.Find(ctx, filter, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(limit)))
}

// Insert implements category.Store.
func (s *Categories) Insert(ctx context.Context, c category.Category) (int64, error) {
	id, err := s.ids.Next(ctx, categoryIDs)
	if err != nil {
		return 0, err
	}
	c.ID = id
	_, err = s.categories.InsertOne(ctx, c)
	return id, takenBy(err)
}

// Change implements category.Store.
func (s *Categories) Change(
	ctx context.Context, id int64, change func(*category.Category) error,
) (category.Category, error) {
	c, err := s.categories.Change(ctx, id, change)
	return c, takenBy(err)
}

// takenBy names the unique index that kept a category out.
func takenBy(err error) error {
	switch {
	case err == nil || !mongostore.IsDuplicateKey(err):
		return err
	case strings.Contains(err.Error(), importKey):
		return fmt.Errorf("%w: %w", category.ErrKeyTaken, err)
	default:
		return fmt.Errorf("%w: %w", category.ErrNameTaken, err)
	}
}
