// Package frontdoor is the reverse proxy of a run without a cluster, for the local run and for tests. It sends each
// public path to the service in the route table, and unknown paths to routes.Otherwise, as an Ingress does, and to
// another replica when one cannot be reached.
package frontdoor

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web/envelope"
)

// maxBody is larger than the limit of any service, so that the service answers when a body is too large. For a body
// that is larger still the service closes the connection, and a client could see an error instead of 413.
const maxBody = 4 << 20

// New returns the handler. targets has the addresses (host:port) of the replicas of each service in the table.
func New(table routes.Table, targets map[string][]string, log *slog.Logger) http.Handler {
	doors := map[string]http.Handler{}
	for service, replicas := range targets {
		door := newProxy(replicas, log)
		door.Rewrite = func(r *httputil.ProxyRequest) {
			toReplica(r)
			r.SetXForwarded()
		}
		door.ErrorHandler = func(w http.ResponseWriter, r *http.Request, err error) {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				envelope.Refuse(w, r, problem.TooLarge)
				return
			}
			if r.Context().Err() == nil {
				log.Warn("no answer", "service", service, "error", err.Error())
			}
			envelope.Refuse(w, r, problem.Unavailable)
		}
		doors[service] = door
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service, found := table.Service(r.URL.Path)
		if !found {
			service = routes.Otherwise
		}
		door, found := doors[service]
		if !found {
			envelope.Refuse(w, r, problem.NotFound)
			return
		}
		if r.ContentLength > maxBody {
			envelope.Refuse(w, r, problem.TooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		door.ServeHTTP(w, r)
	})
}

func newProxy(replicas []string, log *slog.Logger) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: toReplica, Transport: newReplicas(replicas), BufferPool: &buffers{},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// toReplica keeps the Host that was asked for. The transport chooses the replica.
func toReplica(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "replica", r.In.Host
}

// buffers pools the buffers through which answers are copied.
type buffers struct{ pool sync.Pool }

// bufferSize is in bytes, like that of ReverseProxy's own buffers.
const bufferSize = 32 << 10

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return *kept
	}
	return make([]byte, bufferSize)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(buffer []byte) { b.pool.Put(&buffer) }

// replicas sends each request to the next replica in turn, and to the one after when no connection can be made. A
// request that a replica may have received is never sent twice.
type replicas struct {
	addresses []string
	turn      atomic.Uint64
	wire      *http.Transport
}

func newReplicas(addresses []string) *replicas {
	return &replicas{addresses: addresses, wire: &http.Transport{
		MaxIdleConnsPerHost: 64,
		DisableCompression:  true, // else it would ask for gzip itself, and unpack what no client asked for
	}}
}

// RoundTrip implements http.RoundTripper.
func (p *replicas) RoundTrip(r *http.Request) (*http.Response, error) {
	first := p.turn.Add(1)
	err := errors.New("the service has no replica")
	for i := range uint64(len(p.addresses)) {
		attempt, at := r.WithContext(r.Context()), *r.URL // the headers are shared, which http.Transport only reads
		attempt.URL = &at
		if r.Body != nil {
			attempt.Body = io.NopCloser(r.Body) // a failed attempt closes its body, which the next one needs
		}
		at.Host = p.addresses[(first+i)%uint64(len(p.addresses))]
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

// headerTimeout bounds how long a caller may take to send a header.
const headerTimeout = 10 * time.Second

// Balancer is the address of all replicas of a service, like a Service of Kubernetes: each question goes to the next
// replica in turn, and to the one after when no connection can be made. If a replica gives no answer, neither does the
// balancer, so the caller decides whether to ask again.
type Balancer struct {
	Address string // host:port

	server *http.Server // nil where there is one replica, which is asked itself
}

// Balance returns a balancer of the replicas that listen at these addresses (host:port), or will.
func Balance(replicas []string) (*Balancer, error) {
	if len(replicas) == 1 {
		return &Balancer{Address: replicas[0]}, nil
	}
	proxy := newProxy(replicas, slog.New(slog.DiscardHandler))
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	return serve(proxy)
}

// Inside returns a front door for programs on this machine, at an address of its own.
func Inside(table routes.Table, targets map[string][]string) (*Balancer, error) {
	return serve(New(table, targets, slog.New(slog.DiscardHandler)))
}

func serve(handler http.Handler) (*Balancer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &Balancer{listener.Addr().String(), &http.Server{Handler: handler, ReadHeaderTimeout: headerTimeout}}
	go b.server.Serve(listener) //nolint:errcheck // it ends when it is closed
	return b, nil
}

// Close ends all connections.
func (b *Balancer) Close() {
	if b.server != nil {
		_ = b.server.Close() // it can fail to close the listener alone, which is of no use any more
	}
}
