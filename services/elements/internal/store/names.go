package store

import (
	"cmp"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// maxNames bounds the elements of a school whose names are kept in memory. A search through so many takes as long as a
// question to the store.
const maxNames = 10_000

// named is what a search by school reads and shows of an element. One that is not current has no name.
type named struct {
	id, entityID int64
	entityType   string
	public       bool
	name, folded string
}

func newNames(m *directory.Memory) *directory.Table[named] {
	const fixed = 80
	return directory.NewTable(m, "names", directory.Element, func(n named) int64 { return n.id }, inOrderOfName,
		func(n named) int { return fixed + len(n.name) + len(n.folded) })
}

func inOrderOfName(a, b named) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
}

// listNear returns the first of the current elements of one school that match and whose folded name accepts takes, in
// order of name, then id. It says false when they are not to be searched in memory. The store would find the names of
// all schools first, and then those of the school.
func (s *Elements) listNear(
	ctx context.Context, among element.Among, limit int, accepts func(folded string) bool,
) (found []element.Element, near bool, err error) {
	if among.School == 0 || len(among.IDs) > maxNames || !among.OnlyListed() || !s.names.Uses(ctx) {
		return nil, false, nil
	}
	all, err := s.names.Get(ctx, among.School, among.IDs, s.loadNames)
	if err != nil {
		return nil, true, err
	}
	if p := among.After; p != nil {
		after := named{name: p.Name, id: p.ID + 1}
		from, _ := slices.BinarySearchFunc(all, after, inOrderOfName)
		all = all[from:]
	}
	matches := among.Matcher()
	for _, n := range all {
		if len(found) == limit {
			break
		}
		if n.name == "" || !accepts(n.folded) {
			continue
		}
		if e := n.element(); matches(&e) {
			found = append(found, e)
		}
	}
	return found, true, nil
}

// element is what a filter that is OnlyListed needs of it.
func (n named) element() element.Element {
	e := element.Element{ID: n.id, EntityID: n.entityID, EntityType: n.entityType, Name: n.name, Current: true}
	if n.public {
		e.MakePublic = &n.public
	}
	return e
}

// whatIsAmong adds the conditions of a search besides the name.
func whatIsAmong(filter bson.D, among element.Among) bson.D {
	filter = append(filter, matching(among.Filter)...)
	if p := among.After; p != nil {
		filter = append(filter, bson.E{Key: "$and", Value: bson.A{
			bson.D{{Key: "name", Value: bson.D{{Key: "$gte", Value: p.Name}}}},
			bson.D{{Key: "$or", Value: bson.A{
				bson.D{{Key: "name", Value: bson.D{{Key: "$gt", Value: p.Name}}}},
				bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: p.ID}}}},
			}}},
		}})
	}
	return filter
}

// nameFields are those of named, and those by which a document is resolved.
var nameFields = slices.Concat(listed, bson.D{{Key: "details.make_public", Value: 1}})

func (s *Elements) loadNames(ctx context.Context, ids []int64) ([]named, error) {
	found, err := s.elements.Find(ctx, bson.D{in("_id", ids)}, options.Find().SetProjection(nameFields))
	names := make([]named, len(found))
	for i, e := range found {
		if !e.Current {
			names[i] = named{id: e.ID}
			continue
		}
		names[i] = named{
			id: e.ID, entityID: e.EntityID, entityType: e.EntityType, name: e.Name, folded: needle.Fold(e.Name),
			public: e.IsPublic(),
		}
	}
	return names, err
}
