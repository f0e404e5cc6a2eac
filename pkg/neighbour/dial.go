package neighbour

import (
	"context"
	"net"
	"time"
)

// A neighbour's pod may be on a node that was lost silently: nothing is acknowledged, and no packet says so. For 40
// seconds and more Kubernetes does not know it either, and new connections may go there too. So the timeout to connect
// is short, and a kept connection ends soon after the other side's kernel falls silent: a question is put to another
// pod while its request still has time. A pod that is slow to answer loses no connection, because its kernel
// acknowledges.
const (
	dialTimeout   = time.Second
	silentTimeout = 2 * time.Second // of what was sent, until it is acknowledged
)

// dial connects to an address (host:port). The timeout is at most dialTimeout.
func dial(address string, timeout time.Duration) (net.Conn, error) {
	return dialer(timeout).Dial("tcp", address)
}

// Dial is the DialContext of an http.Transport to services.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return dialer(dialTimeout).DialContext(ctx, network, address)
}

func dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout: timeout,
		// While an answer is awaited nothing is sent that could be acknowledged, but these.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 2},
		Control:         limitSilence,
	}
}
