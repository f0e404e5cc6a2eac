package mongostore_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func declared() []mongostore.Index {
	return []mongostore.Index{
		{Name: "name", Keys: mongostore.By("name", "-_id")},
		{Name: "key", Keys: mongostore.By("key"), Unique: true,
			Where: bson.D{{Key: "key", Value: bson.D{{Key: "$exists", Value: true}}}}},
	}
}

func TestEnsureIndexes_CreatesWhatIsMissingAndIsDoneTheSecondTime(t *testing.T) {
	collection := storetest.Mongo(t).Collection("elements")
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), collection, declared()[:1]))
	for range 2 {
		errortest.None(t, mongostore.EnsureIndexes(t.Context(), collection, declared()))
	}
	insert := func(doc bson.D) error {
		_, err := collection.InsertOne(t.Context(), doc)
		return err
	}
	errortest.Report(t, insert(bson.D{{Key: "_id", Value: 1}, {Key: "key", Value: "Pupil:1"}}))
	err := insert(bson.D{{Key: "_id", Value: 2}, {Key: "key", Value: "Pupil:1"}})
	valuetest.Same(t, mongostore.DuplicateIndex(err), "key", "the index that refuses the same key again, %v", err)
	for id := range 2 {
		errortest.Report(t, insert(bson.D{{Key: "_id", Value: 10 + id}}), "without a key")
	}
}

// An index on a large collection took longer than the client's timeout, so that no pod of a new release ever began.
func TestEnsureIndexes_TakesLongerThanTheClientsTimeout(t *testing.T) {
	uri, _, err := storetest.URIs()
	errortest.None(t, err)
	hurried, err := mongo.Connect(options.Client().ApplyURI(uri).SetTimeout(time.Microsecond))
	errortest.None(t, err)
	defer func() { errortest.None(t, hurried.Disconnect(context.WithoutCancel(t.Context()))) }()
	name := storetest.Mongo(t).Name()
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), hurried.Database(name).Collection("elements"), declared()))
}

func TestEnsureIndexes_ManyPodsAtOnce(t *testing.T) {
	db := storetest.Mongo(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			errortest.Report(t, mongostore.EnsureIndexes(t.Context(), db.Collection("elements"), declared()))
		})
	}
	all.Wait()
	specifications, err := db.Collection("elements").Indexes().ListSpecifications(t.Context())
	errortest.None(t, err)
	valuetest.Same(t, len(specifications), 3, "indexes with that of _id")
}

func TestEnsureIndexes_AnotherDefinitionUnderTheNameIsAnError(t *testing.T) {
	collection := storetest.Mongo(t).Collection("elements")
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), collection, declared()))
	for name, index := range map[string]mongostore.Index{
		"direction":  {Name: "name", Keys: mongostore.By("-name", "-_id")},
		"order":      {Name: "name", Keys: mongostore.By("-_id", "name")},
		"field":      {Name: "name", Keys: mongostore.By("title", "-_id")},
		"uniqueness": {Name: "key", Keys: declared()[1].Keys, Where: declared()[1].Where},
		"condition":  {Name: "key", Keys: declared()[1].Keys, Unique: true},
	} {
		err := mongostore.EnsureIndexes(t.Context(), collection, []mongostore.Index{index})
		errortest.Says(t, err, "index "+index.Name+" of elements is (", "another %s", name)
	}
}

func TestEnsureIndexes_AUniqueIndexOverDuplicatesIsAnError(t *testing.T) {
	collection := storetest.Mongo(t).Collection("elements")
	for id := range 2 {
		_, err := collection.InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}, {Key: "key", Value: "same"}})
		errortest.None(t, err)
	}
	errortest.Some(t, mongostore.EnsureIndexes(t.Context(), collection, declared()), "no error")
}
