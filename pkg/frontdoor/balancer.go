package frontdoor

import (
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
)

// headerTimeout bounds how long a caller may take to send a header.
const headerTimeout = 10 * time.Second

// Balancer is where the other services reach all replicas of one, as a Service of Kubernetes is: each question goes to
// the next replica in turn, and to the one after when no connection can be made. Where a replica gives no answer, the
// connection of the question ends without one too, so the caller decides whether to ask again.
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
