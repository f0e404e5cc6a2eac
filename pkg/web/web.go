// Package web makes every service's public and internal HTTP listener, by New from a table of routes. So limits, the
// order of the middleware, sessions, and the envelope of every answer (decisions, part 1) are the same everywhere,
// including for unknown paths, wrong methods, bad JSON, oversized bodies and panics.
package web

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/web/envelope"
	"github.com/belfry-schools/belfry/pkg/web/sealed"
)

const (
	// maxBody bounds a request body unless its route says otherwise. maxBatch bounds Route.MaxBody.
	maxBody  = 1 << 20
	maxBatch = 4 << 20
	// maxHeader bounds the request line and headers together.
	maxHeader = 16 << 10

	readTimeout  = 15 * time.Second
	writeTimeout = 30 * time.Second
	idleTimeout  = 75 * time.Second

	// otherMethod stands for each method that fiber does not know, as in the HTTP semantic conventions.
	otherMethod = "_OTHER"
)

// Options of New. All fields are needed unless they say otherwise.
type Options struct {
	Name       string // of the listener, in spans: "identity", "identity internal"
	Log        *slog.Logger
	Tracer     trace.TracerProvider
	Meter      metric.MeterProvider
	Propagator propagation.TextMapPropagator

	Sessions Sessions        // not needed by a listener without routes for those signed in
	Cookies  Cookies         // likewise
	Token    settings.Secret // shared by the services; needed for routes for neighbours, and seals cursors and versions
	Answers  *answers.Store  // needed for repeatable routes
	Bounds   *Bounds         // one for all listeners of a process; nil: this one has its own

	// Timeout is the deadline of a request's context. In a handler that overruns it, the stores fail, and it
	// answers 503.
	Timeout time.Duration
	// TrustedProxies are the networks whose X-Forwarded-For is believed; none by default.
	TrustedProxies []netip.Prefix
	// AllowedOrigins are origins (https://host) besides the listener's own whose pages may make browsers change things.
	AllowedOrigins []string
	// Classify turns errors of the stores into problems; it returns nil for those it does not know. It may be nil.
	Classify func(error) *problem.Error

	places   sealed.Box  // for cursors
	versions *sealed.Box // for entity tags
}

// New makes a listener's application from its routes. The middleware runs in this order: request id, access log, trace,
// answers for errors and panics, deadline, security headers, check of the origin; then, by the route: session or token,
// body, Idempotency-Key, handler. So no body is read for a client that may not call the route.
func New(o Options, routes []Route) (*App, error) {
	o.AllowedOrigins = o.allowed()
	o.places = sealed.New(o.Token.Reveal(), "places in lists")
	o.versions = new(sealed.New(o.Token.Reveal(), "versions of records"))
	if o.Bounds == nil {
		o.Bounds = NewBounds()
	}
	app := fiber.New(fiber.Config{
		AppName:               o.Name,
		StreamRequestBody:     true,
		BodyLimit:             1, // as a stream, only this much is read before the route has checked who calls
		ReadBufferSize:        maxHeader,
		RequestMethods:        append(slices.Clone(fiber.DefaultMethods), otherMethod),
		ReadTimeout:           readTimeout,
		WriteTimeout:          writeTimeout,
		IdleTimeout:           idleTimeout,
		CaseSensitive:         true,
		StrictRouting:         true,
		Immutable:             true, // strings of a request stay valid after it
		DisableStartupMessage: true,
		// Otherwise fasthttp reads forms by itself, into memory and files, before any check.
		DisablePreParseMultipartForm: true,
		ErrorHandler:                 answerError(o), // for what fasthttp refuses before any middleware runs
	})
	observed, err := observe(o)
	if err != nil {
		return nil, err
	}
	app.Use(identifyRequest, logAccess(o), observed, answerErrors(o), limitTime(o.Timeout), secureHeaders(o),
		refuseElsewhere(o))
	in := newIntake(o.Bounds)
	for _, r := range routes {
		register(app, o, in, r)
	}
	guard(app.Server(), app.Config().RequestMethods)
	return &App{App: app, bounds: o.Bounds, unused: map[*connection]struct{}{}}, nil
}

// guard does what fiber has no hooks for: it removes .json from a path before the route is chosen, gives unknown
// methods the name that fiber knows, and handles the rest of a request after the answer.
func guard(server *fasthttp.Server, methods []string) {
	handle, fail := server.Handler, server.ErrorHandler
	server.Handler = func(ctx *fasthttp.RequestCtx) {
		defer finishBody(ctx)
		if path := ctx.URI().PathOriginal(); bytes.HasSuffix(path, []byte(suffix)) {
			ctx.URI().SetPath(WithoutSuffix(string(path)))
		}
		if !slices.Contains(methods, string(ctx.Method())) {
			ctx.Request.Header.SetMethod(otherMethod)
		}
		handle(ctx)
	}
	server.ErrorHandler = func(ctx *fasthttp.RequestCtx, err error) { // it ends the connection
		if errors.Is(faultOf(ctx), errDeclared) {
			err = fasthttp.ErrBodyTooLarge
		}
		fail(ctx, err)
		linger(ctx)
	}
}

// refuse writes the envelope of a refusal in place of any other answer.
func refuse(ctx *fasthttp.RequestCtx, kind problem.Kind) {
	ctx.Response.Reset()
	ctx.SetStatusCode(kind.Code())
	ctx.SetContentType(envelope.ContentType)
	_, _ = fmt.Fprintf(ctx, `{"status":%q}`, kind.Status()) // writes into memory
}
