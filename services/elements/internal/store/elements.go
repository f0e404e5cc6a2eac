package store

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// Elements implements element.Store.
type Elements struct {
	elements *journal.Collection[elementDocument, element.Element]
	ids      *mongostore.IDs
}

func newElements(db *mongo.Database, ids *mongostore.IDs) *Elements {
	return &Elements{
		elements: journal.New(journal.Options[elementDocument, element.Element]{
			Collection: db.Collection("elements"),
			Record:     (*elementDocument).element, Set: (*elementDocument).set, Entry: elementEntry,
		}),
		ids: ids,
	}
}

var (
	withoutGrams = bson.D{{Key: "grams", Value: 0}} // they are for the index alone
	orderOfID    = bson.D{{Key: "_id", Value: 1}}
	orderOfName  = bson.D{{Key: "name", Value: 1}, {Key: "_id", Value: 1}}
)

func (s *Elements) find(
	ctx context.Context, filter bson.D, o *options.FindOptionsBuilder,
) ([]element.Element, error) {
	return s.elements.Find(ctx, filter, o.SetProjection(withoutGrams))
}

// Get implements element.Store.
func (s *Elements) Get(ctx context.Context, id int64) (element.Element, error) {
	found, err := s.Find(ctx, []int64{id})
	if err == nil && len(found) == 0 {
		err = record.ErrNotFound
	}
	if err != nil {
		return element.Element{}, err
	}
	return found[0], nil
}

// Find implements element.Store.
func (s *Elements) Find(ctx context.Context, ids []int64) ([]element.Element, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return s.find(ctx, bson.D{in("_id", ids)}, options.Find())
}

// FindByKeys implements element.Store.
func (s *Elements) FindByKeys(ctx context.Context, keys []string) ([]element.Element, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return s.find(ctx, byKeys(keys), options.Find())
}

func byKeys(keys []string) bson.D { return bson.D{in("key", keys)} }

// FindByAdministrator implements element.Store.
func (s *Elements) FindByAdministrator(ctx context.Context, userID int64) ([]element.Element, error) {
	return s.find(ctx, byAdministrator(userID), options.Find())
}

func byAdministrator(userID int64) bson.D { return bson.D{{Key: "administrators", Value: userID}} }

// List implements element.Store.
func (s *Elements) List(ctx context.Context, f element.Filter) ([]element.Element, error) {
	return s.find(ctx, byFilter(f), options.Find().SetSort(orderOfID).SetLimit(int64(f.Limit)))
}

func byFilter(f element.Filter) bson.D {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: f.After}}}}
	if f.Key != "" {
		filter = append(filter, bson.E{Key: "key", Value: f.Key})
	}
	if f.Unattended { // who of the administrators can log in is identity's to say
		filter = append(filter, bson.E{Key: "administrators", Value: bson.D{{Key: "$gt", Value: int64(0)}}})
	}
	if f.EntityType == "" && f.Current == nil {
		return filter
	}
	// Conditions on both fields, so that the index on them serves any choice.
	types, current := []string{f.EntityType}, []bool{true, false}
	if f.EntityType == "" {
		types = nil
		for _, t := range element.Types() {
			types = append(types, t.Name)
		}
	}
	if f.Current != nil {
		current = []bool{*f.Current}
	}
	return append(filter, in("entity_type", types), in("current", current))
}

// ListByName implements element.Store.
func (s *Elements) ListByName(ctx context.Context, name string) ([]element.Element, error) {
	return s.find(ctx, byName(name), options.Find().SetSort(orderOfID))
}

func byName(name string) bson.D {
	return bson.D{{Key: "name", Value: name}, {Key: "current", Value: true}}
}

// ListByNeedle implements element.Store. Besides the documents that it returns, it reads those before them in the order
// of names that have all grams of the needle, but not the needle.
func (s *Elements) ListByNeedle(
	ctx context.Context, needle element.Needle, limit int,
) (hits []element.Element, err error) {
	o := options.Find().SetProjection(withoutGrams).SetSort(orderOfName).SetBatchSize(int32(limit))
	cursor, err := s.elements.Reader().Find(ctx, byNeedle(needle), o)
	if err != nil {
		return nil, fmt.Errorf("search elements: %w", err)
	}
	defer func() { err = errors.Join(err, cursor.Close(ctx)) }()
	for len(hits) < limit && cursor.Next(ctx) {
		var d elementDocument
		if err := cursor.Decode(&d); err != nil {
			return nil, fmt.Errorf("search elements: %w", err)
		}
		if needle.In(d.Name) {
			hits = append(hits, d.element())
		}
	}
	if err := cursor.Err(); err != nil {
		return nil, fmt.Errorf("search elements: %w", err)
	}
	return hits, nil
}

func byNeedle(needle element.Needle) bson.D {
	return bson.D{{Key: "grams", Value: bson.D{{Key: "$all", Value: needle.Grams}}}}
}

// CountCurrent implements element.Store.
func (s *Elements) CountCurrent(ctx context.Context, ids []int64) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	n, err := s.elements.Reader().CountDocuments(ctx, bson.D{in("_id", ids), {Key: "current", Value: true}})
	if err != nil {
		return 0, fmt.Errorf("count elements: %w", err)
	}
	return int(n), nil
}

// Insert implements element.Store. It sets the entity ids as well, which count up by type.
func (s *Elements) Insert(ctx context.Context, elements []element.Element) ([]int, error) {
	if len(elements) == 0 {
		return nil, nil
	}
	ofType := map[string]int{}
	for _, e := range elements {
		ofType[e.EntityType]++
	}
	nextOfType := map[string]int64{}
	for entityType, n := range ofType {
		first, err := s.ids.Take(ctx, "elements."+entityType, n)
		if err != nil {
			return nil, err
		}
		nextOfType[entityType] = first
	}
	first, err := s.ids.Take(ctx, "elements", len(elements))
	if err != nil {
		return nil, err
	}
	for i := range elements {
		e := &elements[i]
		e.ID, e.EntityID = first+int64(i), nextOfType[e.EntityType]
		nextOfType[e.EntityType]++
	}
	return positions(s.elements.Insert(ctx, elements))
}

// Replace implements element.Store.
func (s *Elements) Replace(ctx context.Context, elements []element.Element) (bool, error) {
	revisions := make([]journal.Revision[element.Element], len(elements))
	for i, e := range elements {
		revisions[i] = journal.Revision[element.Element]{ID: e.ID, Version: e.Version, Record: e}
	}
	return s.elements.Replace(ctx, revisions)
}

// Change implements element.Store.
func (s *Elements) Change(
	ctx context.Context, id int64, decide func(*element.Element) error,
) (element.Element, error) {
	e, err := s.elements.Change(ctx, id, decide)
	if mongostore.IsDuplicateKey(err) { // the uuid is the only unique field that a change may touch
		err = element.ErrUUIDTaken
	}
	return e, err
}
