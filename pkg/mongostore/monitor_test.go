package mongostore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/metrictest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// observed is a database connected with instruments that the test can read.
func observed(t *testing.T) (*mongo.Database, *tracetest.SpanRecorder, *metric.ManualReader) {
	t.Helper()
	uri, _, err := storetest.URIs()
	errortest.None(t, err)
	spans, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	client, err := mongostore.Connect(t.Context(), uri, mongostore.Options{
		TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans)),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(reader)),
	})
	errortest.None(t, err)
	t.Cleanup(func() {
		errortest.Report(t, client.Disconnect(context.Background()))
	})
	return client.Database(storetest.Mongo(t).Name()), spans, reader
}

func TestMonitor_ASpanForEachCommandByTheConventions(t *testing.T) {
	db, spans, _ := observed(t)
	errortest.None(t, errortest.Of(db.Collection("pupils").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})))
	ended := spans.Ended()
	valuetest.MustSame(t, len(ended), 1, "spans: handshakes and pings have none")
	span := ended[0]
	if span.Name() != "insert pupils" || span.SpanKind().String() != "client" || span.Status().Code != codes.Unset {
		t.Errorf("span %q, kind %v, status %v", span.Name(), span.SpanKind(), span.Status())
	}
	got := attribute.NewSet(span.Attributes()...)
	for key, want := range map[attribute.Key]string{
		"db.system.name": "mongodb", "db.namespace": db.Name(), "db.collection.name": "pupils",
		"db.operation.name": "insert",
	} {
		value, _ := got.Value(key)
		valuetest.Same(t, value.AsString(), want, "%s", key)
	}
	if address, _ := got.Value("server.address"); address.AsString() == "" {
		t.Error("no server.address")
	}
	if port, _ := got.Value("server.port"); port.AsInt64() == 0 {
		t.Error("no server.port")
	}
}

func TestMonitor_SpansAreChildrenOfTheCaller(t *testing.T) {
	db, spans, _ := observed(t)
	ctx, parent := trace.NewTracerProvider().Tracer("test").Start(t.Context(), "request")
	if err := db.Collection("pupils").FindOne(ctx, bson.D{}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
		t.Fatal(err)
	}
	if ended := spans.Ended(); len(ended) != 1 || ended[0].Parent().SpanID() != parent.SpanContext().SpanID() {
		t.Errorf("spans %v", ended)
	}
}

func TestMonitor_ACursorsNextBatchNamesItsCollection(t *testing.T) {
	db, spans, _ := observed(t)
	documents := make([]any, 250)
	for i := range documents {
		documents[i] = bson.D{{Key: "_id", Value: i}}
	}
	_, err := db.Collection("pupils").InsertMany(t.Context(), documents)
	errortest.None(t, err)
	cursor, err := db.Collection("pupils").Find(t.Context(), bson.D{})
	errortest.None(t, err)
	var all []bson.D
	if err := cursor.All(t.Context(), &all); err != nil || len(all) != 250 {
		t.Fatalf("%d documents, %v", len(all), err)
	}
	names := sequence.Map(spans.Ended(), func(span trace.ReadOnlySpan) string { return span.Name() })
	if got := strings.Join(names, ", "); !strings.HasPrefix(got, "insert pupils, find pupils, getMore pupils") {
		t.Errorf("spans: %s", got)
	}
}

// No secret may be in a span or a metric, neither from a command nor from an error's message.
func TestMonitor_NoValueReachesASpanOrAMetric(t *testing.T) {
	db, spans, reader := observed(t)
	const secret = "hunter2"
	pupils := db.Collection("pupils")
	err := mongostore.EnsureIndexes(t.Context(), pupils,
		[]mongostore.Index{{Name: "uuid", Keys: mongostore.By("uuid"), Unique: true}})
	errortest.None(t, err)
	for id := range 2 {
		_, err := pupils.InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}, {Key: "uuid", Value: secret}})
		valuetest.MustSame(t, id == 1, mongostore.IsDuplicateKey(err), "insert %d: %v", id, err)
	}
	if _, err := pupils.Find(t.Context(), bson.D{{Key: "$" + secret, Value: secret}}); err == nil {
		t.Fatal("an operator that does not exist was accepted")
	}
	failed := false
	for _, span := range spans.Ended() {
		text := fmt.Sprint(span.Name(), span.Attributes(), span.Events(), span.Status())
		valuetest.Lacks(t, text, secret, "span")
		if span.Name() == "find pupils" {
			failed = span.Status().Code == codes.Error
			got := attribute.NewSet(span.Attributes()...)
			if value, ok := got.Value("error.type"); !ok || value.AsString() == "_OTHER" {
				t.Errorf("error.type of the failed find: %v", value.AsString())
			}
			if _, ok := got.Value("db.response.status_code"); !ok {
				t.Error("the failed find has no db.response.status_code")
			}
		}
	}
	valuetest.Holds(t, failed, "the failed find has no span with status error")
	text := fmt.Sprintf("%+v", metrictest.Collect(t, reader))
	if strings.Contains(text, secret) || !strings.Contains(text, "db.client.operation.duration") {
		t.Errorf("metrics %s", text)
	}
}

func TestMonitor_TheDurationIsAHistogramInSeconds(t *testing.T) {
	db, _, reader := observed(t)
	if err := db.Collection("pupils").FindOne(t.Context(), bson.D{}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
		t.Fatal(err)
	}
	metrics := metrictest.Collect(t, reader)
	valuetest.MustSame(t, len(metrics), 1, "metrics %+v", metrics)
	m := metrics[0]
	histogram, ok := m.Data.(metricdata.Histogram[float64])
	if m.Name != "db.client.operation.duration" || m.Unit != "s" || !ok || len(histogram.DataPoints) != 1 {
		t.Fatalf("metric %+v", m)
	}
	point := histogram.DataPoints[0]
	operation, _ := point.Attributes.Value("db.operation.name")
	if point.Count != 1 || point.Sum <= 0 || point.Sum > 5 || operation.AsString() != "find" ||
		point.Bounds[0] != 0.001 {
		t.Errorf("point %+v", point)
	}
}
