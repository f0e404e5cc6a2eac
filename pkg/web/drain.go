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
	bounds *Bounds
	mu     sync.Mutex
	open   int // connections
	unused map[*connection]struct{}
}

// Listener serves the connections that l accepts, until a shutdown.
func (a *App) Listener(l net.Listener) error {
	return a.App.Listener(&listener{Listener: l, app: a, refusals: make(chan struct{}, maxRefusals)})
}

// ShutdownWithContext refuses new connections, ends the streams, and waits for the requests in flight, until ctx ends.
// fasthttp closes connections between two requests by itself, but those before their first only when they are five
// seconds old.
func (a *App) ShutdownWithContext(ctx context.Context) error {
	a.bounds.streams.end()
	late := time.AfterFunc(unusedPatience, a.closeUnused)
	defer late.Stop()
	return a.App.ShutdownWithContext(ctx)
}

func (a *App) closeUnused() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.unused {
		_ = c.Conn.Close() // it has carried no request
	}
}
