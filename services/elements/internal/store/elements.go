package store

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// elements implements element.Store.
type elements struct {
	elements *journal.Collection[elementDocument, element.Element]
	ids      *mongostore.IDs
	near     *directory.Shelf[*element.Element]
	names    *directory.Table[named] // of what belongs to a school
	alike    *directory.Derived[namesakes]
	schools  *directory.Derived[[]int64]
	all      *directory.Derived[[]int64] // the first maxNames of all elements, and one more
	ends     ends
}

func newElements(o Options) *elements {
	return &elements{
		elements: journal.New(journal.Options[elementDocument, element.Element]{
			Collection: o.DB.Collection("elements"),
			Record:     (*elementDocument).element, Set: (*elementDocument).set, Entry: elementEntry,
			Directory: o.Directory, Keys: keysOfElement, Unique: func(e element.Element) string { return e.Key },
			Follow:  func(_, _ element.Element) change.Item { return change.Item{Kind: change.Element} },
			Batches: changelog.NewBatches(o.DB, service),
		}),
		ids:     o.IDs,
		near:    directory.NewShelf(o.Memory, "elements", directory.Element, bytesOfElement),
		names:   newNames(o.Memory),
		alike:   directory.NewDerived(o.Memory, "by name", directory.Element, bytesOfNamesakes),
		schools: directory.NewDerived(o.Memory, "all schools", directory.Element, bytesOfIDs),
		all:     directory.NewDerived(o.Memory, "all elements", directory.Element, bytesOfIDs),
		ends:    newEnds(),
	}
}

func bytesOfIDs(ids []int64) int { return 8 * len(ids) }

// keysOfElement includes the key of the element's name, and that of fact.District where a change may add an element or
// change which groups are schools. Elements are never removed.
func keysOfElement(id int64, e element.Element) []directory.Key {
	keys := []directory.Key{{Kind: directory.Element, ID: id}}
	if e.Name != "" {
		keys = append(keys, directory.Key{Kind: directory.Element, ID: idOfName(e.Name)})
	}
	if e.Details.School || e.Version <= 1 {
		keys = append(keys, directory.Key{Kind: directory.Element, ID: fact.District})
	}
	return keys
}

// bytesOfElement is roughly an element's size in memory.
func bytesOfElement(e *element.Element) int {
	const fixed, perAdministrator, perImported = 400, 8, 32
	bytes := fixed + len(e.Name) + len(e.Key) + len(e.UUID) + len(e.ImportHash) +
		perAdministrator*len(e.Administrators) + perImported*len(e.ImportedAdministrators)
	for _, at := range e.Details.All() {
		if text, isText := at.(*string); isText {
			bytes += len(*text)
		}
	}
	return bytes
}

var (
	withoutGrams = bson.D{{Key: "grams", Value: 0}} // they are for the index alone
	orderOfID    = mongostore.By("_id")
	orderOfName  = mongostore.By("name", "_id")
)

func (s *elements) find(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) ([]element.Element, error) {
	return s.elements.Find(ctx, filter, o.SetProjection(withoutGrams))
}

func (s *elements) Get(ctx context.Context, id int64) (element.Element, error) {
	found, err := s.Find(ctx, []int64{id})
	if err == nil && len(found) == 0 {
		err = record.ErrNotFound
	}
	if err != nil {
		return element.Element{}, err
	}
	return found[0], nil
}

func (s *elements) Find(ctx context.Context, ids []int64) ([]element.Element, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.near.Find(ctx, ids, s.load)
	elements := make([]element.Element, 0, len(found))
	for _, e := range found {
		elements = append(elements, *e)
	}
	return elements, err
}

// load reads elements, by id.
func (s *elements) load(ctx context.Context, ids []int64) (map[int64]*element.Element, error) {
	found, err := s.find(ctx, bson.D{in("_id", ids)}, options.Find())
	byID := make(map[int64]*element.Element, len(found))
	for _, e := range found {
		byID[e.ID] = &e
	}
	return byID, err
}

func (s *elements) GetByUUID(ctx context.Context, uuid string) (element.Element, error) {
	return s.elements.First(ctx, byUUID(uuid), options.FindOne().SetProjection(withoutGrams))
}

func byUUID(uuid string) bson.D { return bson.D{{Key: "uuid", Value: uuid}} }

func (s *elements) FindByKeys(ctx context.Context, keys []string) ([]element.Element, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return s.find(ctx, byKeys(keys), options.Find())
}

func byKeys(keys []string) bson.D { return bson.D{in("key", keys)} }

func (s *elements) FindByAdministrators(ctx context.Context, users []int64) ([]element.Element, error) {
	if len(users) == 0 {
		return nil, nil
	}
	return s.find(ctx, byAdministrators(users), options.Find())
}

func byAdministrators(users []int64) bson.D {
	if len(users) == 1 {
		return bson.D{{Key: "administrators", Value: users[0]}}
	}
	return bson.D{in("administrators", users)}
}

func (s *elements) List(ctx context.Context, f element.Filter, after int64, limit int) ([]element.Element, error) {
	return s.ends.list(f, after, limit, func(upTo int64) ([]element.Element, error) {
		return s.find(ctx, page(f, after, upTo), options.Find().SetSort(orderOfID).SetLimit(int64(limit)))
	})
}

// page matches what a filter matches with an id above after and, unless it is 0, up to upTo.
func page(f element.Filter, after, upTo int64) bson.D {
	ids := bson.D{{Key: "$gt", Value: after}}
	if upTo != 0 {
		ids = append(ids, bson.E{Key: "$lte", Value: upTo})
	}
	filter := matching(f, ids...)
	// There are conditions on both fields, so that the index on them serves any choice.
	switch {
	case f.EntityType != "" && f.Current == nil:
		filter = append(filter, in("current", []bool{true, false}))
	case f.EntityType == "" && f.Current != nil:
		types := sequence.Map(element.Types(), func(t element.Type) string { return t.Name })
		filter = append(filter, in("entity_type", types))
	}
	return filter
}

// matching is element.Filter.Matches as a query; ids are further conditions on the id.
func matching(f element.Filter, ids ...bson.E) bson.D {
	if f.IDs != nil {
		ids = append(ids, bson.E{Key: "$in", Value: f.IDs})
	}
	var filter bson.D
	if len(ids) > 0 {
		filter = bson.D{{Key: "_id", Value: bson.D(ids)}}
	}
	if f.EntityType != "" {
		filter = append(filter, bson.E{Key: "entity_type", Value: f.EntityType})
	}
	if f.Current != nil {
		filter = append(filter, bson.E{Key: "current", Value: *f.Current})
	}
	if f.Key != "" {
		filter = append(filter, bson.E{Key: "key", Value: f.Key})
	}
	if f.Controlled {
		filter = append(filter, bson.E{Key: "administrators", Value: bson.D{{Key: "$gt", Value: int64(0)}}})
	}
	if either := seen(f); either != nil {
		filter = append(filter, bson.E{Key: "$or", Value: either})
	}
	return filter
}

func (s *elements) ListByName(
	ctx context.Context, name string, among element.Among, limit int,
) ([]element.Element, error) {
	if among.OnlyListed() && s.near.Uses(ctx) {
		all, err := s.namesakes(ctx, name)
		if err != nil || !all.more {
			return firstOf(all.elements, among, limit, func(string) bool { return true }), err
		}
	}
	return s.elements.Find(
		ctx, whatIsAmong(byName(name), among),
		options.Find().SetProjection(listed).SetSort(orderOfID).SetLimit(int64(limit)),
	)
}

func (s *elements) ListByType(ctx context.Context, among element.Among, limit int) ([]element.Element, error) {
	if found, near, err := s.listNear(ctx, among, limit, func(string) bool { return true }); near {
		return found, err
	}
	return s.elements.Find(ctx, whatIsAmong(whatIsCurrent(), among),
		options.Find().SetProjection(listed).SetSort(orderOfName).SetLimit(int64(limit)))
}

func whatIsCurrent() bson.D { return bson.D{{Key: "current", Value: true}} }

// seen are conditions of which a visible element meets one, nil when all are visible; for a filter of one type, only
// those about that type.
func seen(f element.Filter) (either bson.A) {
	if f.Seen == nil || f.EntityType != "" && slices.Contains(f.Seen.Types, f.EntityType) {
		return nil
	}
	if f.EntityType == "" || f.EntityType == form.Property {
		either = append(either, public)
	}
	if len(f.Seen.IDs) > 0 || either == nil {
		either = append(either, bson.D{in("_id", append([]int64{}, f.Seen.IDs...))})
	}
	if len(f.Seen.Types) > 0 && f.EntityType == "" {
		either = append(either, bson.D{in("entity_type", f.Seen.Types)})
	}
	return either
}

// public matches the public properties.
var public = bson.D{{Key: "entity_type", Value: form.Property}, {Key: "details.make_public", Value: true}}

func (s *elements) ListPublic(ctx context.Context) ([]int64, error) {
	found, err := s.elements.Find(ctx, public, options.Find().SetProjection(listed).SetSort(orderOfID))
	return idsOf(found), err
}

func (s *elements) ListSchools(ctx context.Context) ([]int64, error) {
	return idsFrom(ctx, s.schools, func(ctx context.Context) ([]element.Element, error) {
		return s.find(ctx, schools(), options.Find().SetSort(orderOfID))
	})
}

// idsFrom returns the ids of the elements that find returns, from memory as long as no element or school is added.
func idsFrom(
	ctx context.Context, kept *directory.Derived[[]int64], find func(context.Context) ([]element.Element, error),
) ([]int64, error) {
	return kept.Get(ctx, fact.District, func([]int64) bool { return true },
		func(ctx context.Context) ([]int64, []int64, error) {
			found, err := find(ctx)
			return idsOf(found), []int64{fact.District}, err
		})
}

func idsOf(elements []element.Element) []int64 {
	return sequence.Map(elements, func(e element.Element) int64 { return e.ID })
}

func schools() bson.D {
	return append(mongostore.WhereExists("details.school", "$eq", true),
		bson.E{Key: "entity_type", Value: form.Group}, bson.E{Key: "current", Value: true})
}

func byName(name string) bson.D {
	return bson.D{{Key: "name", Value: name}, {Key: "current", Value: true}}
}

// listed are the fields of the list form, and those by which a document is resolved.
var listed = bson.D{
	{Key: "name", Value: 1}, {Key: "entity_type", Value: 1}, {Key: "entity_id", Value: 1}, {Key: "current", Value: 1},
	{Key: "version", Value: 1}, {Key: "intent", Value: 1},
}

// ListByNeedle: names with all grams of a needle may lack the needle if it is longer than a
// gram: then it reads more of them until it has enough. The server sorts only as many as it returns.
func (s *elements) ListByNeedle(
	ctx context.Context, part needle.Needle, among element.Among, limit int,
) ([]element.Element, error) {
	if found, near, err := s.listNear(ctx, among, limit, part.InFolded); near {
		return found, err
	}
	const spare, growth = 10, 8
	for most := limit + spare; ; most *= growth {
		o := options.Find().SetProjection(listed).SetSort(orderOfName).
			SetLimit(int64(most)).SetBatchSize(int32(most) + 1) // all in one round trip
		read, err := s.elements.Find(ctx, whatIsAmong(byNeedle(part), among), o)
		if err != nil {
			return nil, err
		}
		hits := slices.DeleteFunc(slices.Clone(read), func(e element.Element) bool { return !part.In(e.Name) })
		if len(hits) >= limit || len(read) < most {
			return hits[:min(len(hits), limit)], nil
		}
	}
}

// askedGrams bounds the grams by which a part of a name is searched for.
const askedGrams = 12

func byNeedle(part needle.Needle) bson.D {
	return bson.D{{Key: "grams", Value: bson.D{{Key: "$all", Value: part.Grams(askedGrams)}}}}
}

// Insert sets the entity ids as well, which count up by type.
func (s *elements) Insert(ctx context.Context, elements []element.Element) ([]int, error) {
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

func (s *elements) Replace(ctx context.Context, elements []element.Element) (bool, error) {
	revisions := sequence.Map(elements, func(e element.Element) journal.Revision[element.Element] {
		return journal.Revision[element.Element]{ID: e.ID, Version: e.Version, Record: e}
	})
	return s.elements.Replace(ctx, revisions)
}

func (s *elements) Change(ctx context.Context, id int64, decide func(*element.Element) error) (element.Element, error) {
	e, err := s.elements.Change(ctx, id, decide)
	if mongostore.IsDuplicateKey(err) { // the uuid is the only unique field that a change may touch
		err = element.ErrUUIDTaken
	}
	return e, err
}
