package changelog

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

func TestNoReadScansACollection(t *testing.T) {
	db := storetest.Mongo(t)
	things := db.Collection("things")
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), things, []mongostore.Index{Index()}))
	log := New(Options{DB: db, Service: "things", Sources: []*mongo.Collection{things}})
	errortest.None(t, log.Prepare(t.Context()))
	storetest.NoScan(t, db,
		bson.D{{Key: "find", Value: "things"}, {Key: "filter", Value: mongostore.PendingChanges.Filter()}})
	upTo := func(value any) bson.D { return bson.D{{Key: "$lte", Value: value}} }
	for name, find := range map[string]bson.D{
		"last": {{Key: "filter", Value: from(3)}, {Key: "sort", Value: newestFirst}, {Key: "limit", Value: 1}},
		"read": {
			{Key: "filter", Value: from(3)},
			{Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "limit", Value: 101},
		},
		"there already": {
			{Key: "filter", Value: bson.D{{Key: "changes.id", Value: bson.D{{Key: "$in", Value: []string{"a", "b"}}}}}},
		},
		"age": {
			{Key: "filter", Value: bson.D{{Key: "at", Value: upTo(time.Now())}}},
			{Key: "sort", Value: bson.D{{Key: "at", Value: -1}}}, {Key: "limit", Value: 1},
		},
		"number": {
			{Key: "filter", Value: bson.D{{Key: "total", Value: upTo(int64(5))}}},
			{Key: "sort", Value: bson.D{{Key: "total", Value: -1}}}, {Key: "limit", Value: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.NoScan(t, db, append(bson.D{{Key: "find", Value: "things_changes"}}, find...))
		})
	}
}
