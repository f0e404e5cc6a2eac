package web

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/web/envelope"
)

const (
	// maxRefusals is how many connections above the bounds are answered 503 at a time; others are closed.
	maxRefusals = 64

	// A connection that is closed while its client may still be sending is read for this long, so that the client sees
	// the answer and not a reset.
	lingerTime  = 3 * time.Second
	lingerBytes = 2 * maxBatch
)

// full is the answer to a connection above the bounds.
const full = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: " + envelope.ContentType +
	"\r\nRetry-After: 1\r\nContent-Length: 32\r\nConnection: close\r\n\r\n" + `{"status":"Service unavailable"}`

// listener accepts connections as far as the bounds allow, and remembers those that are not used yet.
type listener struct {
	net.Listener
	app      *App
	refusals chan struct{} // one for each refusal under way
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.app.admit(accepted); c != nil {
			return c, nil
		}
		select {
		case l.refusals <- struct{}{}:
			go l.refuse(accepted)
		default:
			_ = accepted.Close()
		}
	}
}

// refuse answers a connection above the bounds.
func (l *listener) refuse(accepted net.Conn) {
	defer func() { <-l.refusals }()
	_ = accepted.SetWriteDeadline(time.Now().Add(lingerTime))
	if _, err := io.WriteString(accepted, full); err == nil {
		lingerOn(accepted)
	}
	_ = accepted.Close()
}

// admit returns nil when there are too many connections.
func (a *App) admit(accepted net.Conn) *connection {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open >= maxConnections || !a.bounds.connect() {
		return nil
	}
	a.open++
	c := &connection{Conn: accepted, app: a}
	a.unused[c] = struct{}{}
	return c
}

func (a *App) used(c *connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.unused, c)
}

func (a *App) closed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
	a.bounds.connections.Add(-1)
}

// connection checks the framing of what it reads, and lingers when it is closed too early for its client. The server
// reads it from one goroutine at a time.
type connection struct {
	net.Conn
	app     *App
	first   sync.Once
	begun   bool // something came
	last    sync.Once
	framing framing
	fault   error // of the framing
	lingers atomic.Bool
}

// Read implements net.Conn. It returns the bytes before a fault of the framing, and then the fault. The server never
// sees the byte at fault: without it the request is incomplete. The end of the connection inside a body is a fault too.
// An idle connection that times out ends as if its client had closed it, without an answer, which the client could take
// for the answer to a request that it is just sending.
func (c *connection) Read(p []byte) (int, error) {
	if c.fault != nil {
		return 0, c.fault
	}
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.begun = true
		c.first.Do(func() { c.app.used(c) })
	}
	if !c.begun && errors.Is(err, os.ErrDeadlineExceeded) {
		return 0, io.EOF
	}
	n, c.fault = c.framing.check(p[:n])
	if c.fault == nil && errors.Is(err, io.EOF) && c.framing.midBody() {
		c.fault = io.ErrUnexpectedEOF
	}
	if c.fault == nil {
		return n, err
	}
	if c.framing.quiet() && n < len(p) {
		p[n] = '?' // with it the request is at fault for fasthttp as well
		n++
	}
	if n == 0 {
		return 0, c.fault
	}
	return n, nil
}

func (c *connection) Close() error {
	c.first.Do(func() { c.app.used(c) })
	if c.lingers.CompareAndSwap(true, false) {
		lingerOn(c.Conn)
	}
	err := c.Conn.Close()
	c.last.Do(c.app.closed)
	return err
}

// lingerOn ends the writing side, and reads on until the client has ended its own or lingerTime is over.
func lingerOn(c net.Conn) {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || c.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c, lingerBytes)
}

// linger makes the request's connection linger when it is closed.
func linger(ctx *fasthttp.RequestCtx) {
	if c, ok := ctx.Conn().(*connection); ok {
		c.lingers.Store(true)
	}
}

// faultOf returns the fault of the framing on the request's connection.
func faultOf(ctx *fasthttp.RequestCtx) error {
	if c, ok := ctx.Conn().(*connection); ok {
		return c.fault
	}
	return nil
}
