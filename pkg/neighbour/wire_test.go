package neighbour_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/metrictest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// answering returns the address of a neighbour that answers so, and counts its connections.
func answering(t *testing.T, answer http.HandlerFunc) (base string, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	server := httptest.NewUnstartedServer(answer)
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		connections.Add(1)
		return ctx
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, connections
}

var one = fact.ElementsQuestion{IDs: []int64{1}}

func TestAQuestionEndsWhenItsRequestIsCancelled(t *testing.T) {
	ended := make(chan struct{})
	defer close(ended)
	ctx, cancel := context.WithCancel(t.Context())
	base, _ := answering(t, func(http.ResponseWriter, *http.Request) { cancel(); <-ended })
	begun := time.Now()
	_, err := neighbour.NewElements(transport(t, token), base).Facts(ctx, one)
	if !problem.Is(err, problem.Unavailable) || time.Since(begun) > 5*time.Second {
		t.Errorf("got %v after %v", err, time.Since(begun))
	}
}

// deadlines is a propagator that keeps what is left until the deadline of what is sent.
type deadlines struct {
	propagation.TraceContext
	left *[]time.Duration
}

func (d deadlines) Inject(ctx context.Context, _ propagation.TextMapCarrier) {
	left := time.Duration(0)
	if deadline, bounded := ctx.Deadline(); bounded {
		left = time.Until(deadline)
	}
	*d.left = append(*d.left, left)
}

// Background work has no deadline: it waited for ever for a neighbour that was there and said nothing.
func TestAQuestionWithoutADeadlineHasOne(t *testing.T) {
	var left []time.Duration
	wire, err := neighbour.NewTransport(neighbour.Options{
		Token: settings.NewSecret(token), Tracer: tracenoop.NewTracerProvider(), Meter: metricnoop.NewMeterProvider(),
		Propagator: deadlines{left: &left},
	})
	errortest.None(t, err)
	t.Cleanup(wire.Close)
	base, _ := answering(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	later, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), later} {
		errortest.Some(t, errortest.Of(neighbour.NewElements(wire, base).Facts(ctx, one)), "the refusal is no error")
	}
	if len(left) != 2 || left[0] <= 0 || left[0] > 15*time.Second || left[1] < 50*time.Minute {
		t.Errorf("the questions have %v", left)
	}
}

func TestAnAnswerInChunksIsReadAndOneAboveTheBoundIsNot(t *testing.T) {
	var connections *atomic.Int32
	base, _ := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		for _, part := range []string{`{"elements": [{"i`, `d": 7}]}`} {
			_, _ = w.Write([]byte(part)) // the client's error is the test's
			w.(http.Flusher).Flush()
		}
	})
	facts, err := neighbour.NewElements(transport(t, token), base).Facts(t.Context(), one)
	valuetest.Holds(t, err == nil && len(facts) == 1 && facts[0].ID == 7, "got %+v, %v", facts, err)
	base, connections = answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	elements := neighbour.NewElements(transport(t, token), base)
	for range 2 {
		errortest.Report(t, errortest.Of(elements.Facts(t.Context(), one)))
	}
	valuetest.Same(t, connections.Load(), 1, "connections for two questions in turn")
	base, _ = answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(64<<20+1))
		_, _ = w.Write([]byte("{"))
	})
	if _, err := neighbour.NewElements(transport(t, token), base).Facts(t.Context(), one); !problem.Is(err,
		problem.Unavailable) || !strings.Contains(err.Error(), "size") {
		t.Errorf("got %v", err)
	}
}

func TestQuestionsCarryTheTraceAndAreMeasured(t *testing.T) {
	var sent atomic.Value
	base, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Get("Traceparent"))
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("{}"))
	})
	reader := sdkmetric.NewManualReader()
	wire, err := neighbour.NewTransport(neighbour.Options{
		Token: settings.NewSecret(token), Tracer: tracenoop.NewTracerProvider(), Propagator: propagation.TraceContext{},
		Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	})
	errortest.None(t, err)
	defer wire.Close()
	at := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	ctx := trace.ContextWithSpanContext(t.Context(), at)
	if _, err := neighbour.NewElements(wire, base).Facts(ctx, one); !problem.Is(err, problem.Unavailable) {
		t.Error(err)
	}
	if want := "00-" + at.TraceID().String() + "-" + at.SpanID().String() + "-00"; sent.Load() != want {
		t.Errorf("sent %q, want %q", sent.Load(), want)
	}
	got := metrictest.Collect(t, reader)[0]
	points := got.Data.(metricdata.Histogram[float64]).DataPoints
	code, _ := points[0].Attributes.Value("http.response.status_code")
	if got.Name != "http.client.request.duration" || len(points) != 1 || points[0].Count != 1 || code.AsInt64() != 503 {
		t.Errorf("measured %+v", got)
	}
}
