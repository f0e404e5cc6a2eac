package mongostore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestConnect_AnAbsentDatabaseIsAClearErrorSoonAndWithoutTheURI(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	errortest.None(t, err)
	address := listener.Addr().String()
	errortest.None(t, listener.Close())
	started := time.Now()
	_, err = mongostore.Connect(t.Context(), "mongodb://anna:hunter2@"+address+"/?authSource=vault",
		mongostore.Options{})
	valuetest.MustHold(t, err != nil && mongostore.Unavailable(err), "error %v, want one that is Unavailable", err)
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

func TestConnect_ACertificateThatIsNotTrustedIsNoDatabaseThatIsAway(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	const want = "certificate is not trusted"
	var err error
	for patience := 500; patience < 60_000 && (err == nil || !strings.Contains(err.Error(), want)); patience *= 5 {
		_, err = mongostore.Connect(t.Context(), fmt.Sprintf("mongodb://anna:hunter2@%s/?tls=true&"+
			"serverSelectionTimeoutMS=%d", server.Listener.Addr(), patience), mongostore.Options{})
	} // until the handshake on a busy machine is quicker
	errortest.Says(t, err, want)
	refuseSecrets(t, err, "anna", "hunter2", server.Listener.Addr().String())
}

func TestConnect_AFileThatTheURINamesIsMissing(t *testing.T) {
	for _, option := range []string{"tlsCAFile", "tlsCertificateKeyFile"} {
		_, err := mongostore.Connect(t.Context(), "mongodb://anna:hunter2@db/?"+option+"=/vault/ca.crt",
			mongostore.Options{})
		errortest.Says(t, err, "a file that the database URI names can't be read")
		refuseSecrets(t, err, "anna", "hunter2", "vault")
	}
}

func refuseSecrets(t *testing.T, err error, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		valuetest.Lacks(t, err.Error(), secret, "the error %q holds %q", err, secret)
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

func TestHardToBreak_Row19_TheURINeverChoosesWhereAServiceReads(t *testing.T) {
	for _, query := range []string{
		"readPreference=secondary", "readPreference=nearest&maxStalenessSeconds=90",
		"readPreference=secondaryPreferred&readPreferenceTags=dc:east", "readConcernLevel=available",
		"readConcernLevel=majority", "w=0", "w=1", "w=2&journal=false",
	} {
		opts := mongostore.ClientOptions("mongodb://localhost/?replicaSet=rs0&"+query, "")
		errortest.None(t, opts.Validate(), query)
		p, c, w := opts.ReadPreference, opts.ReadConcern, opts.WriteConcern
		_, stale := p.MaxStaleness()
		if p.Mode() != readpref.PrimaryMode || stale || len(p.TagSets()) > 0 || c.Level != "local" ||
			w.W != "majority" || w.Journal == nil || !*w.Journal {
			t.Errorf("with %s the services read from %v with %+v and write with %+v", query, p, c, w)
		}
	}
}

// What a URI says of reads and writes changes nothing of what is sent.
func TestHardToBreak_Row19_WhatIsSentIsTheServicesOwn(t *testing.T) {
	uri, _, err := storetest.URIs()
	errortest.None(t, err)
	separator := "/?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	uri = strings.TrimSuffix(uri, "/") + separator + "readPreference=secondary&w=0&readConcernLevel=available"
	var mu sync.Mutex
	sent := map[string]bson.Raw{}
	opts := mongostore.ClientOptions(uri, "belfry-test").SetMonitor(&event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			mu.Lock()
			defer mu.Unlock()
			sent[e.CommandName] = slices.Clone(e.Command)
		},
	})
	client, err := mongo.Connect(opts)
	errortest.None(t, err)
	t.Cleanup(func() {
		errortest.Report(t, client.Disconnect(context.Background()))
	})
	collection := client.Database(storetest.Mongo(t).Name()).Collection("documents")
	result, err := collection.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
	valuetest.MustHold(t, err == nil && result.Acknowledged, "%+v, %v", result, err)
	errortest.Report(t, collection.FindOne(t.Context(), bson.D{{Key: "_id", Value: 1}}).Err())
	mu.Lock()
	defer mu.Unlock()
	valuetest.Same(t, sent["insert"].Lookup("writeConcern", "w").String(), `"majority"`, "the insert waits for")
	valuetest.Same(t, sent["find"].Lookup("readConcern", "level").String(), `"local"`, "the find has read concern")
	if mode, err := sent["find"].LookupErr("$readPreference", "mode"); err == nil &&
		!strings.HasPrefix(mode.StringValue(), "primary") { // a lone server may be asked as primaryPreferred
		t.Errorf("the find asks %v", mode)
	}
}

func TestConnect_NilSlicesAreStoredAsEmptyArrays(t *testing.T) {
	db := storetest.Mongo(t)
	_, err := db.Collection("lists").InsertOne(t.Context(), struct {
		ID   int64   `bson:"_id"`
		List []int64 `bson:"list"`
	}{ID: 1})
	errortest.None(t, err)
	n, err := db.Collection("lists").CountDocuments(t.Context(),
		bson.D{{Key: "list", Value: bson.D{{Key: "$size", Value: 0}}}})
	errortest.None(t, err)
	valuetest.Same(t, n, 1, "documents with an empty list")
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
		{"not confirmed in time", mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 64}}, true},
		{"a server left the replica set", topology.ErrServerClosed, true},
		{"its connections are closed", topology.ErrPoolClosed, true},
		{"a name is not resolved", topology.ConnectionError{Wrapped: &net.DNSError{}}, true},
		{"any other", errors.New("x"), false},
		{"not found", record.ErrNotFound, false},
	} {
		valuetest.Same(t, mongostore.Unavailable(c.err), c.want, c.name)
	}
}

// The servers' codes: which of them mean that a later try may succeed, and are 503, and which are faults.
func TestHardToBreak_Row21_CodesOfADatabaseThatIsAway(t *testing.T) {
	for _, c := range []struct {
		code int
		name string
		away bool
	}{
		{1, "InternalError", true},
		{2, "BadValue", false},
		{6, "HostUnreachable", true},
		{7, "HostNotFound", true},
		{9, "FailedToParse", false},
		{11, "UserNotFound", false},
		{13, "Unauthorized", false},
		{18, "AuthenticationFailed", false},
		{20, "IllegalOperation", false},
		{24, "LockTimeout", true},
		{26, "NamespaceNotFound", false},
		{27, "IndexNotFound", false},
		{43, "CursorNotFound", true},
		{46, "LockBusy", true},
		{50, "MaxTimeMSExpired", true},
		{59, "CommandNotFound", false},
		{64, "WriteConcernTimeout", true},
		{66, "ImmutableField", false},
		{79, "UnknownReplWriteConcern", false},
		{85, "IndexOptionsConflict", false},
		{86, "IndexKeySpecsConflict", false},
		{89, "NetworkTimeout", true},
		{91, "ShutdownInProgress", true},
		{100, "UnsatisfiableWriteConcern", false},
		{112, "WriteConflict", false}, // Conflicted: tried again at once
		{121, "DocumentValidationFailure", false},
		{133, "FailedToSatisfyReadPreference", true},
		{134, "ReadConcernMajorityNotAvailableYet", true},
		{146, "ExceededMemoryLimit", true},
		{175, "QueryPlanKilled", true},
		{189, "PrimarySteppedDown", true},
		{202, "NetworkInterfaceExceededTimeLimit", true},
		{237, "CursorKilled", true},
		{251, "NoSuchTransaction", false},
		{262, "ExceededTimeLimit", true},
		{317, "ConnectionPoolExpired", true},
		{334, "MechanismUnavailable", false},
		{365, "TemporarilyUnavailable", true},
		{384, "ConnectionError", true},
		{9001, "SocketException", true},
		{10058, "LegacyNotPrimary", true},
		{10107, "NotWritablePrimary", true},
		{10334, "BSONObjectTooLarge", false},
		{11000, "DuplicateKey", false},
		{11600, "InterruptedAtShutdown", true},
		{11601, "Interrupted", true},
		{11602, "InterruptedDueToReplStateChange", true},
		{13435, "NotPrimaryNoSecondaryOk", true},
		{13436, "NotPrimaryOrSecondary", true},
		{14031, "OutOfDiskSpace", true},
	} {
		for kind, err := range map[string]error{
			"a command":       mongo.CommandError{Code: int32(c.code)},
			"a write":         mongo.WriteException{WriteErrors: []mongo.WriteError{{Code: c.code}}},
			"a write concern": mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: c.code}},
			"several writes": mongo.BulkWriteException{
				WriteErrors: []mongo.BulkWriteError{{WriteError: mongo.WriteError{Code: c.code}}},
			},
		} {
			valuetest.Same(t, mongostore.Unavailable(fmt.Errorf("find: %w", err)), c.away,
				"%d %s of %s: away", c.code, c.name, kind)
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

// Operations that wait for a connection while another breaks got an error of the driver that was answered as a fault of
// the service: an import gave up, where 503 has it try again.
func TestUnavailable_AWaitForAConnectionWhenOthersBreak(t *testing.T) {
	line, _, uri, _ := storetest.Lines(t)
	asked := make(chan struct{}, 100)
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetMaxPoolSize(1).
		SetServerSelectionTimeout(time.Second).SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
		if e.Type == event.ConnectionCheckOutStarted {
			asked <- struct{}{}
		}
	}}))
	errortest.None(t, err)
	defer func() { errortest.None(t, client.Disconnect(context.Background())) }()
	errortest.None(t, client.Ping(t.Context(), nil))
	<-asked
	line.Hang()
	const reads = 4
	failed := make(chan error, reads)
	for range reads {
		go func() { failed <- client.Database("none").Collection("none").FindOne(t.Context(), bson.D{}).Err() }()
		<-asked
	}
	line.Cut()
	cleared := 0
	for range reads {
		err := <-failed
		valuetest.Holds(t, mongostore.Unavailable(err), "not unavailable: %v", err)
		var wait driver.RetryablePoolError
		if errors.As(err, &wait) {
			cleared++
		}
	}
	valuetest.Holds(t, cleared != 0, "no read waited for a connection")
}
