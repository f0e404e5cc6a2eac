package storetest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// Line passes connections on to a store until it is cut or hangs. Services that reach the store by a line that is cut
// find it away, as when its process has ended: their connections break, and new ones are refused. By a line that hangs
// they find it silent, as when its process is stopped: connections stay, new ones open, and nothing is answered.
type Line struct {
	address, store string // host:port

	mu       sync.Mutex
	listener net.Listener // nil: cut
	open     []net.Conn
	flows    *sync.Cond // signals that hangs has changed
	hangs    bool
}

// Lines returns lines to both stores, and the URIs by which services reach the stores through them. They are cut when
// the test ends.
func Lines(t testing.TB) (mongo, redis *Line, mongoURI, redisURL string) {
	t.Helper()
	mongoURI, redisURL, err := URIs()
	errortest.None(t, err)
	mongo, mongoURI = newLine(t, mongoURI)
	redis, redisURL = newLine(t, redisURL)
	return mongo, redis, mongoURI, redisURL
}

// newLine returns a line to the store of a URI with one host, and the URI with the line's address.
func newLine(t testing.TB, uri string) (*Line, string) {
	t.Helper()
	parsed, err := url.Parse(uri)
	if err != nil {
		t.Fatal("the URI of a store is invalid") // the error would repeat it, password and all
	}
	l := &Line{address: "127.0.0.1:0", store: parsed.Host}
	l.flows = sync.NewCond(&l.mu)
	l.listen(t)
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
	l.flow(false)
}

// Hang stops all bytes. What is sent meanwhile arrives when the line is mended.
func (l *Line) Hang() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flow(true)
}

// flow stops all bytes, or passes them on again. The caller holds mu.
func (l *Line) flow(hangs bool) {
	l.hangs = hangs
	l.flows.Broadcast()
}

// Mend ends a cut, at the same address, or passes on what a hanging line holds.
func (l *Line) Mend(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	cut := l.listener == nil
	l.flow(false)
	l.mu.Unlock()
	if cut {
		l.listen(t)
	}
}

func (l *Line) listen(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("tcp", l.address)
	for deadline := time.Now().Add(time.Minute); err != nil && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond) // another test may have the port for a moment
		listener, err = net.Listen("tcp", l.address)
	}
	errortest.None(t, err)
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
		_, _ = io.Copy(gate{l, to}, from)
		_ = errors.Join(to.Close(), from.Close())
	}
	go pass(near, far)
	go pass(far, near)
}

// gate writes to an end of a line while the line does not hang.
type gate struct {
	line *Line
	to   io.Writer
}

func (g gate) Write(p []byte) (int, error) {
	g.line.mu.Lock()
	for g.line.hangs {
		g.line.flows.Wait()
	}
	g.line.mu.Unlock()
	return g.to.Write(p)
}
