package web

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
)

// unusedPatience is how long a connection that has not carried a request yet may hold up a shutdown: clients open
// some in reserve.
const unusedPatience = 500 * time.Millisecond

// App is the application of one listener.
type App struct {
	*fiber.App
	mu     sync.Mutex
	unused map[*connection]struct{}
}

// Listener serves the connections that l accepts, until a shutdown.
func (a *App) Listener(l net.Listener) error { return a.App.Listener(&listener{l, a}) }

// ShutdownWithContext refuses new connections and waits for the requests in flight, until ctx ends. fasthttp closes
// connections between two requests by itself, but would wait for those before their first until they time out.
func (a *App) ShutdownWithContext(ctx context.Context) error {
	late := time.AfterFunc(unusedPatience, a.closeUnused)
	defer late.Stop()
	return a.App.ShutdownWithContext(ctx)
}

func (a *App) closeUnused() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.unused {
		_ = c.Conn.Close() // nothing was promised on it
	}
}

func (a *App) used(c *connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.unused, c)
}

// listener adds the connections that it accepts to the unused ones.
type listener struct {
	net.Listener
	app *App
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: accepted, app: l.app}
	l.app.mu.Lock()
	defer l.app.mu.Unlock()
	l.app.unused[c] = struct{}{}
	return c, nil
}

// connection leaves the unused ones with its first byte.
type connection struct {
	net.Conn
	app   *App
	first sync.Once
}

// Read implements net.Conn.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.first.Do(func() { c.app.used(c) })
	}
	return n, err
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.first.Do(func() { c.app.used(c) })
	return c.Conn.Close()
}
