package neighbour

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-schools/belfry/pkg/web/room"
)

const (
	// maxAnswer bounds an answer, in bytes. A year of a busy element is well below it.
	maxAnswer = 64 << 20
	// maxHeader bounds the header of an answer, in bytes.
	maxHeader = 16 << 10

	idleConnLifetime = 60 * time.Second
)

// peer is one neighbour's internal address.
type peer struct {
	transport  *Transport
	name, path string
	// Connections to it. One that writes is never kept: a kept one may have ended unnoticed, and what was written on it
	// can't be sent again.
	kept, fresh *fasthttp.HostClient
	labels      sync.Map // labelled → metric.MeasurementOption
}

// labelled is what measurements of a neighbour differ in.
type labelled struct {
	method string
	code   int
}

// answer is the neighbour's.
type answer struct {
	code  int
	text  []byte
	again time.Duration // Retry-After
}

// peer returns the neighbour whose internal listener is at base.
func (t *Transport) peer(name, base string) *peer {
	at, err := url.Parse(base)
	if err != nil {
		at = &url.URL{} // service.Config has refused it; connections to it fail
	}
	tls := at.Scheme == "https"
	host := func() *fasthttp.HostClient {
		return &fasthttp.HostClient{
			Addr: fasthttp.AddMissingPort(at.Host, tls), IsTLS: tls, DialTimeout: dial, MaxConns: math.MaxInt,
			MaxIdleConnDuration: idleConnLifetime, ReadBufferSize: maxHeader,
		}
	}
	p := &peer{transport: t, name: name, path: at.Path, kept: host(), fresh: host()}
	t.peers = append(t.peers, p)
	return p
}

// send sends a request and returns the answer. Where a kept connection turns out to be dead, it sends it again at once:
// with a replica, several die at the same time.
func (p *peer) send(ctx context.Context, request *fasthttp.Request, repeatable bool) (answer, error) {
	ctx, span := p.transport.tracer.Start(ctx, string(request.Header.Method())+" "+string(request.Header.RequestURI()),
		trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	p.transport.propagator.Inject(ctx, carrier{&request.Header})
	begun := time.Now()
	a, kept, err := p.exchange(ctx, request, repeatable)
	for kept && err != nil && ctx.Err() == nil {
		a, kept, err = p.exchange(ctx, request, repeatable)
	}
	if err != nil || a.code >= fasthttp.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	p.transport.duration.Record(ctx, time.Since(begun).Seconds(), p.labelled(string(request.Header.Method()), a.code))
	return a, err
}

// exchange sends a request on one connection. With an error, kept says that the connection had been kept and gave no
// answer. An error after the header of an answer is permanent (backoff.Permanent).
func (p *peer) exchange(ctx context.Context, request *fasthttp.Request, repeatable bool) (a answer, kept bool,
	err error) {
	host := p.kept
	if !repeatable {
		host = p.fresh
	}
	timeout := dialTimeout
	if deadline, bounded := ctx.Deadline(); bounded {
		timeout = min(timeout, time.Until(deadline))
	}
	if timeout <= 0 {
		return a, false, context.DeadlineExceeded
	}
	connection, err := host.AcquireConn(timeout, !repeatable)
	if err != nil {
		return a, false, err
	}
	wire := connection.Conn()
	reader := host.AcquireReader(wire)
	running := context.AfterFunc(ctx, func() { _ = wire.SetDeadline(time.Unix(1, 0)) }) // it ends what waits below
	response := fasthttp.AcquireResponse()
	defer func() {
		clean := err == nil && repeatable && reader.Buffered() == 0 && !response.ConnectionClose()
		host.ReleaseReader(reader)
		fasthttp.ReleaseResponse(response)
		if running() && clean {
			host.ReleaseConn(connection)
			return
		}
		host.CloseConn(connection)
	}()
	if err = write(host, wire, request); err == nil {
		err = response.Header.Read(reader)
	}
	if err != nil {
		return a, !connection.LastUseTime().IsZero(), errors.Join(context.Cause(ctx), err)
	}
	a.code = response.StatusCode()
	if seconds, err := strconv.Atoi(string(response.Header.Peek(fasthttp.HeaderRetryAfter))); err == nil {
		a.again = time.Duration(seconds) * time.Second
	}
	if a.text, err = read(ctx, reader, response); err != nil {
		return a, false, backoff.Permanent(err)
	}
	return a, false, nil
}

func write(host *fasthttp.HostClient, wire net.Conn, request *fasthttp.Request) error {
	writer := host.AcquireWriter(wire)
	defer host.ReleaseWriter(writer)
	if err := request.Write(writer); err != nil {
		return err
	}
	return writer.Flush()
}

// read reads the body of an answer. Where the request makes a large one of it, it takes room for it and for its copy.
func read(ctx context.Context, reader *bufio.Reader, response *fasthttp.Response) ([]byte, error) {
	size := int64(response.Header.ContentLength())
	if size < 0 { // in chunks, or until the connection ends
		err := response.ReadBody(reader, maxAnswer)
		return bytes.Clone(response.Body()), err
	}
	if size > maxAnswer {
		return nil, fasthttp.ErrBodyTooLarge
	}
	if size > room.Small {
		if err := room.Of(ctx).Take(ctx, 2*size); err != nil {
			return nil, err
		}
	}
	text := make([]byte, size)
	_, err := io.ReadFull(reader, text)
	return text, err
}

// labelled returns the labels of a measurement; code 0: there was no answer.
func (p *peer) labelled(method string, code int) metric.MeasurementOption {
	key := labelled{method, code}
	if known, found := p.labels.Load(key); found {
		return known.(metric.MeasurementOption)
	}
	labels := []attribute.KeyValue{attribute.String("http.request.method", method)}
	if host, port, err := net.SplitHostPort(p.kept.Addr); err == nil {
		labels = append(labels, attribute.String("server.address", host))
		if n, err := strconv.Atoi(port); err == nil {
			labels = append(labels, attribute.Int("server.port", n))
		}
	}
	if code == 0 {
		labels = append(labels, attribute.String("error.type", "_OTHER"))
	} else {
		labels = append(labels, attribute.Int("http.response.status_code", code))
	}
	made := metric.WithAttributeSet(attribute.NewSet(labels...))
	p.labels.Store(key, made)
	return made
}

// carrier writes trace context into the headers of a request.
type carrier struct{ header *fasthttp.RequestHeader }

func (c carrier) Get(name string) string { return string(c.header.Peek(name)) }
func (c carrier) Set(name, value string) { c.header.Set(name, value) }
func (c carrier) Keys() []string         { return nil }
