package mongostore

import (
	"context"
	"errors"
	"net"
	"slices"
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
	running  sync.Map // commandKey → command
	kinds    sync.Map // kindKey → *kind
}

// kindKey is what commands of one kind have in common.
type kindKey struct{ database, name, collection, address string }

// kind is described once: a request sends few kinds of commands, and each often.
type kind struct {
	name       string
	attributes []attribute.KeyValue
	span       []trace.SpanStartOption
	set        metric.MeasurementOption
}

// commandKey names a command between its events; request ids alone are not promised to be unique.
type commandKey struct {
	connection string
	request    int64
}

type command struct {
	*kind
	span trace.Span
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
	k := m.kindOf(e)
	_, span := m.tracer.Start(ctx, k.name, k.span...)
	m.running.Store(commandKey{e.ConnectionID, e.RequestID}, command{k, span})
}

func (m *monitor) kindOf(e *event.CommandStartedEvent) *kind {
	address, _, _ := strings.Cut(e.ConnectionID, "[")
	key := kindKey{e.DatabaseName, e.CommandName, collectionOf(e), address}
	if known, found := m.kinds.Load(key); found {
		return known.(*kind)
	}
	k := &kind{name: e.CommandName, attributes: []attribute.KeyValue{
		semconv.DBSystemNameMongoDB,
		semconv.DBNamespace(e.DatabaseName),
		semconv.DBOperationName(e.CommandName),
	}}
	if key.collection != "" {
		k.attributes = append(k.attributes, semconv.DBCollectionName(key.collection))
		k.name += " " + key.collection
	}
	k.attributes = append(k.attributes, server(address)...)
	k.span = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(k.attributes...)}
	k.set = metric.WithAttributeSet(attribute.NewSet(k.attributes...))
	m.kinds.Store(key, k)
	return k
}

func (m *monitor) finished(ctx context.Context, e event.CommandFinishedEvent, failure error) {
	found, ok := m.running.LoadAndDelete(commandKey{e.ConnectionID, e.RequestID})
	if !ok {
		return
	}
	c := found.(command)
	set := c.set
	if failure != nil {
		attributes := failed(failure)
		set = metric.WithAttributeSet(attribute.NewSet(slices.Concat(c.attributes, attributes)...))
		c.span.SetAttributes(attributes...)
		c.span.SetStatus(codes.Error, "")
	}
	c.span.End()
	m.duration.Inst().Record(ctx, e.Duration.Seconds(), set)
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

// server reads an address, host:port.
func server(address string) []attribute.KeyValue {
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
