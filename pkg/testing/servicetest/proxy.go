package servicetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/web"
)

// RunProxy runs a proxy before services until the test ends, and returns when it answers at its address.
func RunProxy(t testing.TB, command *exec.Cmd, address string) {
	t.Helper()
	var printed output.Buffer
	command.Stdout, command.Stderr = &printed, &printed
	program, err := process.Start(command)
	errortest.None(t, err)
	t.Cleanup(func() {
		if err := program.Stop(syscall.SIGTERM, stopTimeout); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", command.Path, printed.String())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := program.Await(ctx, process.Serves("http://"+address+"/healthz")); err != nil {
		t.Fatalf("%s: %v\n%s", command.Path, err, printed.String())
	}
}

// Listen serves an app at a free loopback port until the test ends, and returns host and port.
func Listen(t testing.TB, app *web.App) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	errortest.None(t, err)
	go func() { _ = app.Listener(listener) }()
	t.Cleanup(func() { _ = app.Shutdown() })
	return listener.Addr().String()
}

// Through returns the address of a proxy that changes the bodies of answers. The proxy ends with the test.
func Through(t *testing.T, address string, change func(r *http.Response, body string) string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	door := httputil.NewSingleHostReverseProxy(target)
	door.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		changed := change(r, string(body))
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(changed)), int64(len(changed))
		r.Header.Set("Content-Length", fmt.Sprint(len(changed)))
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding") // a body that is to be changed has to be plain
		door.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
