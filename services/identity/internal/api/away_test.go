package api_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

// TestDecisionsPart1_WithoutRedisNothingIsClaimed cuts identity off from Redis: nobody is taken for anonymous, and
// no logout is claimed that did not happen.
func TestDecisionsPart1_WithoutRedisNothingIsClaimed(t *testing.T) {
	_, redisURL, err := storetest.URIs()
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	line := newLine(t, address.Host)
	address.Host = line.listener.Addr().String()
	own := servicetest.Start(t, servicetest.Options{Services: []string{"identity"},
		Env: map[string]string{"REDIS_URL": address.String()}})
	c := own.Admin(t)
	line.cut()
	const away = `{"status":"Service unavailable"}`
	c.Get(t, "/sessions/1/whoami").Want(t, 503, away)
	c.Get(t, "/api/logout").Want(t, 503, away)
	if c.Cookie(t) == "" {
		t.Error("the cookie is gone although the session is not")
	}
	login(t, own.Client(t), own.AdminUUID).Want(t, 503, away)
	own.Client(t).Get(t, "/api/logout").Want(t, 200, ok) // there is nothing to end
}

// line passes connections on to an address until it is cut.
type line struct {
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener}
	t.Cleanup(l.cut)
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // cut
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			l.mu.Lock()
			l.open = append(l.open, near, far)
			l.mu.Unlock()
			go func() { _, _ = io.Copy(near, far) }()
			go func() { _, _ = io.Copy(far, near) }()
		}
	}()
	return l
}

func (l *line) cut() {
	_ = l.listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		_ = c.Close()
	}
}
