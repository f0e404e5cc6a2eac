package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// elementDocument is an element as it is stored.
type elementDocument struct {
	mongostore.Head `bson:",inline"`
	element.Element `bson:",inline"`
	Grams           []string `bson:"grams"` // of the name while the element is current, so that a search finds none that is not

	journal.Tail `bson:",inline"`
}

// set makes the document say e.
func (d *elementDocument) set(e element.Element) {
	*d = elementDocument{Head: mongostore.Head{ID: e.ID, Schema: schema}, Element: e}
	if e.Current {
		d.Grams = element.Grams(e.Name)
	}
}

func (d *elementDocument) element() element.Element {
	e := d.Element
	e.ID, e.Version = d.Head.ID, d.Head.Version
	e.Administrators = slices.Clone(e.Administrators) // a change may work in place
	return e
}

// withoutGrams is what is read of an element: the grams are for the index alone.
var withoutGrams = bson.D{{Key: "grams", Value: 0}}

// find reads elements in one round trip, besides further batches.
func (s *Store) find(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) ([]element.Element, error) {
	return s.elements.Find(ctx, filter, o.SetProjection(withoutGrams))
}

// Element reads one element by id; a Missing problem when there is none.
func (s *Store) Element(ctx context.Context, id int64) (element.Element, error) {
	found, err := s.ElementsByID(ctx, []int64{id})
	if err == nil && len(found) == 0 {
		return element.Element{}, problem.Missing("Element", id)
	}
	if err != nil {
		return element.Element{}, err
	}
	return found[0], nil
}

// ElementsByID reads those of the elements that exist, in no order.
func (s *Store) ElementsByID(ctx context.Context, ids []int64) ([]element.Element, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return s.find(ctx, bson.D{in("_id", ids)}, options.Find())
}

// ElementsByKey reads those of the elements that exist, in no order.
func (s *Store) ElementsByKey(ctx context.Context, keys []string) ([]element.Element, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return s.find(ctx, byKeys(keys), options.Find())
}

func byKeys(keys []string) bson.D { return bson.D{in("key", keys)} }

// Named reads the current elements of exactly that name, in order of id.
func (s *Store) Named(ctx context.Context, name string) ([]element.Element, error) {
	return s.find(ctx, named(name), options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
}

func named(name string) bson.D {
	return bson.D{{Key: "name", Value: name}, {Key: "current", Value: true}}
}

// Like reads the first current elements in order of name, then id, that have the needle in their name. It reads as many documents as it
// returns, and besides them those that have the needle's grams, but not in a row.
func (s *Store) Like(ctx context.Context, needle element.Needle, limit int) (hits []element.Element, err error) {
	cursor, err := s.elements.Reader().Find(ctx, like(needle), options.Find().SetProjection(withoutGrams).SetSort(byName).SetBatchSize(int32(limit)))
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

func like(needle element.Needle) bson.D {
	return bson.D{{Key: "grams", Value: bson.D{{Key: "$all", Value: needle.Grams}}}}
}

var byName = bson.D{{Key: "name", Value: 1}, {Key: "_id", Value: 1}}

// List reads a page of elements in order of id.
func (s *Store) List(ctx context.Context, f element.Filter) ([]element.Element, error) {
	return s.find(ctx, listed(f), options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(f.Limit)))
}

func listed(f element.Filter) bson.D {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: f.After}}}}
	if f.Key != "" {
		filter = append(filter, bson.E{Key: "key", Value: f.Key})
	}
	if f.EntityType == "" && f.Current == nil {
		return filter
	}
	// Both fields are always given, so that the index on them serves any choice.
	kinds, current := []string{f.EntityType}, []bool{true, false}
	if f.EntityType == "" {
		kinds = nil
		for _, t := range element.Types() {
			kinds = append(kinds, t.Name)
		}
	}
	if f.Current != nil {
		current = []bool{*f.Current}
	}
	return append(filter, in("entity_type", kinds), in("current", current))
}

// AdministeredBy reads the elements that have the user among their administrators, in no order. As many documents as it returns.
func (s *Store) AdministeredBy(ctx context.Context, user int64) ([]element.Element, error) {
	return s.find(ctx, administeredBy(user), options.Find())
}

func administeredBy(user int64) bson.D { return bson.D{{Key: "administrators", Value: user}} }

// CountCurrent counts those of the elements that are current.
func (s *Store) CountCurrent(ctx context.Context, ids []int64) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	n, err := s.elements.Reader().CountDocuments(ctx, bson.D{in("_id", ids), {Key: "current", Value: true}})
	if err != nil {
		return 0, fmt.Errorf("count elements: %w", err)
	}
	return int(n), nil
}

// Add gives new elements their ids, a round trip for those and one for each type among them, and inserts them in one more. It returns the
// positions of those that a unique key kept out.
func (s *Store) Add(ctx context.Context, elements []element.Element) ([]int, error) {
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

// Replace stores elements of an import, each where it is still at the version it was read at, and says whether all were. Two round trips.
func (s *Store) Replace(ctx context.Context, elements []element.Element) (bool, error) {
	revisions := make([]journal.Revision[element.Element], len(elements))
	for i, e := range elements {
		revisions[i] = journal.Revision[element.Element]{ID: e.ID, Version: e.Version, Record: e}
	}
	return s.elements.Replace(ctx, revisions)
}

// Change implements element.Store: two round trips when nobody interferes.
func (s *Store) Change(ctx context.Context, id int64, change func(*element.Element) error) (element.Element, error) {
	e, err := s.elements.Change(ctx, id, change)
	if mongostore.IsDuplicateKey(err) { // the only unique field that a change may touch
		err = problem.InvalidFields(problem.Fields{"uuid": {"has already been taken"}})
	}
	return e, record.Missing(err, "Element", id)
}
