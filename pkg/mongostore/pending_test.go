package mongostore_test

import (
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

// readPending returns the documents with items in the first of the arrays, as they are read to be copied from all.
func readPending(t *testing.T, c *mongo.Collection, from []mongostore.Pending) (found []mongostore.Copied) {
	t.Helper()
	type item struct{ ID string }
	id := func(i item) string { return i.ID }
	documents, _, err := mongostore.FindPending[item](t.Context(), c, from[0], nil, 10, from[1:]...)
	errortest.None(t, err)
	for _, d := range documents {
		copied := d.Copied(from[0], len(d.Items), id)
		for _, p := range from[1:] {
			var items []item
			errortest.None(t, d.Also(p, &items))
			for _, i := range items {
				copied.Items[p] = append(copied.Items[p], i.ID)
			}
		}
		found = append(found, copied)
	}
	return found
}

// interleavings returns every order of the writes of two, each in its own order: 0 and 1 say whose is next.
func interleavings(a, b int) [][]int {
	if a == 0 && b == 0 {
		return [][]int{nil}
	}
	var all [][]int
	if a > 0 {
		for _, rest := range interleavings(a-1, b) {
			all = append(all, append([]int{0}, rest...))
		}
	}
	if b > 0 {
		for _, rest := range interleavings(a, b-1) {
			all = append(all, append([]int{1}, rest...))
		}
	}
	return all
}

// TestHardToBreak_Endure_NoTombstoneStaysWhereverItsRemovalEnds has two processes remove what is pending in a record, a
// tombstone or becomes one after they read it, in every order of their writes, and ends both after each write. A
// reader of pending items has to find it then, because it reads nothing else.
func TestHardToBreak_Endure_NoTombstoneStaysWhereverItsRemovalEnds(t *testing.T) {
	db := storetest.Mongo(t)
	const entries, messages, changes = mongostore.PendingAudit, mongostore.PendingOutbox, mongostore.PendingChanges
	item := func(id string) bson.D { return bson.D{{Key: "id", Value: id}} }
	cases := 0
	for _, both := range [][2][]mongostore.Pending{
		{{entries}, {messages}}, {{changes, entries}, {messages}}, {{changes, entries}, {entries}},
	} {
		for _, deleted := range []bool{true, false} {
			for _, order := range interleavings(2, 2) {
				for end := range len(order) + 1 {
					cases++
					c := db.Collection(fmt.Sprint("records", cases))
					insert := bson.D{{Key: "_id", Value: int64(1)}, {Key: "version", Value: int64(2)},
						{Key: "deleted", Value: deleted}}
					for _, p := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(both[0], both[1])))) {
						insert = append(insert, bson.E{Key: string(p), Value: bson.A{item("of " + string(p))}})
					}
					_, err := c.InsertOne(t.Context(), insert)
					errortest.None(t, err)
					var writes [2][]mongo.WriteModel
					for i, from := range both {
						writes[i] = mongostore.Removal(readPending(t, c, from))
					}
					if !deleted {
						_, err = c.UpdateByID(t.Context(), int64(1), bson.D{{Key: "$set", Value: bson.D{
							{Key: "deleted", Value: true}, {Key: "version", Value: int64(3)}}}})
						errortest.None(t, err)
					}
					for _, whose := range order[:end] {
						if len(writes[whose]) == 0 {
							continue
						}
						_, err = c.BulkWrite(t.Context(), writes[whose][:1])
						errortest.None(t, err)
						writes[whose] = writes[whose][1:]
					}
					wantGone(t, c, both, fmt.Sprint(both, ", deleted first: ", deleted, ", writes ", order[:end]))
				}
			}
		}
	}
	t.Logf("%d cases", cases)
}

// wantGone has each process search twice, in both orders, and fails the test when a tombstone is left.
func wantGone(t *testing.T, c *mongo.Collection, both [2][]mongostore.Pending, when string) {
	t.Helper()
	for _, from := range slices.Concat(both[:], both[:]) {
		err := mongostore.RemovePending(t.Context(), c, readPending(t, c, from))
		if err != nil && len(readPending(t, c, from)) > 0 {
			t.Fatal(err)
		}
	}
	if n, err := c.CountDocuments(t.Context(), bson.D{}); err != nil || n != 0 {
		t.Errorf("%s: %d are left, %v", when, n, err)
	}
}
