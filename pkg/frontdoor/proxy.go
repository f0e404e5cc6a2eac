package frontdoor

import (
	"errors"
	"math"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// dialTimeout bounds how long a connection to a replica may take, which is on this machine.
const dialTimeout = 3 * time.Second

// proxy sends each request to the next replica in turn, and to the one after when no connection can be made. A request
// that a replica may have received is sent again only where it writes nothing.
type proxy struct {
	replicas []*fasthttp.HostClient
	turn     atomic.Uint64
}

func newProxy(addresses []string) *proxy {
	p := &proxy{}
	for _, address := range addresses {
		p.replicas = append(p.replicas, &fasthttp.HostClient{
			Addr: address, DialTimeout: dial, MaxConns: math.MaxInt, ReadBufferSize: maxHeader,
		})
	}
	return p
}

// forward puts the answer of a replica into the response. Its body is passed on as it comes.
func (p *proxy) forward(ctx *fasthttp.RequestCtx) error {
	request, answer := &ctx.Request, &ctx.Response
	request.URI().DisablePathNormalizing, request.UseHostHeader = true, true
	first, replicas := p.turn.Add(1), uint64(len(p.replicas))
	err := errors.New("the service has no replica")
	for i := uint64(0); i < replicas; {
		answer.StreamBody = true
		var unanswered bool
		unanswered, err = fasthttp.DefaultTransport.RoundTrip(p.replicas[(first+i)%replicas], request, answer)
		if err == nil {
			answer.Header.Del(fasthttp.HeaderConnection) // it is about the connection to the replica
			answer.ImmediateHeaderFlush = answer.Header.ContentLength() < 0
			return nil
		}
		answer.Reset()
		answer.Header.SetNoDefaultContentType(true)
		if errors.Is(err, errEnded) {
			continue // with another connection to the same replica
		}
		op, reads := (*net.OpError)(nil), ctx.IsGet() || ctx.IsHead()
		if dialled := errors.As(err, &op) && op.Op == "dial"; !dialled && !(unanswered && reads) {
			break
		}
		i++
	}
	return err
}

// clean removes from a request what is about its connection, and what it says of proxies that are not there.
func clean(header *fasthttp.RequestHeader) {
	for _, name := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Upgrade", "Expect",
		"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
	} {
		header.Del(name)
	}
}

func dial(address string, timeout time.Duration) (net.Conn, error) {
	if timeout <= 0 {
		timeout = dialTimeout
	}
	wire, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return nil, err
	}
	raw, err := wire.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, errors.Join(err, wire.Close())
	}
	return &connection{Conn: wire, raw: raw}, nil
}

// errEnded says that a replica has ended a connection before a request was written to it.
var errEnded = errors.New("the kept connection has ended")

// connection is one to a replica. When it is used again, it is looked at first: a write that is lost with it could not
// be sent again.
type connection struct {
	net.Conn
	raw  syscall.RawConn
	used bool // an answer has come since the last write
}

func (c *connection) Read(p []byte) (int, error) {
	c.used = true
	return c.Conn.Read(p)
}

func (c *connection) Write(p []byte) (int, error) {
	if c.used && c.ended() {
		return 0, errEnded
	}
	c.used = false
	return c.Conn.Write(p)
}

// ended says whether anything but silence is to be read.
func (c *connection) ended() (ended bool) {
	err := c.raw.Read(func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		ended = !errors.Is(err, syscall.EAGAIN)
		return true
	})
	return ended || err != nil
}
