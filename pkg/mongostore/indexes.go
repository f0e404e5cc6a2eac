package mongostore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/background"
)

// Index declares an index of a collection. A changed definition needs a new name: the old index stays until a
// migration drops it, for pods of the release before may still use it.
type Index struct {
	Name   string `bson:"name"`
	Keys   bson.D `bson:"key"` // field → 1 or -1
	Unique bool   `bson:"unique"`
	Where  bson.D `bson:"partialFilterExpression"` // only documents that match, such as {key: {$exists: true}}; nil: all
}

// By is an order of documents by these fields, each upwards or, with a - before its name, downwards.
func By(fields ...string) bson.D {
	return sequence.Map(fields, func(field string) bson.E {
		if name, down := strings.CutPrefix(field, "-"); down {
			return bson.E{Key: name, Value: -1}
		}
		return bson.E{Key: field, Value: 1}
	})
}

const (
	// indexTries bounds how often EnsureIndexes tries again after it conflicted with another pod.
	indexTries = 5
	// indexTime is how long it may take to build indexes. The client's own timeout is for small operations.
	indexTime = time.Hour
)

// EnsureIndexes creates the declared indexes that a collection lacks. Any number of pods may call it at once. An
// index with a declared name but another definition is an error, and so is one that cannot be built, such as a unique
// one over duplicates. Indexes that are not declared are left alone.
func EnsureIndexes(ctx context.Context, collection *mongo.Collection, declared []Index) error {
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	var createErr error
	for try := range indexTries {
		if try > 0 {
			background.Pause(ctx, time.Duration(try)*100*time.Millisecond)
		}
		missing, err := missingIndexes(ctx, collection, declared)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			return nil
		}
		// An error may mean that another pod is creating the same index: the next round shows.
		_, createErr = collection.Indexes().CreateMany(ctx, missing)
		if IsDuplicateKey(createErr) {
			break
		}
	}
	if createErr == nil {
		createErr = errors.New("they were created but are not listed")
	}
	return fmt.Errorf("create indexes of %s: %w", collection.Name(), createErr)
}

func missingIndexes(ctx context.Context, collection *mongo.Collection, declared []Index) ([]mongo.IndexModel, error) {
	existing, err := listIndexes(ctx, collection)
	if err != nil {
		return nil, fmt.Errorf("list indexes of %s: %w", collection.Name(), err)
	}
	var missing []mongo.IndexModel
	for _, index := range declared {
		want, err := index.definition()
		if err != nil {
			return nil, err
		}
		got, ok := existing[index.Name]
		if !ok {
			missing = append(missing, index.model())
			continue
		}
		if got != want {
			return nil, fmt.Errorf("index %s of %s is (%s) in the database, but (%s) in this release: "+
				"drop it there, or give the new one another name", index.Name, collection.Name(), got, want)
		}
	}
	return missing, nil
}

// listIndexes returns the definition of each index by its name.
func listIndexes(ctx context.Context, collection *mongo.Collection) (map[string]string, error) {
	listed, err := readIndexes(ctx, collection)
	definitions := make(map[string]string, len(listed))
	for _, l := range listed {
		definition, err := l.definition()
		if err != nil {
			return nil, err
		}
		definitions[l.Name] = definition
	}
	return definitions, err
}

// readIndexes returns the indexes that a collection has.
func readIndexes(ctx context.Context, collection *mongo.Collection) (listed []Index, err error) {
	cursor, err := collection.Indexes().List(ctx)
	if err == nil {
		err = cursor.All(ctx, &listed)
	}
	return listed, err
}

// definition is the part of an index that must agree, as text. The server may choose another number type for a key (1
// as an int32, an int64 or a double); the text does not show it.
func (i Index) definition() (string, error) {
	var b strings.Builder
	if i.Unique {
		b.WriteString("unique ")
	}
	for n, key := range i.Keys {
		if n > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %v", key.Key, key.Value)
	}
	if len(i.Where) > 0 {
		where, err := bson.MarshalExtJSON(i.Where, false, false)
		if err != nil {
			return "", fmt.Errorf("condition of index %s: %w", i.Name, err)
		}
		fmt.Fprintf(&b, " where %s", where)
	}
	return b.String(), nil
}

func (i Index) model() mongo.IndexModel {
	opts := options.Index().SetName(i.Name)
	if i.Unique {
		opts.SetUnique(true)
	}
	if len(i.Where) > 0 {
		opts.SetPartialFilterExpression(i.Where)
	}
	return mongo.IndexModel{Keys: i.Keys, Options: opts}
}
