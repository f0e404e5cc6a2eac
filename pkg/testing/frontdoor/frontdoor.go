// Package frontdoor is the one address of a run without a cluster: it sends each public path to the service that
// the route table names, as an Ingress does, and to another replica when one cannot be reached. It is for the local
// run and for tests.
package frontdoor

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync/atomic"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/routes"
)

// maxBody is above what any service takes, so that it answers what is too large itself. A service ends the
// connection on what is larger still, which could reach a client as a fault.
const maxBody = 4 << 20

// New returns the handler. Targets maps each service of the table to its replicas' addresses (host:port).
func New(table routes.Table, targets map[string][]string, log *slog.Logger) http.Handler {
	doors := map[string]http.Handler{}
	for service, replicas := range targets {
		doors[service] = &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.Out.URL.Scheme = "http"
				r.Out.URL.Host = service
				r.SetXForwarded()
				r.Out.Host = r.In.Host
			},
			Transport: newReplicas(replicas),
			ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
				if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
					answer(w, problem.TooLarge)
					return
				}
				if r.Context().Err() == nil {
					log.Warn("no answer", "service", service, "error", err.Error())
				}
				answer(w, problem.Unavailable)
			},
			ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service, _ := table.Service(r.URL.Path)
		door, found := doors[service]
		if !found {
			answer(w, problem.NotFound)
			return
		}
		if r.ContentLength > maxBody {
			answer(w, problem.TooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		door.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, kind problem.Kind) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(kind.Code())
	_, _ = io.WriteString(w, `{"status":"`+kind.Status()+`"}`) // a client that went away needs no answer
}

// replicas sends a request to the next replica in turn, and to the one after when it cannot be reached at all. A
// request that a replica may have seen is never sent twice.
type replicas struct {
	addresses []string
	turn      atomic.Uint64
	wire      *http.Transport
}

func newReplicas(addresses []string) *replicas {
	return &replicas{addresses: addresses, wire: &http.Transport{MaxIdleConnsPerHost: 64}}
}

// RoundTrip implements http.RoundTripper.
func (p *replicas) RoundTrip(r *http.Request) (*http.Response, error) {
	first := p.turn.Add(1)
	err := errors.New("the service has no replica")
	for i := range uint64(len(p.addresses)) {
		attempt := r.Clone(r.Context())
		if r.Body != nil {
			attempt.Body = io.NopCloser(r.Body) // a failed attempt closes its body; the proxy closes the request's
		}
		attempt.URL.Host = p.addresses[(first+i)%uint64(len(p.addresses))]
		var answer *http.Response
		if answer, err = p.wire.RoundTrip(attempt); err == nil {
			return answer, nil
		}
		var op *net.OpError
		if !errors.As(err, &op) || op.Op != "dial" {
			break
		}
	}
	return nil, err
}
