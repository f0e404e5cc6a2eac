package servicetest

import (
	"net"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// Listen serves an app at a free loopback port until the test ends, and returns host and port.
func Listen(t testing.TB, app *web.App) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	errortest.None(t, err)
	go func() { _ = app.Listener(listener) }()
	t.Cleanup(func() { _ = app.Shutdown() })
	return listener.Addr().String()
}
