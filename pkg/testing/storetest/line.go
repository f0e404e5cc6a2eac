package storetest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Line passes connections on to a store until it is cut. Services that reach the store by the line find it away then,
// as when its process has ended: their connections break, and new ones are refused.
type Line struct {
	address, store string // host:port

	mu       sync.Mutex
	listener net.Listener // nil: cut
	open     []net.Conn
}

// Lines returns lines to both stores, and the URIs by which services reach the stores through them. They are cut when
// the test ends.
func Lines(t testing.TB) (mongo, redis *Line, mongoURI, redisURL string) {
	t.Helper()
	mongoURI, redisURL, err := URIs()
	if err != nil {
		t.Fatal(err)
	}
	mongo, mongoURI = newLine(t, mongoURI)
	redis, redisURL = newLine(t, redisURL)
	return mongo, redis, mongoURI, redisURL
}

// newLine returns a line to the store of a URI with one host, and the URI with the line's address.
func newLine(t testing.TB, uri string) (*Line, string) {
	t.Helper()
	parsed, err := url.Parse(uri)
	if err != nil {
		t.Fatal("the URI of a store is none") // the error would repeat it, password and all
	}
	l := &Line{address: "127.0.0.1:0", store: parsed.Host}
	l.Mend(t)
	t.Cleanup(l.Cut)
	parsed.Host = l.address
	if query := parsed.Query(); query.Has("replicaSet") { // else the driver asks the set for its members' addresses
		query.Del("replicaSet")
		query.Set("directConnection", "true")
		parsed.RawQuery = query.Encode()
	}
	return l, parsed.String()
}

// Cut breaks all connections and refuses new ones.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener == nil {
		return
	}
	_ = l.listener.Close()
	l.listener = nil
	for _, c := range l.open {
		_ = c.Close()
	}
	l.open = nil
}

// Mend ends a cut, at the same address.
func (l *Line) Mend(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("tcp", l.address)
	for deadline := time.Now().Add(time.Minute); err != nil && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond) // another test may have the port for a moment
		listener, err = net.Listen("tcp", l.address)
	}
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener, l.address = listener, listener.Addr().String()
	go l.serve(listener)
}

func (l *Line) serve(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		far, err := net.Dial("tcp", l.store)
		if err != nil {
			_ = near.Close()
			continue
		}
		l.carry(listener, near, far)
	}
}

// carry passes on what either end sends, unless the line has been cut meanwhile.
func (l *Line) carry(listener net.Listener, near, far net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != listener {
		_ = errors.Join(near.Close(), far.Close())
		return
	}
	l.open = append(l.open, near, far)
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = errors.Join(to.Close(), from.Close())
	}
	go pass(near, far)
	go pass(far, near)
}
