package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Categories is the collection of event categories. It implements category.Store.
type Categories struct {
	categories *journal.Collection[categoryDocument, category.Category]
	ids        *mongostore.IDs
	near       *directory.Shelf[category.Category]
}

func categoriesCollection(db *mongo.Database) *mongo.Collection {
	return db.Collection("event_categories")
}

// CategoriesOptions are those of NewCategories.
type CategoriesOptions struct {
	DB        *mongo.Database
	IDs       *mongostore.IDs
	Directory journal.Directory
	Memory    *directory.Memory // nil: nothing is kept in memory
}

// NewCategories returns the store.
func NewCategories(o CategoriesOptions) *Categories {
	return &Categories{
		categories: journal.New(journal.Options[categoryDocument, category.Category]{
			Collection: categoriesCollection(o.DB),
			Record:     (*categoryDocument).category,
			Set:        (*categoryDocument).set,
			Entry:      categoryEntry,
			Unique:     func(c category.Category) string { return c.Key },
			Directory:  o.Directory,
			Keys: func(id int64, _ category.Category) []directory.Key {
				return []directory.Key{{Kind: directory.Category, ID: id}}
			},
		}),
		ids:  o.IDs,
		near: directory.NewShelf(o.Memory, "categories", directory.Category, bytesOfCategory),
	}
}

// bytesOfCategory is roughly a category's size in memory.
func bytesOfCategory(c category.Category) int {
	const fixed = 100
	return fixed + len(c.Name) + len(c.Key) + len(c.ImportHash)
}

// Get implements category.Store.
func (s *Categories) Get(ctx context.Context, id int64) (category.Category, error) {
	found, err := s.near.Find(ctx, []int64{id}, s.load)
	if err != nil {
		return category.Category{}, err
	}
	c, exists := found[id]
	if !exists {
		return c, record.ErrNotFound
	}
	return c, nil
}

// load reads categories, by id.
func (s *Categories) load(ctx context.Context, ids []int64) (map[int64]category.Category, error) {
	found, err := s.categories.Find(ctx, idsFilter(ids))
	return sequence.By(found, func(c category.Category) int64 { return c.ID }), err
}

// Find implements category.Store.
func (s *Categories) Find(ctx context.Context, ids []int64, keys []string) ([]category.Category, error) {
	var found []category.Category
	if len(ids) > 0 {
		byID, err := s.near.Find(ctx, ids, s.load)
		if err != nil {
			return nil, err
		}
		found = slices.Collect(maps.Values(byID))
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
	return s.categories.Find(ctx, filter, options.Find().SetSort(mongostore.By("_id")).SetLimit(int64(limit)))
}

// Insert implements category.Store.
func (s *Categories) Insert(ctx context.Context, categories []category.Category) ([]error, error) {
	if len(categories) == 0 {
		return nil, nil
	}
	first, err := s.ids.Take(ctx, categoryIDs, len(categories))
	if err != nil {
		return nil, err
	}
	for i := range categories {
		categories[i].ID = first + int64(i)
	}
	failures, err := s.categories.Insert(ctx, categories)
	refused := make([]error, len(categories))
	for _, failure := range failures {
		refused[failure.Index] = takenBy(failure)
	}
	return refused, err
}

// Change implements category.Store.
func (s *Categories) Change(
	ctx context.Context, id int64, change func(*category.Category) error,
) (category.Category, error) {
	c, err := s.categories.Change(ctx, id, change)
	return c, takenBy(err)
}

// takenBy names the unique index that refused a category.
func takenBy(err error) error {
	switch mongostore.DuplicateIndex(err) {
	case "":
		return err
	case importKey:
		return fmt.Errorf("%w: %w", category.ErrKeyTaken, err)
	default:
		return fmt.Errorf("%w: %w", category.ErrNameTaken, err)
	}
}
