// Package neighbour sends the questions of one service to another. Each Question has a client of its owner, which
// sends it; the owner answers it with web.Serve. It is a POST below /internal/ on the owner's second port, with a
// shared token. A question is about many records at once. When the neighbour is away, the client returns an
// Unavailable problem within the request's deadline. When it refuses, the client returns the neighbour's problem.
package neighbour

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/web/room"
)

const (
	// maxAnswer bounds an answer, in bytes. A year of a busy element is well below it.
	maxAnswer = 64 << 20

	// DryRunMethod asks for a dry run of a question that writes. A service of a release that has none refuses it; a
	// header it would ignore, and write.
	DryRunMethod = http.MethodPut

	idleConnections  = 64
	idleConnLifetime = 60 * time.Second
)

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
	client *http.Client
	token  settings.Secret
	memory *directory.Memory
}

// NewTransport returns a transport that keeps its connections and passes the trace on.
func NewTransport(o Options) *Transport {
	wire := &http.Transport{
		DialContext:         newDialer().DialContext,
		MaxIdleConnsPerHost: idleConnections,
		IdleConnTimeout:     idleConnLifetime,
		DisableCompression:  true, // services are near to each other
	}
	return &Transport{
		client: &http.Client{Transport: otelhttp.NewTransport(wire,
			otelhttp.WithTracerProvider(o.Tracer), otelhttp.WithMeterProvider(o.Meter),
			otelhttp.WithPropagators(o.Propagator),
			otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
				return r.Method + " " + r.URL.Path
			}))},
		token: o.Token, memory: o.Memory,
	}
}

// Close ends the idle connections.
func (t *Transport) Close() { t.client.CloseIdleConnections() }

// peer is one neighbour's internal address.
type peer struct {
	transport *Transport
	base      string
	name      string
}

// A question that writes nothing is sent up to readTries times until there is an answer, with a pause of about
// readPause that doubles each time. While a replica is replaced, one or two more connections may still be routed to the
// old one.
const (
	readTries = 4
	readPause = 50 * time.Millisecond
)

func ask[Q, A any](ctx context.Context, p peer, question Question[Q, A], q Q) (none A, err error) {
	if question.Nothing != nil && question.Nothing(q) {
		return none, nil
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // else each < takes six bytes, and a body could exceed the neighbour's limit
	if err := encoder.Encode(q); err != nil {
		return none, fmt.Errorf("encode a question to %s: %w", p.name, err)
	}
	text, err := p.call(ctx, question.Path, body.Bytes(), !question.Writes)
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
func (p peer) call(ctx context.Context, path string, body []byte, repeatable bool) ([]byte, error) {
	tries := uint(1)
	if repeatable {
		tries = readTries
	}
	answer, err := backoff.Retry(ctx,
		func() (*http.Response, error) { return p.send(ctx, path, body, repeatable) },
		backoff.WithMaxTries(tries), backoff.WithBackOff(&backoff.ExponentialBackOff{InitialInterval: readPause,
			RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: readTries * readPause}))
	if err != nil {
		return nil, problem.Wrap(problem.Unavailable, err, "%s is away", p.name)
	}
	defer func() { _ = answer.Body.Close() }() // nothing is lost by a failed close of what was read
	text, err := p.read(ctx, answer)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, raised(p.name, answer.StatusCode, text)
	}
	return text, nil
}

// read reads the body of an answer. Where the request makes a large one of it, it takes room for it and for its copy.
func (p peer) read(ctx context.Context, answer *http.Response) (text []byte, err error) {
	if size := answer.ContentLength; size >= 0 && size <= maxAnswer {
		if size > room.Small {
			if err := room.Of(ctx).Take(ctx, 2*size); err != nil {
				return nil, err
			}
		}
		text = make([]byte, size)
		_, err = io.ReadFull(answer.Body, text)
	} else {
		text, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	}
	if err != nil {
		return nil, problem.Wrap(problem.Unavailable, err, "%s is away", p.name)
	}
	return text, nil
}

func (p peer) send(ctx context.Context, path string, body []byte, repeatable bool) (*http.Response, error) {
	method := http.MethodPost
	if record.IsDryRun(ctx) && !repeatable {
		method = DryRunMethod
	}
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if repeatable {
		// The header is never sent. With it, net/http tries another connection when one that it kept turns out dead;
		// with a replica, several die at once.
		request.Header["Idempotency-Key"] = nil
	}
	if repeatable {
		if seen := directory.Seen(ctx); seen != "" {
			request.Header.Set(directory.Header, seen)
		}
	} else {
		directory.Wrote(ctx)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+p.transport.token.Reveal())
	if actor := audit.ActorOf(ctx).HeaderValue(); actor != "" {
		request.Header.Set(audit.Header, actor)
	}
	return p.transport.client.Do(request)
}

// raised returns the problem that a neighbour answered with. When the neighbour refused the token or had a fault, it
// is a fault here; when the neighbour's own stores are away, it is Unavailable.
func raised(name string, code int, text []byte) error {
	var envelope struct {
		Message string
		Record  string
		ID      string
		Errors  problem.Fields
	}
	if err := json.Unmarshal(text, &envelope); err != nil {
		return fmt.Errorf("%s answered %d without an envelope", name, code)
	}
	kind := problem.OfCode(code)
	switch kind {
	case problem.Unavailable:
		return problem.New(kind, "%s is away", name)
	case problem.Internal, problem.AccessDenied:
		return fmt.Errorf("%s answered %d: %s", name, code, envelope.Message)
	}
	p := problem.New(kind, "%s", envelope.Message)
	p.Record, p.ID, p.Fields = envelope.Record, envelope.ID, envelope.Errors
	return p
}
