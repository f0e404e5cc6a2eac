package telemetry_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-schools/belfry/pkg/service/telemetry"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestOffWhenUnset_LogsStillCarryTheTrace(t *testing.T) {
	var out bytes.Buffer
	tel, err := telemetry.Start(t.Context(),
		telemetry.Options{Service: "notes", Version: "1", LogLevel: slog.LevelInfo, Out: &out})
	errortest.None(t, err)
	ctx, span := tel.Tracer.Tracer("test").Start(t.Context(), "request")
	valuetest.Holds(t, !span.IsRecording(), "spans are recorded although nothing exports them")
	tel.Log.InfoContext(ctx, "hello")
	var line map[string]any
	errortest.None(t, json.Unmarshal(out.Bytes(), &line), out.String())
	if line["trace_id"] != span.SpanContext().TraceID().String() || line["service"] != "notes" {
		t.Errorf("line %v", line)
	}
	tel.Stop(t.Context())
}

func TestLogs_TheLevelCountsForWhatIsExportedToo(t *testing.T) {
	sent := make(chan []byte, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body) // what is missing fails the test
		sent <- text
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", collector.URL+"/v1/logs")
	t.Setenv("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/protobuf")
	tel, err := telemetry.Start(t.Context(),
		telemetry.Options{Service: "notes", Version: "1", LogLevel: slog.LevelWarn, Out: io.Discard})
	errortest.None(t, err)
	log := tel.Log.With("a", 1).WithGroup("b")
	log.Info("low line")
	log.Warn("high line")
	tel.Stop(t.Context())
	close(sent)
	var all []byte
	for text := range sent {
		all = append(all, text...)
	}
	if bytes.Contains(all, []byte("low line")) || !bytes.Contains(all, []byte("high line")) {
		t.Errorf("exported %q", all)
	}
}

func TestMetricsAreServedForPrometheus(t *testing.T) {
	tel, err := telemetry.Start(t.Context(), telemetry.Options{Service: "notes", Version: "1", Out: &bytes.Buffer{}})
	errortest.None(t, err)
	counter, err := tel.Meter.Meter("test").Int64Counter("belfry.bookings")
	errortest.None(t, err)
	counter.Add(t.Context(), 3)
	w := httptest.NewRecorder()
	tel.Metrics.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if !strings.Contains(w.Body.String(), "belfry_bookings_total") ||
		!strings.Contains(w.Body.String(), "go_goroutines") {
		t.Errorf("got\n%.600s", w.Body)
	}
}

// A span that is not recorded has no children, which cost time and are never seen. One that comes from outside has.
func TestSpans_OfATraceThatIsNotRecordedAreOneInEachProcess(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	for sampler, recorded := range map[string]bool{"always_off": false, "always_on": true} {
		t.Setenv("OTEL_TRACES_SAMPLER", sampler)
		o := telemetry.Options{Service: "notes", Version: "1", Out: &bytes.Buffer{}}
		tel, err := telemetry.Start(t.Context(), o)
		errortest.None(t, err)
		valuetest.Holds(t, tel.Traces, "traces are not exported")
		tracer := tel.Tracer.Tracer("test")
		far := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
		ctx, request := tracer.Start(trace.ContextWithRemoteSpanContext(t.Context(), far), "request")
		_, child := tracer.Start(ctx, "find")
		if here := request.SpanContext(); here.SpanID() == far.SpanID() || here.TraceID() != far.TraceID() {
			t.Errorf("%s: the request has the span %v", sampler, here)
		}
		valuetest.Same(t, child.SpanContext().SpanID() != request.SpanContext().SpanID(), recorded,
			"%s: the child has a span of its own", sampler)
	}
}
