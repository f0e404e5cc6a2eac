// Package health serves what operates the process, on a port of its own: /livez, /readyz, /startupz and /metrics. Liveness never
// touches a store: a store that is away must not restart the process. Readiness does, rarely.
package health

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

const (
	// checkTimeout bounds a check of a store; its result is believed for checkMemory.
	checkTimeout = time.Second
	checkMemory  = 2 * time.Second

	readHeaderTimeout = 5 * time.Second
)

// Check says whether a store answers; its name is shown, its error is only logged.
type Check struct {
	Name string
	Test func(ctx context.Context) error
}

// Options of NewServer.
type Options struct {
	Log     *slog.Logger
	Ready   func() bool // whether the process wants traffic
	Checks  []Check
	Metrics http.Handler
}

// NewServer returns the server; the caller gives it a listener.
func NewServer(o Options) *http.Server {
	mux := http.NewServeMux()
	checks := &checker{o: o}
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
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout}
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
	_ = json.NewEncoder(w).Encode(struct { // a prober that went away needs no answer
		Status string   `json:"status"`
		Away   []string `json:"away,omitempty"`
	}{status, away})
}

// checker remembers for a moment which stores are away, so that many probes cost one check.
type checker struct {
	o       Options
	mu      sync.Mutex
	checked time.Time
	names   []string
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
