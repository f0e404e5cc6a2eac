package mongostore

import (
	"context"
	"errors"
	"net"
	"regexp"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"
)

// ErrConflict means that other writers changed the document first for as long as Update was willing to try.
var ErrConflict = errors.New("mongostore: the document kept changing")

// IsDuplicateKey says whether a write failed because of a unique index.
func IsDuplicateKey(err error) bool { return mongo.IsDuplicateKeyError(err) }

// DuplicateIndex returns the name of the unique index that a write failed at; "" when it did not fail at one.
func DuplicateIndex(err error) string {
	if !IsDuplicateKey(err) {
		return ""
	}
	found := refusedBy.FindStringSubmatch(err.Error())
	if found == nil {
		return ""
	}
	return found[1] + found[2]
}

// refusedBy finds the index in the message of MongoDB, where the refused value follows, or of DocumentDB.
var refusedBy = regexp.MustCompile(`duplicate key error collection: \S+ index: (\S+)|` +
	`Duplicate key violation on the requested collection: Index '([^']+)'`)

// Unavailable says whether err means that the database is away or too slow, so that a later try may succeed: no
// server found, a broken connection, a wait for one that ended when others broke, a deadline passed, an election, a
// write not confirmed in time. A cancelled context does not count: the caller went away.
func Unavailable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	if mongo.IsTimeout(err) || mongo.IsNetworkError(err) {
		return true
	}
	// of a server that leaves the replica set, and of a client that closes
	for _, closed := range []error{topology.ErrServerClosed, topology.ErrPoolClosed, mongo.ErrClientDisconnected} {
		if errors.Is(err, closed) {
			return true
		}
	}
	var (
		selection topology.ServerSelectionError
		cleared   driver.RetryablePoolError
		name      *net.DNSError
	)
	if errors.As(err, &selection) || errors.As(err, &cleared) || errors.As(err, &name) {
		return true
	}
	if server, ok := errors.AsType[mongo.ServerError](err); ok {
		for _, code := range unavailableCodes {
			if server.HasErrorCode(code) {
				return true
			}
		}
	}
	return false
}

// Conflicted says whether the server aborted a write because it conflicted with another. Nothing of it was written,
// and it may be tried again at once. MongoDB itself tries again outside transactions. Compatible servers on
// PostgreSQL end one of two writers that wait for each other.
func Conflicted(err error) bool {
	var server mongo.ServerError
	return errors.As(err, &server) &&
		(server.HasErrorCode(writeConflict) || server.HasErrorMessage("deadlock detected"))
}

// writeConflict is the server's code WriteConflict.
const writeConflict = 112

// unavailableCodes are the codes by which a server says "not now": that it is away, is stopping, is not a primary, or
// has ended an operation for a reason of its own. InternalError is among them: the server failed, not the request.
// Servers that keep their data elsewhere answer it when that is away. Errors that a later try cannot mend are not among
// them: a wrong password, a document that is too large, a write concern that the deployment cannot satisfy.
var unavailableCodes = [...]int{
	1,     // InternalError
	6,     // HostUnreachable
	7,     // HostNotFound
	24,    // LockTimeout
	43,    // CursorNotFound: a read of several batches was cut off, by a new primary or by a restart
	46,    // LockBusy
	50,    // MaxTimeMSExpired
	64,    // WriteConcernTimeout
	89,    // NetworkTimeout
	91,    // ShutdownInProgress
	133,   // FailedToSatisfyReadPreference: a router found no primary
	134,   // ReadConcernMajorityNotAvailableYet
	146,   // ExceededMemoryLimit
	175,   // QueryPlanKilled: an index or a collection went while it was read
	189,   // PrimarySteppedDown
	202,   // NetworkInterfaceExceededTimeLimit
	237,   // CursorKilled
	262,   // ExceededTimeLimit
	317,   // ConnectionPoolExpired
	365,   // TemporarilyUnavailable
	384,   // ConnectionError
	9001,  // SocketException
	10058, // LegacyNotPrimary
	10107, // NotWritablePrimary
	11600, // InterruptedAtShutdown
	11601, // Interrupted: an operator ended the operation
	11602, // InterruptedDueToReplStateChange
	13435, // NotPrimaryNoSecondaryOk
	13436, // NotPrimaryOrSecondary
	14031, // OutOfDiskSpace
}
