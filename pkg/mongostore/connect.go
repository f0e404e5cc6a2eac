// Package mongostore is how the services use MongoDB: connecting, integer ids, versioned writes of whole documents,
// indexes declared in code, and migrations under a lease.
//
// It needs no multi-document transaction, change stream or collation, so it also runs on servers that speak MongoDB's
// protocol without them. Every write waits for the majority and its journal, and every read asks the primary.
package mongostore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

const (
	// selectionTimeout bounds the wait for a usable server, an election of a primary included, so that a database
	// that is away is an answer within a request's deadline.
	selectionTimeout = 3 * time.Second
	connectTimeout   = 3 * time.Second
	// operationTimeout bounds an operation whose context has no deadline.
	operationTimeout = 15 * time.Second
)

// Options tune a connection. The zero value is usable.
type Options struct {
	AppName        string               // shows in the server's log and currentOp
	TracerProvider trace.TracerProvider // nil: the global one
	MeterProvider  metric.MeterProvider // nil: the global one
}

// Connect opens a client and pings the primary. Timeouts in the URI override the defaults. The URI cannot override
// where the services read and what their writes wait for: whatever readPreference, readConcernLevel, w and journal
// say there, reads go to the primary, and writes wait for the majority and its journal. Nil slices are stored as empty
// arrays. The error never holds the URI or any part of it; [Unavailable] says whether a later try can help. The
// caller disconnects the client.
func Connect(ctx context.Context, uri string, o Options) (*mongo.Client, error) {
	monitor, err := o.monitor()
	if err != nil {
		return nil, err
	}
	opts := clientOptions(uri, o.AppName).SetMonitor(monitor)
	if err := opts.Validate(); err != nil {
		var file *fs.PathError
		if errors.As(err, &file) {
			return nil, errors.New("mongostore: a file that the database URI names can't be read; is it in the pod?")
		}
		return nil, errors.New("mongostore: the database URI is not valid; it looks like " +
			"mongodb://user:password@host:27017/?replicaSet=rs0")
	}
	client, err := mongo.Connect(opts)
	if err != nil {
		return nil, &connectError{"the database client does not start; are the options in the URI right?", err}
	}
	if err := client.Ping(ctx, nil); err != nil {
		// The client never answered, so there is nothing to lose by an unclean end.
		_ = client.Disconnect(context.WithoutCancel(ctx))
		return nil, &connectError{explainPing(err), err}
	}
	return client, nil
}

// clientOptions has the concerns of Connect. A decision reads before it writes, so a read has to see all that was
// acknowledged before: a secondary may be behind, and so may the majority's snapshot on the primary, which is why the
// read concern is local. Reading data that the majority lacks does no harm: a write decided on it is acknowledged only
// when the majority has both.
func clientOptions(uri, appName string) *options.ClientOptions {
	journal := true
	opts := options.Client().
		SetServerSelectionTimeout(selectionTimeout).
		SetConnectTimeout(connectTimeout).
		SetTimeout(operationTimeout).
		ApplyURI(uri).
		SetReadPreference(readpref.Primary()).
		SetReadConcern(readconcern.Local()).
		SetWriteConcern(&writeconcern.WriteConcern{W: writeconcern.WCMajority, Journal: &journal}).
		SetBSONOptions(&options.BSONOptions{NilSliceAsEmpty: true})
	if appName != "" {
		opts.SetAppName(appName)
	}
	return opts
}

func explainPing(err error) string {
	var command mongo.CommandError
	switch {
	case errors.Is(err, context.Canceled):
		return "connecting was given up"
	case errors.As(err, &command) && command.Code != 0:
		return fmt.Sprintf("the database refuses the connection (code %d); are user and password right?", command.Code)
	case untrusted(err):
		return "the database's certificate is not trusted; is the authority in tlsCAFile or SSL_CERT_FILE, and does " +
			"the certificate name the host?"
	case Unavailable(err):
		return "no database server answers at the configured address; is it up, and the address right?"
	default:
		return "the database refuses the connection; are user, password and TLS settings right?"
	}
}

// untrusted reports whether the certificate of a server was refused. The driver says only that there is no usable
// server, and keeps the reason beside it.
func untrusted(err error) bool {
	var selection topology.ServerSelectionError
	if !errors.As(err, &selection) {
		return false
	}
	for _, server := range selection.Desc.Servers {
		var certificate *tls.CertificateVerificationError
		if errors.As(server.LastError, &certificate) {
			return true
		}
	}
	return false
}

// connectError keeps the cause for errors.As and out of the text: it may name users and hosts.
type connectError struct {
	text  string
	cause error
}

func (e *connectError) Error() string { return "mongostore: " + e.text }
func (e *connectError) Unwrap() error { return e.cause }

func (o Options) monitor() (*event.CommandMonitor, error) {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	return newMonitor(o.TracerProvider, o.MeterProvider)
}

// byID is the filter for one document, served by the index every collection has.
func byID(id any) bson.D { return bson.D{{Key: "_id", Value: id}} }
