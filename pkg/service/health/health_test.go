package health_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric/noop"

	"github.com/belfry-schools/belfry/pkg/service/health"
	"github.com/belfry-schools/belfry/pkg/service/telemetry"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func newServer(t *testing.T, o health.Options) *http.Server {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	if o.Meter == nil {
		o.Meter = noop.NewMeterProvider()
	}
	server, err := health.NewServer(o)
	errortest.None(t, err)
	return server
}

func TestProbes(t *testing.T) {
	good := func(context.Context) error { return nil }
	bad := func(context.Context) error { return errors.New("dial secret:password@db") }
	for _, c := range []struct {
		name  string
		ready bool
		test  func(context.Context) error
		want  map[string]string
	}{
		{"up", true, good, map[string]string{"/livez": `200 {"status":"OK"}`, "/readyz": `200 {"status":"OK"}`,
			"/startupz": `200 {"status":"OK"}`, "/metrics": "200 metrics"}},
		{"starting or draining", false, good,
			map[string]string{"/livez": `200 {"status":"OK"}`, "/readyz": `503 {"status":"Service unavailable"}`,
				"/startupz": `503 {"status":"Service unavailable"}`}},
		{"a store is away", true, bad,
			map[string]string{"/livez": `200 {"status":"OK"}`, "/readyz": `200 {"status":"OK"}`,
				"/startupz": `200 {"status":"OK"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := newServer(t, health.Options{
				Ready:  func() bool { return c.ready },
				Checks: []health.Check{{Name: "mongodb", Test: c.test}},
				Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, _ = io.WriteString(w, "metrics")
				}),
			})
			for path, want := range c.want {
				w := httptest.NewRecorder()
				server.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
				code, text, _ := strings.Cut(want, " ")
				if http.StatusText(w.Code) == "" || code != strings.TrimSpace(strings.Fields(w.Result().Status)[0]) ||
					strings.TrimSpace(w.Body.String()) != text {
					t.Errorf("%s: got %d %s, want %s", path, w.Code, w.Body, want)
				}
			}
		})
	}
}

func TestMetrics_ManyCollectionsCostOneCheckAndProbesNone(t *testing.T) {
	tel, err := telemetry.Start(t.Context(), telemetry.Options{Service: "notes", Version: "1", Out: io.Discard})
	errortest.None(t, err)
	checks := 0
	server := newServer(t, health.Options{
		Ready: func() bool { return true }, Meter: tel.Meter, Metrics: tel.Metrics,
		Checks: []health.Check{{Name: "redis", Test: func(context.Context) error { checks++; return nil }}},
	})
	get := func(path string) {
		server.Handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
	}
	for _, path := range []string{"/livez", "/startupz", "/readyz"} {
		get(path)
		valuetest.Same(t, checks, 0, "%s asks a store", path)
	}
	begun := time.Now()
	for range 50 {
		get("/metrics")
	}
	if most := 1 + int(time.Since(begun)/(2*time.Second)); checks < 1 || checks > most {
		t.Errorf("%d checks, want 1 to %d", checks, most)
	}
}

// The chart's alert BelfryStoreAway uses this metric.
func TestMetricsTellWhichStoreIsAway(t *testing.T) {
	tel, err := telemetry.Start(t.Context(), telemetry.Options{Service: "notes", Version: "1", Out: io.Discard})
	errortest.None(t, err)
	server := newServer(t, health.Options{Ready: func() bool { return true }, Meter: tel.Meter, Metrics: tel.Metrics,
		Checks: []health.Check{
			{Name: "redis", Test: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
			{Name: "mongodb", Test: func(ctx context.Context) error { return ctx.Err() }},
		}})
	w := httptest.NewRecorder()
	server.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	for _, want := range []string{`store="mongodb"} 1`, `store="redis"} 0`} {
		if !strings.Contains(w.Body.String(), "belfry_store_up{") || !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in\n%s", want, w.Body)
		}
	}
}
