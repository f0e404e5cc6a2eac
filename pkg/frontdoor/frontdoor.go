// Package frontdoor is the reverse proxy of a run without a cluster, for the local run and for tests. It sends each
// public path to the service in the route table, and unknown paths to routes.Otherwise, as an Ingress does, and to
// another replica when one cannot be reached.
package frontdoor

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web/envelope"
)

const (
	// maxBody is larger than the limit of any service, so that the service answers when a body is too large. A body is
	// read up to maxRead: where it ends there, its client sees 413, and not a connection that is reset.
	maxBody = 4<<20 + 1<<10
	maxRead = 16 << 20
	// maxHeader is larger than the limit of any service, too.
	maxHeader = 64 << 10

	readTimeout = time.Minute // of a request
	idleTimeout = time.Hour   // a client that is silent for so long is gone
)

// New returns the front door. targets has the addresses (host:port) of the replicas of each service in the table.
func New(table routes.Table, targets map[string][]string, log *slog.Logger) *fasthttp.Server {
	doors := map[string]*proxy{}
	for service, replicas := range targets {
		doors[service] = newProxy(replicas)
	}
	return newServer(func(ctx *fasthttp.RequestCtx) {
		service, found := table.Service(string(ctx.Path()))
		if !found {
			service = routes.Otherwise
		}
		door, found := doors[service]
		switch {
		case !found:
			refuse(ctx, problem.NotFound)
			return
		case len(ctx.Request.Body()) > maxBody:
			refuse(ctx, problem.TooLarge)
			return
		}
		header := &ctx.Request.Header
		clean(header)
		header.Set("X-Forwarded-For", ctx.RemoteIP().String())
		header.SetBytesV("X-Forwarded-Host", header.Host())
		header.Set("X-Forwarded-Proto", "http")
		if err := door.forward(ctx); err != nil {
			log.Warn("no answer", "service", service, "error", err.Error())
			refuse(ctx, problem.Unavailable)
		}
	})
}

func newServer(handler fasthttp.RequestHandler) *fasthttp.Server {
	return &fasthttp.Server{
		Handler:            handler,
		ErrorHandler:       refuseUnread,
		MaxRequestBodySize: maxRead, ReadBufferSize: maxHeader, ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
		// What is passed on stays as it came.
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true, NoDefaultDate: true, NoDefaultContentType: true,
		CloseOnShutdown: true,
		Logger:          silent{},
	}
}

// silent drops what fasthttp has to say about clients that have gone.
type silent struct{}

func (silent) Printf(string, ...any) {}

// refuseUnread answers a request that could not be read. It ends the connection.
func refuseUnread(ctx *fasthttp.RequestCtx, err error) {
	kind := problem.Malformed
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		kind = problem.TooLarge
	}
	refuse(ctx, kind)
}

// refuse answers a request in a service's stead.
func refuse(ctx *fasthttp.RequestCtx, kind problem.Kind) {
	ctx.Response.Reset()
	header := &ctx.Response.Header
	header.Set(envelope.HeaderRequestID,
		envelope.RequestID(string(ctx.Request.Header.Peek(envelope.HeaderRequestID))))
	for _, h := range envelope.Security {
		header.Set(h[0], h[1])
	}
	ctx.SetContentType(envelope.ContentType)
	ctx.SetStatusCode(kind.Code())
	_, _ = fmt.Fprintf(ctx, `{"status":%q}`, kind.Status()) // writes into memory
}
