package main

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// local listens on a free loopback port until the test ends.
func local(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	errortest.None(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// connect opens a connection until the test ends.
func connect(t *testing.T, to net.Listener) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", to.Addr().String())
	errortest.None(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return conn
}

// The store answers only after the end of the request, so each direction must close separately.
func TestBothDirectionsPassAndEndOnTheirOwn(t *testing.T) {
	store, front := local(t), local(t)
	go func() {
		conn, err := store.Accept()
		if err != nil {
			return
		}
		question, _ := io.ReadAll(conn)
		_, _ = io.WriteString(conn, strings.ToUpper(string(question)))
		_ = conn.Close()
	}()
	go func() { _ = serve(front, store.Addr().String()) }()

	conn := connect(t, front)
	question := strings.Repeat("ping ", 100_000)
	_, err := io.WriteString(conn, question)
	errortest.None(t, err)
	errortest.None(t, conn.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(conn)
	if err != nil || string(answer) != strings.ToUpper(question) {
		t.Errorf("%v, %d bytes of %d", err, len(answer), len(question))
	}
}

func TestAStoreThatIsAwayClosesTheConnection(t *testing.T) {
	away, front := local(t), local(t)
	_ = away.Close()
	go func() { _ = serve(front, away.Addr().String()) }()
	conn := connect(t, front)
	n, err := conn.Read(make([]byte, 1))
	errortest.Some(t, err, "%d bytes came from nowhere", n)
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		nil, {"/proc/self/ns/net"}, {"/proc/self/ns/net", "127.0.0.1:0"}, {"/nowhere", "127.0.0.1:0=127.0.0.1:1"},
	} {
		errortest.Some(t, run(args), "%v is accepted", args)
	}
}
