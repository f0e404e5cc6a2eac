package web

import (
	"fmt"
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
		span.SetName(method + " " + route)
		labels := []attribute.KeyValue{
			attribute.String("http.route", route),
			attribute.Int("http.response.status_code", code),
		}
		span.SetAttributes(labels...)
		if code >= fiber.StatusInternalServerError {
			span.SetStatus(codes.Error, problem.OfCode(code).Status())
		}
		duration.Record(ctx, time.Since(begun).Seconds(),
			metric.WithAttributes(append(labels, attribute.String("http.request.method", method),
				attribute.String("belfry.listener", o.Name))...))
		c.SetUserContext(ctx) // the access log wants the span, whose context limitTime has ended by now
		return err
	}, nil
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
