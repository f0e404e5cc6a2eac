package mongostore_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

func TestConnect_AnAbsentDatabaseIsAClearErrorSoonAndWithoutTheURI(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	_, err = mongostore.Connect(t.Context(), "mongodb://anna:hunter2@"+address+"/?authSource=vault",
		mongostore.Options{})
	if err == nil || !mongostore.Unavailable(err) {
		t.Fatalf("error %v, want one that is Unavailable", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	refuseSecrets(t, err, "anna", "hunter2", address, "vault")
}

func TestConnect_ABadURIIsAnErrorThatDoesNotRepeatIt(t *testing.T) {
	for _, uri := range []string{"", "postgres://anna:hunter2@db/x", "mongodb://anna:hun%ter2@db",
		"mongodb://anna:hunter2@db:port", "mongodb://anna:hunter2@/"} {
		_, err := mongostore.Connect(t.Context(), uri, mongostore.Options{})
		if err == nil || mongostore.Unavailable(err) {
			t.Errorf("error %v for a bad URI", err)
			continue
		}
		refuseSecrets(t, err, "anna", "hunter2", "hun%ter2")
	}
}

func refuseSecrets(t *testing.T, err error, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error %q holds %q", err, secret)
		}
	}
}

func TestConnect_WritesWaitForTheMajorityAndTheJournalWhateverTheURISays(t *testing.T) {
	opts := mongostore.ClientOptions(
		"mongodb://localhost/?w=1&journal=false&timeoutMS=1234&serverSelectionTimeoutMS=5678", "belfry-test")
	if concern := opts.WriteConcern; concern.W != "majority" || concern.Journal == nil || !*concern.Journal {
		t.Errorf("write concern %+v", concern)
	}
	if *opts.Timeout != 1234*time.Millisecond || *opts.ServerSelectionTimeout != 5678*time.Millisecond {
		t.Errorf("the URI's timeouts do not win: %v, %v", *opts.Timeout, *opts.ServerSelectionTimeout)
	}
}

func TestConnect_NilSlicesAreStoredAsEmptyArrays(t *testing.T) {
	db := storetest.Mongo(t)
	if _, err := db.Collection("lists").InsertOne(t.Context(), struct {
		ID   int64   `bson:"_id"`
		List []int64 `bson:"list"`
	}{ID: 1}); err != nil {
		t.Fatal(err)
	}
	n, err := db.Collection("lists").CountDocuments(t.Context(),
		bson.D{{Key: "list", Value: bson.D{{Key: "$size", Value: 0}}}})
	if err != nil || n != 1 {
		t.Errorf("%d documents with an empty list, %v", n, err)
	}
}

func TestUnavailable(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"the asker went away", context.Canceled, false},
		{"a deadline passed", context.DeadlineExceeded, true},
		{"the client is closed", mongo.ErrClientDisconnected, true},
		{"a broken connection", mongo.CommandError{Labels: []string{"NetworkError"}}, true},
		{"an election", mongo.CommandError{Code: 10107}, true},
		{"not confirmed in time", mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 64}}, true},
		{"a duplicate key", mongo.WriteException{WriteErrors: []mongo.WriteError{{Code: 11000}}}, false},
		{"any other", errors.New("x"), false},
		{"not found", record.ErrNotFound, false},
	} {
		if got := mongostore.Unavailable(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestUnavailable_ADatabaseThatIsGoneOrTooSlow(t *testing.T) {
	db := storetest.Mongo(t)
	expired, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if err := db.Collection("c").FindOne(expired, bson.D{}).Err(); !mongostore.Unavailable(err) {
		t.Errorf("after the deadline: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Collection("c").FindOne(cancelled, bson.D{}).Err(); err == nil || mongostore.Unavailable(err) {
		t.Errorf("cancelled: %v", err)
	}
}
