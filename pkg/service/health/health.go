// Package health serves /livez, /readyz, /startupz and /metrics, on a port of its own. No probe calls a store: probes
// are not for problems that a restart or another process can't solve. With a store away all processes would be unready
// at once, and a proxy would answer in the place of Belfry. The gauge belfry.store.up tells of each store whether it
// answers; collecting it asks them, at most every two seconds.
package health

import (
	"context"
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
	idleTimeout       = 75 * time.Second
	maxHeaderBytes    = 16 << 10
)

// Check tests whether a store answers. The gauge shows its name; its error is only logged.
type Check struct {
	Name string
	Test func(ctx context.Context) error
}

// Options of NewServer.
type Options struct {
	Log     *slog.Logger
	Ready   func() bool // whether the process wants traffic: it has started, and does not stop
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
	ready := func(w http.ResponseWriter, _ *http.Request) { answer(w, o.Ready()) }
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { answer(w, true) })
	mux.HandleFunc("GET /startupz", ready)
	mux.HandleFunc("GET /readyz", ready)
	mux.Handle("GET /metrics", o.Metrics)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes}, nil
}

func answer(w http.ResponseWriter, good bool) {
	code, status := http.StatusOK, "OK"
	if !good {
		code, status = http.StatusServiceUnavailable, "Service unavailable"
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, "{\"status\":%q}\n", status) // an error means that the prober has gone
}

// checker caches which stores are unavailable for checkMemory, so that many collections share one check.
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
	k.names = nil
	for i, err := range k.test(context.WithoutCancel(ctx)) {
		if err != nil {
			k.o.Log.WarnContext(ctx, "a store does not answer", "store", k.o.Checks[i].Name, "error", err.Error())
			k.names = append(k.names, k.o.Checks[i].Name)
		}
	}
	k.checked = time.Now()
	return k.names
}

// test runs the checks at the same time: one that is slow takes nothing from the others' time.
func (k *checker) test(ctx context.Context) []error {
	faults := make([]error, len(k.o.Checks))
	var wg sync.WaitGroup
	for i, c := range k.o.Checks {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			faults[i] = c.Test(ctx)
		})
	}
	wg.Wait()
	return faults
}
