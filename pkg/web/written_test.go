package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// written is a route that answers with what write writes, and takes only the bodies of one who is named.
func written(write func(context.Context, io.Writer)) web.Route {
	return web.Route{
		Method: http.MethodPost, Path: "/", Access: web.Anyone, Streams: web.StreamBounds{All: 2, Each: 1},
		Body: "text/plain", MaxBody: 1 << 20, Reads: web.Reads{Query: "user"},
		Admit: func(c *fiber.Ctx) error {
			if c.Query("user") == "" {
				return problem.New(problem.Forbidden, "")
			}
			return c.Next()
		},
		Handler: func(c *fiber.Ctx) error { return web.Written(c, int64(c.QueryInt("user")), write) },
	}
}

// writing serves it at /.
func writing(t *testing.T, write func(context.Context, io.Writer)) (string, *web.Bounds) {
	t.Helper()
	bounds := web.NewBounds()
	return serveOptions(t, web.Options{Timeout: 50 * time.Millisecond, Bounds: bounds}, written(write)), bounds
}

func begin(t *testing.T, address, body string) (*bufio.Scanner, *http.Response) {
	t.Helper()
	answer := send(t, http.MethodPost, address, body, "Content-Type", "text/plain")
	return bufio.NewScanner(answer.Body), answer
}

// TestWritten_EachPieceComesWhenItIsWritten: beyond the request's deadline, to its end, within bounds.
func TestWritten_EachPieceComesWhenItIsWritten(t *testing.T) {
	goOn := make(chan struct{})
	base, bounds := writing(t, func(ctx context.Context, to io.Writer) {
		fmt.Fprintln(to, "one")
		<-goOn
		time.Sleep(100 * time.Millisecond) // longer than the deadline of a request
		fmt.Fprintln(to, "two", ctx.Err())
	})
	lines, answer := begin(t, base+"?user=1", "")
	if !lines.Scan() || lines.Text() != "one" || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %q %v", answer.StatusCode, lines.Text(), lines.Err())
	}
	_, more := begin(t, base+"?user=1", "")
	valuetest.Same(t, more.StatusCode, http.StatusTooManyRequests, "a second one of one user")
	if other, _ := begin(t, base+"?user=2", ""); !other.Scan() {
		t.Errorf("another user's: %v", other.Err())
	}
	if _, more := begin(t, base+"?user=3", ""); more.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a third one in all: %d", more.StatusCode)
	}
	close(goOn)
	if !lines.Scan() || lines.Text() != "two <nil>" {
		t.Errorf("%q %v", lines.Text(), lines.Err())
	}
	toTheEnd(t, lines)
	awaitStreams(t, bounds, 0)
}

// TestWritten_EndsWithItsClient: what is still written goes nowhere, and the context ends.
func TestWritten_EndsWithItsClient(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	base, bounds := writing(t, func(ctx context.Context, to io.Writer) {
		fmt.Fprintln(to, "one")
		<-ctx.Done()
		fmt.Fprintln(to, "two")
		close(ended)
	})
	lines, answer := begin(t, base+"?user=1", "")
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	_ = answer.Body.Close()
	<-ended // a heartbeat finds out
	awaitStreams(t, bounds, 0)
}

// TestWritten_EndsWithItsProcess: what it writes of that is still sent.
func TestWritten_EndsWithItsProcess(t *testing.T) {
	base, bounds, stop := stoppable(t, written(func(ctx context.Context, to io.Writer) {
		fmt.Fprintln(to, "one")
		<-ctx.Done()
		fmt.Fprintln(to, "stopped")
	}))
	lines, _ := begin(t, base+"?user=1", "")
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	stop()
	if !lines.Scan() || lines.Text() != "stopped" {
		t.Errorf("%q %v", lines.Text(), lines.Err())
	}
	toTheEnd(t, lines)
	awaitStreams(t, bounds, 0)
}

// TestAdmit_DecidesBeforeTheBodyIsRead, and lets more pass than a route for anyone takes otherwise.
func TestAdmit_DecidesBeforeTheBodyIsRead(t *testing.T) {
	base, _ := writing(t, func(_ context.Context, to io.Writer) { fmt.Fprintln(to, "one") })
	large := strings.Repeat("x", 1<<20)
	for address, want := range map[string]int{base + "?user=1": 200, base: 403} {
		_, answer := begin(t, address, large)
		valuetest.Same(t, answer.StatusCode, want, address)
	}
	_, answer := begin(t, base+"?user=2", large+"x")
	valuetest.Same(t, answer.StatusCode, http.StatusRequestEntityTooLarge, "a body that is too large")
}
