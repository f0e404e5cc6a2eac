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
