package auditlog

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

func TestNoReadScansACollection(t *testing.T) {
	db := storetest.Mongo(t)
	things := db.Collection("things")
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), things, []mongostore.Index{Index()}))
	log := New(db, "things", things)
	errortest.None(t, log.Prepare(t.Context()))
	for _, also := range []bson.D{nil, alone()} {
		storetest.NoScan(t, db, bson.D{{Key: "find", Value: "things"},
			{Key: "filter", Value: append(mongostore.PendingAudit.Filter(), also...)}})
	}
	newest := bson.D{{Key: "_id", Value: -1}}
	for name, q := range map[string]Query{
		"all": {}, "record": {Record: "Event:1"}, "own": {Among: []string{"Event:1", "Event:3"}},
		"of a type of its own": {Record: "Event", Among: []string{"Event:1", "Event:3"}},
		"own and its batches":  {Among: []string{"Event:1", "Event:3"}, Batch: 5},
		"user":                 {Choice: Choice{User: 5}},
		"since":                {Choice: Choice{Since: time.Now()}},
		"page":                 {Choice: Choice{After: mongostore.FirstUUID(time.Now())}},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.NoScan(t, db, bson.D{{Key: "find", Value: "things_audit"}, {Key: "filter", Value: q.filter()},
				{Key: "sort", Value: newest}, {Key: "limit", Value: 101}})
		})
	}
	storetest.NoScan(t, db, bson.D{{Key: "find", Value: "things_audit"}, {Key: "filter", Value: actionsFilter(
		audit.Delete, []audit.Record{audit.RecordOf("Thing", 1), audit.RecordOf("Thing", 2)})}})
}
