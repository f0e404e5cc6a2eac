package mongostore_test

import (
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestConflicted(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("deadlock detected"), false}, // not the server's word
		{mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 11000, Message: "E11000 duplicate key"}}}, false},
		{mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 112, Message: "WriteConflict"}}}, true},
		{fmt.Errorf("replace: %w",
			mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 16908292, Message: "deadlock detected"}}}),
			true},
		{mongo.CommandError{Code: 112}, true},
		{mongo.BulkWriteError{WriteError: mongo.WriteError{Message: "deadlock detected"}}, true},
	} {
		valuetest.Same(t, mongostore.Conflicted(c.err), c.want, "Conflicted(%v) =", c.err)
	}
}

// A name that was taken, and contained the name of another index, was reported as that index's.
func TestDuplicateIndex_IsNotOneThatTheRefusedValueNames(t *testing.T) {
	const mongoDB = "E11000 duplicate key error collection: belfry.event_categories index: %s dup key: { name: %q }"
	const documentDB = "Duplicate key violation on the requested collection: Index '%s'"
	value := "import_key index: import_key dup key: Index 'import_key'"
	refused := mongo.WriteError{Code: 11000, Message: fmt.Sprintf(mongoDB, "unique_name", value)}
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New(refused.Message), ""}, // not the server's word
		{mongo.WriteError{Code: 112, Message: refused.Message}, ""},
		{mongo.WriteError{Code: 11000, Message: "another server's"}, ""},
		{refused, "unique_name"},
		{fmt.Errorf("insert: %w", mongo.WriteException{WriteErrors: mongo.WriteErrors{refused}}), "unique_name"},
		{mongo.CommandError{Code: 11000, Message: fmt.Sprintf(mongoDB, "ticket.key_1", value)}, "ticket.key_1"},
		{mongo.WriteError{Code: 11000, Message: fmt.Sprintf(documentDB, "_id_")}, "_id_"},
	} {
		valuetest.Same(t, mongostore.DuplicateIndex(c.err), c.want, "DuplicateIndex(%v) =", c.err)
	}
}
