package neighbour_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// A node that is lost says nothing: packets to it are dropped. A question on a connection that was kept to it is put
// again on another one, before the request's deadline, whether it was sent before the loss or after.
func TestAQuestionOutlivesALostNode(t *testing.T) {
	for name, lostWhileAsked := range map[string]bool{"before": false, "while the answer is awaited": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, ended := make(chan net.Conn, 100), make(chan struct{})
			var asked atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked.Add(1) == 2 && lostWhileAsked {
					loseNode(t, <-first)
					<-ended
					return
				}
				_, _ = w.Write([]byte(`{"elements": []}`)) // the client's error is the test's
			}))
			server.Config.ConnState = func(c net.Conn, state http.ConnState) {
				if state == http.StateNew {
					first <- c
				}
			}
			server.Start()
			t.Cleanup(func() {
				close(ended)
				server.CloseClientConnections()
				server.Close()
			})
			elements := neighbour.NewElements(transport(t, token), server.URL)
			ask := func() error {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				_, err := elements.Facts(ctx, fact.ElementsQuestion{IDs: []int64{7}})
				return err
			}
			errortest.None(t, ask())
			if !lostWhileAsked {
				loseNode(t, <-first)
			}
			errortest.Report(t, ask())
		})
	}
}

// The console calls services by net/http, for which the same holds.
func TestDial_ACallOutlivesALostNode(t *testing.T) {
	t.Parallel()
	opened := make(chan net.Conn, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened <- c
		}
	}
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	client := http.Client{Transport: &http.Transport{DialContext: neighbour.Dial}}
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		errortest.None(t, err)
		answer, err := client.Do(r)
		errortest.None(t, err)
		errortest.None(t, answer.Body.Close())
		loseNode(t, <-opened)
	}
}

// loseNode makes the kernel drop all that arrives for a connection, before it acknowledges it.
func loseNode(t *testing.T, c net.Conn) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Error(err)
		return
	}
	drop := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
	err = raw.Control(func(fd uintptr) {
		errortest.Report(t,
			unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
				&unix.SockFprog{Len: uint16(len(drop)), Filter: &drop[0]}))
	})
	errortest.Report(t, err)
}
