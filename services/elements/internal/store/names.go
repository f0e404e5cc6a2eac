package store

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// maxNamesakes bounds the elements of one name that are kept in memory.
const maxNamesakes = 100

// namesakes are the current elements of a name, in order of id.
type namesakes struct {
	name     string
	elements []named
	more     bool // than may be kept
}

func bytesOfNamesakes(n namesakes) int {
	bytes := len(n.name)
	for _, e := range n.elements {
		bytes += bytesOfNamed(e)
	}
	return bytes
}

// idOfName is the id of a name as a record of the directory: negative, unlike an element's, and the same in all
// processes and releases.
func idOfName(name string) int64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // it has no error
	return -1 - int64(hash.Sum64()>>1)
}

// namesakes returns the current elements of a name; of names with the same hash, memory holds the one asked for last.
// They are valid until one of them changes or an element with that name is written.
func (s *elements) namesakes(ctx context.Context, name string) (namesakes, error) {
	id := idOfName(name)
	return s.alike.Get(ctx, id, func(n namesakes) bool { return n.name == name },
		func(ctx context.Context) (namesakes, []int64, error) {
			all, err := s.readNames(ctx, byName(name), options.Find().SetSort(orderOfID).SetLimit(maxNamesakes+1))
			if len(all) > maxNamesakes {
				return namesakes{name: name, more: true}, []int64{id}, err
			}
			from := []int64{id}
			for _, e := range all {
				from = append(from, e.id)
			}
			return namesakes{name: name, elements: all}, from, err
		})
}

// maxNames bounds the elements of a school, or of all schools, whose names are kept in memory. A search through that
// many takes about as long as asking the store.
const maxNames = 20_000

// named has the fields of an element that a search by school reads and shows. An element that is not current has no
// name.
type named struct {
	id, entityID int64
	entityType   string
	public       bool
	name, folded string
}

func newNames(m *directory.Memory) *directory.Table[named] {
	return directory.NewTable(m, "names", directory.Element, func(n named) int64 { return n.id }, inOrderOfName,
		bytesOfNamed)
}

// bytesOfNamed is roughly its size in memory.
func bytesOfNamed(n named) int {
	const fixed = 80
	return fixed + len(n.name) + len(n.folded)
}

func inOrderOfName(a, b named) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
}

// listNear returns the first of the current elements of one school or of all that match and whose folded name accepts
// takes, in order of name, then id. It returns false when they are not in memory. The store would sort all matches, and
// find the names of all schools before those of one.
func (s *elements) listNear(
	ctx context.Context, among element.Among, limit int, accepts func(folded string) bool,
) (found []element.Element, near bool, err error) {
	if among.School == 0 && among.IDs != nil || !among.OnlyListed() || !s.names.Uses(ctx) {
		return nil, false, nil
	}
	ids := among.IDs
	if among.School == 0 {
		if ids, err = s.listAll(ctx); err != nil {
			return nil, false, err
		}
	}
	if len(ids) > maxNames {
		return nil, false, nil
	}
	all, err := s.names.Get(ctx, among.School, ids, s.loadNames)
	return firstOf(all, among, limit, accepts), true, err
}

// listAll returns the ids of all elements, in order, but not many more than are kept in memory.
func (s *elements) listAll(ctx context.Context) ([]int64, error) {
	return idsFrom(ctx, s.all, func(ctx context.Context) ([]element.Element, error) {
		return s.elements.Find(ctx, bson.D{},
			options.Find().SetProjection(listed).SetSort(orderOfID).SetLimit(maxNames+1))
	})
}

// firstOf returns the first of the current elements that match and whose folded names are accepted, 0: all of them, in
// order of name, then id.
func firstOf(all []named, among element.Among, limit int, accepts func(folded string) bool) (found []element.Element) {
	if p := among.After; p != nil {
		after := named{name: p.Name, id: p.ID + 1}
		from, _ := slices.BinarySearchFunc(all, after, inOrderOfName)
		all = all[from:]
	}
	for _, n := range all {
		if limit > 0 && len(found) == limit {
			break
		}
		if n.name == "" || !accepts(n.folded) {
			continue
		}
		if e := n.element(); among.Matches(&e) {
			found = append(found, e)
		}
	}
	return found
}

// element returns an element with the fields that a filter that is OnlyListed needs.
func (n named) element() element.Element {
	e := element.Element{ID: n.id, EntityID: n.entityID, EntityType: n.entityType, Name: n.name, Current: true}
	if n.public {
		e.MakePublic = &n.public
	}
	return e
}

// whatIsAmong adds the conditions of a search other than the name.
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

func (s *elements) loadNames(ctx context.Context, ids []int64) ([]named, error) {
	return s.readNames(ctx, bson.D{in("_id", ids)}, options.Find())
}

func (s *elements) readNames(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) ([]named, error) {
	found, err := s.elements.Find(ctx, filter, o.SetProjection(nameFields))
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
