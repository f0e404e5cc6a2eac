package web_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// endless is a source that always has something to tell.
type endless struct {
	text   string
	closed chan struct{}
	reads  atomic.Int64
}

func (*endless) Wait(context.Context) {}
func (e *endless) Read(context.Context, principal.Principal) ([]byte, error) {
	e.reads.Add(1)
	return []byte(e.text), nil
}
func (*endless) Beat() []byte { return []byte(":\n\n") }
func (e *endless) Close()     { close(e.closed) }

// silent is one that never has.
type silent struct{ endless }

func (*silent) Wait(ctx context.Context) { <-ctx.Done() }
func (*silent) Read(context.Context, principal.Principal) ([]byte, error) {
	return []byte("data: x\n\n"), nil
}

// streaming serves a stream at /, and returns its address and how many are open.
func streaming(t *testing.T, s sessions, source func() web.Source) (string, *web.Bounds) {
	t.Helper()
	bounds := web.NewBounds()
	return serveOptions(t, web.Options{Sessions: s, Timeout: 50 * time.Millisecond, Bounds: bounds}, web.Route{
		Method: http.MethodGet, Path: "/", Access: web.SignedIn, Streams: web.StreamBounds{All: 3, Each: 2},
		Handler: func(c *fiber.Ctx) error { return web.Stream(c, source()) },
	}), bounds
}

// follow opens a stream and returns its lines.
func follow(t *testing.T, base string) (*bufio.Scanner, *http.Response) {
	t.Helper()
	answer := send(t, http.MethodGet, base, "", "Cookie", cookie)
	return bufio.NewScanner(answer.Body), answer
}

// awaitStreams waits until that many are open.
func awaitStreams(t *testing.T, bounds *web.Bounds, want int) {
	t.Helper()
	what := fmt.Sprintf("%d open streams", want)
	timetest.Eventually(t, what, time.Minute, func() bool { return bounds.Streams() == want })
}

func TestClients_StreamsHaveBoundsAndEndWithTheirClients(t *testing.T) {
	t.Parallel()
	var who atomic.Int64
	who.Store(1)
	s := sessions(func() (session.Record, error) {
		return session.Record{User: session.Subject{UserID: who.Load(), Kind: principal.Staff,
			Permissions: principal.All(), Active: true}}, nil
	})
	base, bounds := streaming(t, s, func() web.Source { return &silent{endless{closed: make(chan struct{})}} })
	var open []*http.Response
	begin := func() {
		t.Helper()
		lines, answer := follow(t, base)
		if !lines.Scan() || lines.Text() != "data: x" || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%q, %v", lines.Text(), answer.Header)
		}
		open = append(open, answer)
	}
	refused := func(what string, want int) {
		t.Helper()
		code, _, header := ask(t, "GET", base, "", "Cookie", cookie)
		if code != want || want == 429 && header.Get("Retry-After") == "" {
			t.Errorf("%s: %d, %v", what, code, header)
		}
	}
	begin()
	begin()
	refused("a third one of one user", 429)
	who.Store(2)
	begin()
	who.Store(3)
	refused("a fourth one in all", 503)
	valuetest.Same(t, bounds.Streams(), 3, "open streams")
	for _, answer := range open {
		_ = answer.Body.Close()
	}
	awaitStreams(t, bounds, 0) // a heartbeat finds out
	code, _, _ := ask(t, "HEAD", base, "", "Cookie", cookie)
	valuetest.Same(t, code, 200, "HEAD")
	awaitStreams(t, bounds, 0)
}

// toTheEnd reads the rest of a stream, which must end without an error.
func toTheEnd(t *testing.T, lines *bufio.Scanner) {
	t.Helper()
	for lines.Scan() { // to the end
	}
	errortest.Report(t, lines.Err())
}

// stoppable serves a route until stop, which waits for what is on its way, and fails the test after ten seconds.
func stoppable(t *testing.T, route web.Route) (base string, bounds *web.Bounds, stop func()) {
	t.Helper()
	bounds = web.NewBounds()
	app, err := web.New(web.Options{
		Name: "test", Log: slog.New(slog.DiscardHandler), Timeout: 5 * time.Second, Bounds: bounds,
		Tracer: tracenoop.NewTracerProvider(), Meter: metricnoop.NewMeterProvider(),
		Propagator: propagation.TraceContext{}, Sessions: user(principal.All()),
	}, []web.Route{route})
	errortest.None(t, err)
	return "http://" + servicetest.Listen(t, app), bounds, func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		errortest.Report(t, app.ShutdownWithContext(ctx))
	}
}

// A process that stops ends its streams, whole, and begins none.
func TestClients_StreamsEndWhenTheProcessStops(t *testing.T) {
	closed := make(chan struct{})
	base, bounds, stop := stoppable(t, web.Route{
		Method: http.MethodGet, Path: "/", Access: web.SignedIn, Streams: web.StreamBounds{All: 3, Each: 2},
		Handler: func(c *fiber.Ctx) error { return web.Stream(c, &silent{endless{closed: closed}}) },
	})
	lines, _ := follow(t, base)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	stop()
	toTheEnd(t, lines)
	<-closed
	awaitStreams(t, bounds, 0)
}

// A client that takes nothing loses its connection. Nothing is read for it but what the kernel takes for the wire.
func TestClients_AStreamThatNobodyReadsEnds(t *testing.T) {
	t.Parallel()
	e := &endless{text: "data: " + strings.Repeat("x", 1<<16) + "\n\n", closed: make(chan struct{})}
	base, bounds := streaming(t, user(principal.All()), func() web.Source { return e })
	c := dial(t, base)
	errortest.None(t, errortest.Of(c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\nCookie: "+cookie+"\r\n\r\n"))))
	select {
	case <-e.closed:
	case <-time.After(time.Minute):
		t.Fatal("it is still open")
	}
	awaitStreams(t, bounds, 0)
	const most = 32 << 20
	if read := int(e.reads.Load()) * len(e.text); read > most {
		t.Errorf("%d bytes were read for it", read)
	}
}

func TestClients_AStreamEndsWithItsSession(t *testing.T) {
	var ended atomic.Bool
	s := sessions(func() (session.Record, error) {
		if ended.Load() {
			return session.Record{}, session.ErrNone
		}
		return user(principal.All())()
	})
	e := &endless{text: "data: x\n\n", closed: make(chan struct{})}
	base, _ := streaming(t, s, func() web.Source { return e })
	lines, _ := follow(t, base)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	ended.Store(true)
	toTheEnd(t, lines)
	<-e.closed
}

// Each event of a stream is use of its session, which ends at its greatest age all the same, and the stream with it.
func TestClients_AStreamMakesNoSessionOlder(t *testing.T) {
	client, prefix := storetest.Redis(t)
	store := session.NewStore(client, session.Options{Prefix: prefix, Idle: time.Hour, Absolute: 2 * time.Second})
	record, err := user(principal.All())()
	errortest.None(t, err)
	begun := time.Now()
	token, err := store.Create(t.Context(), record, session.Token{})
	errortest.None(t, err)
	e := &endless{text: "data: x\n\n", closed: make(chan struct{})}
	s := sessions(func() (session.Record, error) { return store.Load(t.Context(), token) })
	base, _ := streaming(t, s, func() web.Source { return e })
	lines, _ := follow(t, base)
	toTheEnd(t, lines)
	<-e.closed
	// Redis counts whole milliseconds.
	if took := time.Since(begun); took < 1990*time.Millisecond || e.reads.Load() < 2 {
		t.Errorf("it ended after %v and %d events: before its session", took, e.reads.Load())
	}
}
