package web_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// patience is by when a service has to be rid of a slow client; its own bounds are 15 and 30 seconds.
const patience = 2 * time.Minute

// dial connects to a service for as long as patience lasts.
func dial(t *testing.T, base string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	errortest.None(t, err)
	t.Cleanup(func() { _ = c.Close() })
	errortest.None(t, c.SetDeadline(time.Now().Add(patience)))
	return c.(*net.TCPConn)
}

func TestHardToBreak_HostileInput_AHeaderThatComesByteByByteEnds(t *testing.T) {
	t.Parallel()
	base, _ := serve(t, nil, route("GET", "/read", ok))
	c := dial(t, base)
	_, err := io.WriteString(c, "GET /read HTTP/1.1\r\nHost: x\r\nX: ")
	errortest.None(t, err)
	go func() {
		for { // until the service has closed the connection
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	answer, err := io.ReadAll(c)
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		t.Fatalf("the connection is still open, after %q", answer)
	}
	if len(answer) > 0 && !bytes.HasPrefix(answer, []byte("HTTP/1.1 4")) {
		t.Errorf("the answer is %q", answer)
	}
}

// A client that keeps a connection ready, and has sent nothing on it yet, would take an answer at its end for that to
// its first request.
func TestHardToBreak_HostileInput_AConnectionWithoutARequestEndsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	base, _ := serve(t, nil, route("GET", "/read", ok))
	answer, err := io.ReadAll(dial(t, base))
	valuetest.Holds(t, err == nil && len(answer) == 0, "%q, %v", answer, err)
}

func TestHardToBreak_HostileInput_AnAnswerThatNobodyReadsEnds(t *testing.T) {
	t.Parallel()
	served := make(chan net.Conn, 1)
	large := strings.Repeat("x", 64<<20) // more than the buffers on the way
	base, _ := serve(t, nil, route("POST", "/read", func(c *fiber.Ctx) error {
		served <- c.Context().Conn()
		return web.OK(c, web.Field{Name: "x", Value: large})
	}))
	c := dial(t, base)
	errortest.None(t, errortest.Of(io.WriteString(c, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")))
	connection := <-served
	for until := time.Now().Add(patience); !errors.Is(connection.SetReadDeadline(time.Time{}), net.ErrClosed); {
		valuetest.MustHold(t, !time.Now().After(until), "the service still waits for its reader")
		time.Sleep(100 * time.Millisecond)
	}
}

func TestHardToBreak_HostileInput_AClientThatHasEndedItsSideIsAnswered(t *testing.T) {
	t.Parallel()
	base, _ := serve(t, nil, route("GET", "/read", ok), route("POST", "/write", ok))
	for _, c := range []struct{ name, sent, want string }{
		{"after a request", "GET /read HTTP/1.1\r\nHost: x\r\n\r\n", `{"status":"OK"}`},
		{"after two", strings.Repeat("GET /read HTTP/1.1\r\nHost: x\r\n\r\n", 2), `{"status":"OK"}`},
		{"after a body", "POST /write HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", `{"status":"OK"}`},
		{"inside a header", "GET /read HTTP/1.1\r\nHost: x\r\nX-", ""},
		{"inside a body", "POST /write HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{}", `{"status":"Bad request"}`},
		{"at once", "", ""},
	} {
		connection := dial(t, base)
		_, err := io.WriteString(connection, c.sent)
		errortest.None(t, err)
		errortest.None(t, connection.CloseWrite())
		answer, err := io.ReadAll(connection)
		errortest.Report(t, err, c.name)
		if !strings.HasSuffix(string(answer), c.want) || strings.Count(string(answer), "HTTP/1.1 200 ") !=
			strings.Count(c.sent, "HTTP/1.1\r\n")*strings.Count(c.want, "OK") {
			t.Errorf("%s: %q", c.name, answer)
		}
	}
}

// TestHardToBreak_HostileInput_ABodyMayArriveAfterTheDeadlineOfARequest: the rest of a slow body was refused for want
// of room, though there was room.
func TestHardToBreak_HostileInput_ABodyMayArriveAfterTheDeadlineOfARequest(t *testing.T) {
	t.Parallel()
	const deadline = 20 * time.Millisecond
	base := serveOptions(t, web.Options{Timeout: deadline}, route("POST", "/write", ok))
	c := dial(t, base)
	body := "{" + strings.Repeat(" ", 16<<10) + "}"
	head := "POST /write HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	for _, part := range []string{head, body[:8<<10], body[8<<10:]} {
		errortest.None(t, errortest.Of(io.WriteString(c, part)))
		time.Sleep(2 * deadline)
	}
	if answer, err := io.ReadAll(c); err != nil || !strings.HasSuffix(string(answer), `{"status":"OK"}`) {
		t.Errorf("%q, %v", answer, err)
	}
}

// TestHardToBreak_HostileInput_ASlowBodyIsNotWrittenWithRightsThatWereLost: a request whose body took seconds to arrive
// was carried out for a user who was logged out meanwhile.
func TestHardToBreak_HostileInput_ASlowBodyIsNotWrittenWithRightsThatWereLost(t *testing.T) {
	t.Parallel()
	var left atomic.Int64
	base, _ := serve(t, func() (session.Record, error) {
		if left.Add(-1) < 0 {
			return session.Record{}, session.ErrNone
		}
		return user(principal.All())()
	}, web.Route{Method: "POST", Path: "/write", Access: web.SignedIn, Handler: ok})
	for _, c := range []struct {
		sessions int64
		want     string
	}{{2, `{"status":"OK"}`}, {1, `{"status":"Access denied"}`}} {
		left.Store(c.sessions)
		connection := dial(t, base)
		errortest.None(t, errortest.Of(io.WriteString(connection, "POST /write HTTP/1.1\r\nHost: x\r\n"+
			"Cookie: "+cookie+"\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{")))
		timetest.Eventually(t, "admission", patience, func() bool { return left.Load() < c.sessions })
		time.Sleep(3 * time.Second) // longer than the service waits before it looks again
		errortest.None(t, errortest.Of(io.WriteString(connection, "}")))
		answer, err := io.ReadAll(connection)
		errortest.None(t, err)
		valuetest.Holds(t, strings.HasSuffix(string(answer), c.want), "with %d sessions: %q", c.sessions, answer)
	}
}

// TestHardToBreak_HostileInput_PipelinedRequestsAreAnsweredInOrderAndInPieces sends many at once, in pieces of every
// size, by a client that reads nothing before it has sent all.
func TestHardToBreak_HostileInput_PipelinedRequestsAreAnsweredInOrderAndInPieces(t *testing.T) {
	t.Parallel()
	base, _ := serve(t, nil, route("GET", "/read/:id", func(c *fiber.Ctx) error {
		return web.OK(c, web.Field{Name: "id", Value: c.Params("id")})
	}))
	var all, want strings.Builder
	const n = 200
	for i := range n {
		id := strings.Repeat("x", i%7) + string(rune('a'+i%26))
		all.WriteString("GET /read/" + id + " HTTP/1.1\r\nHost: x\r\n\r\n")
		want.WriteString(`{"status":"OK","id":"` + id + `"}`)
	}
	for _, piece := range []int{1, 7, 100, all.Len()} {
		connection := dial(t, base)
		for rest := all.String(); rest != ""; {
			some := min(piece, len(rest))
			errortest.None(t, errortest.Of(io.WriteString(connection, rest[:some])))
			rest = rest[some:]
		}
		errortest.None(t, connection.CloseWrite())
		answer, err := io.ReadAll(connection)
		errortest.None(t, err)
		var bodies strings.Builder
		for _, part := range strings.Split(string(answer), "\r\n\r\n")[1:] {
			body, _, _ := strings.Cut(part, "HTTP/1.1 ")
			bodies.WriteString(body)
		}
		valuetest.Same(t, bodies.String(), want.String(), "in pieces of %d", piece)
	}
}
