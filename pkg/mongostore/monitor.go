package mongostore

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
	"go.opentelemetry.io/otel/trace"
)

const instrumentation = "github.com/belfry-schools/belfry/pkg/mongostore"

// monitor turns the driver's command events into spans and the histogram db.client.operation.duration, by
// OpenTelemetry's conventions for database clients. The text of a command, its values and the messages of errors stay
// out: they may hold personal data. Handshakes, pings and the end of sessions are left out.
type monitor struct {
	tracer   trace.Tracer
	duration dbconv.ClientOperationDuration
	running  sync.Map // commandKey → *command
}

// commandKey names a command between its events; request ids alone are not promised to be unique.
type commandKey struct {
	connection string
	request    int64
}

type command struct {
	span       trace.Span
	attributes []attribute.KeyValue
}

func newMonitor(tracers trace.TracerProvider, meters metric.MeterProvider) (*event.CommandMonitor, error) {
	duration, err := dbconv.NewClientOperationDuration(meters.Meter(instrumentation),
		metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10))
	if err != nil {
		return nil, err
	}
	m := &monitor{tracer: tracers.Tracer(instrumentation), duration: duration}
	return &event.CommandMonitor{
		Started: m.started,
		Succeeded: func(ctx context.Context, e *event.CommandSucceededEvent) {
			m.finished(ctx, e.CommandFinishedEvent, nil)
		},
		Failed: func(ctx context.Context, e *event.CommandFailedEvent) {
			m.finished(ctx, e.CommandFinishedEvent, e.Failure)
		},
	}, nil
}

func (m *monitor) started(ctx context.Context, e *event.CommandStartedEvent) {
	switch e.CommandName {
	case "hello", "isMaster", "ping", "endSessions", "saslStart", "saslContinue", "authenticate":
		return
	}
	attributes := []attribute.KeyValue{
		semconv.DBSystemNameMongoDB,
		semconv.DBNamespace(e.DatabaseName),
		semconv.DBOperationName(e.CommandName),
	}
	name := e.CommandName
	if collection := collectionOf(e); collection != "" {
		attributes = append(attributes, semconv.DBCollectionName(collection))
		name += " " + collection
	}
	attributes = append(attributes, server(e.ConnectionID)...)
	_, span := m.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	m.running.Store(commandKey{e.ConnectionID, e.RequestID}, &command{span, attributes})
}

func (m *monitor) finished(ctx context.Context, e event.CommandFinishedEvent, failure error) {
	found, ok := m.running.LoadAndDelete(commandKey{e.ConnectionID, e.RequestID})
	if !ok {
		return
	}
	c := found.(*command)
	if failure != nil {
		attributes := failed(failure)
		c.attributes = append(c.attributes, attributes...)
		c.span.SetAttributes(attributes...)
		c.span.SetStatus(codes.Error, "")
	}
	c.span.End()
	m.duration.RecordSet(ctx, e.Duration.Seconds(), attribute.NewSet(c.attributes...))
}

// failed describes an error without its message.
func failed(err error) []attribute.KeyValue {
	var answer driver.Error
	switch {
	case errors.As(err, &answer) && answer.Code != 0:
		code := strconv.Itoa(int(answer.Code))
		return []attribute.KeyValue{semconv.DBResponseStatusCode(code), semconv.ErrorTypeKey.String(code)}
	case errors.Is(err, context.Canceled):
		return []attribute.KeyValue{semconv.ErrorTypeKey.String("cancelled")}
	case mongo.IsTimeout(err):
		return []attribute.KeyValue{semconv.ErrorTypeKey.String("timeout")}
	case mongo.IsNetworkError(err):
		return []attribute.KeyValue{semconv.ErrorTypeKey.String("network")}
	default:
		return []attribute.KeyValue{semconv.ErrorTypeOther}
	}
}

// collectionOf returns the collection of a command: the value of its first element, or of "collection" in a getMore.
// Commands on the whole database have a number or nothing there.
func collectionOf(e *event.CommandStartedEvent) string {
	key := e.CommandName
	if key == "getMore" {
		key = "collection"
	}
	value, err := e.Command.LookupErr(key)
	if err != nil {
		return ""
	}
	name, _ := value.StringValueOK()
	return name
}

// server reads the driver's connection id, host:port[-number].
func server(connection string) []attribute.KeyValue {
	address, _, _ := strings.Cut(connection, "[")
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	attributes := []attribute.KeyValue{semconv.ServerAddress(host)}
	if n, err := strconv.Atoi(port); err == nil {
		attributes = append(attributes, semconv.ServerPort(n))
	}
	return attributes
}
