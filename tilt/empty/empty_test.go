package main

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestEmptyRemovesADatabaseAndItsKeysAndNothingElse(t *testing.T) {
	uri, url, err := storetest.URIs()
	errortest.None(t, err)
	mine, other := storetest.Mongo(t), storetest.Mongo(t)
	client, prefix := storetest.Redis(t)
	_, kept := storetest.Redis(t)
	for _, key := range []string{prefix + "session", prefix + "stream", kept + "session"} {
		errortest.None(t, client.Set(t.Context(), key, "x", 0).Err())
	}
	for _, db := range []string{mine.Name(), other.Name()} {
		events := mine.Client().Database(db).Collection("events")
		_, err = events.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
		errortest.None(t, err)
	}

	t.Setenv("MONGODB_URI", uri)
	t.Setenv("REDIS_URL", url)
	t.Setenv("MONGODB_DATABASE", mine.Name())
	t.Setenv("BELFRY_REDIS_PREFIX", prefix)
	errortest.None(t, run(t.Context(), nil, nil))

	names, err := mine.ListCollectionNames(t.Context(), bson.D{})
	errortest.None(t, err)
	valuetest.Len(t, names, 0, "left")
	if n, err := client.Exists(t.Context(), prefix+"session", prefix+"stream").Result(); err != nil || n != 0 {
		t.Errorf("%d keys are left, %v", n, err)
	}
	names, err = other.ListCollectionNames(t.Context(), bson.D{})
	n, existsErr := client.Exists(t.Context(), kept+"session").Result()
	if err != nil || existsErr != nil || len(names) != 1 || n != 1 {
		t.Errorf("of others %v and %d keys are left; %v, %v", names, n, err, existsErr)
	}
}

func TestEmptyHasNoDefaults(t *testing.T) {
	for _, name := range []string{"MONGODB_URI", "REDIS_URL", "MONGODB_DATABASE", "BELFRY_REDIS_PREFIX"} {
		t.Setenv(name, "")
	}
	errortest.Some(t, run(t.Context(), nil, nil), "it ran without being told what to remove")
}
