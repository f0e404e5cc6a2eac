// Package neighbour sends the questions of one service to another. Each Question has a client of its owner, which
// sends it; the owner answers it with web.Serve. It is a POST below /internal/ on the owner's second port, with a
// shared token. A question is about many records at once. When the neighbour is away, the client returns an
// Unavailable problem within the request's deadline. When it refuses, the client returns the neighbour's problem.
package neighbour

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/segmentio/encoding/json"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/service/settings"
)

// scope names this package in spans and metrics.
const scope = "github.com/belfry-schools/belfry/pkg/neighbour"

// DryRunMethod asks for a dry run of a question that writes. A service of a release that has none refuses it; a header
// it would ignore, and write.
const DryRunMethod = fasthttp.MethodPut

// Options of NewTransport.
type Options struct {
	Token      settings.Secret
	Tracer     trace.TracerProvider
	Meter      metric.MeterProvider
	Propagator propagation.TextMapPropagator
	Memory     *directory.Memory // of what neighbours answered about the directory; nil: they are always asked
}

// Transport carries the calls to all neighbours of a process. It is safe for concurrent use.
type Transport struct {
	bearer     string // a secret
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	duration   metric.Float64Histogram
	memory     *directory.Memory
	peers      []*peer
}

// NewTransport returns a transport that keeps its connections and passes the trace on.
func NewTransport(o Options) (*Transport, error) {
	duration, err := o.Meter.Meter(scope).Float64Histogram("http.client.request.duration",
		metric.WithUnit("s"), metric.WithDescription("Duration of HTTP client requests."),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10))
	if err != nil {
		return nil, fmt.Errorf("make the histogram of questions: %w", err)
	}
	return &Transport{
		bearer: "Bearer " + o.Token.Reveal(), tracer: o.Tracer.Tracer(scope), propagator: o.Propagator,
		duration: duration, memory: o.Memory,
	}, nil
}

// Close ends the idle connections.
func (t *Transport) Close() {
	for _, p := range t.peers {
		p.kept.CloseIdleConnections()
	}
}

// A question that writes nothing is sent up to readTries times until there is an answer, with a pause of about
// readPause that doubles each time. While a replica is replaced, one or two more connections may still be routed to the
// old one.
const (
	readTries = 4
	readPause = 50 * time.Millisecond
)

// longest bounds a question of background work, which has no deadline.
const longest = 15 * time.Second

func ask[Q, A any](ctx context.Context, p *peer, question Question[Q, A], q Q) (none A, err error) {
	if question.Nothing != nil && question.Nothing(q) {
		return none, nil
	}
	// Without json.EscapeHTML: with it each < takes six bytes, and a body could exceed the neighbour's limit.
	body, err := json.Append(nil, q, 0)
	if err != nil {
		return none, fmt.Errorf("encode a question to %s: %w", p.name, err)
	}
	text, err := p.call(ctx, question.Path, body, !question.Writes)
	if err != nil {
		return none, err
	}
	answer, err := question.decode(text)
	if err != nil {
		return none, fmt.Errorf("decode the answer of %s: %w", p.name, err)
	}
	return answer, nil
}

// call returns the body of the answer. A repeatable call is sent again, within the request's deadline, when there is
// no answer.
func (p *peer) call(ctx context.Context, path string, body []byte, repeatable bool) ([]byte, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, longest)
		defer cancel()
	}
	request := fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(request)
	request.Header.SetMethod(fasthttp.MethodPost)
	request.Header.SetRequestURI(p.path + path)
	request.Header.SetHost(p.kept.Addr)
	request.Header.SetContentType("application/json")
	request.Header.Set(fasthttp.HeaderAuthorization, p.transport.bearer)
	if actor := audit.ActorOf(ctx).HeaderValue(); actor != "" {
		request.Header.Set(audit.Header, actor)
	}
	tries := uint(1)
	if repeatable {
		tries = readTries
		if seen := directory.Seen(ctx); seen != "" {
			request.Header.Set(directory.Header, seen)
		}
	} else {
		directory.Wrote(ctx)
		if record.IsDryRun(ctx) {
			request.Header.SetMethod(DryRunMethod)
		}
	}
	request.SetBodyRaw(body)
	answer, err := backoff.Retry(ctx,
		func() (answer, error) { return p.send(ctx, request, repeatable) },
		backoff.WithMaxTries(tries), backoff.WithBackOff(&backoff.ExponentialBackOff{InitialInterval: readPause,
			RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: readTries * readPause}))
	if full, ok := errors.AsType[*problem.Error](err); ok { // no room
		return nil, full
	}
	if err != nil {
		return nil, problem.Wrap(problem.Unavailable, err, "%s is away", p.name)
	}
	if answer.code != fasthttp.StatusOK {
		return nil, raised(p.name, answer)
	}
	return answer.text, nil
}

// raised returns the problem that a neighbour answered with. When the neighbour refused the token or had a fault, it
// is a fault here; when the neighbour's own stores are away, or a proxy before it finds it away, it is Unavailable.
func raised(name string, a answer) error {
	var envelope struct {
		Message string
		Record  string
		ID      string
		Errors  problem.Fields
	}
	if err := json.Unmarshal(a.text, &envelope); err != nil {
		err = fmt.Errorf("%s answered %d without an envelope", name, a.code)
		switch a.code {
		case fasthttp.StatusBadGateway, fasthttp.StatusServiceUnavailable, fasthttp.StatusGatewayTimeout:
			return problem.Wrap(problem.Unavailable, err, "%s is away", name)
		}
		return err
	}
	kind := problem.OfCode(a.code)
	switch kind {
	case problem.Unavailable:
		envelope.Message = name + " is away"
	case problem.Internal, problem.AccessDenied:
		return fmt.Errorf("%s answered %d: %s", name, a.code, envelope.Message)
	}
	p := problem.New(kind, "%s", envelope.Message)
	p.Record, p.ID, p.Fields, p.RetryAfter = envelope.Record, envelope.ID, envelope.Errors, a.again
	return p
}
