package web

import (
	"fmt"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// scope names this package in spans and metrics.
const scope = "github.com/belfry-schools/belfry/pkg/web"

// observe makes the middleware that gives each request a server span and counts it, by the HTTP semantic conventions.
// Paths and queries stay out of both: login carries its secret in the query. (contrib's otelfiber writes the query
// and is frozen.)
func observe(o Options) (fiber.Handler, error) {
	tracer := o.Tracer.Tracer(scope)
	duration, err := o.Meter.Meter(scope).Float64Histogram("http.server.request.duration",
		metric.WithUnit("s"), metric.WithDescription("Duration of HTTP server requests."),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10))
	if err != nil {
		return nil, fmt.Errorf("make the request histogram: %w", err)
	}
	all := labels{listener: o.Name}
	return func(c *fiber.Ctx) error {
		begun := time.Now()
		method := c.Method()
		outer := c.UserContext()
		if o.believesTrace(c) {
			outer = o.Propagator.Extract(outer, carrier{c})
		}
		ctx, span := tracer.Start(outer, method, trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(attribute.String("http.request.method", method),
				attribute.String("belfry.listener", o.Name)))
		defer span.End()
		c.SetUserContext(ctx)
		err := c.Next()
		code := c.Response().StatusCode()
		route := matchedRoute(c)
		if span.IsRecording() {
			span.SetName(method + " " + route)
			span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", code))
		}
		if code >= fiber.StatusInternalServerError {
			span.SetStatus(codes.Error, problem.OfCode(code).Status())
		}
		duration.Record(ctx, time.Since(begun).Seconds(), all.of(method, route, code))
		c.SetUserContext(ctx) // the access log wants the span, whose context limitTime has ended by now
		return err
	}, nil
}

// labels are those of a listener's measurements.
type labels struct {
	listener string
	known    sync.Map // labelled → metric.MeasurementOption
}

type labelled struct {
	method, route string
	code          int
}

// of makes labels once: fiber knows few methods, and a route is a template.
func (l *labels) of(method, route string, code int) metric.MeasurementOption {
	key := labelled{method, route, code}
	if known, found := l.known.Load(key); found {
		return known.(metric.MeasurementOption)
	}
	made := metric.WithAttributeSet(attribute.NewSet(attribute.String("http.route", route),
		attribute.Int("http.response.status_code", code), attribute.String("http.request.method", method),
		attribute.String("belfry.listener", l.listener)))
	l.known.Store(key, made)
	return made
}

// believesTrace says whether the request's trace context is taken over: that of a trusted proxy, or of another service.
// Other clients could choose the ids by which a request's logs are found, and have every request sampled, or none.
func (o Options) believesTrace(c *fiber.Ctx) bool {
	return isTrusted(peerAddress(c), o.TrustedProxies) || o.isNeighbour(c)
}

// carrier reads trace context from the request's headers.
type carrier struct{ c *fiber.Ctx }

var _ propagation.TextMapCarrier = carrier{}

func (h carrier) Get(name string) string { return h.c.Get(name) }
func (h carrier) Set(string, string)     {}
func (h carrier) Keys() []string         { return nil }
