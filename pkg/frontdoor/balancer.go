package frontdoor

import (
	"context"
	"log/slog"
	"net"

	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
)

// Balancer is where the other services reach all replicas of one, as a Service of Kubernetes is: each question goes to
// the next replica in turn, and to the one after when no connection can be made. Where a replica gives no answer, the
// connection of the question ends without one too, so the caller decides whether to ask again.
type Balancer struct {
	Address string // host:port

	server   *fasthttp.Server // nil where there is one replica, which is asked itself
	listener net.Listener
}

// Balance returns a balancer of the replicas that listen at these addresses (host:port), or will.
func Balance(replicas []string) (*Balancer, error) {
	if len(replicas) == 1 {
		return &Balancer{Address: replicas[0]}, nil
	}
	proxy := newProxy(replicas)
	return serve(newServer(func(ctx *fasthttp.RequestCtx) {
		if proxy.forward(ctx) != nil {
			ctx.HijackSetNoResponse(true)
			ctx.Hijack(func(net.Conn) {}) // which ends the connection
		}
	}))
}

// Inside returns a front door for programs on this machine, at an address of its own.
func Inside(table routes.Table, targets map[string][]string) (*Balancer, error) {
	return serve(New(table, targets, slog.New(slog.DiscardHandler)))
}

func serve(server *fasthttp.Server) (*Balancer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go server.Serve(listener) //nolint:errcheck // it ends when it is closed
	return &Balancer{listener.Addr().String(), server, listener}, nil
}

// Close takes no more connections, and ends those without a request.
func (b *Balancer) Close() {
	if b.server == nil {
		return
	}
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = b.listener.Close() // the server has none yet where it has just begun
	_ = b.server.ShutdownWithContext(now)
}
