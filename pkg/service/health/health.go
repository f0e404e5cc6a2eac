// Package health serves /livez, /readyz, /startupz and /metrics, on a port of its own. Liveness never calls a
// store, so that an unavailable store does not restart the process. Readiness calls the stores, at most every two
// seconds; the gauge belfry.store.up has the result for each store.
package health

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	// checkTimeout bounds a check of a store. Its result is reused for checkMemory.
	checkTimeout = time.Second
	checkMemory  = 2 * time.Second

	readHeaderTimeout = 5 * time.Second
)

// Check tests whether a store answers. Probes show its name; its error is only logged.
type Check struct {
	Name string
	Test func(ctx context.Context) error
}

// Options of NewServer.
type Options struct {
	Log     *slog.Logger
	Ready   func() bool // whether the process wants traffic
	Checks  []Check
	Meter   metric.MeterProvider
	Metrics http.Handler
}

// NewServer returns the server; the caller starts it.
func NewServer(o Options) (*http.Server, error) {
	mux := http.NewServeMux()
	checks := &checker{o: o}
	if err := checks.measure(); err != nil {
		return nil, err
	}
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, "OK", nil) })
	mux.HandleFunc("GET /startupz", func(w http.ResponseWriter, _ *http.Request) { answer(w, o.Ready(), nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if !o.Ready() {
			answer(w, false, nil)
			return
		}
		away := checks.away(r.Context())
		answer(w, len(away) == 0, away)
	})
	mux.Handle("GET /metrics", o.Metrics)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout}, nil
}

func answer(w http.ResponseWriter, good bool, away []string) {
	if good {
		write(w, http.StatusOK, "OK", nil)
		return
	}
	write(w, http.StatusServiceUnavailable, "Service unavailable", away)
}

func write(w http.ResponseWriter, code int, status string, away []string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(struct { // an error means that the prober has gone
		Status string   `json:"status"`
		Away   []string `json:"away,omitempty"`
	}{status, away})
}

// checker caches which stores are unavailable for checkMemory, so that many probes share one check.
type checker struct {
	o       Options
	mu      sync.Mutex
	checked time.Time
	names   []string
}

// measure registers the gauge of the stores. Collecting it checks them, unless the cached result is recent.
func (k *checker) measure() error {
	meter := k.o.Meter.Meter("github.com/belfry-schools/belfry/pkg/service/health")
	_, err := meter.Int64ObservableGauge("belfry.store.up",
		metric.WithDescription("1 for a store that answers, 0 for one that is away"),
		metric.WithInt64Callback(func(ctx context.Context, observer metric.Int64Observer) error {
			away := k.away(ctx)
			for _, c := range k.o.Checks {
				up := int64(1)
				if slices.Contains(away, c.Name) {
					up = 0
				}
				observer.Observe(up, metric.WithAttributes(attribute.String("store", c.Name)))
			}
			return nil
		}))
	if err != nil {
		return fmt.Errorf("make the gauge of the stores: %w", err)
	}
	return nil
}

func (k *checker) away(ctx context.Context) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.checked) < checkMemory {
		return k.names
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	k.names = nil
	for _, c := range k.o.Checks {
		if err := c.Test(ctx); err != nil {
			k.o.Log.WarnContext(ctx, "a store does not answer", "store", c.Name, "error", err.Error())
			k.names = append(k.names, c.Name)
		}
	}
	k.checked = time.Now()
	return k.names
}
